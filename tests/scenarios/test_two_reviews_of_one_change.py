import os
from dataclasses import replace

import pytest
from tests.scenarios.reading import is_shown, moves

from review_advisor.mockworld.agents import FakeAdvisorRunner, approve, confirm, finding, lost, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import read_switches
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome

MASTER = "HYDRAFLOW_REVIEW_ADVISOR_ENABLED"
POSTVERIFY = "HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED"


def vetoed_to_the_end(world: MockWorld, words: str) -> None:
    noted = finding("src/app.py", 1, "value = 1", severity="low", title=f"{words} remark")
    world.agents.script(Role.PRE_FLIGHT, plan(f"{words} risk"))
    world.agents.script(Role.EXECUTOR, approve(summary=f"{words} first"), approve(noted, summary=f"{words} second"))
    world.agents.script(Role.POST_VERIFY, veto(f"{words} fault"), veto(f"{words} fault again"))


def test_a_change_that_comes_back_after_escalation_gets_fresh_budgets_d25(world: MockWorld) -> None:
    vetoed_to_the_end(world, "FIRST")
    vetoed_to_the_end(world, "SECOND")
    first, second = world.review(), world.review()
    assert first.outcome is second.outcome is Outcome.ESCALATED
    assert moves(first) == moves(second) == ["retry", "escalate"]
    assert first.policy == second.policy
    assert (first.run_id, second.run_id) == ("run-1", "run-2")


def test_nothing_of_one_review_is_seen_in_the_next_d25_d26(world: MockWorld) -> None:
    vetoed_to_the_end(world, "FIRST")
    world.agents.script(Role.MID_FLIGHT)
    world.review()
    before = len(world.agents.asked)
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    again = world.agents.asked[before:]
    assert [call.attempt for call in again] == [0, 0, 0]
    for call in again:
        assert "FIRST" not in call.prompt
        assert "nonce0001" not in call.prompt
        assert "run-1" not in call.prompt
        assert "Fix attempts" not in call.prompt
        assert not is_shown(call, "TRANSCRIPT")
    assert document.outcome is Outcome.APPROVED
    assert not document.flags.recovered


def test_consults_of_one_review_are_not_counted_in_the_next(world: MockWorld) -> None:
    five = tuple(f"question {n}" for n in range(5))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*five), approve().after_asking(*five))
    for document in (world.review(), world.review()):
        assert [note.status for note in document.surfaces[0].parts[0].consults] == ["answered"] * 5


@pytest.mark.parametrize("role", [Role.PRE_FLIGHT, Role.EXECUTOR])
def test_a_switch_flipped_during_a_review_changes_the_next_one_only_d24(world: MockWorld, role: Role) -> None:
    flip = approve() if role is Role.EXECUTOR else plan()
    world.agents.script(role, flip.while_doing(lambda: world.switch(MASTER, "false")))
    document = world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.flags.advisor_disabled == ()
    world.review()
    assert world.asked == ["pre_flight", "executor", "post_verify", "executor"]


def test_the_retry_loop_reads_no_switch_d24(world: MockWorld) -> None:
    noted = finding("src/app.py", 1, "value = 1", severity="low")
    world.agents.script(Role.EXECUTOR, approve(), approve(noted))
    world.agents.script(Role.POST_VERIFY, veto("a fault").while_doing(lambda: world.switch(POSTVERIFY, "off")))
    document = world.review()
    assert len(world.calls(Role.POST_VERIFY)) == 2
    assert document.flags.recovered


def test_a_judge_lost_after_the_flip_is_still_judged_by_the_old_rule(world: MockWorld) -> None:
    flipped = lost().while_doing(lambda: world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "true"))
    world.agents.script(Role.POST_VERIFY, flipped)
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert document.flags.degraded


def test_the_processs_own_environment_is_not_read_while_a_review_runs_d24(world: MockWorld) -> None:
    before = os.environ.get(MASTER)

    def flip() -> None:
        os.environ[MASTER] = "false"

    world.agents.script(Role.PRE_FLIGHT, plan().while_doing(flip))
    try:
        world.review()
        assert not read_switches(os.environ).master
    finally:
        os.environ.pop(MASTER, None)
        if before is not None:
            os.environ[MASTER] = before
    assert world.asked == ["pre_flight", "executor", "post_verify"]


@pytest.mark.parametrize("role", [Role.PRE_FLIGHT, Role.EXECUTOR, Role.POST_VERIFY])
def test_two_reviews_of_one_change_at_the_same_time_share_nothing_d26(world: MockWorld, role: Role) -> None:
    """The second one begins and ends while a role of the first is being asked."""
    inner: list[OutcomeDocument] = []
    noted = approve(finding("src/app.py", 1, "value = 1", severity="low"), summary="OUTER second")
    lines = {
        Role.PRE_FLIGHT: [plan("OUTER risk")],
        Role.EXECUTOR: [approve(summary="OUTER first"), noted],
        Role.POST_VERIFY: [veto("OUTER fault"), veto("OUTER fault again")],
    }
    lines[role][0] = lines[role][0].while_doing(lambda: inner.append(other.review()))
    for each, said in lines.items():
        world.agents.script(each, *said)
    other = MockWorld()
    other.journal, other.artifacts, other.reviews = world.journal, world.artifacts, 1
    other.agents.script(Role.EXECUTOR, approve(summary="INNER"))
    document = world.review()
    (second,) = inner
    assert (document.run_id, second.run_id) == ("run-1", "run-2")
    assert document.label == second.label
    assert (document.outcome, second.outcome) == (Outcome.ESCALATED, Outcome.APPROVED)
    assert [call.attempt for call in world.agents.asked] == [0, 0, 0, 1, 1]
    assert [call.attempt for call in other.agents.asked] == [0, 0, 0]
    assert all("INNER" not in call.prompt and "run-2" not in call.prompt for call in world.agents.asked)
    assert all("OUTER" not in call.prompt and "run-1" not in call.prompt for call in other.agents.asked)
    assert [document.policy, document.flags.exhausted] == [second.policy, not second.flags.exhausted]


def test_two_changes_of_one_number_share_nothing_but_the_number(world: MockWorld) -> None:
    vetoed_to_the_end(world, "FIRST")
    world.review()
    world.source.stated = replace(world.source.stated, title="Another change")
    world.agents = FakeAdvisorRunner(world.clock)
    document = world.review()
    assert document.outcome is Outcome.APPROVED
    assert all("FIRST" not in call.prompt for call in world.agents.asked)
