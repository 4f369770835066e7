"""What people settled: in the memory of a pull request it holds, whatever else is written at the same time."""

from __future__ import annotations

from review_advisor.core.publication.state import KnownFinding, State


def with_dismissed(state: State, finding: KnownFinding, *, by: str, reason: str) -> State:
    """The state after ``by`` has dismissed one of its findings."""
    done = {"status": "dismissed", "changed_in": state.run_id, "reason": reason, "by": by}
    return _with(state, {finding.id: finding.model_copy(update=done)})


def with_dismissals_of(state: State, standing: State | None) -> State:
    """The state, with everything that is dismissed in the one that stands: a person's word is never taken back."""
    found = standing.findings if standing is not None else ()
    return _with(state, {each.id: each for each in found if each.status == "dismissed"})


def _with(state: State, changed: dict[str, KnownFinding]) -> State:
    return state.model_copy(update={"findings": tuple(changed.get(each.id, each) for each in state.findings)})
