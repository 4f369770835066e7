"""Whether later commits take a change back: what they do to files, line by line and beyond lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from review_advisor.core.facts.change import MOST_RENAMES

MOST_LATER = 200
"""So many of the later commits that touch a file are looked at."""
UNDONE_SHARE = 0.8
"""So much of a change's lines has a commit to undo, and so much of what it does in the same files has to be that."""
_EITHER = {"+": "-", "-": "+"}
Lines = Counter[tuple[str, str, str]]
"""Changed lines that are not blank: the file's name on the line's own side, ``-`` or ``+``, and the text."""


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
    def shape(self) -> tuple[str, ...]:
        """What lines do not tell of it: its names and modes, and whatever it is if it is no regular file."""
        told = self._modes if self.old or self.new else self.entries
        return self.old_path, self.path, *told

    @property
    def is_more_than_lines(self) -> bool:
        """Whether it was moved, got another mode, or is no regular file."""
        return self.is_moved or not (self.old or self.new) or (all(self.entries) and len({*self._modes}) > 1)

    @property
    def _modes(self) -> tuple[str, ...]:
        return tuple(entry.partition(" ")[0] for entry in self.entries)

    @property
    def back(self) -> Touched:
        """The very opposite."""
        return Touched(self.path, self.old_path, self.new, self.old, self.entries[::-1])


@dataclass(frozen=True, slots=True)
class LaterCommit:
    """A commit of the base branch after the merge, and every file that it touches."""

    commit: str
    files: tuple[Touched, ...]


def names_renames(files: Sequence[Touched]) -> bool:
    """Whether git looked for renames among all of these: if not, what counts as deleted may have been moved."""
    gone, made = sum(not each.path for each in files), sum(not each.old_path for each in files)
    return gone * made <= MOST_RENAMES**2


def of_file(files: Iterable[Touched], path: str) -> Touched | None:
    """What became of a file among these: also of one that was moved away, or made anew; None if nothing did."""
    about = [each for each in files if path in (each.old_path, each.path)]
    return min(about, key=lambda each: each.old_path != path, default=None)


def changed_lines(file: Touched, before: str, after: str) -> Lines:
    """The lines of a file that are not on both sides, wherever in it they stand."""
    old, new = (Counter(line for line in text.split("\n") if line.strip()) for text in (before, after))
    found = Lines({(file.old_path, "-", line): n for line, n in (old - new).items()})
    found.update({(file.path, "+", line): n for line, n in (new - old).items()})
    return found


def restores(brought: Sequence[Touched], files: Sequence[Touched]) -> bool:
    """Whether a commit gives every file that a change touched back the content and the name that it had."""
    return 0 < len(brought) <= len(files) and {each.back for each in brought} <= {*files}


def gives_back(brought: Sequence[Touched], files: Sequence[Touched]) -> bool:
    """Whether a commit takes back all that lines do not tell of a change: moves, modes, links, submodules."""
    shapes = {each.shape for each in files}
    return all(each.back.shape in shapes for each in brought if each.is_more_than_lines)


def brings_the_same(one: Sequence[Touched], other: Sequence[Touched]) -> bool:
    """Whether two changes are the same in all that lines do not tell."""
    shapes, others = ({each.shape for each in files if each.is_more_than_lines} for files in (one, other))
    return shapes == others


def moved_share(later: Lines, elsewhere: Lines) -> float:
    """The share of the lines that a commit takes away in some files that it adds ``elsewhere``."""
    away = _texts(later, "-")
    return (away & _texts(elsewhere, "+")).total() / max(away.total(), 1)


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


def undoes(brought: Lines, later: Lines) -> bool:
    """Whether a commit takes a change back; ``later`` are its lines in the files that the change touched.

    It undoes most of the change, and most of what it does there is that: who writes lines anew, or moves them among
    these files, takes nothing back. What its message says proves nothing.
    """
    undone = (brought & Lines({(path, _EITHER[sign], text): n for (path, sign, text), n in later.items()})).total()
    return _is_most(undone, brought.total()) and _is_most(undone, later.total())


def has_word(line: str) -> bool:
    """Whether a line says anything: a mere brace stands everywhere."""
    return any(character.isalnum() for character in line)


def _texts(lines: Lines, sign: str) -> Counter[str]:
    """The lines of one sign that have a word in them, wherever they stand and however they are indented."""
    found: Counter[str] = Counter()
    for (_, own, text), n in lines.items():
        if own == sign and has_word(text):
            found[" ".join(text.split())] += n
    return found


def _is_most(part: int, whole: int) -> bool:
    return part > 0 and part >= UNDONE_SHARE * whole
