"""A configured effort reaches the API with the real CLI; without one the CLI decides as it always has."""

from __future__ import annotations

from tests.e2e.review_answers import confirm, guidance, plan, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, NO_WAIT, POST_VERIFY, PRE_FLIGHT, ReviewWorld
from tests.e2e.stub_api import consult

CRITICAL_FILE = "src/auth/login.py"
"""Its blast radius is high."""
BY_DEFAULT = "medium"
"""What the CLI sends where it is told nothing."""
CONFIG = """\
[effort]
pre_flight = { high = "low" }
executor = { high = "max", low = "low" }
mid_flight = { high = "xhigh" }
post_verify = { medium = "low" }
"""


def asked_for(world: ReviewWorld) -> dict[str, set[str]]:
    """The effort of each role's requests."""
    roles = (PRE_FLIGHT, EXECUTOR, MID_FLIGHT, POST_VERIFY)
    return {role.value: {request.body["output_config"]["effort"] for request in world.of(role)} for role in roles}


def test_each_role_asks_for_the_effort_that_is_configured_for_it(world: ReviewWorld) -> None:
    world.change({CRITICAL_FILE: "allowed = True\n"})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, consult("A or B?"), report())
    world.says(MID_FLIGHT, guidance("Choose B."))
    world.says(POST_VERIFY, confirm())
    done = world.review(config=CONFIG)
    assert asked_for(world) == {
        "pre_flight": {"low"},
        "executor": {"max"},
        "mid_flight": {"xhigh"},
        "post_verify": {BY_DEFAULT},
    }
    assert "effort, as configured: pre_flight low, executor max, mid_flight xhigh\n" in done.text("report.txt")


def test_the_author_of_a_change_cannot_lower_the_effort_of_its_review(world: ReviewWorld) -> None:
    """An attack: the head brings a configuration of its own. The base's holds, which here sets none."""
    world.change({".review-advisor.toml": NO_WAIT + CONFIG.replace("max", "low").replace("medium", "high")})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm())
    world.review()
    assert {effort for efforts in asked_for(world).values() for effort in efforts} == {BY_DEFAULT}
