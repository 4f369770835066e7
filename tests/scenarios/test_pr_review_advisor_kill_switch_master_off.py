import pytest
from tests.scenarios.reading import is_shown

from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

MASTER = "HYDRAFLOW_REVIEW_ADVISOR_ENABLED"


def test_with_the_master_switch_off_the_executor_reviews_alone(world: MockWorld) -> None:
    world.switch(MASTER, "false")
    document = world.review()
    assert world.asked == ["executor"]
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.because == (f"post-verify is switched off by {MASTER}: the executor's verdict stands, unverified",)


def test_an_approval_without_the_advisor_says_so_d13(world: MockWorld) -> None:
    world.switch(MASTER, "off")
    document = world.review()
    assert document.flags.advisor_disabled == ("pr_review/pre_flight", "pr_review/mid_flight", "pr_review/post_verify")
    assert not document.flags.degraded
    assert {skip.disabled_by for skip in document.surfaces[0].skipped} == {MASTER}
    assert len(document.surfaces[0].skipped) == 3


def test_the_lone_executor_has_no_plan_and_cannot_consult(world: MockWorld) -> None:
    world.switch(MASTER, "0")
    world.review()
    (executor,) = world.calls(Role.EXECUTOR)
    assert executor.consults is None
    assert "Agent tool" not in executor.prompt
    assert not is_shown(executor, "PLAN")
    assert world.artifacts.files == {}


def test_the_lone_executors_no_is_a_no(world: MockWorld) -> None:
    world.switch(MASTER, "no")
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3")))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)


def test_the_master_switch_beats_the_force_switch(world: MockWorld) -> None:
    world.switch(MASTER, "false")
    world.switch("HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON", "true")
    world.review()
    assert world.asked == ["executor"]


@pytest.mark.parametrize("path", [".claude/agents/hydraflow-review-advisor.md", "src/review_advisor.py"])
def test_nobody_switches_the_judge_off_for_a_change_to_the_judge_d16(world: MockWorld, path: str) -> None:
    world.switch(MASTER, "false")
    world.change(edited(path, 1))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert world.asked == ["executor"]
    assert "while the self-modification guard holds" in document.because[0]
