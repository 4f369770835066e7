"""What of a review gets a comment on the diff: by round, age of the lines, volume, confidence and weight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import Finding
from review_advisor.change.change import Age
from review_advisor.github.threads import LOUDNESS, MOST_GRAVE, postings
from review_advisor.policy.pull_request_rules import Narrowing, Volume

VOLUMES: tuple[Volume, ...] = ("quiet", "normal", "thorough")


def found(
    severity: Severity = "low", age: Age = Age.NEW, confidence: float = 0.9, category: str = "naming", name: str = "a"
) -> Finding:
    return Finding(
        id=f"f-{name}",
        path="src/a.py",
        line=1,
        end_line=1,
        removed=False,
        severity=severity,
        category=category,
        title="a fault",
        body="",
        suggestion=None,
        confidence=confidence,
        evidence="value = 1",
        age=age,
    )


def round_(number: int, volume: Volume = "normal", least: float = 0.6) -> Narrowing:
    return Narrowing(number, volume, least)


def why(finding: Finding, narrowing: Narrowing, *blocking: str) -> str:
    (posting,) = postings([finding], blocking, (), narrowing)
    assert posting.allowed is not bool(posting.because)
    return posting.because


def posted(age: Age, narrowing: Narrowing) -> list[str]:
    return [severity for severity in SEVERITIES if not why(found(severity, age), narrowing)]


@pytest.mark.parametrize(
    "volume, first, second, later",
    [("quiet", 3, 2, 2), ("normal", 4, 3, 2), ("thorough", 4, 4, 2)],
)
def test_each_complete_review_narrows_what_is_posted_on_reworked_lines(
    volume: Volume, first: int, second: int, later: int
) -> None:
    for number, count in ((1, first), (2, second), (3, later), (4, later), (40, later)):
        assert posted(Age.REWORKED, round_(number, volume)) == list(SEVERITIES[:count])


@pytest.mark.parametrize("volume", VOLUMES)
def test_on_unchanged_lines_only_what_blocks_is_posted_in_every_round(volume: Volume) -> None:
    for number in (1, 2, 3, 9):
        assert posted(Age.UNCHANGED, round_(number, volume)) == ["critical", "high"]


@pytest.mark.parametrize("volume", VOLUMES)
def test_code_that_is_new_in_a_push_is_in_its_first_round(volume: Volume) -> None:
    for number in (2, 3, 9):
        assert posted(Age.NEW, round_(number, volume)) == posted(Age.NEW, round_(1, volume))


@given(
    st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(list(Age)), st.floats(0, 1)),
    st.builds(round_, st.integers(1, 20), st.sampled_from(VOLUMES)),
    st.booleans(),
)
def test_what_is_critical_high_or_blocking_is_posted_at_any_confidence_round_and_volume(
    made: tuple[Severity, Age, float], narrowing: Narrowing, blocks: bool
) -> None:
    because = why(found(*made), narrowing, *(["f-a"] if blocks else []))
    assert because == "" or not (blocks or made[0] in ("critical", "high"))


def test_what_is_uncertain_is_held_back() -> None:
    assert why(found("medium", confidence=0.59), round_(1)) == "its confidence is below 0.6"
    assert why(found("medium", confidence=0.6), round_(1)) == ""
    assert why(found("medium", confidence=0.79), round_(1, least=0.8)) == "its confidence is below 0.8"


def test_each_reason_says_what_held_the_finding_back() -> None:
    assert why(found("low", Age.UNCHANGED), round_(2)) == "its lines did not change since the last complete review"
    assert why(found("low", Age.REWORKED), round_(2)) == "complete review 2 posts nothing low on reworked lines"
    assert why(found("low"), round_(1, "quiet")) == "volume quiet posts nothing low"


@pytest.mark.parametrize("volume", VOLUMES)
def test_beyond_the_most_the_mildest_give_way_and_what_is_grave_does_not(volume: Volume) -> None:
    most = LOUDNESS[volume].most
    mild = [found("medium", name=f"m{n:03}") for n in range(most + 5)]
    grave = [found("high", name=f"h{n:03}") for n in range(min(most + 3, MOST_GRAVE))]
    assert len(grave) >= most
    decided = {each.finding.id: each for each in postings([*mild, *grave], (), (), round_(1, volume))}
    assert all(decided[each.id].allowed for each in grave)
    assert {decided[each.id].because for each in mild} == {f"at most {most} comments stand on the diff"}
    alone = postings(mild, (), (), round_(1, volume))
    assert [each.allowed for each in alone] == [True] * most + [False] * 5


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("severity, blocks", [("critical", False), ("high", False), ("medium", True), ("low", True)])
def test_of_what_is_grave_the_worst_fifty_stand_at_a_time_and_the_others_follow(
    volume: Volume, severity: Severity, blocks: bool
) -> None:
    worst = [found("critical", name=f"c{n:03}") for n in range(10)]
    others = [found(severity, name=f"o{n:03}") for n in range(MOST_GRAVE)]
    every, blocking = [*others, *worst], [each.id for each in others if blocks]
    first = postings(every, blocking, (), round_(1, volume))
    allowed = [each.finding.id for each in first if each.allowed]
    waiting = [each for each in first if not each.allowed]
    assert len(allowed) == MOST_GRAVE
    assert {each.id for each in worst} <= set(allowed)
    assert {each.because for each in waiting} == {f"at most {MOST_GRAVE} comments stand on the diff"}
    assert not any(each.folded for each in waiting)
    fixed = [each for each in every if each.id not in allowed[:10]]
    again = postings(fixed, blocking, set(allowed), round_(2, volume))
    assert [each.finding for each in again] == [each.finding for each in waiting]
    assert all(each.allowed for each in again)


@given(
    st.lists(st.tuples(st.sampled_from(SEVERITIES), st.sampled_from(list(Age))), max_size=120),
    st.integers(1, 4),
    st.sampled_from(VOLUMES),
)
def test_deciding_again_once_the_comments_stand_changes_nothing_for_the_others(
    made: list[tuple[Severity, Age]], number: int, volume: Volume
) -> None:
    findings = [found(severity, age, name=str(at)) for at, (severity, age) in enumerate(made)]
    first = postings(findings, (), (), round_(number, volume))
    said = {each.finding.id for each in first if each.allowed}
    again = postings(findings, (), said, round_(number, volume))
    assert again == tuple(each for each in first if not each.allowed)
