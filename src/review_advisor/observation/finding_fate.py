"""What became of a merge, and of single lines in it, read from git: facts where it says so, else unknown and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.observation.labels import Label, Name, Value
from review_advisor.core.observation.line_match import (
    JUDGED_AFTER,
    Fate,
    Said,
    Wanted,
    fate_of_brought,
    fate_of_removed,
    places,
    wanted,
)
from review_advisor.core.observation.revert_detection import (
    MOST_LATER,
    LaterCommit,
    Touched,
    names_renames,
    of_file,
)
from review_advisor.observation.reverts import first_revert
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
        fate = _fate(said, lines, text, place.text)
        if fate.value == "undone" and not said.removed:
            files, path = history.since(said.commit), "" if place.text is None else place.path
            moved = _moved(history, files, _own(history, files), lines, path)
            fate = Fate("unknown", moved) if moved else fate
        value: Value = "fixed" if fate.value == "undone" else fate.value
        return Label(finding, "at_merge", value, fate.because), lines, place

    def _place(self, history: History, said: Said) -> _Place:
        """Their file, under the name that it was merged with, by git's word. No other file stands in for it."""
        merge, path = self._pull_request.merge_commit, said.path
        text = history.text(merge, path)
        if text is None:
            path = history.moved(said.commit, said.path) or said.path
            text = history.text(merge, path)
        return _Place(path, text)

    def _later(self, history: History, finding: str, said: Said, lines: Wanted, place: _Place) -> Label:
        """Whether a later commit takes the merge back, or undoes these very lines, wherever their file moves.

        Lines that are gone are gone, also where nobody can tell whether the merge was taken back.
        """
        name: Name = "later"
        unsure = ""
        try:
            commit = self._revert(history)
            if commit is not None:
                return Label(finding, name, "reverted", f"commit {commit.commit[:12]} takes the merge back")
        except SourceError as problem:
            unsure = _phrase(problem)
        does = "brings its lines back" if said.removed else "takes its lines away"
        for commit, file in self._touching(history, place.path):
            fate = _fate(said, lines, place.text or "", history.content(file.new) if file.new else None)
            if fate.value == "undone":
                moved = "" if said.removed else _moved(history, commit.files, commit.files, lines, file.path)
                because = moved or f"commit {commit.commit[:12]} {does}"
                return Label(finding, name, "unknown" if moved else "gone", because)
            if fate.value == "unknown":
                unsure = unsure or fate.because
        if unsure:
            return Label(finding, name, "unknown", unsure)
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
                self._taken_back = first_revert(history)
            except SourceError as problem:
                self._taken_back = problem
        if isinstance(self._taken_back, SourceError):
            raise self._taken_back
        return self._taken_back


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


def _fate(said: Said, lines: Wanted, before: str | None, now: str | None) -> Fate:
    """What became of a finding's lines from one text of their file to another; None: there is none."""
    if said.removed or before is None:
        return fate_of_removed(lines, before, now)
    return fate_of_brought(lines, before, now)


def _reviewed(history: History, said: Said) -> str | None:
    """The file as it was reviewed; None if the commit is gone."""
    return history.text(said.commit, said.path) if history.has(said.commit) else None


def _day(history: History) -> str:
    return f"{history.merged_at:%Y-%m-%d}"


def _phrase(problem: SourceError) -> str:
    return str(problem).rstrip(".")[:200]
