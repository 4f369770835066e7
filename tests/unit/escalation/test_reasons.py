from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding, RefusedFinding
from review_advisor.policy.escalation_rules import EscalationProfile, EscalationRules, ReasonKind, Threshold
from review_advisor.policy.surfaces import Surface
from review_advisor.review.escalation import Turn, Watched, after_advice, middle_out, reasons_to_consult, state_digest

FINDING = Finding("f-" + "0" * 32, "src/app.py", 3, 3, False, "high", "security", "a fault", "", None, 0.9, "value = 3")
REPORT = CheckedReport("reject", "it is wrong", 0.9, (FINDING,))
PR = Surface.PR_REVIEW


def watched(profile: EscalationProfile, *critical: str, thresholds: tuple[Threshold, ...] = ()) -> Watched:
    return Watched(EscalationRules(profile, thresholds=thresholds), PR, critical, requested=True)


reports = st.builds(
    CheckedReport,
    verdict=st.sampled_from(["approve", "reject"]),
    summary=st.just("s"),
    confidence=st.floats(0, 1),
    findings=st.lists(
        st.builds(
            replace,
            st.just(FINDING),
            id=st.sampled_from(["f-" + digit * 32 for digit in "0123"]),
            severity=st.sampled_from(["critical", "high", "medium", "low"]),
            confidence=st.floats(0, 1),
        ),
        max_size=4,
        unique_by=lambda each: each.id,
    ).map(tuple),
    refused=st.lists(st.just(RefusedFinding("a", "b", "low", "c")), max_size=1).map(tuple),
)
turns = st.builds(
    Turn, number=st.integers(1, 9), report=reports, failures=st.integers(0, 4), readings=st.integers(0, 4)
)


@given(turns, st.sampled_from(["attrition", "harness"]), st.booleans())
def test_reasons_come_in_their_order_once_each_and_never_a_second_time(
    turn: Turn, profile: EscalationProfile, critical: bool
) -> None:
    about = watched(profile, *(["src/auth/x.py"] if critical else []))
    found = reasons_to_consult(about, turn)
    order = [list(ReasonKind).index(reason.kind) for reason in found]
    assert order == sorted(order)
    assert len({reason.key for reason in found}) == len(found)
    assert reasons_to_consult(about, turn, {reason.key for reason in found}) == ()
    assert (found[0].kind is ReasonKind.CRITICAL_STEP) is critical


@given(turns)
def test_the_profile_of_the_adr_never_consults(turn: Turn) -> None:
    assert reasons_to_consult(watched("adr", "src/auth/x.py"), turn) == ()


THRESHOLDS = (
    Threshold(0.5),
    Threshold(0.6, surface=PR),
    Threshold(0.8, category="Security"),
    Threshold(0.9, surface=PR, category="security", language="Python"),
    Threshold(0.3, category="verdict"),
)


@pytest.mark.parametrize(
    "surface, category, language, least",
    [
        (PR, "security", "python", 0.9),
        (PR, "tests", "go", 0.6),
        (PR, "verdict", "", 0.6),
        (Surface.ADR_REVIEW, "security", "go", 0.8),
        (Surface.ADR_REVIEW, "verdict", "", 0.3),
        (Surface.ADR_REVIEW, "tests", "go", 0.5),
    ],
)
def test_the_threshold_that_names_most_counts(surface: Surface, category: str, language: str, least: float) -> None:
    """Of two that name as much, a surface goes before a category."""
    assert EscalationRules("attrition", thresholds=THRESHOLDS).threshold(surface, category, language) == least


def test_without_a_threshold_that_holds_it_is_seven_tenths() -> None:
    assert EscalationRules("attrition", thresholds=THRESHOLDS[2:4]).threshold(Surface.ADR_REVIEW, "tests") == 0.7


@given(reports, reports)
def test_no_advice_takes_a_grave_finding_away(before: CheckedReport, after: CheckedReport) -> None:
    kept = after_advice(before, after)
    now = {each.id: each.severity for each in kept.report.findings}
    ranks = ["critical", "high", "medium", "low"]
    for each in before.findings:
        if each.severity in ("critical", "high"):
            assert ranks.index(now[each.id]) <= ranks.index(each.severity)
    assert not after_advice(before, kept.report).put_back
    if kept.put_back and before.verdict == "reject":
        assert kept.report.verdict == "reject"


def test_what_is_proven_wrong_may_go() -> None:
    after = CheckedReport("approve", "fine", 0.9)
    assert after_advice(REPORT, after, {FINDING.id: "dropped"}).report == after
    assert after_advice(REPORT, after, {FINDING.id: "low"}).report.verdict == "reject"
    assert after_advice(REPORT, after).report.verdict == "reject"


@given(st.text(max_size=300), st.integers(10, 60))
def test_the_middle_gives_way_and_the_cut_is_named(text: str, most: int) -> None:
    cut = middle_out(text, most)
    if len(text) <= most:
        assert cut == text
    else:
        assert cut.startswith(text[: most - most // 3])
        assert cut.endswith(text[len(text) - most // 3 :])
        assert f"{len(text) - most} characters of the middle" in cut


def test_prose_and_confidence_are_no_other_state() -> None:
    assert state_digest("t", REPORT) == state_digest("t", replace(REPORT, summary="other words", confidence=0.1))
    assert state_digest("t", REPORT) != state_digest("t", replace(REPORT, findings=()))
    assert state_digest("t", REPORT) != state_digest("u", REPORT)
