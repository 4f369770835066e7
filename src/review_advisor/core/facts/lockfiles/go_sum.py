"""Go's ``go.sum``: one line for each module, version and kind of hash."""

from __future__ import annotations

import re

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting

_MODULE = r"([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:/[A-Za-z0-9._~!+-]+)*"
_LINE = re.compile(rf"({_MODULE}) (v[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*(?:/go\.mod)?) (h1:[A-Za-z0-9+/]{{43}}=)")


def read_go_sum(text: str) -> tuple[LockEntry, ...]:
    """Every line; one that Go does not write is a setting, which a reviewer sees."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return tuple(_entry(line, number) for number, line in enumerate(lines, 1))


def _entry(line: str, number: int) -> LockEntry:
    found = _LINE.fullmatch(line)
    if found is None:
        return setting(f"the line {line!r}", number, number, line)
    name, host, version, digest = found[1], found[2], found[3], found[4]
    return LockEntry(f"{name} {version}", name, version, number, number, line, (host,), (digest,))
