"""The commands of other CLIs that a user's file declares for ``run``."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from review_advisor.adapters.claude.locate import search_path
from review_advisor.adapters.command_agents import CommandAgents
from review_advisor.adapters.git.run import checkout_around
from review_advisor.app.configuration import read_text
from review_advisor.app.settings import ConfigError
from review_advisor.core.facts.files.toml_text import TomlError, read_toml
from review_advisor.core.facts.files.value_mistake import value_mistake, value_place
from review_advisor.ports.review import CliError

OWN_BACKENDS = ("claude", "embedded", "fake")
_ALWAYS = ("HOME", "LANG", "LC_ALL")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class DeclaredCommand(BaseModel):
    """One backend: its words, and the variables of the environment that it may see beside the usual ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    environment: tuple[_Variable, ...] = ()


_FILE: TypeAdapter[dict[str, DeclaredCommand]] = TypeAdapter(dict[str, DeclaredCommand])


def declared_commands(file: Path) -> Mapping[str, DeclaredCommand]:
    """The backends that a TOML file declares, by name. Raises ``ConfigError`` with one sentence."""
    text = read_text(file, "adapter file")
    try:
        found = _FILE.validate_python(read_toml(text))
    except TomlError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = value_place(first["loc"])
        raise ConfigError(f"{file} is wrong at {place}: {value_mistake(first)}.") from None
    for name in found:
        if name in OWN_BACKENDS or not _NAME.fullmatch(name):
            raise ConfigError(f"{file} declares {name!r}: use another name, of small letters, digits, _ and -.")
    return found


def named_command(name: str, file: Path | None, repo: Path, environ: Mapping[str, str]) -> CommandAgents:
    """The backend that ``file`` declares by that name. Raises ``ConfigError`` and ``CliError``."""
    commands = declared_commands(file) if file is not None else {}
    if name not in commands:
        known = ", ".join((*OWN_BACKENDS, *commands))
        raise ConfigError(f"There is no backend {name!r}: use one of {known}; --adapter declares more.")
    return open_command(commands[name], repo, environ)


def open_command(declared: DeclaredCommand, repo: Path, environ: Mapping[str, str]) -> CommandAgents:
    """The backend, its program found outside of the repository. Raises ``CliError`` where it is not there."""
    top = checkout_around(repo)
    path = search_path(environ.get("PATH", ""), top)
    name = declared.command[0]
    program = Path(shutil.which(name, path=path) or "")
    if not program.is_absolute() or program.resolve().is_relative_to(top):
        raise CliError(f"The command {name!r} is not on PATH, or lies inside the repository.")
    seen = {each: environ[each] for each in (*_ALWAYS, *declared.environment) if each in environ}
    return CommandAgents((str(program), *declared.command[1:]), {**seen, "PATH": path})
