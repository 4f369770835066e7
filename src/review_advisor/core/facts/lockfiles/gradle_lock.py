"""Gradle's ``gradle.lockfile``: one line for each module and version, with the configurations that use it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting

_HEADING = (
    "# This is a Gradle generated file for dependency locking.",
    "# Manual edits can break the build and are not advised.",
    "# This file is expected to be part of source control.",
)
_USERS = r"[A-Za-z_][A-Za-z0-9_]*(?:,[A-Za-z_][A-Za-z0-9_]*)*"
_LINE = re.compile(rf"([A-Za-z0-9._-]+:[A-Za-z0-9._-]+):([0-9A-Za-z._+-]+)={_USERS}")
_EMPTY = re.compile(rf"empty=(?:{_USERS})?")
_MOVING = re.compile(r".*-SNAPSHOT|latest\..*|.*\+", re.IGNORECASE)


def read_gradle_lock(text: str) -> tuple[LockEntry, ...]:
    """Every line, and every configuration. A line that Gradle does not write is a setting, which a reviewer sees."""
    lines = text.removesuffix("\n").split("\n")
    return (*(_entry(line, number) for number, line in enumerate(lines, 1)), *_configurations(lines))


def _configurations(lines: Sequence[str]) -> Iterator[LockEntry]:
    """Each configuration where it is first named: Gradle locks nothing for one that is named nowhere."""
    seen = set[str]()
    for number, line in enumerate(lines, 1):
        if _LINE.fullmatch(line) is None and _EMPTY.fullmatch(line) is None:
            continue
        for name in line.partition("=")[2].split(","):
            if name and name not in seen:
                seen.add(name)
                told = f"the configuration {name}"
                yield setting(told, number, number, told)


def _entry(line: str, number: int) -> LockEntry:
    found = _LINE.fullmatch(line)
    if found is None:
        plain = line in _HEADING or _EMPTY.fullmatch(line) is not None
        return setting(f"the line {line!r}", number, number, line, plain=plain)
    name, version = found[1], found[2]
    doubts = (f"version {version} may change what it is",) if _MOVING.fullmatch(version) else ()
    return LockEntry(f"{name} {version}", name, version, number, number, line, doubts=doubts)
