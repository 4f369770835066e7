"""What became of a closed pull request's findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from review_advisor.change.change import SourceError
from review_advisor.change.pull_request import PullRequest, StandingRemark
from review_advisor.github.forge import Forge, History
from review_advisor.github.state import (
    KnownFinding,
    PeoplesWord,
    StandingComment,
    State,
    believed,
    own_summaries,
    read_state,
)
from review_advisor.github.threads import PeoplesMarks
from review_advisor.review.observed import (
    JUDGED_AFTER,
    FindingPlace,
    ObservedLabel,
    Value,
    is_revert,
    lines_at_merge,
    quoted_lines,
)
from review_advisor.review.rulings import Outcome

MOST_FINDINGS = 200
"""So many findings of one pull request are looked for in its files."""

Listening = Callable[[tuple[StandingComment, ...], State], PeoplesWord]
"""What people said in comments of what a state says they did."""

_NO_SUMMARY = "no summary of the bot can be believed"


class ObservePhase:
    """Reads what is known of one closed pull request; ``login`` is the account that the bot writes as.

    ``history`` is None if it was not merged. ``listening`` tells what people said: the bot's account is every
    workflow's, so nobody dismissed or approved anything by its word. ``known`` are the findings of its reviews in the
    ledger; ``silent``: nothing was written of them, because the mode is shadow. What a later commit
    may still change is judged as of ``now``.
    """

    def __init__(
        self,
        forge: Forge,
        history: History | None,
        login: str,
        known: Mapping[str, FindingPlace],
        now: datetime,
        *,
        listening: Listening,
        silent: bool = False,
    ) -> None:
        self._forge = forge
        self._listening = listening
        self._history = history
        self._login = login
        self._known = known
        self._silent = silent
        self._now = now
        self._marks = PeoplesMarks(login, lambda somebody: forge.permission(somebody).may_write)

    def observe(self, pull_request: PullRequest) -> tuple[ObservedLabel, ...]:
        """Every label, those of the pull request itself first. Raises ``ForgeError``."""
        number = pull_request.number
        comments = self._forge.comments(number)
        summaries = own_summaries(comments, self._login)
        state = self._believed(comments, summaries[0]) if summaries else None
        remarks = self._marks.own(self._forge.remarks(number))
        findings = {each.id: each for each in state.findings} if state is not None else {}
        spoke = bool(summaries or remarks or (self._known and not self._silent))
        labels = [
            _merge(pull_request, state, spoke=spoke),
            *self._reverted(pull_request),
            *_escalation(pull_request, state),
        ]
        for at, finding in enumerate(sorted({*findings, *remarks, *self._known})):
            remark = remarks.get(finding)
            place = self._known.get(finding) or (_place(remark) if remark else None)
            labels += [
                ObservedLabel(finding, "at_merge", *self._lines(pull_request, place if at < MOST_FINDINGS else None)),
                ObservedLabel(finding, "thread", *self._marks.thread(remark)),
                ObservedLabel(finding, "reaction", *self._marks.reaction(remark, pull_request.author)),
                ObservedLabel(finding, "dismissal", *_dismissal(findings.get(finding), state)),
            ]
        return tuple(labels)

    def _reverted(self, pull_request: PullRequest) -> Iterator[ObservedLabel]:
        """Whether enough time has gone by to judge the merge, and whether a later commit reverts it."""
        if self._history is None:
            return
        merged_at = self._history.merged_at
        judged = self._now - merged_at >= JUDGED_AFTER
        waits = f"it was merged on {merged_at:%Y-%m-%d}, and is judged {JUDGED_AFTER.days} days later"
        yield ObservedLabel(
            "", "judged", "judged" if judged else "unknown", f"merged on {merged_at:%Y-%m-%d}" if judged else waits
        )
        try:
            revert = self._revert(self._history, pull_request)
        except SourceError as problem:
            yield ObservedLabel("", "reverted", "unknown", _phrase(problem))
            return
        if revert is not None:
            yield ObservedLabel("", "reverted", "reverted", f"the message of commit {revert[:12]} says so")
        elif judged:
            yield ObservedLabel("", "reverted", "not_reverted", "no later commit says so")
        else:
            yield ObservedLabel("", "reverted", "unknown", waits)

    def _revert(self, history: History, pull_request: PullRequest) -> str | None:
        about = (pull_request.repository, pull_request.number, pull_request.merge_commit)
        return next((commit for commit, message in history.later() if is_revert(message, *about)), None)

    def _lines(self, pull_request: PullRequest, place: FindingPlace | None) -> tuple[Value, str]:
        """Whether a finding's lines are in what was merged."""
        if self._history is None:
            return "unknown", "it was closed without a merge"
        if place is None:
            return "unknown", f"its place is not known, or there are more than {MOST_FINDINGS} findings"
        try:
            reviewed = None if place.quote else self._history.text(place.commit, place.path)
            merged = self._history.text(pull_request.merge_commit, place.path)
        except SourceError as problem:
            return "unknown", _phrase(problem)
        return lines_at_merge(place, quoted_lines(place, reviewed), merged)

    def _believed(self, comments: tuple[StandingComment, ...], summary: StandingComment) -> State | None:
        """What the summary remembers, as far as people say the same: no check is asked, and this job has no key."""
        state = read_state(summary, self._login)
        return None if state is None else believed(state, "", self._listening(comments, state))


def _merge(pull_request: PullRequest, state: State | None, *, spoke: bool) -> ObservedLabel:
    """How it was closed. ``spoke``: the bot said something, so that a summary of it should stand."""
    if pull_request.state != "merged":
        return ObservedLabel("", "merge", "closed", "it was closed without a merge")
    if state is None and spoke:
        return ObservedLabel("", "merge", "unknown", f"it was merged, and {_NO_SUMMARY}")
    if state is not None and _is_current(state, pull_request) and state.outcome in _AGAINST and not state.approved_by:
        outcome = state.outcome.value.replace("_", " ")
        return ObservedLabel("", "merge", "merged_against", f"the review of the merged head ended as {outcome}")
    return ObservedLabel("", "merge", "merged", pull_request.merge_commit[:12] or "GitHub says so")


def _escalation(pull_request: PullRequest, state: State | None) -> Iterator[ObservedLabel]:
    if state is None:
        yield ObservedLabel("", "escalation", "unknown", _NO_SUMMARY)
    elif _is_current(state, pull_request) and state.outcome is Outcome.ESCALATED:
        approved = f"@{state.approved_by} approved it" if state.approved_by else "nobody approved it by a command"
        yield ObservedLabel("", "escalation", "approved" if state.approved_by else "not_approved", approved)


def _is_current(state: State, pull_request: PullRequest) -> bool:
    return state.head_sha == pull_request.head_sha


def _dismissal(found: KnownFinding | None, state: State | None) -> tuple[Value, str]:
    """By whom it was dismissed."""
    if state is None:
        return "unknown", _NO_SUMMARY
    if found is None:
        return "unknown", "the summary does not name it"
    if found.status != "dismissed":
        return "none", "nobody dismissed it"
    return "dismissed", f"@{found.by}: {found.reason}"[:200]


_AGAINST = (Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


def _place(remark: StandingRemark) -> FindingPlace:
    first = min(remark.start_line, remark.line)
    return FindingPlace(remark.path, remark.commit, first, remark.line, remark.removed)


def _phrase(problem: SourceError) -> str:
    return str(problem).rstrip(".")[:200]
