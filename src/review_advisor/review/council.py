"""The judges of one part: one advisor as in ADR-0059, or the members of a council, each alone and side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from review_advisor.core.answers.answers import PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.member_vote import ACTIONS, plain_vote
from review_advisor.core.council.member_calls import asked_as, findings_call, form_of, voices_call, vote_call
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.council.voices import said_in, voice_of
from review_advisor.core.outcome.events import MemberReviewed, Voted
from review_advisor.core.outcome.steps.voteless_events import VoicesHeard, advised
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.advisors import PostVerifyAdvisor
from review_advisor.core.roles.calls import AgentCall, Lost
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.roster.advisor import ADR_ADVISOR, Advisor
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.outages import asked_through_outage
from review_advisor.review.repair_session import Version


@dataclass(frozen=True, slots=True)
class PanelAnswers:
    """What the panel gave. ``number`` is the call of a panel of one, 0 for a council. ``raw`` is all that was said."""

    members: tuple[MemberAnswer, ...]
    raw: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class _Voice:
    """What one member gave, and what it said."""

    answer: MemberAnswer
    raw: str = ""


@dataclass(slots=True)
class PartJudges:
    """The judges of one part. Each member of a council is asked for its own findings once a version."""

    dispatch: Dispatch
    _found: dict[tuple[str | None, str], CheckedReport] = field(default_factory=dict)
    _latest: tuple[Version, AgentCall] | None = None

    def judge(
        self, version: Version, plan: ReviewPlan | None, report: CheckedReport, attempts: tuple[Attempt, ...]
    ) -> PanelAnswers:
        """The answers of all members about the executor's latest report, in the order of the panel."""
        call = PostVerifyAdvisor(version.briefing).call(version.row, version.part, plan, report, attempts)
        self._latest = version, call
        panel = version.briefing.policy.roster.panel
        if len(panel) == 1 and panel[0].id == ADR_ADVISOR.id:
            return self._alone(version, call, panel[0])
        voices = self.dispatch.together(panel, lambda member: self._voice(version, call, member))
        said = {each.answer.advisor.id: each.raw for each in voices if each.raw}
        return PanelAnswers(tuple(each.answer for each in voices), json.dumps(said))

    def advise(self, attempt: int) -> None:
        """Record what the inline members advise once the part is decided, if any judge was asked.

        It is no part of any answer. So their call comes last, and takes no money from one that the verdict needs.
        """
        if self._latest is None:
            return
        version, judge = self._latest
        members = version.briefing.policy.roster.voices
        if not members:
            return
        call = voices_call(replace(judge, attempt=attempt), members)
        asked = self.dispatch.ask(call, call.answer)
        if not isinstance(asked.answer, Lost | Refused):
            said = zip(members, said_in(asked.answer, members), strict=True)
            voices = tuple(advised(voice_of(each, [vote], ACTIONS)) for each, vote in said)
            self.dispatch.record_step(
                VoicesHeard, version.row, version.part, attempt, number=asked.number, voices=voices
            )

    def _alone(self, version: Version, call: AgentCall, member: Advisor) -> PanelAnswers:
        asked = asked_through_outage(self.dispatch, call, PostVerifyResult, version.briefing.policy.outage)
        fallback = "" if asked.model == call.model else asked.model
        return PanelAnswers((MemberAnswer(member, asked.answer, fallback),), asked.raw, asked.number)

    def _voice(self, version: Version, judge: AgentCall, member: Advisor) -> _Voice:
        """One member's own findings first, then its vote. Without the findings it has none."""
        found = self._findings(version, judge, member)
        if isinstance(found, Lost | Refused):
            return _Voice(MemberAnswer(member, found))
        briefing = version.briefing
        call = vote_call(judge, member, found, briefing.nonce)
        form = form_of(member)
        asked = asked_through_outage(self.dispatch, call, form, briefing.policy.outage)
        answer = asked.answer
        if isinstance(answer, Lost | Refused):
            return _Voice(MemberAnswer(member, answer))
        vote = plain_vote(answer, member.answer, instanced=member.instanced)
        self.dispatch.record_step(
            Voted, version.row, version.part, call.attempt, number=asked.number, advisor=call.advisor, vote=vote
        )
        fallback = "" if asked.model == call.model else asked.model
        return _Voice(MemberAnswer(member, vote, fallback), asked.raw)

    def _findings(self, version: Version, judge: AgentCall, member: Advisor) -> CheckedReport | Lost | Refused:
        known = self._found.get((version.tree, member.id))
        if known is not None:
            return known
        call = findings_call(judge, member)
        asked = asked_through_outage(self.dispatch, call, ReviewReport, version.briefing.policy.outage)
        if not isinstance(asked.answer, ReviewReport):
            return asked.answer
        report = version.check(asked.answer, frozenset())
        self._found[version.tree, member.id] = report
        self.dispatch.record_step(
            MemberReviewed,
            version.row,
            version.part,
            call.attempt,
            number=asked.number,
            advisor=asked_as(member),
            report=report,
        )
        return report
