"""What became of lines that a finding is about: whether they stand in a text, and whether a commit takes them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from review_advisor.core.facts.change import MOST_RENAMES
from review_advisor.core.roles.fence import clean
from review_advisor.core.roles.secret_shapes import REDACTED

MOST_LINES = 200
"""A finding about more lines than this is about no lines in particular."""
JUDGED_AFTER = timedelta(days=7)
"""A merge that nobody has taken back for so long counts as kept; before that nobody can tell."""
UNDONE_SHARE = 0.8
"""So much of a change's lines has a commit to undo, and so much of what it does in the same files has to be that."""
MOST_LATER = 200
"""So many of the later commits that touch a file are looked at."""
_EITHER = {"+": "-", "-": "+"}
Lines = Counter[tuple[str, str, str]]
"""Changed lines that are not blank: the file's name on the line's own side, ``-`` or ``+``, and the text."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a finding is about: lines of a file at the commit that was reviewed.

    ``removed``: they are of the old side, which the change takes away. ``quote`` is the model's own, empty where only
    the place is known.
    """

    path: str
    commit: str
    line: int
    end_line: int
    removed: bool = False
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Lines to look for, without what is blank in them; ``whole``: each has to be a whole line."""

    lines: tuple[str, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class AtMerge:
    """Whether the lines were still there when the change was merged, and what shows it, or why nobody can tell."""

    value: Literal["fixed", "there", "unknown"]
    because: str


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a commit touches: its names before and after, and what git calls its content then.

    A side's name is empty where nothing is there, its content also where that is no regular file. A file that was moved
    has two names. ``entries`` are what git says of both sides, whatever is there: its mode and its content's name.
    """

    old_path: str
    path: str
    old: str
    new: str
    entries: tuple[str, str] = ("", "")

    @property
    def is_moved(self) -> bool:
        """Whether git says that it was renamed."""
        return bool(self.old_path and self.path) and self.old_path != self.path

    @property
    def back(self) -> Touched:
        """The very opposite."""
        return Touched(self.path, self.old_path, self.new, self.old, self.entries[::-1])


@dataclass(frozen=True, slots=True)
class LaterCommit:
    """A commit of the base branch after the merge, and every file that it touches."""

    commit: str
    files: tuple[Touched, ...]


def wanted(said: Said, reviewed: str | None) -> Wanted | str:
    """The lines that a finding is about; a phrase where they cannot be known.

    ``reviewed`` is the file as it was reviewed, None if it cannot be read: then the quote has to do.
    """
    if REDACTED in said.quote:
        return "its quote holds a secret, which is not kept"
    place = None if said.removed or reviewed is None else reviewed.split("\n")[max(said.line - 1, 0) : said.end_line]
    lines = _bare(place if place is not None else said.quote.split("\n"))
    if place is not None and not lines:
        return "its lines are not in the file that was reviewed"
    if not lines:
        return "the file that was reviewed cannot be read any more" if reviewed is None else "its lines are not known"
    if len(lines) > MOST_LINES:
        return f"it is about more than {MOST_LINES} lines"
    return Wanted(tuple(lines), whole=place is not None)


def times(lines: Wanted, text: str) -> int:
    """How often these lines stand in a text, one after the other; blank lines and spaces do not count.

    A quote is looked for in what the model was shown: without secrets, invisible characters spelt out.
    """
    if lines.whole:
        return _places("\n".join(["", *lines.lines, ""]), "\n".join(["", *_bare(text.split("\n")), ""]))
    first, there = lines.lines[0], _bare(clean(text).split("\n"))
    starts = (start for start, line in enumerate(there) if first in line)
    return sum(_quoted(lines.lines, there, start) for start in starts)


def are_whole(lines: Wanted, text: str) -> bool:
    """Whether the one place of these lines in a text is whole lines, as they were shown."""
    return lines.whole or times(replace(lines, whole=True), clean(text)) == 1


def names_renames(files: Sequence[Touched]) -> bool:
    """Whether git looked for renames among all of these: if not, what counts as deleted may have been moved."""
    gone, made = sum(not each.path for each in files), sum(not each.old_path for each in files)
    return gone * made <= MOST_RENAMES**2


def of_file(files: Iterable[Touched], path: str) -> Touched | None:
    """What became of a file among these: also of one that was moved away, or made anew; None if nothing did."""
    about = [each for each in files if path in (each.old_path, each.path)]
    return min(about, key=lambda each: each.old_path != path, default=None)


def at_merge(*, removed: bool, reviewed: int | None, merged: int | None, whole: bool = True) -> AtMerge:
    """What so many places at the merge say, against those in the file that was reviewed; None: there is no such file.

    ``whole``: the places are whole lines. A mere quote may stand in what took their place: ``value = 3`` in
    ``value = 30``. Never a guess: where some of several places are gone, nobody can tell which one was meant.
    """
    if removed:
        if merged is None or merged <= (reviewed or 0):
            return AtMerge("there", "the lines are still taken away")
        known = reviewed is not None
        return AtMerge("fixed", "the lines are back") if known else AtMerge("unknown", "the lines stand elsewhere too")
    if merged is None:
        told = reviewed is not None
        return AtMerge("fixed", "its file is gone") if told else AtMerge("unknown", "its file cannot be found")
    if reviewed == 0:
        return AtMerge("unknown", "its lines are not in the file that was reviewed")
    if merged == 0:
        return AtMerge("fixed", "the lines are gone or changed")
    if reviewed is None and merged == 1 and not whole:
        return AtMerge("unknown", "only its quote is known, and it stands within other lines")
    if merged >= (reviewed or 1) and (reviewed is not None or merged == 1):
        return AtMerge("there", "the lines stand in the merged file")
    return AtMerge("unknown", "the lines stand in several places, and some are gone")


def changed_lines(file: Touched, before: str, after: str) -> Lines:
    """The lines of a file that are not on both sides, wherever in it they stand."""
    old, new = (Counter(line for line in text.split("\n") if line.strip()) for text in (before, after))
    found = Lines({(file.old_path, "-", line): n for line, n in (old - new).items()})
    found.update({(file.path, "+", line): n for line, n in (new - old).items()})
    return found


def restores(brought: Sequence[Touched], files: Sequence[Touched]) -> bool:
    """Whether a commit gives every file that a change touched back the content and the name that it had."""
    return 0 < len(brought) <= len(files) and {each.back for each in brought} <= {*files}


def moves_away(later: Lines, elsewhere: Lines) -> bool:
    """Whether any line that a commit takes away in some files is one that it adds ``elsewhere``."""
    return bool((_texts(later, "-") & _texts(elsewhere, "+")).total())


def may_be_there(lines: Wanted, before: str, after: str) -> bool:
    """Whether a file got such lines: they may have moved to it."""
    return times(lines, after) > times(lines, before)


def weights(lines: Lines) -> Counter[str]:
    """How many of the lines are of which file."""
    found: Counter[str] = Counter()
    for (path, _, _), n in lines.items():
        found[path] += n
    return found


def may_undo(brought: Counter[str], files: Sequence[Touched]) -> bool:
    """Whether a commit touches the files of enough of the lines, by their ``weights``: else it cannot undo them."""
    paths = {path for each in files for path in (each.old_path, each.path)}
    return _is_most(sum(brought[path] for path in paths), brought.total())


def undoes(brought: Lines, later: Lines, elsewhere: Lines | None = None) -> bool:
    """Whether a commit takes a change back; ``later`` are its lines in the files that the change touched.

    It undoes most of the change, and most of what it does there is that: who writes lines anew takes nothing back, and
    what is only moved, there or to a file ``elsewhere``, is not undone. What its message says proves nothing.
    """
    undone = brought & Lines({(path, _EITHER[sign], text): n for (path, sign, text), n in later.items()})
    added = _texts(later, "+") + _texts(elsewhere or Lines(), "+") - _texts(undone, "-")
    stays = undone.total() - (_texts(undone, "+") & added).total()
    return _is_most(stays, brought.total()) and _is_most(stays, later.total())


def _texts(lines: Lines, sign: str) -> Counter[str]:
    """The lines of one sign, wherever they stand and however they are indented."""
    found: Counter[str] = Counter()
    for (_, own, text), n in lines.items():
        if own == sign:
            found[" ".join(text.split())] += n
    return found


def _is_most(part: int, whole: int) -> bool:
    return part > 0 and part >= UNDONE_SHARE * whole


def _places(wanted: str, text: str) -> int:
    """How often one text stands in another; two places may share a line end."""
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
