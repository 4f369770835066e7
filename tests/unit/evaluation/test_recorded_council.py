"""What the council would have shown: the lead's findings that two others have, and what five others raise."""

from __future__ import annotations

import pytest

from review_advisor.lab.recorded_reviews import JudgedChange, ToolFinding, council_shows, credited

RIGHT = frozenset({0})
WRONG: frozenset[int] = frozenset()


def shown(*said: tuple[str, frozenset[int]], members: int = 11) -> list[frozenset[int]]:
    """What the council shows of one cluster that these tools are in, by what it is credited with."""
    findings = tuple(ToolFinding(tool, "the same", matches) for tool, matches in said)
    change = JudgedChange("a", "repository", 2, findings, {})
    clusters = council_shows(change, [tuple(range(len(findings)))], "lead", members)
    return [credited(change, cluster, "lead") for cluster in clusters]


def others(number: int, matches: frozenset[int]) -> list[tuple[str, frozenset[int]]]:
    return [(f"tool-{each}", matches) for each in range(number)]


@pytest.mark.parametrize("confirm, is_shown", [(0, False), (1, False), (2, True), (7, True)])
def test_two_others_confirm_what_the_lead_found(confirm: int, is_shown: bool) -> None:
    assert shown(("lead", RIGHT), *others(confirm, WRONG)) == [RIGHT] * is_shown


@pytest.mark.parametrize("raise_it, is_shown", [(1, False), (4, False), (5, True), (9, True)])
def test_five_of_eleven_add_what_the_lead_did_not_find(raise_it: int, is_shown: bool) -> None:
    assert shown(*others(raise_it, RIGHT)) == [RIGHT] * is_shown


def test_one_tool_that_says_it_three_times_confirms_nothing() -> None:
    assert shown(("lead", RIGHT), *[("tool", RIGHT)] * 3) == []


def test_the_lead_is_credited_with_its_own_words_alone() -> None:
    assert shown(("lead", WRONG), *others(9, RIGHT)) == [WRONG]


@pytest.mark.parametrize("right, credited", [(1, WRONG), (2, WRONG), (3, RIGHT), (6, RIGHT)])
def test_what_is_added_is_right_where_half_of_the_tools_are_never_where_any_is(
    right: int, credited: frozenset[int]
) -> None:
    assert shown(*others(right, RIGHT), *[(f"wrong-{each}", WRONG) for each in range(6 - right)]) == [credited]


def test_a_small_panel_takes_nothing_from_the_lead() -> None:
    assert shown(("lead", RIGHT), members=4) == [RIGHT]
