"""Bundler's ``Gemfile.lock``, also named ``gems.locked``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from review_advisor.core.facts.lockfiles.lock_entries import LockEntry, setting

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_VERSION = r"[0-9][0-9A-Za-z.]*(?:-[a-z0-9_.-]+)?"
_RANGE = r"(?:=|!=|>=|<=|>|<|~>) [0-9][0-9A-Za-z.-]*"
_RANGES = rf"\({_RANGE}(?:, {_RANGE})*\)"
_REMOTE = re.compile(r"  remote: (https://[a-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~-]+)*/?)")
_GEM = re.compile(rf"    ({_NAME}) \(({_VERSION})\)")
_NEED = re.compile(rf"      {_NAME}(?: {_RANGES})?")
_ASKED = re.compile(rf"  {_NAME}(?: {_RANGES})?")
_CHECKSUM = re.compile(rf"  (({_NAME}) \(({_VERSION})\)) (sha256=[0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True)
class _Section:
    """Lines of the file from a heading on, without the empty ones at its end. ``first`` is the heading's number."""

    first: int
    lines: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.lines[0]

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def read_gemfile_lock(text: str) -> tuple[LockEntry, ...]:
    """Every gem of a registry and every checksum; all else is a setting. Raises ``ValueError``."""
    sections = tuple(_sections(text.removesuffix("\n").split("\n")))
    checked = [section for section in sections if section.title == "CHECKSUMS"]
    found = [_CHECKSUM.fullmatch(line) for section in checked for line in section.lines[1:]]
    digests = {each[1]: each[4] for each in found if each is not None} if checked else None
    return tuple(entry for section in sections for entry in _entries(section, digests))


def _sections(lines: list[str]) -> Iterator[_Section]:
    starts = [at for at, line in enumerate(lines) if line[:1] not in ("", " ")]
    if not starts or any(lines[: starts[0]]):
        raise ValueError("it begins with no section")
    for begins, ends in pairwise([*starts, len(lines)]):
        block = lines[begins:ends]
        while not block[-1]:
            block.pop()
        yield _Section(begins + 1, tuple(block))


def _entries(section: _Section, digests: Mapping[str, str] | None) -> Iterator[LockEntry]:
    match section.title:
        case "GEM":
            yield from _gems(section, digests)
        case "DEPENDENCIES":
            yield from _lines(section, _ASKED, plain=True)
        case "CHECKSUMS":
            yield from _lines(section, _CHECKSUM)
        case _:
            yield setting(section.title, section.first, section.last, "\n".join(section.lines))


def _lines(section: _Section, known: re.Pattern[str], *, plain: bool = False) -> Iterator[LockEntry]:
    """The heading, and one entry for each line below it. A line that is not ``known`` is a doubt."""
    yield setting(section.title, section.first, section.first, section.title)
    for number, line in enumerate(section.lines[1:], section.first + 1):
        found = known.fullmatch(line)
        if found is None or plain:
            own_source = "!" if line.endswith("!") else ""
            key = f"{section.title} {line.split(' (')[0].removesuffix('!')}{own_source}"
            yield setting(key, number, number, line, plain=found is not None)
        else:
            yield LockEntry(
                f"checksum of {found[1]}",
                f"checksum of {found[2]}",
                found[3],
                number,
                number,
                line,
                digests=(found[4],),
            )


def _gems(section: _Section, digests: Mapping[str, str] | None) -> Iterator[LockEntry]:
    """Every gem. With several registries in one section nobody can tell which of them has a gem: that is a doubt."""
    lines = section.lines
    if "  specs:" not in lines:
        raise ValueError("a registry without gems")
    below = lines.index("  specs:") + 1
    heading = lines[1 : below - 1]
    found = [_REMOTE.fullmatch(line) for line in heading]
    remotes = tuple(each[1] for each in found if each is not None)
    title = "\n".join(lines[:below])
    yield setting(f"the registry {' '.join(heading)}", section.first, section.first + below - 1, title)
    odd = () if len(remotes) == len(heading) == 1 else (f"it comes from one of these: {' '.join(heading)}",)
    starts = [at for at in range(below, len(lines)) if not lines[at].startswith("      ")]
    if starts[:1] not in ([], [below]):
        raise ValueError("it begins with no gem")
    for begins, ends in pairwise([*starts, len(lines)]):
        yield _gem(lines[begins:ends], section.first + begins, remotes, odd, digests)


def _gem(
    block: tuple[str, ...],
    first: int,
    remotes: tuple[str, ...],
    odd: tuple[str, ...],
    digests: Mapping[str, str] | None,
) -> LockEntry:
    found = _GEM.fullmatch(block[0])
    doubts = [*odd, *(line for line in block[1:] if _NEED.fullmatch(line) is None)]
    if found is None:
        doubts.append(f"a line that Bundler does not write: {block[0]}")
    name, version = (block[0].strip(), "") if found is None else (found[1], found[2])
    checksum = "" if digests is None else digests.get(block[0].strip(), "")
    if digests is not None and not checksum:
        doubts.append("it has no checksum")
    content = "\n".join((*remotes, *block, checksum))
    key, last = f"{name} {version}", first + len(block) - 1
    return LockEntry(key, name, version, first, last, content, remotes, doubts=tuple(doubts))
