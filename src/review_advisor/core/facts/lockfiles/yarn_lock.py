"""Yarn's ``yarn.lock``, of version 1 and of the later ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting
from review_advisor.core.facts.lockfiles.npm_lock import NPM_NAME, NPM_RANGE, NPM_VERSION, SHA512, npm_registry

_ASKED = re.compile(rf'"?({NPM_NAME})@((?:npm:)?{NPM_RANGE})"?')
_QUOTED_RANGE = rf'"?(?:npm:)?{NPM_RANGE}"?'
_LINE = re.compile(
    rf'  version:? "?{NPM_VERSION}"?|  resolved "[^"\\]+"|  integrity {SHA512}|  resolution: "[^"\\]+"'
    r"|  checksum: (?:[0-9]+c[0-9]+/)?[0-9a-f]{128}|  languageName: node|  linkType: hard|  conditions: [a-z0-9=&() ]+"
    r"|  (?:dependencies|optionalDependencies|peerDependencies|peerDependenciesMeta|dependenciesMeta|bin):"
    rf'|    "?{NPM_NAME}"?:? {_QUOTED_RANGE}|    "?{NPM_NAME}"?: (?:\./)?[A-Za-z0-9_-][A-Za-z0-9_./-]*'
    rf'|    "?{NPM_NAME}"?:|      optional: true'
)
_VERSION = re.compile(rf'  version:? "?({NPM_VERSION})"?')
_RESOLVED = re.compile(r'  resolved "([^"\\#]+)(?:#[0-9a-f]{40})?"')
_DIGEST = re.compile(r"  (?:integrity|checksum:) (\S+)")


def read_yarn_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package, and the settings of the file."""
    return tuple(_blocks(text.split("\n")))


def _blocks(lines: list[str]) -> Iterator[LockEntry]:
    starts = [at for at, line in enumerate(lines) if line[:1] not in ("", " ", "#")]
    yield setting("the heading", 1, (starts or [len(lines)])[0], "\n".join(lines[: (starts or [len(lines)])[0]]))
    for begins, ends in zip(starts, [*starts[1:], len(lines)], strict=True):
        block = lines[begins:ends]
        while block and not block[-1]:
            block.pop()
        yield _entry(block, begins + 1)


def _entry(block: list[str], first: int) -> LockEntry:
    content, last = "\n".join(block), first + len(block) - 1
    if block[0] == "__metadata:":
        return setting("__metadata", first, last, content)
    asked = [_ASKED.fullmatch(each.strip('"')) for each in block[0].removesuffix(":").split(", ")]
    names = {found[1] for found in asked if found is not None}
    doubts = [line for line in block[1:] if _LINE.fullmatch(line) is None]
    if len(names) != 1 or None in asked or not block[0].endswith(":"):
        doubts.append(f"it is asked for as {block[0]}")
    name = min(names, default=block[0])
    version = "".join(found[1] for line in block if (found := _VERSION.fullmatch(line)))
    digests = tuple(found[1] for line in block if (found := _DIGEST.fullmatch(line)))
    resolved = [found[1] for line in block if (found := _RESOLVED.fullmatch(line))]
    registry = npm_registry(resolved[0], name, version) if len(resolved) == 1 else None
    if registry is None and f'  resolution: "{name}@npm:{version}"' not in block:
        doubts.append(f"it is taken from {' '.join(resolved) or 'elsewhere than the registry'}")
    if len(digests) != 1:
        doubts.append("it has no hash, or several")
    sources = () if registry is None else (registry,)
    return LockEntry(block[0], name, version, first, last, content, sources, digests, tuple(doubts))
