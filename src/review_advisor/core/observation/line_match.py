"""What became of lines that a finding is about: whether they stand in a text, as they did or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from review_advisor.core.observation.revert_detection import has_word
from review_advisor.core.safety.fence import clean
from review_advisor.core.safety.secret_shapes import holds_mark

MOST_LINES = 200
"""A finding about more lines than this is about no lines in particular."""
JUDGED_AFTER = timedelta(days=7)
"""A merge that nobody has taken back for so long counts as kept; before that nobody can tell."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a finding is about: lines of a file at the commit that was reviewed.

    ``removed``: they are of the old side, which the change takes away; those are known by the ``quote`` alone, which is
    the model's own and empty where only the place is known.
    """

    path: str
    commit: str
    line: int
    end_line: int
    removed: bool = False
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lines to look for, without what is blank in them.

    ``quoted``: they are a model's words, which may begin and end within a line. Else ``before`` and ``after`` are the
    lines beside them, empty where there is none with a word in it.
    """

    lines: tuple[str, ...]
    quoted: bool = False
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """How often lines stand in a text: as ``whole`` lines, and ``within`` others or whole."""

    whole: int = 0
    within: int = 0


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of lines between two states of their file, and what shows it, or why nobody can tell.

    ``undone``: lines that the change brought are gone, or those that it took away are back.
    """

    value: Literal["undone", "there", "unknown"]
    because: str


def wanted(said: Said, reviewed: str | None) -> Wanted | str:
    """The lines that a finding is about; a phrase where they cannot be known.

    ``reviewed`` is the file as it was reviewed, None if it cannot be read.
    """
    if not said.removed:
        return _in_place(said, reviewed)
    if holds_mark(said.quote):
        return "its quote holds a secret, which is not kept"
    lines = _bare(said.quote.split("\n"))
    if not lines:
        return "its lines are not known"
    return _few(lines) or Wanted(tuple(lines), quoted=True)


def _in_place(said: Said, reviewed: str | None) -> Wanted | str:
    if reviewed is None:
        return "the file that was reviewed cannot be read any more"
    every, start = reviewed.split("\n"), max(said.line - 1, 0)
    lines = _bare(every[start : said.end_line])
    if not lines:
        return "its lines are not in the file that was reviewed"
    before, after = _bare(every[:start])[-1:], _bare(every[said.end_line :])[:1]
    return _few(lines) or Wanted(tuple(lines), before=_telling(before), after=_telling(after))


def _telling(beside: Sequence[str]) -> str:
    """The line beside a place, if there is one with a word in it: a mere brace stands beside everything."""
    return "".join(line for line in beside if has_word(line))


def _few(lines: Sequence[str]) -> str:
    """Why these are too many to look for; empty if they are not."""
    return f"it is about more than {MOST_LINES} lines" if len(lines) > MOST_LINES else ""


def places(lines: Wanted, text: str) -> Places:
    """How often these lines stand in a text, one after the other; blank lines and spaces do not count.

    A quote is looked for in what the model was shown: without secrets, invisible characters spelt out.
    """
    there = _bare((clean(text) if lines.quoted else text).split("\n"))
    whole = _times(lines.lines, there)
    if not lines.quoted:
        return Places(whole, whole)
    starts = (start for start, line in enumerate(there) if lines.lines[0] in line)
    return Places(whole, sum(_quoted(lines.lines, there, start) for start in starts))


def stand_beside(lines: Wanted, text: str) -> bool:
    """Whether they stand in a text beside a line that they stood beside, or there was none."""
    if not (lines.before or lines.after):
        return True
    there = _bare(text.split("\n"))
    with_before, with_after = (lines.before, *lines.lines), (*lines.lines, lines.after)
    return any(_times(each, there) for each in (with_before, with_after) if all(each))


def came_back(before: Places, now: Places) -> bool | None:
    """Whether a text got such lines; None where longer ones got them, which nobody can tell from others."""
    if now.whole > before.whole:
        return True
    return None if now.within > before.within else False


def fate_of_brought(lines: Wanted, before: str, now: str | None) -> Fate:
    """What became of lines that the change brings; None: their file is gone.

    Never a guess: where some of several places are gone, nobody can tell which one was meant, nor where the lines stand
    beside others only.
    """
    if now is None:
        return Fate("undone", "its file is gone")
    found = places(lines, now).whole
    if not found:
        return Fate("undone", "the lines are gone or changed")
    if found < places(lines, before).whole:
        return Fate("unknown", "the lines stand in several places, and some are gone")
    if not stand_beside(lines, now):
        return Fate("unknown", "such lines stand in their file, but beside other ones")
    return Fate("there", "the lines stand in their file")


def fate_of_removed(lines: Wanted, before: str | None, now: str | None) -> Fate:
    """What became of lines that the change takes away; None: there is no such file, or ``before`` cannot be read."""
    found = came_back(places(lines, before or ""), places(lines, now or ""))
    if found is False:
        return Fate("there", "the lines are still taken away")
    if found is None:
        return Fate("unknown", "such lines came within longer ones")
    known = before is not None
    return Fate("undone", "the lines are back") if known else Fate("unknown", "the lines stand elsewhere too")


def _times(lines: Sequence[str], there: Sequence[str]) -> int:
    """How often lines stand among others, one after the other."""
    wanted, text = "\n".join(["", *lines, ""]), "\n".join(["", *there, ""])
    found, place = 0, text.find(wanted)
    while place >= 0:
        found, place = found + 1, text.find(wanted, place + 1)
    return found


def _quoted(quote: Sequence[str], there: Sequence[str], start: int) -> bool:
    """Whether a quote, which may begin and end within a line, stands in the lines from one that holds its first."""
    end = start + len(quote) - 1
    if end == start:
        return True
    if end >= len(there) or not there[start].endswith(quote[0]) or not there[end].startswith(quote[-1]):
        return False
    return all(there[start + place] == quote[place] for place in range(1, len(quote) - 1))


def _bare(lines: Iterable[str]) -> list[str]:
    return [found for line in lines if (found := " ".join(line.split()))]
