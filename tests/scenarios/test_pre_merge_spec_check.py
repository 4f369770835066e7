import json

from tests.scenarios.reading import is_shown, moves, own_words, shown, transcript

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import approve, finding, lost, plan, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.rulings import Outcome

SPEC = Surface.PRE_MERGE_SPEC_CHECK
WISH = "every value shall be prime"


def with_a_spec(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec=WISH)


def on_the_spec(world: MockWorld, role: Role) -> list[AgentCall]:
    return [call for call in world.calls(role) if call.surface is SPEC]


def test_a_linked_spec_adds_a_surface_after_pr_review(world: MockWorld) -> None:
    with_a_spec(world)
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor", "post_verify"]
    assert [surface.surface for surface in document.surfaces] == [Surface.PR_REVIEW, SPEC]
    assert document.outcome is Outcome.APPROVED


def test_the_spec_reaches_post_verify_d1(world: MockWorld) -> None:
    with_a_spec(world)
    world.review()
    (executor,), (post_verify,) = on_the_spec(world, Role.EXECUTOR), on_the_spec(world, Role.POST_VERIFY)
    for call in (executor, post_verify):
        assert shown(call, "SPEC") == f"from docs/spec.md\n\n{WISH}"
        assert WISH not in own_words(call)
        assert call.system_prompt.endswith("[pre_merge_spec_check]")


def test_the_whole_spec_reaches_post_verify_however_long_d3(world: MockWorld) -> None:
    world.change(edited("src/app.py"), spec="x" * 30_000 + "THE END")
    world.review()
    assert shown(on_the_spec(world, Role.POST_VERIFY)[0], "SPEC").endswith("THE END")


def test_it_reuses_pr_reviews_plan_and_pays_for_none(world: MockWorld) -> None:
    with_a_spec(world)
    world.agents.script(Role.PRE_FLIGHT, plan("four is not prime"))
    world.review()
    assert len(world.calls(Role.PRE_FLIGHT)) == 1
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        (call,) = on_the_spec(world, role)
        assert json.loads(shown(call, "PLAN"))["risk_summary"] == "four is not prime"
    assert list(world.artifacts.files) == ["preflight.json"]


def test_without_pr_reviews_plan_it_has_none(world: MockWorld) -> None:
    with_a_spec(world)
    world.agents.script(Role.PRE_FLIGHT, lost())
    world.review()
    assert len(world.calls(Role.PRE_FLIGHT)) == 1
    assert not any(is_shown(call, "PLAN") for call in world.agents.asked)


def test_it_has_its_own_retry_loop_with_its_own_transcript(world: MockWorld) -> None:
    with_a_spec(world)
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 4, "value = 4", "low")), surface=SPEC)
    world.agents.script(Role.POST_VERIFY, veto("four is not prime"), surface=SPEC)
    document = world.review()
    assert moves(document, 0) == ["accept"]
    assert moves(document, 1) == ["retry", "accept"]
    first, second = on_the_spec(world, Role.EXECUTOR)
    assert not is_shown(first, "TRANSCRIPT")
    assert transcript(second)[0]["disagreements"][0]["advisor_assessment"] == "four is not prime"
    assert document.flags.recovered


def test_one_surfaces_transcript_is_not_the_others(world: MockWorld) -> None:
    with_a_spec(world)
    noted = approve(finding("src/app.py", 9, "value = 9", "low"))
    world.agents.script(Role.EXECUTOR, approve(), noted, surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, veto("nine is odd"), surface=Surface.PR_REVIEW)
    world.review()
    assert not any("nine is odd" in call.prompt for call in world.agents.asked if call.surface is SPEC)


def test_a_veto_that_never_ends_does_end_d12(world: MockWorld) -> None:
    with_a_spec(world)
    noted = approve(finding("src/app.py", 4, "value = 4", "low"))
    world.agents.script(Role.EXECUTOR, approve(), noted, surface=SPEC)
    world.agents.script(Role.POST_VERIFY, veto("not prime"), veto("still not"), surface=SPEC)
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert len(on_the_spec(world, Role.POST_VERIFY)) == 2


def test_the_worst_surface_decides(world: MockWorld) -> None:
    with_a_spec(world)
    world.agents.script(
        Role.EXECUTOR, reject(finding("src/app.py", 4, "value = 4"), summary="four is not prime"), surface=SPEC
    )
    document = world.review()
    assert [surface.outcome for surface in document.surfaces] == [Outcome.APPROVED, Outcome.CHANGES_REQUESTED]
    assert (document.outcome, document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)
    assert document.because == ("the rejection is confirmed",)
