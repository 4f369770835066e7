"""The marks that stand in a text where a secret was: for its letters and digits, where these are data."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.safety.data_spans import Piece, runs_on_line

REDACTED = "[secret removed]"
"""Stands for a secret of the harness's own. Nobody is told of which kind it was."""
MORE = "[*]"
"""Stands for what more of a secret there is behind its first sign that is neither letter nor digit."""
_MARK = re.compile(r"\[secret(?: removed|: (?P<kind>[A-Za-z0-9][A-Za-z0-9 .'/-]{1,48}))\]")


def mark(kind: str) -> str:
    """What stands for a recognised secret: it says the kind, and is the same for any two secrets of one kind."""
    return f"[secret: {kind}]"


def holds_mark(text: str) -> bool:
    """Whether something was taken out of ``text``."""
    return _MARK.search(text) is not None


def is_mark(text: str) -> bool:
    """Whether ``text`` is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def kind_marked(text: str) -> str:
    """The kind that the first mark in ``text`` names; empty if there is none, or it names none."""
    found = _MARK.search(text)
    return (found["kind"] or "") if found else ""


def without_kinds(text: str) -> str:
    """``text`` with one mark for each secret, whatever its kind is taken for and whatever signs are in it."""
    return _ONE_SECRET.sub("[secret]", text)


_ONE_SECRET = re.compile(
    rf"(?:{_MARK.pattern.replace('?P<kind>', '?:')}|\[\*\])(?:[^\w\s\[\]]{{0,4}}(?:\[secret[^\]\n]{{0,60}}\]|\[\*\]))*+"
)
_RUN = re.compile(r"(?:[^\W_]|[/+=])++")
_QUOTES = "\"'`"
_SEPARATOR = re.compile(r"[;|&<>]")
_SHELL_SEPARATORS = ";&|<>()"
_COMMAND_AFTER = re.compile(r"[;|&<>](?=[^\s<>/$(`]{0,300}+[\s<>/$(`])")
_HOLE = re.compile(
    r"(?P<mark>\[(?:secret[^\]\n]{0,60}|\*)\])|(?P<sure>\$[({]|[`]|#\{|\{\{|<[%?])"
    r"|(?P<call>(?<![\w.])[A-Za-z_][\w.]{2,}+(?=\())?(?P<group>[({\[])|#(?P<between>[^#\s]{1,80}+)#"
)
"""What looks like an interpolation or a call in any language: a group counts where it ends and holds a name."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_CALL = re.compile(r"[A-Za-z_0-9]\(")
_LONGEST_GROUP = 200
_HOLE_ENDS = {"$(": "()", "${": "{}", "#{": "{}", "{{": "{}"}


@dataclass(frozen=True, slots=True)
class Mask:
    """What stands for one run of letters and digits of a secret. Not ``sure``: it may hide code."""

    start: int
    end: int
    kind: str
    first: bool
    sure: bool = True

    @property
    def shown(self) -> str:
        """The mark: that of the kind for the first run of a secret."""
        return mark(self.kind) if self.first else MORE


def masks(text: str, secrets: Iterable[tuple[int, int, str]], pieces: Sequence[Piece]) -> list[list[Mask]]:
    """For each of these ``secrets`` what is masked of it: its letters, digits and ``/ + =`` where they are data.

    ``pieces`` are the data of ``text``, in order. An interpolation within the secret stays, with all that it holds.
    What is not in quotes by itself ends at a sign that separates commands.
    """
    starts = [piece.start for piece in pieces]
    return [_masks_of(text, secret, pieces, starts) for secret in secrets]


def _masks_of(text: str, secret: tuple[int, int, str], pieces: Sequence[Piece], starts: Sequence[int]) -> list[Mask]:
    start, end, kind = secret
    first = bisect_right(starts, start)
    while first > 0 and pieces[first - 1].end > start:
        first -= 1
    here = [piece for piece in pieces[first : bisect_left(starts, end)] if piece.end > start]
    depth = min((piece.depth for piece in here), default=0)
    found: list[Mask] = []
    for begin, stop, sure in _data_within(text, start, end, [piece for piece in here if piece.depth == depth]):
        found += (
            Mask(begin + run.start(), begin + run.end(), kind, False, sure) for run in _RUN.finditer(text[begin:stop])
        )
    return [Mask(each.start, each.end, kind, number == 0, each.sure) for number, each in enumerate(found)]


def _data_within(text: str, start: int, end: int, pieces: Sequence[Piece]) -> Iterator[tuple[int, int, bool]]:
    """The parts of a secret that are data, to where it ends."""
    enclosed = start > 0 and text[start - 1] in _QUOTES and end < len(text) and text[end] in _QUOTES
    reached = start
    for piece in pieces:
        between = text[reached : piece.start].lstrip(_QUOTES)
        if between and between[0] in _SHELL_SEPARATORS:
            return
        begin, stop = max(start, piece.start), min(end, piece.end)
        reached = piece.end
        if piece.kind == "bare":
            yield begin, stop, piece.sure
            continue
        ends, sure = None, piece.sure
        if not enclosed and (piece.kind != "scalar" or runs_on_line(text, start)):
            ends = _COMMAND_AFTER if piece.kind == "dotenv" else _SEPARATOR
        for one, other in _outside_holes(text, begin, stop):
            cut = ends.search(text, one, other) if ends else None
            if cut is not None:
                yield one, cut.start(), sure
                return
            sure = sure and (ends is not _COMMAND_AFTER or _SEPARATOR.search(text, one, other) is None)
            yield one, other, sure


def _outside_holes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts between what looks like an interpolation in any language; one that does not end goes on to the end."""
    at = reached = start
    while at < end:
        hole = _HOLE.search(text, at, end)
        if hole is None:
            break
        stop = _end_of_hole(text, hole, end)
        if stop < 0:
            at = hole.end() - (hole["between"] is not None)
        else:
            yield reached, hole.start()
            at = reached = stop
    if reached < end:
        yield reached, end


def looks_like_code(text: str, start: int, end: int) -> bool:
    """Whether a part of a text has in it what looks like an interpolation or a call in any language."""
    part = _ONE_SECRET.sub("", text[start:end])
    return [*_outside_holes(part, 0, len(part))] not in ([(0, len(part))], []) or _CALL.search(part) is not None


def _end_of_hole(text: str, hole: re.Match[str], end: int) -> int:
    """Where it ends; -1 if it is none."""
    if hole["mark"] is not None:
        return hole.end()
    if hole["between"] is not None:
        return hole.end() if "(" in hole["between"] or _NAME.fullmatch(hole["between"]) else -1
    if hole["group"] is not None:
        return _end_of_group(text, hole, min(end, hole.end() + _LONGEST_GROUP))
    brackets = _HOLE_ENDS.get(hole[0])
    if brackets is None:
        closing = {"`": "`", "<%": "%>", "<?": "?>"}[hole[0]]
        stop = text.find(closing, hole.end(), end)
        return end if stop < 0 else stop + len(closing)
    deep = 0
    for at in range(hole.start(), end):
        deep += (text[at] == brackets[0]) - (text[at] == brackets[1])
        if not deep and at >= hole.end() - 1:
            return at + 1
    return end


def _end_of_group(text: str, hole: re.Match[str], end: int) -> int:
    """Where brackets that a name is in, or before, are closed; -1 if nowhere."""
    first = hole.end() - 1
    closing = {"(": ")", "{": "}", "[": "]"}[text[first]]
    deep = 0
    for at in range(first, end):
        deep += (text[at] == text[first]) - (text[at] == closing)
        if not deep:
            is_call = text[first] == "(" and hole["call"] is not None
            return at + 1 if is_call or _NAME.search(text, first, at) else -1
    return -1


def with_masks(text: str, found: Iterable[Mask]) -> str:
    """``text`` with these masks, which are in order."""
    parts: list[str] = []
    at = 0
    for each in found:
        parts += text[at : each.start], each.shown
        at = each.end
    return "".join([*parts, text[at:]]) if parts else text
