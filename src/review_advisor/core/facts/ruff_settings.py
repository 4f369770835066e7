"""What a project's own ruff configuration allows, read from its text: rules, per file, and files left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

from review_advisor.core.facts.files.toml_text import TomlError, read_toml

CONFIG_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""In the order in which ruff looks for them in one folder."""
_EVERY_RULE = "ALL"
_MOST = 500
"""So many entries of one list count. What is left out allows nothing, so more is found."""


@dataclass(frozen=True, slots=True)
class RuffSettings:
    """The part of a configuration file that allows something. ``folder`` is where it stands, empty for the root."""

    folder: str
    ignored: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    excluded: tuple[str, ...] = ()
    builtins: tuple[str, ...] = ()

    def allows(self, rule: str, path: str, name: str = "") -> bool:
        """Whether ``rule`` may be broken in ``path``, below ``folder``. ``name``: the unknown name that it is about."""
        within = path.removeprefix(f"{self.folder}/") if self.folder else path
        if any(_matches(pattern, each) for pattern in self.excluded for each in _with_folders(within)):
            return True
        if name and name in self.builtins:
            return True
        return _covers(self.ignored, rule) or any(
            _covers(rules, rule) for pattern, rules in self.per_file if _applies(pattern, within)
        )


def ruff_settings(text: str, folder: str, name: str) -> RuffSettings | None:
    """What the text of a file called ``name`` says; None if it is no configuration of ruff, or cannot be read."""
    try:
        table: Any = read_toml(text)
    except TomlError:
        return None
    if name == CONFIG_FILES[-1]:
        table = _table(_table(table, "tool"), "ruff") if "ruff" in _table(table, "tool") else None
    if table is None:
        return None
    lint = _table(table, "lint")
    per_file = [
        (str(pattern)[:200], tuple(_words(rules)))
        for each in (table, lint)
        for key in ("per-file-ignores", "extend-per-file-ignores")
        for pattern, rules in _table(each, key).items()
    ]
    return RuffSettings(
        folder=folder,
        ignored=tuple(
            word for each in (table, lint) for key in ("ignore", "extend-ignore") for word in _listed(each, key)
        ),
        per_file=tuple(per_file[:_MOST]),
        excluded=(*_listed(table, "exclude"), *_listed(table, "extend-exclude"), *_listed(lint, "exclude")),
        builtins=tuple(_listed(table, "builtins")),
    )


def nearest(settings: Sequence[RuffSettings], path: str) -> RuffSettings | None:
    """The settings that hold for ``path``: those of the deepest folder above it."""
    above = [each for each in settings if not each.folder or path.startswith(f"{each.folder}/")]
    return max(above, key=lambda each: len(each.folder), default=None)


def folders_above(paths: Iterable[str]) -> list[str]:
    """Every folder that one of these paths lies in, the root (an empty name) first."""
    found = {"" if str(folder) == "." else str(folder) for path in paths for folder in PurePosixPath(path).parents}
    return sorted(found, key=lambda folder: (folder.count("/") if folder else -1, folder))


def _covers(selectors: Iterable[str], rule: str) -> bool:
    return any(selector == _EVERY_RULE or rule.startswith(selector) for selector in selectors if selector)


def _applies(pattern: str, path: str) -> bool:
    if pattern.startswith("!"):
        return not _matches(pattern[1:], path)
    return _matches(pattern, path)


def _matches(pattern: str, path: str) -> bool:
    """As ruff matches a glob: against the whole path or its last name, and a star crosses folders."""
    trimmed = pattern.removeprefix("./").rstrip("/")
    wanted = (
        (trimmed, trimmed.replace("**/", ""), f"*/{trimmed}")
        if trimmed.startswith("*")
        else (trimmed, trimmed.replace("**/", ""))
    )
    return any(fnmatchcase(path, each) for each in wanted) or fnmatchcase(path.rpartition("/")[2], trimmed)


def _with_folders(path: str) -> Iterator[str]:
    yield path
    yield from (str(folder) for folder in PurePosixPath(path).parents if str(folder) != ".")


def _table(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _listed(value: Any, key: str) -> Iterator[str]:
    yield from _words(value.get(key) if isinstance(value, Mapping) else None)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from (each for each in value[:_MOST] if isinstance(each, str) and len(each) <= 200)  # noqa: PLR2004
