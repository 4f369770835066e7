"""Mix's ``mix.lock``: an Elixir map with one line for each package."""

from __future__ import annotations

import re

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting

_ATOM = "[a-z][a-z0-9_]*"
_SHA256 = "[0-9a-f]{64}"
_REPOSITORY = '"[a-z0-9_:-]+"'
_NEED = rf'\{{:{_ATOM}, "[0-9A-Za-z.<>=~! ()-]+", \[hex: :{_ATOM}, repo: {_REPOSITORY}, optional: (?:true|false)\]\}}'
_LINE = re.compile(
    rf'  "({_ATOM})": \{{:hex, :({_ATOM}), "([0-9A-Za-z.+-]+)", "({_SHA256})", (\[:[a-z0-9]+(?:, :[a-z0-9]+)*\]), '
    rf'\[(?:{_NEED}(?:, {_NEED})*)?\], ({_REPOSITORY}), "({_SHA256})"\}},'
)


def read_mix_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package. Some versions of Mix run the file, so it has to be nothing but packages. Raises ``ValueError``."""
    lines = text.removesuffix("\n").split("\n")
    if lines[0] != "%{" or lines[-1] != "}":
        raise ValueError("it is no map of packages")
    return tuple(_entry(line, number) for number, line in enumerate(lines[1:-1], 2))


def _entry(line: str, number: int) -> LockEntry:
    found = _LINE.fullmatch(line)
    if found is None:
        return setting(f"the line {line!r}", number, number, line)
    key, name, version, inner, tools, repository, outer = found.groups()
    doubts = (f"it is installed as {key}, and is {name}",) if key != name else ()
    sources, digests = (f"the repository {repository}",), (inner, outer)
    return LockEntry(key, key, version, number, number, line, sources, digests, doubts, traits=tools)
