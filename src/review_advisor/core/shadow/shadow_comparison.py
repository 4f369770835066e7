"""What a shadow is asked about a review that is over, under which policy, and how its answer compares."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from review_advisor.core.answers.answers import GRAVE, Consult, Guidance, ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.council.agreement import is_same
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.ends import Ending
from review_advisor.core.outcome.events import CallEnded, Consulted, Event
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome, worst
from review_advisor.core.outcome.questions import unanswered
from review_advisor.core.outcome.rulings import Move, Ruling
from review_advisor.core.outcome.surface_records import PartRecord
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.escalation_rules import NO_ESCALATION
from review_advisor.core.policy.outage_rules import NO_SECOND_TRY
from review_advisor.core.policy.policy import Policy, RoleDecision, SurfacePolicy
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.core.roster.advisor import Roster
from review_advisor.core.shadow.shadow_rule import SPEAKERS, Shadow, ShadowRule

_NO_CONSULTS = RoleDecision(False, ("a shadow consults nobody",))
_NO_REPAIR = RoleDecision(False, ("a shadow repairs nothing",))


@dataclass(frozen=True, slots=True)
class ShadowQuestion:
    """One part of a surface as it stood when the executor had first reported on it: the head, and no veto before.

    ``real_objects`` is what was decided there, as in ``ShadowDecided``.
    """

    surface: Surface
    shard: int
    plan: ReviewPlan | None
    report: CheckedReport
    real_objects: bool


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """One consult that the review itself asked for and that was answered: its packet, and the real advice."""

    surface: Surface
    shard: int
    attempt: int
    packet: str
    real: Guidance


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A surface that the review left out, and that a shadow runs."""

    surface: Surface


@dataclass(frozen=True, slots=True)
class OnceMore:
    """The whole review, as the shadow's configuration runs it."""


Asked = ShadowQuestion | AdviceQuestion | LeftOut | OnceMore


def shadow_questions(document: OutcomeDocument, policy: Policy, shadow: Shadow) -> tuple[Asked, ...]:
    """What a shadow is asked about this review; nothing of one that was stopped, or that no model made.

    ``policy`` is the one of a review under the rules and switches of the shadow.
    """
    if document.outcome is Outcome.STOPPED or document.policy.static is not None:
        return ()
    if shadow.rule.part == "review":
        return (OnceMore(),) if document.surfaces else ()
    if shadow.rule.part == "consulted":
        return advice_questions(document.events, shadow.rule.surfaces or Surface)
    if shadow.rule.part == "surface":
        ran = {row.surface for row in document.policy.surfaces if not row.left_out_by}
        applying = (row.surface for row in policy.surfaces)
        return tuple(LeftOut(each) for each in applying if each in shadow.rule.surfaces and each not in ran)
    plans = {each.surface: each.plan for each in document.surfaces}
    asked = []
    for record in document.surfaces:
        reused = SURFACE_DEFAULTS[record.surface].pre_flight is PreFlightRule.REUSE
        plan = plans.get(Surface.PR_REVIEW) if reused else record.plan
        if shadow.rule.surfaces and record.surface not in shadow.rule.surfaces:
            continue
        for part in record.parts:
            objects = _real_objects(part, shadow)
            if objects is not None:
                asked.append(ShadowQuestion(record.surface, part.shard, plan, part.reports[0], objects))
    return tuple(asked)


def advice_questions(events: Iterable[Event], surfaces: Iterable[Surface]) -> tuple[AdviceQuestion, ...]:
    """The consults of a review on these surfaces, in order. An executor's own consults belong to its call."""
    wanted = set(surfaces)
    return tuple(
        AdviceQuestion(each.surface, each.shard, each.attempt, _packet(each.note.consult), each.note.guidance)
        for each in events
        if isinstance(each, Consulted) and each.asked_by == "harness" and each.surface in wanted
        if each.note.status == "answered" and each.note.guidance is not None
    )


def _packet(consult: Consult) -> str:
    """The question as JSON, in the words and the order in which it was put to the real advisor."""
    told = consult.model_dump(mode="json")
    return json.dumps({key: told[key] for key in ("question", "context", "answers", "urgency")}, ensure_ascii=False)


def _real_objects(part: PartRecord, shadow: Shadow) -> bool | None:
    """What the review decided on the first report of a part; None where the shadow has nothing to stand beside."""
    if not part.reports:
        return None
    if shadow.rule.part == "executor":
        return part.reports[0].verdict == "reject"
    if not part.rulings:
        return None
    judged = next((each.result.verdict for each in part.post_verify if each.number == 0), None)
    return objects(part.rulings[0], judged)


def objects(ruling: Ruling, verdict: Literal["APPROVE", "VETO"] | None) -> bool:
    """Whether a judgement does not accept the executor's verdict: it vetoes, if only as advice, or calls a person."""
    return verdict == "VETO" or ruling.move is not Move.ACCEPT


def with_surface(document: OutcomeDocument, ending: Ending) -> bool:
    """Whether the review together with a further surface does not approve: the worst outcome counts."""
    return worst((document.outcome, ending.outcome)) is not Outcome.APPROVED


def is_unanswered(calls: Iterable[CallEnded]) -> bool:
    """Whether an answer that a verdict needs did not come. What was asked once more, and came then, did come.

    A review goes on without a plan, and without an answer to a consult, and so does its shadow.
    """
    return any(each.role not in (Role.PRE_FLIGHT, Role.MID_FLIGHT) for each in unanswered(calls))


def is_cut_by_cap(call: CallEnded) -> bool:
    """Whether a cap of the shadow's own took the answer of a call."""
    return call.ended in ("refused", "cut_short")


def cut_by_cap(members: Sequence[MemberAnswer]) -> bool:
    """Whether the shadow's own cap cost a vote, so that nobody can tell what its panel would have decided."""
    return any(isinstance(each.answer, Refused) for each in members)


@dataclass(frozen=True, slots=True)
class Left:
    """What the review leaves for its shadows: money of its pull request, and time until the ceiling of a review."""

    usd: float
    seconds: float

    def usd_for(self, rule: ShadowRule) -> float:
        """What this shadow may spend: its own cap, and no more than is left."""
        return max(0.0, min(rule.max_usd, self.usd))


def shadow_policy(policy: Policy, shadow: Shadow, left: Left) -> Policy:
    """The review's policy with the shadow's judges, models, effort and money. It repairs nothing.

    A surface is judged by whoever judges the review. Inline members only advise, and nobody reads that in a shadow. Of
    a whole review ``policy`` is its own: it consults, repairs and outlasts outages as a review does, so that nothing
    else differs.
    """
    rule = shadow.rule
    judging = tuple(each for each in policy.roster.advisors if not each.inline)
    surfaces = tuple(row for row in policy.surfaces if rule.part != "surface" or row.surface in rule.surfaces)
    budgets = replace(
        policy.budgets,
        max_usd=left.usd_for(rule),
        review_seconds=max(0.0, min(policy.budgets.review_seconds, left.seconds)),
    )
    effort = policy.effort
    if rule.effort:
        effort = {**effort, **{role: {policy.blast.radius: rule.effort} for role in SPEAKERS[rule.part]}}
    if rule.part == "review":
        return replace(policy, budgets=budgets, roster=Roster(judging), effort=effort)
    if rule.part == "consulted":
        rows = tuple(replace(row, advisor_model=rule.model or row.advisor_model) for row in policy.surfaces)
        return replace(policy, surfaces=rows, budgets=budgets, effort=effort, outage=NO_SECOND_TRY)
    return replace(
        policy,
        surfaces=tuple(_row(row, shadow) for row in surfaces),
        budgets=replace(budgets, max_consults=0),
        roster=Roster(judging if rule.part == "surface" else shadow.panel),
        effort=effort,
        outage=NO_SECOND_TRY,
        escalation=NO_ESCALATION,
        repair=_NO_REPAIR,
        wants_knowledge=False,
        consult_requested=False,
    )


def _row(row: SurfacePolicy, shadow: Shadow) -> SurfacePolicy:
    rule = shadow.rule
    executor = rule.model if rule.part == "executor" and rule.model else row.executor_model
    advisor = rule.model if rule.part == "judge" and rule.model else row.advisor_model
    roles = {**row.roles, Role.MID_FLIGHT: _NO_CONSULTS}
    return replace(row, roles=roles, executor_model=executor, advisor_model=advisor)


def only_in(one: Iterable[Finding], other: Sequence[Finding]) -> tuple[Finding, ...]:
    """The critical and high findings of ``one`` that the ``other`` one does not have."""
    grave = (each for each in one if each.severity in GRAVE)
    return tuple(each for each in grave if not any(is_same(each, its) for its in other))


def concluded(document: OutcomeDocument) -> Outcome:
    """What a review concludes, as its exit code says: an approval can call a person, too."""
    return Outcome.ESCALATED if document.exit_code == EXIT_CODES[Outcome.ESCALATED] else document.outcome


def changes_of(guidance: Guidance) -> tuple[str, ...]:
    """What an advice changes in the report, in one form each: wording, order and what is kept do not count."""
    told = {
        " ".join(filter(None, (each.does, each.finding, each.severity, each.verdict)))
        for each in guidance.changes
        if each.does != "keep"
    }
    return tuple(sorted(told))
