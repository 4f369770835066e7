"""What became of lines that a finding is about: whether they stand in a text, and whether a commit takes them back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.facts.change import FileChange
from review_advisor.core.roles.fence import clean
from review_advisor.core.roles.secret_shapes import REDACTED

MOST_LINES = 200
"""A finding about more lines than this is about no lines in particular."""
_REVERT = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})\b")
_REVERTS_PULL = re.compile(r"^Reverts ([\w.-]+/[\w.-]+#[0-9]{1,10})\s*$", re.MULTILINE)
_EITHER = {"+": "-", "-": "+"}


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
class LaterCommit:
    """A commit of the base branch after the merge. ``message`` is hostile."""

    commit: str
    message: str
    files: tuple[FileChange, ...]


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
    there = _bare(clean(text).split("\n"))
    return sum(_quoted(lines.lines, there[start : start + len(lines.lines)]) for start in range(len(there)))


def may_take_away(files: Iterable[FileChange], path: str, lines: Wanted) -> bool:
    """Whether a commit that changes these files takes away a line like one of these: else it cannot take them away."""
    known = set(lines.lines)
    gone = (
        line[1:] for file in files if path in file.paths for hunk in file.hunks for line in hunk.lines if line[0] == "-"
    )
    return any(not lines.whole or " ".join(line.split()) in known for line in gone)


def at_merge(*, removed: bool, reviewed: int | None, merged: int | None) -> AtMerge:
    """What so many places at the merge say, against those in the file that was reviewed; None: there is no such file.

    Never a guess: where some of several places are gone, nobody can tell which one was meant.
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
    if merged >= (reviewed or 1) and (reviewed is not None or merged == 1):
        return AtMerge("there", "the lines stand in the merged file")
    return AtMerge("unknown", "the lines stand in several places, and some are gone")


def taken_back(
    brought: Sequence[FileChange], later: Iterable[LaterCommit], commits: Sequence[str], pull_request: str
) -> str | None:
    """The first later commit that takes a change back; None if none does.

    It undoes all that was ``brought``, line by line. Or it says, as git and GitHub do, that it reverts one of
    ``commits`` or ``pull_request`` (``owner/name#1``), and does undo some of it: words alone are nobody's proof.
    """
    lines = _lines(brought)
    for each in later:
        undone = Counter({(path, _EITHER[sign], text): n for (path, sign, text), n in _lines(each.files).items()})
        if lines and (undone == lines or (_names(each.message, commits, pull_request) and undone & lines)):
            return each.commit
    return None


def same_lines(one: Sequence[FileChange], other: Sequence[FileChange]) -> bool:
    """Whether two changes take away and bring the same lines of the same files."""
    return _lines(one) == _lines(other)


def _names(message: str, commits: Sequence[str], pull_request: str) -> bool:
    named = any(commit.startswith(found) for found in _REVERT.findall(message) for commit in commits)
    return named or pull_request.casefold() in (found.casefold() for found in _REVERTS_PULL.findall(message))


def _lines(files: Iterable[FileChange]) -> Counter[tuple[str, str, str]]:
    """Every changed line that is not blank, by the file that it is of on its own side."""
    found: Counter[tuple[str, str, str]] = Counter()
    for file in files:
        of = {"+": file.path, "-": file.old_path or file.path}
        for hunk in file.hunks:
            found.update((of[line[0]], line[0], line[1:]) for line in hunk.lines if line[0] in of and line[1:].strip())
    return found


def _places(wanted: str, text: str) -> int:
    """How often one text stands in another; two places may share a line end."""
    found, place = 0, text.find(wanted)
    while place >= 0:
        found, place = found + 1, text.find(wanted, place + 1)
    return found


def _quoted(quote: Sequence[str], window: Sequence[str]) -> bool:
    """Whether a quote, which may begin and end within a line, stands in just these lines."""
    first, *inner = quote
    if len(window) != len(quote) or first not in window[0]:
        return False
    if not inner:
        return True
    last = inner.pop()
    return window[0].endswith(first) and list(window[1:-1]) == inner and window[-1].startswith(last)


def _bare(lines: Iterable[str]) -> list[str]:
    return [found for line in lines if (found := " ".join(line.split()))]
