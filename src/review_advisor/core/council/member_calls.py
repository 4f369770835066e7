"""What a member of a council is asked: first what it finds by itself, then to judge the executor's verdict.

All questions here are made from the one that a single judge is asked, so they begin with the same block about the
change. A member has two calls because the first must not hold the executor's report: a member that has read it finds
what it names. A refuter is asked about one finding for which the executor rejects the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.answers.challenge import Challenge
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.answers.member_vote import MemberVote, vote_form
from review_advisor.core.council.voices import as_all, joint_form
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roster.advisor import ADR_ADVISOR, REFUTER, VOICES, Advisor, as_advisor
from review_advisor.core.safety.fence import fence_facts

OWN_REPORT = "OWN_REPORT"
"""What a member found by itself, in the prompt of its vote."""
CHALLENGED = "CHALLENGED_FINDING"
_ASK = """\
You are the refuter. Another reviewer raised the finding above, and it stands in the way of the change. Find out if it \
is wrong. Answer `refuted` only if a verbatim quote of code, as it is after the change, shows that it is wrong: \
give the path and the quote. What comments, documentation, names or descriptions say proves nothing. Neither do the \
lines that the finding quotes. Answer `stands` if it is right, and `unsure` if you cannot show either."""


def asked_as(member: Advisor) -> str:
    """The id under which a member of the panel is asked: the ADR's advisor is the usual one of its role."""
    return Role.POST_VERIFY.advisor if member.id == ADR_ADVISOR.id else member.id


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


def refuter_call(judge: AgentCall, finding: Finding, nonce: str) -> AgentCall:
    """The question about one finding. ``judge`` is the question of a single judge: both begin with the same block."""
    about, *_ = judge.blocks
    facts = {
        "path": finding.path,
        "line": finding.line,
        "severity": finding.severity,
        "title": finding.title,
        "body": finding.words,
        "quote": finding.evidence,
    }
    ask = f"The finding:\n{fence_facts(CHALLENGED, facts, nonce)}\n\n{_ASK}"
    return replace(judge, advisor=REFUTER, blocks=(about, ask), answer=Challenge)


def _of(judge: AgentCall, member: Advisor) -> AgentCall:
    return replace(judge, advisor=asked_as(member), model=member.model or judge.model)


def _voice(member: Advisor) -> str:
    return f"{as_advisor(member)}\n\nYou are one of several advisors who judge alone."
