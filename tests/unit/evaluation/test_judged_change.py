"""What is no finding, and what the placebo changes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from review_advisor.lab.recorded_reviews import JudgedChange, ToolFinding, is_trigger_command, placebo

RIGHT = frozenset({0})


@pytest.mark.parametrize(
    "text", ["/propel review", "Baz review", "Bugbot review", "@greptile", " @bot review\n", "/review"]
)
def test_a_comment_that_calls_a_reviewer_is_no_finding(text: str) -> None:
    assert is_trigger_command(text)


@pytest.mark.parametrize(
    "text", ["", "This needs review", "/tmp/a is not removed", "@Override is missing here", "null"]
)
def test_what_says_something_of_the_code_is_a_finding(text: str) -> None:
    assert not is_trigger_command(text)


def test_the_placebo_changes_which_of_a_tools_findings_are_right_and_nothing_else() -> None:
    findings = [ToolFinding("one", f"text {number}", RIGHT if number < 3 else frozenset()) for number in range(9)]
    findings += [ToolFinding("other", "never right")] * 3
    change = JudgedChange("a", "repository", 1, tuple(findings), {})
    chance = Random(1)
    drawn = [placebo(change, chance.randrange) for _ in range(200)]
    for each in drawn:
        assert [(found.tool, found.text) for found in each.findings] == [(found.tool, found.text) for found in findings]
        assert sorted(map(len, each.matches_of("one"))) == [0] * 6 + [1] * 3
        assert each.matches_of("other") == [frozenset()] * 3
    hits = Counter(place for each in drawn for place, found in enumerate(each.findings) if found.matches)
    assert set(hits) == set(range(9))
    assert max(hits.values()) < 2 * min(hits.values())
