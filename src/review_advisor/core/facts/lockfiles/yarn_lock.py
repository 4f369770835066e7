"""Yarn's ``yarn.lock``, of version 1 and of the later ones."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting
from review_advisor.core.facts.lockfiles.npm_lock import NPM_NAME, NPM_RANGE, NPM_VERSION, SHA512, npm_registry

_ASKED = re.compile(rf'"?({NPM_NAME})@((?:npm:)?{NPM_RANGE})"?')
_QUOTED_RANGE = rf'"?(?:npm:)?{NPM_RANGE}"?'
_NEEDS = rf'    "?{NPM_NAME}"?:? {_QUOTED_RANGE}'
_V1_LINE = re.compile(
    rf'  version "{NPM_VERSION}"|  resolved "[^"\\]+"|  integrity {SHA512}'
    rf"|  (?:dependencies|optionalDependencies):|{_NEEDS}"
)
_BERRY_LINE = re.compile(
    rf'  version: "?{NPM_VERSION}"?|  resolution: "[^"\\]+"|  checksum: (?:[0-9]+c[0-9]+/)?[0-9a-f]{{128}}'
    r"|  languageName: node|  linkType: hard|  conditions: [a-z0-9=&() ]+"
    r"|  (?:dependencies|optionalDependencies|peerDependencies|peerDependenciesMeta|dependenciesMeta|bin):"
    rf'|{_NEEDS}|    "?{NPM_NAME}"?: (?:\./)?[A-Za-z0-9_-][A-Za-z0-9_./-]*|    "?{NPM_NAME}"?:|      optional: true'
)
_VERSION = re.compile(rf'  version:? "?({NPM_VERSION})"?')
_TAKEN = re.compile(r"  (?:resolved|resolution:) (.+)")
_SHA1 = re.compile(r"#[0-9a-f]{40}$")
_DIGEST = re.compile(r"  (?:integrity|checksum:) (\S+)")
_KEY = re.compile(r' *"?([^":\s]+)')
_METADATA = "__metadata:"
"""The section that every file of a version after 1 has. It decides once how all entries are read."""


def read_yarn_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package, and the settings of the file."""
    lines = text.split("\n")
    return tuple(_blocks(lines, berry=_METADATA in lines))


def _blocks(lines: list[str], *, berry: bool) -> Iterator[LockEntry]:
    starts = [at for at, line in enumerate(lines) if line[:1] not in ("", " ", "#")]
    yield setting("the heading", 1, (starts or [len(lines)])[0], "\n".join(lines[: (starts or [len(lines)])[0]]))
    for begins, ends in zip(starts, [*starts[1:], len(lines)], strict=True):
        block = lines[begins:ends]
        while block and not block[-1]:
            block.pop()
        yield _entry(block, begins + 1, berry=berry)


def _entry(block: list[str], first: int, *, berry: bool) -> LockEntry:
    content, last = "\n".join(block), first + len(block) - 1
    if block[0] == _METADATA:
        return setting("__metadata", first, last, content)
    asked = [_ASKED.fullmatch(each.strip('"')) for each in block[0].removesuffix(":").split(", ")]
    names = {found[1] for found in asked if found is not None}
    known = _BERRY_LINE if berry else _V1_LINE
    doubts = [line for line in block[1:] if known.fullmatch(line) is None]
    doubts += _said_twice(block[1:])
    if len(names) != 1 or None in asked or not block[0].endswith(":"):
        doubts.append(f"it is asked for as {block[0]}")
    name = min(names, default=block[0])
    version = "".join(found[1] for line in block if (found := _VERSION.fullmatch(line)))
    digests = tuple(found[1] for line in block if (found := _DIGEST.fullmatch(line)))
    taken = [found[1] for line in block if (found := _TAKEN.fullmatch(line))]
    origin = _origin(taken[0], name, version, berry=berry) if len(taken) == 1 else None
    if origin is None:
        doubts.append(f"it is taken from {' '.join(taken) or 'an unstated place'}")
    if len(digests) != 1:
        doubts.append("it has no hash, or several")
    sources = () if origin is None else (origin,)
    traits = json.dumps([*_below("  bin:", block), *(line for line in block if line.startswith("  conditions:"))])
    return LockEntry(
        block[0], name, version, first, last, content, sources, digests, tuple(doubts), traits if berry else ""
    )


def _below(heading: str, block: list[str]) -> Iterator[str]:
    """The lines of an entry that stand below a heading of it."""
    start = block.index(heading) + 1 if heading in block else len(block)
    return takewhile(lambda line: line.startswith("    "), block[start:])


def _origin(taken: str, name: str, version: str, *, berry: bool) -> str | None:
    """The registry that has the package under its own name and version; None for another place."""
    if berry:
        return "the configured registry" if taken == f'"{name}@npm:{version}"' else None
    return npm_registry(_SHA1.sub("", taken[1:-1]), name, version)


def _said_twice(lines: list[str]) -> Iterator[str]:
    """Each key that stands more than once in one place of an entry, with all that it says: one of them is obeyed."""
    said = defaultdict[tuple[str, ...], list[str]](list)
    above: list[str] = []
    for line in lines:
        found = _KEY.match(line)
        above = [*above[: max((len(line) - len(line.lstrip(" "))) // 2 - 1, 0)], found[1] if found else line]
        said[tuple(above)].append(line)
    return (f"it says more than once: {' '.join(each)}" for each in said.values() if len(each) > 1)
