import json

from tests.scenarios.reading import is_shown, own_words, shown

from review_advisor.mockworld.agents import plan
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

FORCE_ON = "HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON"


def test_a_trivial_change_is_planned_when_somebody_insists(world: MockWorld) -> None:
    world.switch(FORCE_ON, "true")
    world.change(edited("docs/guide.md", 1))
    world.agents.script(Role.PRE_FLIGHT, plan("a typo may hide a lie"))
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.outcome is Outcome.APPROVED
    assert document.policy.surfaces[0].roles[Role.PRE_FLIGHT].because == (f"forced by {FORCE_ON}",)
    assert json.loads(world.artifacts.files["preflight.json"])["risk_summary"] == "a typo may hide a lie"
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        assert "a typo may hide a lie" in shown(world.calls(role)[0], "PLAN")


def test_a_small_change_to_the_bot_is_planned(world: MockWorld) -> None:
    world.change(edited("CLAUDE.md", 1))
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    because = ("the self-modification guard holds: CLAUDE.md",)
    assert document.policy.surfaces[0].roles[Role.PRE_FLIGHT].because == because


def test_the_planner_sees_the_diff_and_has_no_tools(world: MockWorld) -> None:
    world.switch(FORCE_ON, "yes")
    world.review()
    (planner,) = world.calls(Role.PRE_FLIGHT)
    assert "+value = 1" in shown(planner, "DIFF")
    assert (planner.tree, planner.consults) == (None, None)


def test_a_change_that_was_tried_before_is_planned_and_the_planner_knows_d23_d25(world: MockWorld) -> None:
    world.change(edited("src/app.py", 1), prior_fix_attempts=2)
    document = world.review()
    (planner,) = world.calls(Role.PRE_FLIGHT)
    assert document.policy.surfaces[0].roles[Role.PRE_FLIGHT].because == ("prior fix attempts: 2",)
    assert "Fix attempts before this one: 2." in own_words(planner)
    assert not is_shown(planner, "TRANSCRIPT")
