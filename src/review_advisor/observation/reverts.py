"""Which later commit takes a merge back: all of its files as they were, or most of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from review_advisor.core.observation.revert_detection import (
    MOST_LATER,
    UNDONE_SHARE,
    LaterCommit,
    Lines,
    Touched,
    gives_back,
    may_undo,
    moved_share,
    restores,
    undoes,
    weights,
)
from review_advisor.ports.forge import History
from review_advisor.ports.review import SourceError


def first_revert(history: History) -> LaterCommit | None:
    """The first commit that takes back what the merge brought; None if none does. Raises ``SourceError``.

    Whole files tell so without being read. So where too much would have to be read, the commits after that may still
    tell; only if none does, it is raised.
    """
    brought = history.brought
    paths = {path for each in brought for path in (each.old_path, each.path)} - {""}
    compared, problem = _Compared(history, brought), None
    for commit in history.later():
        files = [each for each in commit.files if not paths.isdisjoint((each.old_path, each.path))]
        others = [each for each in commit.files if each.new and paths.isdisjoint((each.old_path, each.path))]
        try:
            if restores(brought, files):
                if not others or _takes_away(history, history.lines(files, passing_over=True), others):
                    return commit
            elif files and problem is None and compared.undone_by(files, others):
                return commit
        except SourceError as told:
            problem = told
    if problem is not None:
        raise problem
    return None


def _takes_away(history: History, later: Lines, others: Sequence[Touched]) -> bool:
    """Whether a commit that takes lines away does not merely move them to the ``others`` that it writes.

    Of these the ones count that are not too large. Raises ``SourceError`` where it does some of both, or past a bound.
    """
    moved = moved_share(later, history.lines(others, passing_over=True))
    if 1 - UNDONE_SHARE < moved < UNDONE_SHARE:
        raise SourceError("a commit takes some of it back, and moves some of it")
    return moved < UNDONE_SHARE


class _Compared:
    """A change that is held, line by line, against so many commits that touch its files."""

    def __init__(self, history: History, brought: Sequence[Touched]) -> None:
        self._history = history
        self._brought = brought
        self._lines: Lines | None = None
        self._weights = Counter[str]()
        self._looked_at = 0

    def undone_by(self, files: Sequence[Touched], others: Sequence[Touched]) -> bool:
        """Whether a commit that does this to the files takes the change back. Raises ``SourceError`` past a bound.

        The ``others`` that it writes are read only where it looks like that.
        """
        if self._lines is None:
            self._lines = self._history.lines(self._brought)
            self._weights = weights(self._lines)
        if not self._lines:
            raise SourceError("what it changed has no lines, and nobody gave it back as it was")
        if not may_undo(self._weights, files):
            return False
        self._looked_at += 1
        if self._looked_at > MOST_LATER:
            raise SourceError(f"more than {MOST_LATER} later commits touch what it changed")
        later = self._history.lines(files)
        if not undoes(self._lines, later) or (others and not _takes_away(self._history, later, others)):
            return False
        if not gives_back(self._brought, files):
            raise SourceError("its lines were taken back, and not all that it changed beside lines")
        return True
