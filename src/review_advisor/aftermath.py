"""What became of a merge, and of single lines in it, read from git: facts where it says so, else unknown and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.record.fate import (
    JUDGED_AFTER,
    MOST_LATER,
    AtMerge,
    Said,
    Wanted,
    brought_at_merge,
    came_back,
    places,
    removed_at_merge,
    wanted,
)
from review_advisor.core.record.labels import Label, Name
from review_advisor.core.record.undoing import (
    UNDONE_SHARE,
    LaterCommit,
    Lines,
    Touched,
    gives_back,
    may_undo,
    moved_share,
    names_renames,
    of_file,
    restores,
    undoes,
    weights,
)
from review_advisor.ports.forge import FileTooLarge, History
from review_advisor.ports.review import SourceError

MOST_FINDINGS = 200
"""So many findings of one pull request are looked for in its files."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where lines were looked for in what was merged: the text of that file, None where there is none."""

    path: str
    text: str | None


class Aftermath:
    """What became of a closed pull request; ``history`` is None if it was not merged. It is judged as of ``now``."""

    def __init__(self, pull_request: PullRequest, history: History | None, now: datetime) -> None:
        self._pull_request = pull_request
        self._history = history
        self._now = now
        self._looked_for = 0
        self._taken_back: LaterCommit | SourceError | None = None
        self._asked = False

    def reverted(self) -> Iterator[Label]:
        """Whether it is judged, and whether a later commit takes it all back; nothing of what was not merged."""
        if self._history is None:
            return
        yield self._judged(self._history, Label("", "judged", "judged", f"it was merged on {_day(self._history)}"))
        try:
            yield self._reverted(self._history)
        except SourceError as problem:
            yield Label("", "reverted", "unknown", _phrase(problem))

    def of_lines(self, finding: str, said: Said | None) -> Iterator[Label]:
        """What became of the lines at the merge, and, where they were still there, after it: one label of each kind."""
        if self._history is None:
            yield Label(finding, "at_merge", "unknown", "it was closed without a merge")
            return
        if said is None:
            yield Label(finding, "at_merge", "unknown", "neither a comment on the diff nor the ledger says where it is")
            return
        try:
            label, lines, place = self._at_merge(self._history, finding, said)
        except SourceError as problem:
            yield Label(finding, "at_merge", "unknown", _phrase(problem))
            return
        yield label
        if label.value == "there" and lines is not None:
            try:
                yield self._later(self._history, finding, said, lines, place)
            except SourceError as problem:
                yield Label(finding, "later", "unknown", _phrase(problem))

    def _reverted(self, history: History) -> Label:
        commit = self._revert(history)
        if commit is not None:
            return Label("", "reverted", "reverted", f"commit {commit.commit[:12]} takes it back")
        told = "no later commit that was looked at takes it back"
        return self._judged(history, Label("", "reverted", "not_reverted", told))

    def _judged(self, history: History, label: Label) -> Label:
        """The label, once enough time has gone by since the merge to say that nothing happened."""
        if self._now - history.merged_at >= JUDGED_AFTER:
            return label
        because = f"it was merged on {_day(history)}, and is judged {JUDGED_AFTER.days} days later"
        return Label(label.finding, label.name, "unknown", because)

    def _at_merge(self, history: History, finding: str, said: Said) -> tuple[Label, Wanted | None, _Place]:
        self._looked_for += 1
        if self._looked_for > MOST_FINDINGS:
            raise SourceError(f"there are more than {MOST_FINDINGS} findings")
        text = _reviewed(history, said)
        lines = wanted(said, text)
        if isinstance(lines, str):
            return Label(finding, "at_merge", "unknown", lines), None, _Place(said.path, None)
        place = self._place(history, said)
        if said.removed or text is None:
            found = removed_at_merge(lines, text, place.text)
        else:
            found = brought_at_merge(lines, text, place.text)
            if found.value == "fixed":
                files = history.since(said.commit)
                path = "" if place.text is None else place.path
                moved = _moved(history, files, _own(history, files), lines, path)
                found = AtMerge("unknown", moved) if moved else found
        return Label(finding, "at_merge", found.value, found.because), lines, place

    def _place(self, history: History, said: Said) -> _Place:
        """Their file, under the name that it was merged with, by git's word. No other file stands in for it."""
        merge, path = self._pull_request.merge_commit, said.path
        text = history.text(merge, path)
        if text is None:
            path = history.moved(said.commit, said.path) or said.path
            text = history.text(merge, path)
        return _Place(path, text)

    def _later(self, history: History, finding: str, said: Said, lines: Wanted, place: _Place) -> Label:
        """Whether a later commit takes the merge back, or undoes these very lines, wherever their file moves."""
        name: Name = "later"
        commit = self._revert(history)
        if commit is not None:
            return Label(finding, name, "reverted", f"commit {commit.commit[:12]} takes the merge back")
        does = "brings its lines back" if said.removed else "takes its lines away"
        at_merge = places(lines, place.text or "")
        for commit, file in self._touching(history, place.path):
            now = places(lines, history.content(file.new) if file.new else "")
            back = came_back(at_merge, now) if said.removed else not now.whole
            if back is False:
                continue
            unsure = "such lines came within longer ones" if back is None else ""
            if not said.removed:
                unsure = _moved(history, commit.files, commit.files, lines, file.path)
            because = unsure or f"commit {commit.commit[:12]} {does}"
            return Label(finding, name, "unknown" if unsure else "gone", because)
        return self._judged(history, Label(finding, name, "there", f"no later commit that was looked at {does}"))

    def _touching(self, history: History, path: str) -> Iterator[tuple[LaterCommit, Touched]]:
        """The later commits that touch a file, with what became of it: it is followed from name to name."""
        looked_at = 0
        for commit in history.later():
            file = of_file(commit.files, path)
            if file is None:
                continue
            looked_at += 1
            if looked_at > MOST_LATER:
                raise SourceError(f"more than {MOST_LATER} later commits touch its file")
            yield commit, file
            path = file.path if file.old_path == path and file.path else path

    def _revert(self, history: History) -> LaterCommit | None:
        """The commit that takes the merge back; looked for once, whatever came of it."""
        if not self._asked:
            self._asked = True
            try:
                self._taken_back = _first_revert(history)
            except SourceError as problem:
                self._taken_back = problem
        if isinstance(self._taken_back, SourceError):
            raise self._taken_back
        return self._taken_back


def _first_revert(history: History) -> LaterCommit | None:
    """The first commit that takes back what the merge brought.

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
            if restores(brought, files) and _takes_away(history, files, others):
                return commit
            if files and problem is None and compared.undone_by(files, others):
                return commit
        except SourceError as told:
            problem = told
    if problem is not None:
        raise problem
    return None


def _takes_away(history: History, files: Sequence[Touched], others: Sequence[Touched]) -> bool:
    """Whether a commit that gives back what there was does not merely move it to the ``others`` that it writes.

    Of these the ones that can be read count. Raises ``SourceError`` where it does some of both.
    """
    elsewhere = Lines()
    for each in others:
        with suppress(SourceError):
            elsewhere.update(history.lines((each,)))
    moved = moved_share(history.lines(files), elsewhere) if elsewhere else 0
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
        if not undoes(self._lines, later) or (others and not undoes(self._lines, later, self._history.lines(others))):
            return False
        if not gives_back(self._brought, files):
            raise SourceError("its lines were taken back, and not all that it changed beside lines")
        return True


def _moved(history: History, files: Sequence[Touched], written: Sequence[Touched], lines: Wanted, path: str) -> str:
    """Why nobody can tell that lines are gone from the file that is called ``path``, empty if it is gone; empty if so.

    They may be in what else was ``written`` among the ``files`` that differ. What is too large is passed over; past
    another bound it raises ``SourceError``.
    """
    if not path and not names_renames(files):
        return "its file may have moved: too many came and went for git to name renames"
    for each in written:
        if not each.new or each.path == path or each.old == each.new:
            continue
        with suppress(FileTooLarge):
            before = places(lines, history.content(each.old) if each.old else "")
            if places(lines, history.content(each.new)).whole > before.whole:
                return f"they may have moved to {each.path}"
    return ""


def _own(history: History, files: Sequence[Touched]) -> Sequence[Touched]:
    """Those of the files that the merge wrote, not the base branch before it; all where nobody can tell."""
    try:
        own = {each.path for each in history.brought}
    except SourceError:
        return files
    return [each for each in files if each.path in own]


def _reviewed(history: History, said: Said) -> str | None:
    """The file as it was reviewed; None if the commit is gone."""
    return history.text(said.commit, said.path) if history.has(said.commit) else None


def _day(history: History) -> str:
    return f"{history.merged_at:%Y-%m-%d}"


def _phrase(problem: SourceError) -> str:
    return str(problem).rstrip(".")[:200]
