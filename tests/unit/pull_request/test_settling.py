"""What lets a head pass in a person's name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.github.commands import is_settled_by_dismissal, still_blocking, why_not_dismissed
from review_advisor.github.state import KnownFinding, State
from review_advisor.policy.risk import BlastRadius
from review_advisor.review.rulings import Outcome

SEVERITIES = ("critical", "high", "medium", "low")
STATUSES = ("open", "fixed", "dismissed")


def known(number: int, severity: str, status: str, *, blocks: bool = True) -> KnownFinding:
    about: dict[str, Any] = {"severity": severity, "status": status, "blocks": blocks}
    return KnownFinding(id=f"f-{number:032x}", path="src/a.py", line=number, title="a fault", **about)


REJECTED = State(
    run_id="run-1",
    head_sha="a" * 40,
    base_sha="b" * 40,
    base_ref="main",
    policy_digest="",
    outcome=Outcome.CHANGES_REQUESTED,
    complete=True,
    blast=BlastRadius.LOW,
    findings=(known(1, "high", "dismissed"),),
    rests_on_findings=True,
)


def test_a_rejection_whose_findings_are_all_dismissed_is_settled() -> None:
    assert why_not_dismissed(REJECTED) is None


@pytest.mark.parametrize(
    "but",
    [
        *({"outcome": each} for each in Outcome if each is not Outcome.CHANGES_REQUESTED),
        {"complete": False},
        {"forgotten": 1},
        {"rests_on_findings": False},
        {"findings": (known(1, "medium", "open"), known(2, "high", "dismissed"))},
    ],
    ids=str,
)
def test_every_condition_of_a_dismissal_is_asked(but: dict[str, object]) -> None:
    assert why_not_dismissed(REJECTED.model_copy(update=but)) is not None


@given(
    st.lists(
        st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(STATUSES), st.sampled_from([True, False])), max_size=6
    )
)
def test_no_open_finding_that_blocks_is_ever_passed_over(found: list[tuple[str, str, bool]]) -> None:
    findings = tuple(known(n, severity, status, blocks=blocks) for n, (severity, status, blocks) in enumerate(found))
    state = REJECTED.model_copy(update={"findings": findings})
    open_ones = {each for each in findings if each.status == "open" and each.blocks}
    assert set(still_blocking(state)) == open_ones
    assert is_settled_by_dismissal(state) is not bool(open_ones)


def test_a_finding_that_an_earlier_version_remembered_blocks() -> None:
    told = known(1, "low", "open").model_dump(exclude={"blocks"})
    assert KnownFinding.model_validate(told).blocks
