import pytest
from tests.scenarios.reading import is_shown

from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

PREFLIGHT = "HYDRAFLOW_REVIEW_PREFLIGHT_ENABLED"
MIDFLIGHT = "HYDRAFLOW_REVIEW_MIDFLIGHT_ENABLED"
POSTVERIFY = "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED"


def test_without_pre_flight_there_is_no_plan(world: MockWorld) -> None:
    world.switch(PREFLIGHT, "false")
    document = world.review()
    assert world.asked == ["executor", "post_verify"]
    assert document.outcome is Outcome.APPROVED
    assert document.flags.advisor_disabled == ("pr_review/pre_flight",)
    assert not any(is_shown(call, "PLAN") for call in world.agents.asked)
    assert world.artifacts.files == {}


def test_the_blast_radius_does_not_depend_on_pre_flight_d21(world: MockWorld) -> None:
    with_plan = world.review().policy
    world.switch(PREFLIGHT, "false")
    without = world.review().policy
    assert with_plan.blast == without.blast
    assert with_plan.surfaces[0].retry_budget == without.surfaces[0].retry_budget


def test_without_mid_flight_the_executor_cannot_consult(world: MockWorld) -> None:
    world.switch(MIDFLIGHT, "false")
    document = world.review()
    (executor,) = world.calls(Role.EXECUTOR)
    assert executor.consults is None
    assert "Agent tool" not in executor.prompt
    assert document.flags.advisor_disabled == ("pr_review/mid_flight",)
    assert world.asked == ["pre_flight", "executor", "post_verify"]


def test_without_post_verify_the_executors_verdict_stands(world: MockWorld) -> None:
    world.switch(POSTVERIFY, "false")
    document = world.review()
    assert world.asked == ["pre_flight", "executor"]
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.flags.advisor_disabled == ("pr_review/post_verify",)
    assert document.because == (
        f"post-verify is switched off by {POSTVERIFY}: the executor's verdict stands, unverified",
    )


@pytest.mark.parametrize(
    "switch, silent", [(PREFLIGHT, "pre_flight"), (MIDFLIGHT, "mid_flight"), (POSTVERIFY, "post_verify")]
)
def test_the_review_names_the_switch_that_silenced_a_role(world: MockWorld, switch: str, silent: str) -> None:
    world.switch(switch, "no")
    document = world.review()
    (skip,) = document.surfaces[0].skipped
    assert (skip.role.value, skip.disabled_by, skip.because) == (silent, switch, (f"switched off by {switch}",))
