"""The command line of the embedded agent: its checkers, and what the base's configuration of them allows."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.checker_settings import (
    CHECKERS,
    CONFIG_FILES,
    CheckerProgram,
    RuffSettings,
    folders_above,
    ruff_settings,
    switched_off,
)
from review_advisor.ports.review import SourceError

_MOST_FOLDERS = 200
_LONGEST = 100_000
"""The longest argument of a command. A longer one is left out, so that more is found."""


@cache
def installed() -> Mapping[str, str]:
    """The paths of the checkers beside this interpreter, looked up once.

    PATH is not used, because it may lead into the change.
    """
    folder = Path(sys.executable).absolute().parent
    found = {each.name: folder / each.name for each in CHECKERS}
    return {name: str(file) for name, file in found.items() if file.is_file() and os.access(file, os.X_OK)}


def checker_arguments(
    programs: Mapping[str, str], base_file: Callable[[str], bytes | None], *, allow_unchecked: bool
) -> tuple[str, ...]:
    """The arguments that name the checkers of other languages, what the base allows, and what may stay unchecked."""
    chosen = [each for each in CHECKERS if each.name in programs]
    off = {each.name: rules for each in chosen if (rules := base_allows(each, base_file))}
    return (
        *(("--checkers", json.dumps(dict(programs))) if programs else ()),
        *(("--base-allows", json.dumps(off)) if off else ()),
        *(("--allow-unchecked",) if allow_unchecked else ()),
    )


def base_allows(checker: CheckerProgram, base_file: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The rules of ``checker`` that the base's configuration of it switches off."""
    for name in checker.configs:
        with suppress(SourceError):  # a link, or a file that is not there: it allows nothing
            if (text := base_file(name)) is not None:
                return switched_off(checker.name, text.decode("utf-8", "replace"))
    return ()


def base_checks(change: Change, base_file: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """The arguments for the embedded agent: the base's ruff settings for every folder with a changed Python file."""
    folders = folders_above(file.path for file in change.files if file.path.endswith((".py", ".pyi")))
    found = [settings for folder in folders[:_MOST_FOLDERS] if (settings := _settings(folder, base_file)) is not None]
    text = json.dumps([asdict(each) for each in found])
    return ("--base-ruff", text) if found and len(text) <= _LONGEST else ()


def _settings(folder: str, base_file: Callable[[str], bytes | None]) -> RuffSettings | None:
    for name in CONFIG_FILES:
        with suppress(SourceError):  # a link, or a file that is not there: it allows nothing
            text = base_file(f"{folder}/{name}" if folder else name)
            if text is not None and (settings := ruff_settings(text.decode("utf-8", "replace"), folder, name)):
                return settings
    return None
