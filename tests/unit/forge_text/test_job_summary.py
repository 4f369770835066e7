"""The page of the workflow run: every part of a review, and what it leaves out where there is no room."""

from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import STORIES, rejecting, remark, told

from review_advisor.github.log_text import MOST_JOB_SUMMARY, job_summary
from review_advisor.mockworld.agents import approve, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role


def test_an_offered_repair_stands_on_the_page() -> None:
    page = job_summary(told(STORIES["repair attached"]))
    assert "rows[0] if rows else 0" in page


@pytest.mark.every_case
def test_findings_that_find_no_room_are_counted() -> None:
    document = told(STORIES["changes requested"])
    one = document.findings[0]
    many = tuple(replace(one, id=f"f-{n:010x}", line=n, body="It clashes. " * 200) for n in range(1, 1_001))
    page = job_summary(replace(document, findings=many))
    assert len(page.encode()) <= MOST_JOB_SUMMARY
    assert "**Findings**: 1000" in page
    assert "more findings" in page


def in_two_parts(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(*(edited(f"src/{name}.py") for name in "ab"))
    world.agents.script(Role.EXECUTOR, *(approve(summary="fine") for _ in range(4)))
    world.agents.script(Role.POST_VERIFY, *(veto("look", direction="look at line 7") for _ in range(2)))


def test_the_parts_of_a_dispute_are_told_apart() -> None:
    page = job_summary(told(in_two_parts))
    assert "pr_review, part 1 of 2" in page
    assert "pr_review, part 2 of 2" in page
    assert "part 1 of 1" not in job_summary(told(STORIES["escalated"]))


def test_each_disagreement_of_a_dispute_is_told_with_what_it_is_against() -> None:
    page = job_summary(told(STORIES["escalated"]))
    assert "- blocking: seven is taken\n  - against: the change is fine" in page
    assert "Suggested direction: look at line 7" in page


def test_an_empty_line_stands_between_two_findings() -> None:
    document = told(STORIES["changes requested"])
    blocks = job_summary(document).split("\n\n")
    assert len([block for block in blocks if block.startswith("- **")]) == len(document.findings) == 2
    assert not any("\n- **" in block for block in blocks)


def test_the_page_leaves_other_steps_the_rest_of_githubs_mebibyte() -> None:
    assert MOST_JOB_SUMMARY == 1_000_000


def test_the_page_of_the_run_has_every_finding_whole() -> None:
    page = job_summary(told(rejecting(remark(7, body="It clashes.", suggestion="value = 77"))), ("No token.",))
    assert page.startswith("## ❌ Changes requested: 1 high\n\n")
    assert "`src/app.py:7`: value 7 is taken (`f-" in page
    assert "It clashes.\n\n```\nvalue = 77\n```" in page
    assert "- No token." in page
