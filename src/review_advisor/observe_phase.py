"""Observing a closed pull request: what became of each finding, read from the forge and from git. It writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.facts.remark import StandingRemark
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.publication.markers import finding_in
from review_advisor.core.publication.state import KnownFinding, State, own_summaries, read_state
from review_advisor.core.record.fate import AtMerge, Said, Wanted, at_merge, may_take_away, taken_back, times, wanted
from review_advisor.core.record.labels import Label, Name, Value
from review_advisor.ports.forge import Brought, Forge, History
from review_advisor.ports.review import SourceError

MOST_PEOPLE = 50
"""So many people who reacted are asked about; more than that is a crowd."""
_NO_SUMMARY = "no summary of the bot can be believed"
_NO_REMARK = "no comment on the diff is about it"


class ObservePhase:
    """Reads what is known of one closed pull request; ``login`` is the account that the bot writes as.

    ``history`` is a phrase where it cannot be read. ``known`` are the findings of its reviews in the ledger.
    """

    def __init__(self, forge: Forge, history: History | str, login: str, known: Mapping[str, Said]) -> None:
        self._forge = forge
        self._history = history
        self._login = login
        self._known = known
        self._people: dict[str, bool] = {}

    def observe(self, pull_request: PullRequest) -> tuple[Label, ...]:
        """Every label, those of the pull request itself first. Raises ``ForgeError``."""
        number = pull_request.number
        summaries = own_summaries(self._forge.comments(number), self._login)
        state = read_state(summaries[0], self._login) if summaries else None
        remarks = self._own(self._forge.remarks(number))
        merged = _Merged(pull_request, self._history)
        findings = {each.id: each for each in state.findings} if state is not None else {}
        labels = [*_of_pull_request(pull_request, state, merged)]
        for finding in sorted({*findings, *remarks, *self._known}):
            remark = remarks.get(finding)
            said = self._known.get(finding) or (_said(remark) if remark else None)
            labels += merged.of_lines(finding, said)
            labels += [
                Label(finding, "thread", *self._thread(remark)),
                Label(finding, "reaction", *self._reaction(remark, pull_request.author)),
                Label(finding, "dismissal", *_dismissal(findings.get(finding), state)),
            ]
        return tuple(labels)

    def _own(self, remarks: tuple[StandingRemark, ...]) -> dict[str, StandingRemark]:
        """The bot's own comments by their finding, the first of each. What somebody else edited is nobody's word."""
        found: dict[str, StandingRemark] = {}
        for each in remarks:
            finding = finding_in(each.body)
            hands = {each.author.casefold(), (each.edited_by or each.author).casefold()}
            if finding is not None and hands == {self._login.casefold()}:
                found.setdefault(finding, each)
        return found

    def _is_bot(self, login: str) -> bool:
        """Whether a user may be the bot: GraphQL leaves the ending of its name out where it calls it a user."""
        return login.casefold().removesuffix("[bot]") == self._login.casefold().removesuffix("[bot]")

    def _thread(self, remark: StandingRemark | None) -> tuple[Value, str]:
        if remark is None:
            return "unknown", _NO_REMARK
        if not remark.resolved:
            return "open", "nobody resolved its thread"
        if self._is_bot(remark.resolved_by):
            return "resolved_by_bot", "the bot resolved its thread"
        if not remark.resolved_by:
            return "unknown", "GitHub does not say who resolved its thread"
        return "resolved", f"@{remark.resolved_by} resolved its thread"

    def _reaction(self, remark: StandingRemark | None, author: str) -> tuple[Value, str]:
        """By people who may write. The pull request's author has no say against a finding, but may admit to it."""
        if remark is None:
            return "unknown", _NO_REMARK
        if remark.uncounted:
            return "unknown", "there are more reactions than are read"
        own = author.casefold()
        heard = [e for e in remark.reactions if e.login and not (e.login.casefold() == own and not e.up)]
        if len({*self._people, *(each.login for each in heard)}) > MOST_PEOPLE:
            return "unknown", "too many people reacted"
        counted = [each for each in heard if self._counts(each.login)]
        thumbs = {each.up for each in counted}
        if not thumbs:
            return "none", "nobody who may write reacted to it"
        who = ", ".join(f"@{login}" for login in sorted({each.login for each in counted}))[:200]
        return ("both" if len(thumbs) > 1 else "up" if True in thumbs else "down"), who

    def _counts(self, login: str) -> bool:
        if login not in self._people:
            bot = self._is_bot(login) or login.endswith("[bot]")
            self._people[login] = not bot and self._forge.permission(login).may_write
        return self._people[login]


def _of_pull_request(pull_request: PullRequest, state: State | None, merged: _Merged) -> Iterator[Label]:
    current = state is not None and state.head_sha == pull_request.head_sha
    if pull_request.state != "merged":
        yield Label("", "merge", "closed", "it was closed without a merge")
    elif state is not None and current and state.outcome in _AGAINST and not state.approved_by:
        said = state.outcome.value.replace("_", " ")
        yield Label("", "merge", "merged_against", f"the review of the merged head ended as {said}")
    else:
        yield Label("", "merge", "merged", pull_request.merge_commit[:12] or "GitHub says so")
    if pull_request.state == "merged":
        yield merged.reverted()
    if state is None:
        yield Label("", "escalation", "unknown", _NO_SUMMARY)
    elif current and state.outcome is Outcome.ESCALATED:
        approved = f"@{state.approved_by} approved it" if state.approved_by else "nobody approved it by a command"
        yield Label("", "escalation", "approved" if state.approved_by else "not_approved", approved)


def _dismissal(found: KnownFinding | None, state: State | None) -> tuple[Value, str]:
    if state is None:
        return "unknown", _NO_SUMMARY
    if found is None:
        return "unknown", "the summary does not name it"
    if found.status != "dismissed":
        return "none", "nobody dismissed it"
    return "dismissed", f"@{found.by}: {found.reason}"[:200]


_AGAINST = (Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


def _said(remark: StandingRemark) -> Said:
    return Said(remark.path, remark.commit, min(remark.start_line, remark.line), remark.line, remark.removed)


@dataclass
class _Merged:
    """What became of a merge, and of single lines in it: read when it is asked for."""

    pull_request: PullRequest
    history: History | str
    _brought: Brought | None = None
    _taken_back: str | None = None
    _asked: bool = field(default=False)

    def reverted(self) -> Label:
        """Whether a later commit takes the whole of it back."""
        try:
            commit = self._revert(self._open())
        except SourceError as problem:
            return Label("", "reverted", "unknown", _phrase(problem))
        if commit is None:
            return Label("", "reverted", "not_reverted", "no later commit that was looked at takes it back")
        return Label("", "reverted", "reverted", f"commit {commit[:12]} takes it back")

    def of_lines(self, finding: str, said: Said | None) -> Iterator[Label]:
        """What became of the lines at the merge, and, where they were still there, after it."""
        if self.pull_request.state != "merged":
            yield Label(finding, "at_merge", "unknown", "it was closed without a merge")
            return
        if said is None:
            yield Label(finding, "at_merge", "unknown", "neither a comment on the diff nor the ledger says where it is")
            return
        try:
            history = self._open()
            lines = wanted(said, self._reviewed(history, said))
            if isinstance(lines, str):
                yield Label(finding, "at_merge", "unknown", lines)
                return
            merged = self._at_merge(history, said, lines)
            yield Label(finding, "at_merge", merged.value, merged.because)
            if merged.value == "there":
                yield self._later(history, finding, said, lines)
        except SourceError as problem:
            yield Label(finding, "at_merge", "unknown", _phrase(problem))

    def _at_merge(self, history: History, said: Said, lines: Wanted) -> AtMerge:
        text = self._reviewed(history, said)
        before = None if text is None else times(lines, text)
        now = _times_in(history, self.pull_request.merge_commit, said.path, lines, self._change(history).files)
        return at_merge(removed=said.removed, reviewed=before, merged=now)

    def _later(self, history: History, finding: str, said: Said, lines: Wanted) -> Label:
        """Whether a later commit takes the merge back, or away the very lines. A file that moves takes them along."""
        name: Name = "later"
        commit = self._revert(history)
        if commit is not None:
            return Label(finding, name, "reverted", f"commit {commit[:12]} takes the merge back")
        if said.removed:
            return Label(finding, name, "unknown", "it is about lines that the change took away")
        for each in history.later((said.path,)):
            taken = may_take_away(each.files, said.path, lines)
            if taken and not _times_in(history, each.commit, said.path, lines, each.files):
                return Label(finding, name, "gone", f"commit {each.commit[:12]} takes its lines away")
        return Label(finding, name, "there", "no later commit that was looked at takes its lines away")

    def _reviewed(self, history: History, said: Said) -> str | None:
        try:
            return history.text(said.commit, said.path)
        except SourceError:
            return None

    def _open(self) -> History:
        if isinstance(self.history, str):
            raise SourceError(self.history)
        return self.history

    def _change(self, history: History) -> Brought:
        if self._brought is None:
            self._brought = history.brought()
        return self._brought

    def _revert(self, history: History) -> str | None:
        if not self._asked:
            brought = self._change(history)
            later = history.later(tuple(dict.fromkeys(path for file in brought.files for path in file.paths)))
            name = f"{self.pull_request.repository}#{self.pull_request.number}"
            self._taken_back = taken_back(brought.files, later, brought.commits, name)
            self._asked = True
        return self._taken_back


def _times_in(history: History, commit: str, path: str, lines: Wanted, changed: tuple[FileChange, ...]) -> int | None:
    """How often the lines stand in the file at a commit; if it is gone, in the changed file that has them."""
    text = history.text(commit, path)
    if text is not None:
        return times(lines, text)
    for file in changed:
        moved = history.text(commit, file.path)
        if moved is not None and times(lines, moved):
            return times(lines, moved)
    return None


def _phrase(problem: SourceError) -> str:
    return str(problem).rstrip(".")[:200]
