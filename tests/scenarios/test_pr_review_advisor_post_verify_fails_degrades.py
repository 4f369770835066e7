from dataclasses import replace

import pytest
from tests.scenarios.reading import calls_by_end, moves

from review_advisor.agents.calls import LOSSES, Cause, LostReason
from review_advisor.agents.replies import REPAIRABLE
from review_advisor.mockworld.agents import Line, approve, finding, garbage, learned, lost, reject, text_only, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound


@pytest.mark.parametrize(
    "reason",
    [
        LostReason.CRASH,
        LostReason.SILENT,
        LostReason.SERVER_ERROR,
        LostReason.TRUNCATED,
    ],
)
def test_a_lost_post_verify_leaves_the_executors_verdict_and_a_mark(world: MockWorld, reason: LostReason) -> None:
    world.agents.script(Role.POST_VERIFY, lost(reason))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 0)
    assert document.flags.degraded
    assert document.flags.lost == ("pr_review/post_verify",)
    assert len(world.calls(Role.POST_VERIFY)) == 1
    assert document.because == (f"post-verify was lost ({reason.value}): the executor's verdict stands, unverified",)


SILENCED = sorted(
    reason
    for reason, loss in LOSSES.items()
    if loss.cause is Cause.CONTENT and reason not in {*REPAIRABLE, LostReason.CALL_BUDGET, LostReason.TOO_LONG}
)

VERDICTS = (approve(), reject(finding("src/app.py", 1, "value = 1")))


@pytest.mark.parametrize("reason", SILENCED)
@pytest.mark.parametrize(
    "verdict", [approve(), reject(finding("src/app.py", 1, "value = 1"))], ids=["approve", "reject"]
)
def test_a_judge_that_the_change_may_have_silenced_calls_a_human(
    world: MockWorld, reason: LostReason, verdict: Line
) -> None:
    world.agents.script(Role.EXECUTOR, verdict)
    world.agents.script(Role.POST_VERIFY, lost(reason))
    document = world.review()
    assert (document.outcome, document.exit_code, document.flags.degraded) == (Outcome.ESCALATED, 11, True)
    assert document.because == (f"post-verify was lost ({reason.value}), and the change itself may be the cause",)
    assert len(world.calls(Role.POST_VERIFY)) == 1


@pytest.mark.parametrize("reply", [garbage(), text_only()], ids=["not the schema", "prose only"])
@pytest.mark.parametrize("second", [garbage(), text_only(), lost()], ids=["garbage", "prose", "crash"])
def test_a_judge_that_gives_no_usable_answer_twice_calls_a_human(world: MockWorld, reply: Line, second: Line) -> None:
    world.agents.script(Role.POST_VERIFY, reply, second)
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert "the change itself may be the cause" in document.because[0]


def test_on_an_advisory_surface_a_judge_that_the_change_may_have_silenced_is_only_noted(world: MockWorld) -> None:
    world.rules = replace(world.rules, wiki_folder="wiki")
    world.agents.script(Role.EXECUTOR, approve().teaching(learned("A trap", "src/app.py", "value = 1")))
    world.agents.script(Role.POST_VERIFY, lost(LostReason.MODEL_REFUSED), surface=Surface.WIKI_INGEST)
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert document.flags.lost == ("wiki_ingest/post_verify",)


def test_a_degraded_approval_is_told_apart_from_a_confirmed_one_by_its_type_d13(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost())
    degraded, confirmed = world.review(), world.review()
    (ruling,) = degraded.surfaces[0].parts[0].rulings
    (sound,) = confirmed.surfaces[0].parts[0].rulings
    assert (ruling.degraded, ruling.verdict) == (True, None)
    assert (sound.degraded, sound.verdict) == (False, "APPROVE")
    assert degraded.surfaces[0].parts[0].post_verify == ()


def test_an_approval_that_was_never_confirmed_did_not_recover_d31(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "value = 1")))
    world.agents.script(Role.POST_VERIFY, veto("no fault there"), lost())
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    assert document.because == ("post-verify was lost (crash) after a veto that nobody took back",)
    assert document.flags.degraded
    assert not document.flags.recovered
    assert moves(document) == ["retry", "escalate"]


def test_a_lost_judgement_of_a_rejection_leaves_the_rejection(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 1, "value = 1")))
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.CHANGES_REQUESTED, 10)
    assert document.flags.degraded


def test_a_team_may_ask_for_a_human_whenever_an_approval_is_degraded(world: MockWorld) -> None:
    world.rules = replace(world.rules, fail_on_degraded=True)
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.APPROVED, 11)


def test_a_lost_judgement_of_a_change_to_the_bot_goes_to_a_human_d16(world: MockWorld) -> None:
    world.change(edited(".review-advisor.toml", 1))
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.ESCALATED, 11)
    assert calls_by_end(document)["lost"] == ["post_verify"]


def test_a_lost_plan_is_no_plan(world: MockWorld) -> None:
    world.agents.script(Role.PRE_FLIGHT, lost())
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert document.flags.lost == ("pr_review/pre_flight",)
    assert not document.flags.degraded
    assert document.surfaces[0].plan is None
    assert world.artifacts.files == {}
    assert world.asked == ["pre_flight", "executor", "post_verify"]


def test_a_lost_executor_is_never_an_approval(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, lost(LostReason.TIMEOUT))
    document = world.review()
    assert (document.outcome, document.exit_code) == (Outcome.STOPPED, 12)
    assert world.asked == ["pre_flight", "executor"]
    assert document.because == ("no verdict: scripted: timeout",)
    assert [file.read for file in document.coverage] == ["not"]


def test_an_outage_after_a_veto_is_no_approval_of_what_was_vetoed(world: MockWorld) -> None:
    noted = finding("src/app.py", 1, "value = 1", severity="low")
    world.agents.script(Role.EXECUTOR, approve(), approve(noted))
    world.agents.script(Role.POST_VERIFY, veto("one is wrong"), lost())
    document = world.review()
    assert (document.outcome, document.exit_code, document.flags.degraded) == (Outcome.ESCALATED, 11, True)
    assert document.because == ("post-verify was lost (crash) after a veto that nobody took back",)


FAULT = finding("src/app.py", 1, "value = 1")
FIRST = {
    "it had approved": approve(),
    "it had rejected for something else": reject(finding("src/app.py", 2, "value = 2")),
}


NEVER_OF_A_CALL = {LostReason.CRASHED_AGAIN, LostReason.TOLERATED_RATE_LIMIT}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
@pytest.mark.parametrize("reason", [each for each in LostReason if each not in NEVER_OF_A_CALL])
def test_a_rejection_after_a_veto_stands_in_an_outage_or_rate_limit_and_in_nothing_else(
    world: MockWorld, first: Line, reason: LostReason
) -> None:
    """Nobody can cause an outage by a change; what the change may have silenced calls a person."""
    world.agents.script(Role.EXECUTOR, first, reject(FAULT))
    judged_again = (lost(reason), lost(reason)) if reason in REPAIRABLE else (lost(reason),)
    world.agents.script(Role.POST_VERIFY, veto("that is wrong"), *judged_again)
    document = world.review()
    explained = LOSSES[reason].cause is not Cause.CONTENT
    assert document.outcome is (Outcome.CHANGES_REQUESTED if explained else Outcome.ESCALATED)
    assert (document.flags.degraded, document.flags.recovered, document.flags.exhausted) == (True, False, False)
    assert unsound(document.events) is None


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_a_rejection_after_a_veto_stands_in_no_outage_that_the_team_or_the_guard_counts_as_a_no(
    world: MockWorld, first: Line
) -> None:
    world.agents.script(Role.EXECUTOR, *(first, reject(FAULT)) * 2)
    world.agents.script(Role.POST_VERIFY, *(veto("that is wrong"), lost()) * 2)
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "true")
    counted = world.review()
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "false")
    world.change(edited("src/app.py"), edited(".review-advisor.toml", 1))
    for document in (counted, world.review()):
        assert (document.outcome, document.flags.degraded) == (Outcome.ESCALATED, True)
        assert unsound(document.events) is None
