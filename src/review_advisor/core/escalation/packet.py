"""The question of a harness's consult, and how the executor goes on with the advice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from review_advisor.core.answers.answers import ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.escalation.reasons import Reason
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.policy.escalation_rules import ReasonKind
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.roles.advisors import Briefing, Part
from review_advisor.core.roles.calls import AgentCall, ConsultGrant
from review_advisor.core.roles.mid_flight import ConsultNote, MidFlightAdvisor
from review_advisor.core.safety.fence import fence_facts

LONGEST_PACKET = 7_000
"""Characters of a packet's context. A consult's record keeps 8,000."""
_LONGEST_PIECE = 3_000
_OUTCOME = (
    "Say in dispositions for each recommendation by its id (r1, r2, in the order of the guidance above) whether you"
    " applied or overrode it; what you overrode needs a reason."
)
_TAKE_BACK = (
    " Repeat in changes each change that is contested, or take it back: keep takes back that of a finding,"
    " change_verdict with the verdict as it stands that of the verdict. A person decides what you leave out."
)
REASON = "REASON"


def consult_grant(briefing: Briefing, row: SurfacePolicy, attempt: int) -> ConsultGrant | None:
    """Leave for the harness to consult on a surface; None where mid-flight does not run, or nobody may ask."""
    advisor = MidFlightAdvisor(briefing.instructions, briefing.run_id, briefing.nonce)
    return advisor.grant(row, briefing.policy, attempt)


def packet(
    briefing: Briefing,
    part: Part,
    report: CheckedReport,
    reasons: Sequence[Reason],
    *,
    plan: ReviewPlan | None,
    earlier: Iterable[ConsultNote],
) -> str:
    """The question as JSON, in the form of every consult. The context says what is left out of it.

    The code itself stands before it, in the call.
    """
    asked_about = [each for each in report.findings if each.id in {reason.subject for reason in reasons}]
    label, title = briefing.change.label, briefing.change.title
    context = [
        f"TASK: review of {label}, {title!r}, part {part.shard.index + 1} of {part.of}.",
        f"PLAN: {plan.risk_summary}" if plan is not None else "",
        f"VERDICT SO FAR: {report.verdict}, confidence {report.confidence:.2f}: {report.summary}",
        *(f"FINDING {_finding(each)}" for each in asked_about or report.findings),
        *(f"EARLIER ADVICE: {note.guidance.action}" for note in earlier if note.guidance is not None),
    ]
    reconciles = _TAKE_BACK if any(reason.kind is ReasonKind.RECONCILE for reason in reasons) else ""
    because = "; ".join(f"{reason.kind.value} ({reason.detail})" for reason in reasons)
    question = {
        "question": middle_out(
            f"What is the single next action? The reasons to ask: {because}.{reconciles}", _LONGEST_PIECE
        ),
        "context": middle_out("\n\n".join(filter(None, context)), LONGEST_PACKET),
        "answers": _answers(asked_about or report.findings),
        "urgency": "normal",
    }
    return json.dumps(question, ensure_ascii=False)


def go_on_ask(question: AgentCall, reasons: Sequence[str], nonce: str) -> AgentCall:
    """The executor's question once more, with the latest advice at its end."""
    why = fence_facts(REASON, reasons, nonce)
    note = (
        "The review has asked the advisor about your report, for the reasons below. Go on from your report with the"
        " last guidance: follow its action unless your own evidence contradicts it, and then say in the summary which"
        " evidence. Your earlier report holds already what it made stricter; raised_by marks the advisor's findings."
        " Advice alone does not take a critical or high finding away: leave it out only where a verbatim quote"
        f" disproves it. {_OUTCOME} Give your whole report again.\n{why}"
    )
    return question.with_more(note)


def open_ask(question: AgentCall, identities: Sequence[str], _nonce: str) -> AgentCall:
    """The executor's question once more, because it does not say what became of some advice."""
    named = ", ".join(identities)
    return question.with_more(
        f"Your report does not say what became of {named}. {_OUTCOME} Give your whole report again."
    )


def middle_out(text: str, most: int) -> str:
    """``text``, or its beginning and its end with a line between them that says how much was left out.

    The task stands at the beginning and the latest advice at the end, so the middle gives way.
    """
    if len(text) <= most:
        return text
    head, tail = most - most // 3, most // 3
    return f"{text[:head]}\n[cut here: {len(text) - most} characters of the middle were not sent]\n{text[-tail:]}"


def _finding(finding: Finding) -> str:
    facts = {
        "id": finding.id,
        "path": shown_path(finding.path),
        "line": finding.line,
        "severity": finding.severity,
        "category": finding.category,
        "title": finding.title,
        "body": finding.body,
        "confidence": finding.confidence,
        "evidence": finding.evidence,
    }
    return json.dumps(facts, ensure_ascii=False)


def _answers(findings: Sequence[Finding]) -> list[dict[str, str]]:
    about = [
        {"answer": f"{verb} {finding.id}", "description": f"{finding.severity}: {finding.title}"}
        for finding in findings[:4]
        for verb in ("keep", "drop", "raise", "lower")
    ]
    return [
        *about,
        {"answer": "keep the verdict", "description": "it is right as it stands"},
        {"answer": "change the verdict", "description": "the findings do not bear it out, or one is missing"},
        {"answer": "stop", "description": "a person must decide"},
    ]
