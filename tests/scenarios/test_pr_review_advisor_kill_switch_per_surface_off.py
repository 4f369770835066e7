from tests.scenarios.reading import is_shown

from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.rulings import Outcome

PR_REVIEW = "HYDRAFLOW_PR_REVIEW_ADVISOR_ENABLED"
SPEC_CHECK = "HYDRAFLOW_PRE_MERGE_SPEC_CHECK_ADVISOR_ENABLED"


def test_a_surface_without_its_advisor_is_the_executors_alone(world: MockWorld) -> None:
    world.switch(PR_REVIEW, "false")
    document = world.review()
    assert world.asked == ["executor"]
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.flags.advisor_disabled == ("pr_review/pre_flight", "pr_review/mid_flight", "pr_review/post_verify")
    assert world.calls(Role.EXECUTOR)[0].consults is None
    assert not is_shown(world.calls(Role.EXECUTOR)[0], "PLAN")
    assert world.artifacts.files == {}


def test_the_other_surfaces_keep_their_advisor(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="values shall be fresh")
    world.switch(PR_REVIEW, "false")
    document = world.review()
    asked = [(call.surface, call.role) for call in world.agents.asked]
    assert asked == [
        (Surface.PR_REVIEW, Role.EXECUTOR),
        (Surface.PRE_MERGE_SPEC_CHECK, Role.EXECUTOR),
        (Surface.PRE_MERGE_SPEC_CHECK, Role.POST_VERIFY),
    ]
    assert not any(name.startswith("pre_merge") for name in document.flags.advisor_disabled)


def test_a_switch_of_one_surface_leaves_pr_review_whole(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="values shall be fresh")
    world.switch(SPEC_CHECK, "off")
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor"]
    assert document.flags.advisor_disabled == ("pre_merge_spec_check/mid_flight", "pre_merge_spec_check/post_verify")
