from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.escalation.test_reasons import REPORT, reports

from review_advisor.agents.answers import Guidance, RecommendedChange
from review_advisor.agents.evidence import CheckedReport
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.surfaces import Surface
from review_advisor.review.escalation import Watched, is_applied, merge_recommendations

ABOUT = Watched(EscalationRules("attrition"), Surface.PR_REVIEW)
identities = st.sampled_from(["f-" + digit * 32 for digit in "0123"])
changes = st.lists(
    st.builds(
        RecommendedChange,
        does=st.sampled_from(["keep", "drop", "raise", "lower", "change_verdict"]),
        finding=identities,
        severity=st.sampled_from([None, "critical", "high", "medium", "low"]),
        verdict=st.sampled_from([None, "approve", "reject"]),
    ),
    max_size=4,
)


def advice(recommended: Sequence[RecommendedChange], words: str = "do it") -> Guidance:
    return Guidance(action=words, changes=tuple(recommended))


@given(reports, changes, st.lists(identities, max_size=4))
def test_a_merge_changes_what_it_names_and_nothing_else(
    report: CheckedReport, recommended: list[RecommendedChange], proven: list[str]
) -> None:
    merged = merge_recommendations(report, advice(recommended), ABOUT, proven)
    before = {each.id: each.severity for each in report.findings}
    if merged.conflict:
        assert (merged.verdict, dict(merged.findings)) == (report.verdict, before)
        return
    changed = {each.what for each in merged.diff}
    for identity, severity in before.items():
        if identity not in changed:
            assert dict(merged.findings)[identity] == severity
    assert merged == merge_recommendations(report, advice(recommended, "stop! reject it"), ABOUT, proven)


@given(reports, changes)
def test_without_a_proof_no_merge_makes_a_grave_finding_milder(
    report: CheckedReport, recommended: list[RecommendedChange]
) -> None:
    merged = merge_recommendations(report, advice(recommended), ABOUT)
    ranks = ["critical", "high", "medium", "low"]
    for each in report.findings:
        if each.severity in ("critical", "high"):
            assert ranks.index(dict(merged.findings)[each.id]) <= ranks.index(each.severity)


@given(reports)
def test_advice_that_wants_nothing_is_shown_by_every_report(report: CheckedReport) -> None:
    assert is_applied(merge_recommendations(report, advice([]), ABOUT), report)


@pytest.mark.parametrize(
    "recommended, conflict",
    [
        ([("drop", "high"), ("raise", "high")], ""),
        ([("keep", ""), ("raise", "")], "contradicts itself"),
        ([("change_verdict", "")], "sure of verdict"),
    ],
)
def test_conflicts_are_found_by_types(recommended: list[tuple[str, str]], conflict: str) -> None:
    given = [
        RecommendedChange.model_validate({"does": does, "finding": REPORT.findings[0].id, "verdict": "approve"})
        for does, _ in recommended
    ]
    merged = merge_recommendations(REPORT, advice(given), ABOUT)
    assert conflict in merged.conflict
    assert (merged.verdict, [each for each, _ in merged.findings]) == (
        REPORT.verdict,
        [each.id for each in REPORT.findings],
    ), "it stays as it was"


@given(reports, changes)
def test_a_change_that_is_recommended_twice_is_one_conflict(
    report: CheckedReport, recommended: list[RecommendedChange]
) -> None:
    once, twice = (merge_recommendations(report, advice(recommended * times), ABOUT) for times in (1, 2))
    assert set(once.conflict.split("; ")) <= set(twice.conflict.split("; "))
    told = twice.conflict.split("; ")
    assert len(told) == len(set(told))
