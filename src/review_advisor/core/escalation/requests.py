"""Whether the harness watches a part at all, and what follows if a cap refuses a consult."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from review_advisor.core.escalation.reasons import Reason, Watched
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.mid_flight import ConsultNote


def watched(policy: Policy, row: SurfacePolicy, paths: Collection[str], parts: int) -> Watched | None:
    """What is watched in a part that holds ``paths``; None where the harness does not consult.

    A change of one part is critical as a whole. Of several parts those are that hold a critical or guarded path.
    """
    if policy.escalation.caps is None or not row.roles[Role.MID_FLIGHT].runs or policy.budgets.max_consults == 0:
        return None
    every = tuple(dict.fromkeys((*policy.critical_touched, *policy.guard.paths)))
    critical = tuple(path for path in every if path in paths)
    if parts == 1:
        critical = (every or ("the repaired change",)) if policy.blast.radius is BlastRadius.HIGH else ()
    return Watched(policy.escalation, row.surface, critical, policy.consult_requested)


def no_turn_left(about: Watched, turns: int) -> str:
    """Why the executor may not go on in this attempt; empty if it may."""
    most = None if about.rules.caps is None else about.rules.caps.turns
    return f"the executor has used its {most} turns" if most is not None and turns >= most else ""


def refused_request(reasons: Sequence[Reason], refused: str) -> str:
    """Why a person decides after a consult that was due was refused."""
    return f"a consult was due ({'; '.join(reason.detail for reason in reasons)}) and was refused: {refused}"


def left_to_the_advisor(about: Watched | None, notes: Iterable[ConsultNote]) -> bool:
    """Whether the advisor's judgement alone decides because the cap refused a question of the executor itself."""
    return about is not None and about.rules.handoff == "advisor_only" and any(not note.asked for note in notes)


def refused_question(about: Watched | None, notes: Iterable[ConsultNote]) -> str | None:
    """The same for a question of the executor itself, which counts under the same cap; None if none was refused."""
    if about is None or about.rules.handoff != "human":
        return None
    denied = next((note for note in notes if note.status == "denied"), None)
    return None if denied is None else f"a question was refused: {denied.reason} It was: {denied.consult.question}"
