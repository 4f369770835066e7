"""The hunk walker: where each file's section and each hunk of a patch begins and ends.

Boundaries come from the hunks' own counts, never from what a line looks like: inside a hunk a line that
reads ``diff --git`` or ``@@`` is content.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from review_advisor.core.facts.change import Hunk

_HUNK = re.compile(rb"@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@(.*)", re.DOTALL)
_LINE_END = re.compile(rb"\n")
_FILE = b"diff --git "
_COMBINED = (b"diff --cc ", b"diff --combined ")
_HEADER = re.compile(
    rb"(?:(?:old|new|deleted file|new file) mode|(?:copy|rename) (?:from|to)|(?:dis)?similarity index|index|---|\+\+\+"
    rb"|Binary files) |GIT binary patch"
)


class PatchError(ValueError):
    """The text is not a whole, well-formed patch. One sentence, with the line's number."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """One file's part of a patch: the header lines as bytes (no line ends), and its hunks."""

    header: tuple[bytes, ...]
    hunks: tuple[Hunk, ...]

    @property
    def binary(self) -> bool:
        """Whether the patch says that the file is binary."""
        return any(line.startswith((b"Binary files ", b"GIT binary patch")) for line in self.header)


def split_git_diff(data: bytes) -> tuple[FilePatch, ...]:
    """The sections of ``git diff`` output, in order. Every line must be accounted for; raises ``PatchError``."""
    lines = _Lines(data)
    sections: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if not lines[at].startswith(_FILE):
            raise PatchError(f"line {at + 1} of git's diff belongs to no file")
        section, at = _section(lines, at)
        sections.append(section)
    return tuple(sections)


def split_patch(data: bytes) -> tuple[FilePatch, ...]:
    """The sections of a patch from anywhere: ``git diff``, ``git format-patch``, ``diff -u``.

    Text before, between and after the sections (a mail's message and signature) is passed over, as ``git apply``
    does. Raises ``PatchError`` for a hunk that is cut short or has no file, and for a merge's combined diff.
    """
    lines = _Lines(data)
    sections: list[FilePatch] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_COMBINED):
            raise PatchError(f"line {at + 1}: a merge's combined diff cannot be reviewed, make it against one parent")
        if line.startswith(_FILE) or _plain_header(lines, at):
            section, at = _section(lines, at)
            sections.append(section)
        elif _HUNK.fullmatch(line):
            raise PatchError(f"line {at + 1}: a hunk without a file header")
        else:
            at += 1
    return tuple(sections)


class _Lines(Sequence[bytes]):
    """The lines of a patch without their ends, cut where they are asked for.

    Objects for all lines of a large patch would take more memory than the patch.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._begins = array("Q", [0])
        self._begins.extend(found.end() for found in _LINE_END.finditer(data))
        if data and not data.endswith(b"\n"):
            self._begins.append(len(data) + 1)

    def __len__(self) -> int:
        return len(self._begins) - 1

    @overload
    def __getitem__(self, at: int) -> bytes: ...

    @overload
    def __getitem__(self, at: slice) -> list[bytes]: ...

    def __getitem__(self, at: int | slice) -> bytes | list[bytes]:
        if isinstance(at, int):
            return self._data[self._begins[at] : self._begins[at + 1] - 1]
        first, last, _ = at.indices(len(self))
        if first >= last:
            return []
        return self._data[self._begins[first] : self._begins[last] - 1].split(b"\n")


def _plain_header(lines: Sequence[bytes], at: int) -> bool:
    return (
        lines[at].startswith(b"--- ")
        and at + 2 < len(lines)
        and lines[at + 1].startswith(b"+++ ")
        and _HUNK.fullmatch(lines[at + 2]) is not None
    )


def _section(lines: Sequence[bytes], start: int) -> tuple[FilePatch, int]:
    """The section whose first line is ``lines[start]``, and the index behind it."""
    at = start + 1
    while at < len(lines) and _HEADER.match(lines[at]):
        at += 1
    header = tuple(line.removesuffix(b"\r") for line in lines[start:at])
    hunks, at = _hunks(lines, at)
    return FilePatch(header, hunks), at


def _hunks(lines: Sequence[bytes], at: int) -> tuple[tuple[Hunk, ...], int]:
    hunks: list[Hunk] = []
    while at < len(lines) and (match := _HUNK.fullmatch(lines[at])):
        hunk, at = _hunk(match, lines, at + 1)
        hunks.append(hunk)
    if at < len(lines) and lines[at].startswith(b"@@ -"):
        raise PatchError(f"line {at + 1}: a hunk's header that cannot be read")
    return tuple(hunks), at


def _hunk(head: re.Match[bytes], lines: Sequence[bytes], first: int) -> tuple[Hunk, int]:
    old_start, old_count, new_start, new_count = (1 if count is None else int(count) for count in head.groups()[:4])
    at = _hunk_end(lines, first, old_count, new_count)
    while at < len(lines) and lines[at].startswith(b"\\ "):
        at += 1
    section = head.group(5).decode("utf-8", "replace").removesuffix("\r").removeprefix(" ")
    return Hunk(old_start, old_count, new_start, new_count, section, _text(lines[first:at])), at


def _hunk_end(lines: Sequence[bytes], first: int, old_count: int, new_count: int) -> int:
    """The index behind the hunk's last counted line. Raises ``PatchError`` where lines and counts disagree."""
    old_left, new_left = old_count, new_count
    at = first
    while old_left or new_left:
        # A line takes one from at least one count, so this many are the hunk's own: counted at once, not one by one.
        run = lines[at : at + max(old_left, new_left)]
        marks = Counter([line[:1] for line in run])
        both = marks[b" "] + marks[b""]  # diff.suppressBlankEmpty writes an empty context line as nothing at all
        old_left -= both + marks[b"-"]
        new_left -= both + marks[b"+"]
        if not run or min(old_left, new_left) < 0 or both + marks[b"-"] + marks[b"+"] + marks[b"\\"] < len(run):
            raise _damage(lines, first, old_count, new_count)
        at += len(run)
    return at


def _damage(lines: Sequence[bytes], first: int, old_left: int, new_left: int) -> PatchError:
    """Where the hunk that begins at ``lines[first]`` goes wrong first."""
    for at in range(first, len(lines)):
        mark = lines[at][:1]
        if mark not in b"+- \\":
            return PatchError(f"line {at + 1}: not a line of the hunk that line {first} begins")
        old_left -= mark in b"- "
        new_left -= mark in b"+ "
        if min(old_left, new_left) < 0:
            return PatchError(f"line {at + 1}: more lines than the hunk at line {first} announces")
    return PatchError(f"the hunk at line {first} is cut short: the patch ends inside it")


def _text(lines: Sequence[bytes]) -> tuple[str, ...]:
    text = b"\n".join(lines).decode("utf-8", "replace")
    return tuple([line or " " for line in text.split("\n")]) if lines else ()
