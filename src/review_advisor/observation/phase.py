"""Observing a closed pull request: what became of each finding, read from the forge and from git. It writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.facts.remark import Reaction, StandingRemark
from review_advisor.core.observation.labels import Label, Value
from review_advisor.core.observation.line_match import Said
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.markers import finding_in
from review_advisor.core.pull_request.state import KnownFinding, State, own_summaries, read_state
from review_advisor.observation.finding_fate import Aftermath
from review_advisor.ports.forge import Forge, History

MOST_PEOPLE = 50
"""So many people who reacted to one finding are asked about, beside those who are known from another one."""
MOST_ASKED = 300
"""So many are asked about in all: each is a request."""
_NO_SUMMARY = "no summary of the bot can be believed"
_NO_REMARK = "no comment on the diff is about it"


class ObservePhase:
    """Reads what is known of one closed pull request; ``login`` is the account that the bot writes as.

    ``history`` is None if it was not merged. ``known`` are the findings of its reviews in the ledger. What a later
    commit may still change is judged as of ``now``.
    """

    def __init__(
        self, forge: Forge, history: History | None, login: str, known: Mapping[str, Said], now: datetime
    ) -> None:
        self._forge = forge
        self._history = history
        self._login = login
        self._known = known
        self._now = now
        self._people: dict[str, bool] = {}

    def observe(self, pull_request: PullRequest) -> tuple[Label, ...]:
        """Every label, those of the pull request itself first. Raises ``ForgeError``."""
        number = pull_request.number
        summaries = own_summaries(self._forge.comments(number), self._login)
        state = read_state(summaries[0], self._login) if summaries else None
        remarks = self._own(self._forge.remarks(number))
        aftermath = Aftermath(pull_request, self._history, self._now)
        findings = {each.id: each for each in state.findings} if state is not None else {}
        spoke = bool(summaries or remarks or self._known)
        labels = [_merge(pull_request, state, spoke=spoke), *aftermath.reverted(), *_escalation(pull_request, state)]
        for finding in sorted({*findings, *remarks, *self._known}):
            remark = remarks.get(finding)
            said = self._known.get(finding) or (_said(remark) if remark else None)
            labels += aftermath.of_lines(finding, said)
            labels += [
                Label(finding, "thread", *self._thread(remark)),
                Label(finding, "reaction", *self._reaction(remark, pull_request.author)),
                Label(finding, "dismissal", *_dismissal(findings.get(finding), state, pull_request.author)),
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
        own = author.casefold()
        heard = [e for e in remark.reactions if e.login and not (e.login.casefold() == own and not e.up)]
        everybody = self._ask_about(heard) and not remark.uncounted
        counted = [each for each in heard if self._people.get(each.login)]
        thumbs = {each.up for each in counted}
        if not thumbs and not everybody:
            return "unknown", "too many people reacted"
        if not thumbs:
            return "none", "nobody who may write reacted to it"
        who = ", ".join(f"@{login}" for login in sorted({each.login for each in counted}))[:150]
        value: Value = "both" if len(thumbs) > 1 else "up" if True in thumbs else "down"
        return value, who if everybody else f"{who}, among too many to ask about them all"

    def _ask_about(self, heard: list[Reaction]) -> bool:
        """Learn who of these may write; whether all of them were asked about, now or before."""
        unknown = [login for login in dict.fromkeys(each.login for each in heard) if login not in self._people]
        asked = unknown[: min(MOST_PEOPLE, max(0, MOST_ASKED - len(self._people)))]
        for login in asked:
            bot = self._is_bot(login) or login.endswith("[bot]")
            self._people[login] = not bot and self._forge.permission(login).may_write
        return len(asked) == len(unknown)


def _merge(pull_request: PullRequest, state: State | None, *, spoke: bool) -> Label:
    """How it was closed. ``spoke``: the bot said something, so that a summary of it should stand."""
    if pull_request.state != "merged":
        return Label("", "merge", "closed", "it was closed without a merge")
    if state is None and spoke:
        return Label("", "merge", "unknown", f"it was merged, and {_NO_SUMMARY}")
    if state is not None and _is_current(state, pull_request) and state.outcome in _AGAINST and not state.approved_by:
        said = state.outcome.value.replace("_", " ")
        return Label("", "merge", "merged_against", f"the review of the merged head ended as {said}")
    return Label("", "merge", "merged", pull_request.merge_commit[:12] or "GitHub says so")


def _escalation(pull_request: PullRequest, state: State | None) -> Iterator[Label]:
    if state is None:
        yield Label("", "escalation", "unknown", _NO_SUMMARY)
    elif _is_current(state, pull_request) and state.outcome is Outcome.ESCALATED:
        approved = f"@{state.approved_by} approved it" if state.approved_by else "nobody approved it by a command"
        yield Label("", "escalation", "approved" if state.approved_by else "not_approved", approved)


def _is_current(state: State, pull_request: PullRequest) -> bool:
    return state.head_sha == pull_request.head_sha


def _dismissal(found: KnownFinding | None, state: State | None, author: str) -> tuple[Value, str]:
    """By whom it was dismissed. Its author has no say on who was right, should a memory say that they dismissed it."""
    if state is None:
        return "unknown", _NO_SUMMARY
    if found is None:
        return "unknown", "the summary does not name it"
    if found.status != "dismissed":
        return "none", "nobody dismissed it"
    if found.by.casefold() == author.casefold():
        return "none", f"only its author dismissed it: @{found.by}: {found.reason}"[:200]
    return "dismissed", f"@{found.by}: {found.reason}"[:200]


_AGAINST = (Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


def _said(remark: StandingRemark) -> Said:
    return Said(remark.path, remark.commit, min(remark.start_line, remark.line), remark.line, remark.removed)
