"""What people settled: in the memory of a pull request it holds, whatever else is written at the same time."""

from __future__ import annotations

from collections.abc import Iterable

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.memory import remembered
from review_advisor.core.pull_request.money.counting import NOTHING, PaidSoFar
from review_advisor.core.pull_request.state import UNKNOWN_PLACES, KnownFinding, State


def with_dismissed(state: State, finding: str, *, by: str, reason: str) -> State:
    """The state after ``by`` has dismissed one of its findings; as it is, if it does not know that finding."""
    done = {"status": "dismissed", "changed_in": state.run_id, "reason": reason, "by": by}
    return _with(state, (each.model_copy(update=done) for each in state.findings if each.id == finding))


def remembered_beside(
    standing: State | None,
    before: State | None,
    document: OutcomeDocument,
    *,
    asked: bool,
    run: str = "",
    spent: PaidSoFar = NOTHING,
) -> State:
    """What ``remembered`` says, and everything that people have dismissed or approved since ``before`` was read.

    ``standing`` is what stands now. Whoever dismisses a finding by the id that it had before its file was renamed means
    the one that it is now. Whoever approves an escalation means the review that it is of, and no other.
    """
    settled = with_dismissals_of(before, standing) if before is not None else None
    new = remembered(settled, document, asked=asked, run=run, spent=spent)
    now = with_dismissals_of(new, standing)
    if standing is None or standing.run_id != document.run_id:
        return now
    return now.model_copy(update={"approved_by": standing.approved_by})


def with_dismissals_of(state: State, standing: State | None) -> State:
    """The state, with everything that is dismissed in the one that stands: a person's word is never taken back.

    It was about what they saw. It does not hold for a finding whose quote stands in another number of places since.
    Where only the one that stands knows the number, that one holds.
    """
    found = standing.findings if standing is not None else ()
    return _with(state, (each for each in found if each.status == "dismissed"))


def _with(state: State, changed: Iterable[KnownFinding]) -> State:
    now = {each.id: each for each in changed}
    findings = tuple(
        now[each.id] if each.id in now and each.occurrences in (UNKNOWN_PLACES, now[each.id].occurrences) else each
        for each in state.findings
    )
    return state.model_copy(update={"findings": findings})
