"""The judges of one part: one advisor, or the members of a council."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from review_advisor.agents.answers import (
    ACTIONS,
    Answer,
    MemberVote,
    PostVerifyResult,
    ReviewPlan,
    ReviewReport,
    plain_vote,
    vote_form,
)
from review_advisor.agents.calls import AgentCall, Cause, Lost, LostReason
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.replies import lost_twice
from review_advisor.agents.roles import PostVerifyAdvisor
from review_advisor.agents.transcript import Attempt
from review_advisor.policy.budgets import Refused
from review_advisor.policy.outage_rules import OutageRules, further_tries
from review_advisor.policy.roster import ADR_ADVISOR, VOICES, Advisor, as_advisor
from review_advisor.review.dispatch import CallResult, Dispatch
from review_advisor.review.events import MemberReviewed, VoicesHeard, Voted, advised
from review_advisor.review.repair_session import Version
from review_advisor.review.votes import MemberAnswer, as_all, asked_as, joint_form, voice_of, votes_in
from review_advisor.safety.fence import fence_facts

OWN_REPORT = "OWN_REPORT"
"""What a member found by itself, in the prompt of its vote."""


def findings_call(judge: AgentCall, member: Advisor) -> AgentCall:
    """What the member finds in the change. ``judge`` is the question of a single judge."""
    ask = (
        "Another reviewer reviews this change, too. You will judge that review later. First review the change yourself:"
        " list what you find, and give your own verdict."
    )
    about, *_ = judge.blocks
    return replace(_of(judge, member), blocks=(about, f"{_voice(member)}\n\n{ask}"), answer=ReviewReport)


def vote_call(judge: AgentCall, member: Advisor, found: CheckedReport, nonce: str) -> AgentCall:
    """Its judgement of the executor's verdict and its vote about the change, after what it has found."""
    own = fence_facts(
        OWN_REPORT, {"verdict": found.verdict, "summary": found.summary, "findings": found.findings}, nonce
    )
    ask = (
        f"{_voice(member)}\n\nBefore you saw the executor's report, this was your own:\n{own}\n\n"
        "Judge the executor's verdict as said above. In `calls`, vote about the change itself, whatever the executor"
        " says: a weight of 0 to 100 for each of approve, request_changes and block."
    )
    if member.instanced:
        ask += " In `instances`, say what you make of each finding of the executor's report, its id as _instance."
    return replace(_of(judge, member).with_more(ask), answer=form_of(member))


def form_of(member: Advisor) -> type[MemberVote]:
    """The form of its vote."""
    return vote_form(member.answer, instanced=member.instanced)


def voices_call(judge: AgentCall, members: Sequence[Advisor]) -> AgentCall:
    """One call for the advice of all inline members. None of them is shown the executor's report."""
    ask = (
        "Review the change as each of them. Their advice is for people and decides nothing. Each gives its own fields"
        ' first, then `calls`: one JSON object as text, with a weight of 0 to 100 for each of "approve",'
        ' "request_changes" and "block" of the change itself, "_tool" for the highest of them, and "_reasoningForCall"'
        " for what it advises."
    )
    about, *_ = judge.blocks
    return replace(judge, advisor=VOICES, blocks=(about, f"{as_all(members)}\n\n{ask}"), answer=joint_form(members))


def _of(judge: AgentCall, member: Advisor) -> AgentCall:
    return replace(judge, advisor=asked_as(member), model=member.model or judge.model)


def _voice(member: Advisor) -> str:
    return f"{as_advisor(member)}\n\nYou are one of several advisors who judge alone."


Checked = TypeVar("Checked", bound=Answer)


@dataclass(frozen=True, slots=True)
class PanelAnswers:
    """The answers of a panel."""

    members: tuple[MemberAnswer, ...]
    raw: str = ""
    """All replies as the models gave them."""
    number: int = 0
    """The call of a panel of one, 0 for a council."""


@dataclass(slots=True)
class PartJudges:
    """The judges of one part. Each member of a council is asked for its own findings once a version."""

    dispatch: Dispatch
    answers: tuple[MemberAnswer, ...] = ()
    """The latest answers of all members."""
    _found: dict[tuple[str | None, str], tuple[CheckedReport, tuple[str, ...]]] = field(default_factory=dict)
    """What each member found in a version, and which pictures it opened for that."""
    _latest: tuple[Version, AgentCall] | None = None

    def judge(
        self, version: Version, plan: ReviewPlan | None, report: CheckedReport, attempts: tuple[Attempt, ...]
    ) -> PanelAnswers:
        """The answers of all members about the executor's latest report, in the order of the panel."""
        call = PostVerifyAdvisor(version.briefing).call(version.row, version.part, plan, report, attempts)
        self._latest = version, call
        panel = version.briefing.policy.roster.panel
        if len(panel) == 1 and panel[0].id == ADR_ADVISOR.id:
            answers = self._alone(version, call, panel[0])
        else:
            voices = self.dispatch.together(panel, lambda member: self._voice(version, call, member))
            raw = json.dumps({answer.advisor.id: raw for answer, raw in voices if raw})
            answers = PanelAnswers(tuple(answer for answer, _ in voices), raw)
        self.answers = answers.members
        return answers

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
            votes = zip(members, votes_in(asked.answer, members), strict=True)
            voices = tuple(advised(voice_of(each, [vote], ACTIONS)) for each, vote in votes)
            self.dispatch.record_step(
                VoicesHeard, version.row, version.part, attempt, number=asked.number, voices=voices
            )

    def _alone(self, version: Version, call: AgentCall, member: Advisor) -> PanelAnswers:
        asked = _asked_through_outage(self.dispatch, call, PostVerifyResult, version.briefing.policy.outage)
        fallback = "" if asked.model == call.model else asked.model
        return PanelAnswers(
            (MemberAnswer(member, asked.answer, fallback, asked.receipt.opened),), asked.raw, asked.number
        )

    def _voice(self, version: Version, judge: AgentCall, member: Advisor) -> tuple[MemberAnswer, str]:
        """One member's vote after its own findings, and its reply as the model gave it. Without findings no vote."""
        found = self._findings(version, judge, member)
        if isinstance(found, Lost | Refused):
            return MemberAnswer(member, found), ""
        report, opened = found
        briefing = version.briefing
        call = vote_call(judge, member, report, briefing.nonce)
        form = form_of(member)
        asked = _asked_through_outage(self.dispatch, call, form, briefing.policy.outage)
        answer = asked.answer
        if isinstance(answer, Lost | Refused):
            return MemberAnswer(member, answer), ""
        vote = plain_vote(answer, member.answer, instanced=member.instanced)
        self.dispatch.record_step(
            Voted, version.row, version.part, call.attempt, number=asked.number, advisor=call.advisor, vote=vote
        )
        fallback = "" if asked.model == call.model else asked.model
        return MemberAnswer(member, vote, fallback, opened + asked.receipt.opened), asked.raw

    def _findings(
        self, version: Version, judge: AgentCall, member: Advisor
    ) -> tuple[CheckedReport, tuple[str, ...]] | Lost | Refused:
        known = self._found.get((version.tree, member.id))
        if known is not None:
            return known
        call = findings_call(judge, member)
        asked = _asked_through_outage(self.dispatch, call, ReviewReport, version.briefing.policy.outage)
        if not isinstance(asked.answer, ReviewReport):
            return asked.answer
        report = version.check(asked.answer, frozenset())
        self._found[version.tree, member.id] = report, asked.receipt.opened
        self.dispatch.record_step(
            MemberReviewed,
            version.row,
            version.part,
            call.attempt,
            number=asked.number,
            advisor=asked_as(member),
            report=report,
        )
        return report, asked.receipt.opened


def _asked_through_outage(
    dispatch: Dispatch, call: AgentCall, answer: type[Checked], rules: OutageRules
) -> CallResult[Checked]:
    """The answer to ``call``; after an outage, the answer to the tries that ``rules`` allow. Raises ``Stop``.

    Only an outage is tried again: an answer that the change may have silenced stays lost, and so does one for which the
    review has no time left. Whatever is tried is a call like any other, within the budgets, and recorded.
    """
    result = dispatch.ask(call, answer)
    first, crashed = result.first, False
    for number, further in enumerate(further_tries(rules, call.model), 1):
        lost = result.answer
        if not isinstance(lost, Lost) or lost.cause is not Cause.OUTAGE or not dispatch.wait(further.wait_seconds):
            break
        crashed = crashed or lost.reason is LostReason.CRASH
        again = replace(call, model=further.model, asks_again=first, further_try=number, crashed_before=crashed)
        result = dispatch.ask(again, answer)
        if isinstance(result.answer, Lost):
            result = replace(result, answer=lost_twice(lost, result.answer))
    return result
