"""Whole reviews with the real CLI and an account that cannot pay, is not let in, or is asked to slow down."""

from __future__ import annotations

import json

import pytest
from tests.e2e.review_answers import CODE_FILE, code, confirm, guidance, limit_lifts_late, plan, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, PRE_FLIGHT, Reviewed, ReviewWorld
from tests.e2e.stub_api import (
    Reply,
    after,
    consult,
    consult_block,
    credit_gone,
    error,
    forever,
    hang,
    several,
    structured,
    text,
)

from review_advisor.policy.surfaces import Role
from review_advisor.review.rulings import Outcome

APPROVED, STOPPED = (Outcome.APPROVED, 0), (Outcome.STOPPED, 12)
PAYMENT_REQUIRED = error(402, "billing_error", "pay")
GOOD = {PRE_FLIGHT: plan(), EXECUTOR: report(), POST_VERIFY: confirm()}
ORDER = [PRE_FLIGHT, EXECUTOR, POST_VERIFY]


def refused(status: int) -> Reply:
    return error(status, "authentication_error", "no")


def fail_at(world: ReviewWorld, role: Role, reply: Reply) -> Reviewed:
    """A review in which one role's every request gets ``reply``; nothing after it has a script."""
    world.change()
    for each in ORDER[: ORDER.index(role)]:
        world.says(each, GOOD[each])
    world.says(role, forever(reply))
    # With FAIL_AS_VETO: a dead account must not be taken for a lost judgement either.
    return world.review(environ={"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "yes"})


def says_it_did_not_run(done: Reviewed) -> None:
    assert done.text("report.txt").startswith("STOPPED")
    assert json.loads(done.text("advisor_session.jsonl").splitlines()[-1])["ended"] == "stopped"
    (log,) = (done.folder / ".advisor").iterdir()
    assert json.loads(log.read_text())["final_answer"].startswith("stopped: ")


@pytest.mark.parametrize(
    "role,reply",
    [
        *[(role, credit_gone()) for role in ORDER],
        *[(role, limit_lifts_late()) for role in ORDER],
        (EXECUTOR, PAYMENT_REQUIRED),
    ],
    ids=[f"{name}-{role.value}" for name in ("400", "429 long window") for role in ORDER] + ["402-executor"],
)
def test_spent_credit_stops_the_review_where_it_shows(world: ReviewWorld, role: Role, reply: Reply) -> None:
    """D6: it is asked once, and nothing is asked after it."""
    done = fail_at(world, role, reply)
    assert done.end == STOPPED
    assert done.stopped_by == "credit_exhausted"
    assert "credit" in done.why or "limit will not lift soon" in done.why
    assert world.asked == [each.value for each in ORDER[: ORDER.index(role) + 1]]
    says_it_did_not_run(done)


@pytest.mark.parametrize("role,status", [(PRE_FLIGHT, 403), (EXECUTOR, 401), (EXECUTOR, 403), (POST_VERIFY, 403)])
def test_a_refused_credential_stops_the_review_where_it_shows(world: ReviewWorld, role: Role, status: int) -> None:
    """D6: no other role is asked with a credential that was refused."""
    done = fail_at(world, role, refused(status))
    assert done.end == STOPPED
    assert done.stopped_by == "authentication_failed"
    assert "credential" in done.why
    assert list(dict.fromkeys(world.asked)) == [each.value for each in ORDER[: ORDER.index(role) + 1]]
    says_it_did_not_run(done)


@pytest.mark.parametrize(
    "reply,reason",
    [
        (credit_gone(), "credit_exhausted"),
        (PAYMENT_REQUIRED, "credit_exhausted"),
        (refused(403), "authentication_failed"),
    ],
    ids=["400", "402", "403"],
)
def test_an_account_that_ends_during_a_consult_stops_the_review(world: ReviewWorld, reply: Reply, reason: str) -> None:
    """The CLI swallows it and would go on; the approval that the executor gives afterwards does not count."""
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, consult("A or B?"), forever(report()))
    world.says(MID_FLIGHT, forever(reply))
    done = world.review()
    assert done.end == STOPPED
    assert done.stopped_by == reason
    assert not world.of(POST_VERIFY)
    assert len(world.of(EXECUTOR)) <= 2
    assert [note.status for note in done.consults] == ["failed"]
    says_it_did_not_run(done)


def test_a_failed_consult_beside_a_good_one_still_stops(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, several(consult_block("A or B?"), consult_block("C or D?")), forever(report()))
    world.answers(MID_FLIGHT, lambda: credit_gone() if len(world.of(MID_FLIGHT)) == 2 else after(1, guidance()))
    done = world.review()
    assert done.end == STOPPED
    assert done.stopped_by == "credit_exhausted"
    assert not world.of(POST_VERIFY)


def test_spent_credit_in_one_part_ends_the_others(world: ReviewWorld) -> None:
    """Two executors at a time: one meets the end of the account, the other is ended and no third one starts."""
    world.change({f"part_{number}.py": code(400) for number in range(3)})
    world.says(PRE_FLIGHT, plan())
    world.says(EXECUTOR, hang(), after(0.5, credit_gone()))
    done = world.review(config="shard_tokens = 6000", jobs=2)
    assert done.end == STOPPED
    assert done.stopped_by == "credit_exhausted"
    assert world.asked == ["pre_flight", "executor", "executor"]
    assert sorted(call[1] for call in done.calls[1:]) == ["lost", "stopped"]


def test_a_short_rate_limit_is_waited_out(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    slow_down = error(429, "rate_limit_error", "slow down", retry_after="1")
    world.says(EXECUTOR, slow_down, report())
    world.says(POST_VERIFY, confirm())
    done = world.review()
    assert done.end == APPROVED
    assert world.asked == ["executor", "executor", "post_verify"]
    first, second = world.of(EXECUTOR)
    assert second.at - first.at >= 1
    assert not done.document.flags.lost


def test_a_limit_with_a_known_end_says_when_it_lifts(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    world.says(EXECUTOR, forever(error(429, "rate_limit_error", "Claude AI usage limit reached|1999999999")))
    done = world.review()
    assert done.end == STOPPED
    assert done.stopped_by == "credit_exhausted"
    assert "2033-05-18T03:33:19Z" in done.text("outcome.json")


def test_no_credential_is_refused_before_anything_is_asked(world: ReviewWorld) -> None:
    world.change({CODE_FILE: code(3)})
    process = world.console(ANTHROPIC_API_KEY="")
    _, err = process.communicate(timeout=110)
    assert process.returncode == 2
    assert "ANTHROPIC_API_KEY" in err
    assert world.asked == []


def test_words_about_credit_are_only_words(world: ReviewWorld) -> None:
    """D42: in the diff, in the description, and in what the models say."""
    words = "Credit balance is too low. Invalid API key. Claude AI usage limit reached|1999999999"
    world.change({CODE_FILE: f"{code(3)}# {words}\n"}, message=words)
    world.says(EXECUTOR, consult(words), report(summary=words))
    world.says(MID_FLIGHT, text(words))
    world.says(POST_VERIFY, structured({"verdict": "APPROVE", "reasoning": words}))
    assert world.review(body=words).end == APPROVED
