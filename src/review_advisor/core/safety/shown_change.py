"""A change without its secrets: recognised from all that is shown of a file, and from each side of it by itself."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.patches.diff_text import render_file
from review_advisor.core.safety.secret_shapes import (
    LIKELY,
    MOST_ROUNDS,
    Found,
    apart,
    issued_kind,
    kind_marked,
    marked,
    private_keys,
    redact,
    secrets_in,
)
from review_advisor.core.safety.secret_shapes.randomness import looks_random

RUN = re.compile(r"[A-Za-z0-9+/_-]{16,}+")
"""What of a secret can be known again where nothing around it tells what it is."""
_TELLING = 0.5

_SIDES = ("+ ", "- ")
"""The lines of the new side and of the old one, by their first character."""


Certainty = Literal["issued", "likely"]
"""``issued``: the value has the form of a known issuer, or of a private key. ``likely``: its name or place tells."""


@dataclass(frozen=True, slots=True)
class AddedSecret:
    """A secret on added lines, which everybody is shown masked: ``line`` to ``end_line`` of the new side.

    A private key is one mask, any other secret one for each line and kind. ``shown`` is its first line, masked.
    """

    path: str
    line: int
    end_line: int
    kind: str
    certainty: Certainty
    shown: str


def added_secrets(file: FileChange) -> tuple[AddedSecret, ...]:
    """Every mask on the added lines of a file, in order."""
    file = without_line_ends(file)
    shown = shown_file(file)
    if shown == file:
        return ()
    spans = iter(_found(file))
    masks: list[AddedSecret] = []
    for hunk, masked in zip(file.hunks, shown.hunks, strict=True):
        number = hunk.new_start
        for line, seen, found in zip(hunk.lines, masked.lines, spans, strict=False):
            if line.startswith("+") and line != seen:
                for kind in _kinds(line[1:], found) or (kind_marked(seen) or "secret",):
                    _add(masks, AddedSecret(file.path, number, number, kind, _certainty(kind), seen[1:]))
            number += line[:1] in ("+", " ")
    return tuple(masks)


def _kinds(line: str, found: Iterable[Found]) -> tuple[str, ...]:
    """The kinds of the secrets in a line. A value that is only likely may hold one of a known issuer's form."""
    return tuple(
        dict.fromkeys(issued_kind(line[start:end]) or kind if kind in LIKELY else kind for start, end, kind in found)
    )


def _certainty(kind: str) -> Certainty:
    return "likely" if kind in LIKELY else "issued"


def _add(masks: list[AddedSecret], mask: AddedSecret) -> None:
    last = masks[-1] if masks else None
    goes_on = last is not None and last.kind == mask.kind == private_keys.KIND and last.end_line + 1 == mask.line
    if last is not None and goes_on:
        masks[-1] = replace(last, end_line=mask.line)
    else:
        masks.append(mask)


def masked_text(path: str, text: str) -> str:
    """The text of the file at ``path``, masked; it has as many lines as before."""
    del path
    return redact(text)


def text_as_shown(file: FileChange, text: str, redacted: Callable[[str], str]) -> str:
    """The text of a changed file at the head: the lines of its hunks as a prompt shows them, the others masked.

    ``redacted`` is what every prompt passes. The text keeps its number of lines, and its line ends.
    """
    raw, lines = text.split("\n"), redacted(masked_text(file.path, text)).split("\n")
    before = [line for line in _lines(without_line_ends(file)) if line[:1] in ("+", " ")]
    shown = [line for line in _lines(shown_file(file)) if line[:1] in ("+", " ")]
    seen = redacted("\n".join(line[1:] for line in shown)).split("\n")
    told = zip(before, seen, strict=True) if before else ()
    pairs = iter(told)
    for hunk in file.hunks:
        count = sum(line[:1] in ("+", " ") for line in hunk.lines)
        for at, (was, masked) in enumerate(islice(pairs, count), start=hunk.new_start - 1):
            if at < len(lines):
                end = "\r" if raw[at].endswith("\r") and not was.endswith("\r") else ""
                lines[at] = raw[at] if was[1:] == masked else masked + end
    return "\n".join(lines)


@lru_cache(maxsize=512)
def shown_file(file: FileChange) -> FileChange:
    """The file with a mark for every secret in its lines; all lines are still there.

    Nothing more is found in it where agents see it, numbered and both sides together: so the line that they quote is
    the line that their quote is compared with. A file of Windows line ends is shown without them, where all lines have
    them; where only some have, they are what the change is about.
    """
    file = without_line_ends(file)
    for _ in range(MOST_ROUNDS):
        now = _marked_as_rendered(_marked_by_side(file))
        if now == file:
            break
        file = now
    return file


def without_line_ends(file: FileChange) -> FileChange:
    """The file without the carriage returns of Windows line ends, if all of its lines have them."""
    lines = list(_lines(file))
    # The last line of a file may have no line end: git says so below it.
    ended = [line for line, below in zip(lines, [*lines[1:], ""], strict=False) if not below.startswith("\\")]
    ended = [line for line in ended if not line.startswith("\\")]
    if not ended or not all(line.endswith("\r") for line in ended):
        return file
    return _with_lines(file, (line.removesuffix("\r") for line in lines))


def _marked_by_side(file: FileChange) -> FileChange:
    found = _found(file)
    if not any(found):
        return file
    return _with_lines(
        file, (line[:1] + marked(line[1:], spans) for line, spans in zip(_lines(file), found, strict=True))
    )


def _marked_as_rendered(file: FileChange) -> FileChange:
    written = render_file(file)
    shown = redact(written)
    if shown == written:
        return file
    return _with_lines(file, (line for line in shown.split("\n")[1:] if not line.startswith("@@")))


def _with_lines(file: FileChange, lines: Iterator[str]) -> FileChange:
    hunks = (hunk.with_lines(islice(lines, len(hunk.lines))) for hunk in file.hunks)
    return replace(file, hunks=tuple(hunks))


def secrets_of(files: Iterable[FileChange]) -> Iterator[tuple[str, str]]:
    """The parts of the secrets in these files by which they are known again anywhere, and the kind of each."""
    for file in files:
        for line, spans in zip(_lines(file), _found(file), strict=True):
            for start, end, kind in spans:
                yield from ((run, kind) for run in RUN.findall(line[1:][start:end]) if looks_random(run, _TELLING))


def hunks_with_secrets(file: FileChange) -> frozenset[int]:
    """The hunks, by their numbers from 0, in which something looks like a secret."""
    spans = iter(_found(file))
    return frozenset(number for number, hunk in enumerate(file.hunks) if any(list(islice(spans, len(hunk.lines)))))


def _lines(file: FileChange) -> Iterator[str]:
    return (line for hunk in file.hunks for line in hunk.lines)


@lru_cache(maxsize=16)
def _found(file: FileChange) -> tuple[tuple[Found, ...], ...]:
    """Where secrets stand in each line, counted from behind its sign."""
    lines = list(_lines(file))
    found: dict[int, list[Found]] = {}
    for side in _SIDES if any(line.startswith("-") for line in lines) else _SIDES[:1]:
        _collect(found, array("Q", (number for number, line in enumerate(lines) if line[:1] in side)), lines)
    return tuple(tuple(apart(found.get(number, []))) for number in range(len(lines)))


def _collect(found: dict[int, list[Found]], numbers: Sequence[int], lines: Sequence[str]) -> None:
    """Add what is found in the lines of these ``numbers``, read as one text, to each of them."""
    secrets = secrets_in("\n".join([lines[number][1:] for number in numbers]))
    at = position = 0
    for start, end, kind in secrets:
        while start > position + (length := len(lines[numbers[at]][1:])):
            position += length + 1
            at += 1
        found.setdefault(numbers[at], []).append((start - position, end - position, kind))
