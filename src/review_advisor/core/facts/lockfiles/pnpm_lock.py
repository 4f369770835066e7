"""pnpm's ``pnpm-lock.yaml``, of versions 6 and 9."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting
from review_advisor.core.facts.lockfiles.npm_lock import NPM_NAME, NPM_RANGE, NPM_VERSION, SHA512

_PEERS = r"(?:\([A-Za-z0-9@/._+()-]+\))?"
_NAME = rf"(?:'{NPM_NAME}'|{NPM_NAME})"
_RANGE = rf"(?:'{NPM_RANGE}'|{NPM_RANGE})"
_PLACED = re.compile(
    rf"  (?:'/?({NPM_NAME})@({NPM_VERSION}){_PEERS}'|/?({NPM_NAME})@({NPM_VERSION}){_PEERS}):(?: \{{\}})?"
)
_IMPORTER = re.compile(r"  [A-Za-z0-9._/-]+:")
_LINE = re.compile(
    rf"    resolution: \{{integrity: {SHA512}\}}|    engines: \{{[A-Za-z0-9.,:'<>=^~|* -]+\}}"
    r"|    (?:hasBin|dev|optional): (?:true|false)|    (?:os|cpu|libc): \[[a-z0-9!, ]+\]"
    r"|    deprecated: (?:'[^']*'|[A-Za-z](?:(?!: | #).)*)"
    r"|    (?:dependencies|devDependencies|optionalDependencies|peerDependencies|peerDependenciesMeta"
    rf"|transitivePeerDependencies):|      {_NAME}: (?:{_RANGE}|{NPM_VERSION}{_PEERS})|      {_NAME}:|      - {_NAME}"
    rf"|        optional: true|        specifier: {_RANGE}|        version: (?:{NPM_VERSION}{_PEERS})"
)
_TRAIT = re.compile("    (?:hasBin|os|cpu|libc):")
_DIGEST = re.compile(rf"    resolution: \{{integrity: ({SHA512})\}}")


def read_pnpm_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package of the section ``packages``; all other entries are settings, read line by line."""
    lines = text.removesuffix("\n").split("\n")
    tops = [at for at, line in enumerate(lines) if line[:1] not in ("", " ")]
    if not tops or any(lines[: tops[0]]):
        raise ValueError("it begins with no section")
    return tuple(
        entry
        for begins, ends in zip(tops, [*tops[1:], len(lines)], strict=True)
        for entry in _section(lines[begins:ends], begins + 1)
    )


def _section(lines: list[str], first: int) -> Iterator[LockEntry]:
    title = lines[0].removesuffix(":")
    if lines[0] not in ("packages:", "snapshots:", "importers:"):
        yield setting(title, first, first + len(lines) - 1, "\n".join(lines).rstrip("\n"))
        return
    yield setting(title, first, first, lines[0])
    starts = [at for at, line in enumerate(lines) if at and line.strip() and not line.startswith("   ")]
    stray = lines[1 : (starts or [len(lines)])[0]]
    if any(stray):
        yield setting(f"{title} begins", first, first + len(stray), "\n".join(stray))
    for begins, ends in zip(starts, [*starts[1:], len(lines)], strict=True):
        block = lines[begins:ends]
        while not block[-1]:
            block.pop()
        yield _entry(title, block, first + begins)


def _entry(section: str, block: list[str], first: int) -> LockEntry:
    doubts = [line for line in block[1:] if _LINE.fullmatch(line) is None]
    found = _PLACED.fullmatch(block[0])
    name, version = ("", "") if found is None else (found[1] or found[3], found[2] or found[4])
    if (_IMPORTER if section == "importers" else _PLACED).fullmatch(block[0]) is None:
        doubts.append(block[0])
    digests = tuple(found[1] for line in block if (found := _DIGEST.fullmatch(line)))
    is_package = section == "packages"
    if is_package and len(digests) != 1:
        doubts.append("it has no integrity, or several")
    return LockEntry(
        key=f"{section}{block[0]}",
        name=name if is_package and name else f"{section} {name or block[0].strip()}",
        version=version,
        first=first,
        last=first + len(block) - 1,
        content="\n".join(block),
        digests=digests,
        doubts=tuple(doubts),
        traits=json.dumps([line for line in block if _TRAIT.match(line)]) if is_package else "",
        setting=not is_package,
    )
