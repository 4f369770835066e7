"""Where a quote stands in the diff of a file. The time is linear in the file and the quote, whatever they hold."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from review_advisor.core.facts.change import Hunk


@dataclass(frozen=True, slots=True)
class Place:
    """The lines of one place where a quote stands: of the new side, or of the old side if ``removed``.

    ``at`` is the number of its first line on that side. On the old side ``line`` and ``end_line`` span removed lines
    only, because nothing else there can be commented on.
    """

    at: int
    line: int
    end_line: int
    removed: bool


class SideLines:
    """The lines of one side with words in them, as they are read: each with its number and whether it changed."""

    def __init__(self) -> None:
        self.numbers = array("Q")
        self.begins = array("Q")
        self.changed = array("Q", (0,))
        self.texts: list[str] = []
        self._end = 0

    def add(self, number: int, text: str, *, changed: bool) -> None:
        """One more line."""
        self.numbers.append(number)
        self.begins.append(self._end)
        self.changed.append(self.changed[-1] + changed)
        self.texts.append(text)
        self._end += len(text) + 1


class Side:
    """One side of a file's diff. Of a large file it holds one text: an object for each line takes ten times as much."""

    def __init__(self, lines: SideLines, *, removed: bool) -> None:
        self._removed = removed
        self._numbers = lines.numbers
        self._begins = lines.begins
        self._changed = lines.changed
        self._text = "\n".join(lines.texts)

    def places(self, quote: Sequence[str]) -> Places:
        """Every place where the lines of ``quote`` stand one below the other, at least one of them changed.

        The first line may begin, and the last may end, in the middle of a line. Blank lines are no difference.
        """
        size = len(quote)
        starts = array("Q", (each for each in self._starts(quote) if self._changed[each + size] > self._changed[each]))
        return Places(starts, self._numbers, lambda start: self._place(start, size))

    def holds(self, quote: Sequence[str]) -> bool:
        """Whether the lines of ``quote`` stand one below the other, changed or not."""
        return next(self._starts(quote), None) is not None

    def _place(self, start: int, size: int) -> Place:
        first, last = start, start + size - 1
        if self._removed:
            first = bisect_right(self._changed, self._changed[start]) - 1
            last = bisect_left(self._changed, self._changed[start + size]) - 1
        return Place(self._numbers[start], self._numbers[first], self._numbers[last], self._removed)

    def _starts(self, quote: Sequence[str]) -> Iterator[int]:
        """The index of each line in which the quote begins, in order. Most quotes stand once, and are found at once."""
        needle = "\n".join(quote)
        found = self._text.find(needle)
        if found < 0:
            return
        start = bisect_right(self._begins, found) - 1
        yield start
        following = start + 1
        if following < len(self._begins) and self._text.find(needle, self._begins[following]) >= 0:
            yield from (each for each in self._all_starts(quote) if each > start)

    def _all_starts(self, quote: Sequence[str]) -> Iterator[int]:
        code_of: dict[str, int] = {}
        lines = self._text.split("\n") if self._begins else ()
        codes = array("Q", (code_of.setdefault(line, len(code_of)) for line in lines))
        if len(quote) == 1:
            holding = _codes_where(code_of, lambda text: quote[0] in text)
            yield from (start for start, code in enumerate(codes) if code in holding)
            return
        first, *inner, last = quote
        ending, beginning = (
            _codes_where(code_of, lambda text: text.endswith(first)),
            _codes_where(code_of, lambda text: text.startswith(last)),
        )
        for start in occurrences(codes, [code_of[each] for each in inner]):
            before, after = start - 1, start + len(inner)
            if before < 0 or after >= len(codes):
                continue
            if codes[before] in ending and codes[after] in beginning:
                yield before


def _codes_where(code_of: Mapping[str, int], holds: Callable[[str], bool]) -> frozenset[int]:
    return frozenset(code for text, code in code_of.items() if holds(text))


class Places:
    """All places of one quote on one side, in the order of their lines."""

    def __init__(self, starts: Sequence[int], numbers: Sequence[int], place: Callable[[int], Place]) -> None:
        self._starts = starts
        self._numbers = numbers
        self._place = place

    def __len__(self) -> int:
        return len(self._starts)

    def nearest(self, line: int) -> Place:
        """The place that begins nearest to ``line``; of two as near, the first. There must be one."""
        after = self._before(line)
        near = self._starts[max(0, after - 1) : after + 1]
        return self._place(min(near, key=lambda start: abs(self._numbers[start] - line)))

    def rank(self, place: Place) -> int:
        """Which of the places it is, counted from 1."""
        return self._before(place.at) + 1

    def _before(self, line: int) -> int:
        """How many begin above ``line``."""
        return bisect_left(self._starts, line, key=lambda start: self._numbers[start])


def sides(hunks: Iterable[Hunk], bare: Callable[[str], str]) -> tuple[Side, Side]:
    """The file as it is and as it was, as far as its hunks show it. ``bare`` is asked once for each line."""
    now, before = SideLines(), SideLines()
    for hunk in hunks:
        old, new = hunk.old_start, hunk.new_start
        for line in hunk.lines:
            sign, text = line[:1], bare(line[1:])
            if sign in (" ", "+") and text:
                now.add(new, text, changed=sign == "+")
            if sign in (" ", "-") and text:
                before.add(old, text, changed=sign == "-")
            old += sign in (" ", "-")
            new += sign in (" ", "+")
    return Side(now, removed=False), Side(before, removed=True)


def occurrences(sequence: Sequence[int], pattern: Sequence[int]) -> Iterator[int]:
    """Where ``pattern`` begins in ``sequence``, overlaps included, in one pass (Knuth, Morris and Pratt).

    An empty pattern begins everywhere, also behind the end.
    """
    if not pattern:
        yield from range(len(sequence) + 1)
        return
    borders = _borders(pattern)
    matched = 0
    for place, each in enumerate(sequence):
        while matched and pattern[matched] != each:
            matched = borders[matched - 1]
        matched += pattern[matched] == each
        if matched == len(pattern):
            yield place - matched + 1
            matched = borders[matched - 1]


def _borders(pattern: Sequence[int]) -> list[int]:
    """For each beginning of the pattern, the length of the longest shorter one that it also ends with."""
    borders = [0]
    for each in pattern[1:]:
        border = borders[-1]
        while border and pattern[border] != each:
            border = borders[border - 1]
        borders.append(border + (pattern[border] == each))
    return borders
