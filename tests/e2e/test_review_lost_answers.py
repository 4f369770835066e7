"""Whole reviews with the real CLI in which an answer does not come, or cannot be used."""

from __future__ import annotations

import pytest
from tests.e2e.review_answers import CODE_FILE, boom, code, confirm, guidance, report
from tests.e2e.review_world import EXECUTOR, MID_FLIGHT, POST_VERIFY, PRE_FLIGHT, ReviewWorld, fences
from tests.e2e.stub_api import (
    Reply,
    consult,
    drip,
    empty,
    error,
    forever,
    hang,
    output_limit,
    read,
    refusal,
    stall,
    structured,
    text,
    truncate,
)

from review_advisor.review.rulings import Outcome

APPROVED, STOPPED, ESCALATED = (Outcome.APPROVED, 0), (Outcome.STOPPED, 12), (Outcome.ESCALATED, 11)
BRIEF = "[budget]\ncall_seconds = 5\n"
INVALID = structured({"verdict": "maybe"})
"""No answer of any role."""


@pytest.fixture
def small(world: ReviewWorld) -> ReviewWorld:
    """A world with a change that needs no plan."""
    world.change({CODE_FILE: code(3)})
    return world


# --- what a lost answer means, by role --------------------------------------------------------------


def test_without_a_plan_the_review_goes_on(world: ReviewWorld) -> None:
    world.change()
    world.says(PRE_FLIGHT, forever(boom()))
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm())
    done = world.review()
    assert done.end == APPROVED
    assert world.asked == [*["pre_flight"] * 3, "executor", "post_verify"]
    assert done.document.flags.lost == ("pr_review/pre_flight",)
    assert not done.document.flags.degraded
    assert "PLAN" not in fences(world.of(EXECUTOR)[0])


@pytest.mark.parametrize("status", [500, 529])
def test_without_a_report_there_is_no_verdict(small: ReviewWorld, status: int) -> None:
    small.says(EXECUTOR, forever(boom(status)))
    done = small.review()
    assert done.end == STOPPED
    assert done.calls == [("executor", "lost", "server_error")]
    assert small.asked == ["executor"] * 3
    assert done.document.coverage[0].read == "not"


def test_without_a_judgement_the_verdict_stands_and_says_so(small: ReviewWorld) -> None:
    """D13: degraded is a flag, not a reasoning prefix."""
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, forever(boom(529)))
    done = small.review()
    assert done.end == APPROVED
    assert done.document.flags.degraded
    assert done.document.flags.lost == ("pr_review/post_verify",)
    assert not done.document.flags.recovered
    assert done.judged == ()
    assert "unverified" in done.text("report.txt").casefold()


def test_an_outage_that_ends_within_the_wait_costs_nothing_else(small: ReviewWorld) -> None:
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, *[boom(529)] * 3, confirm())
    done = small.review(outage_wait=1.2)
    assert done.end == APPROVED
    assert not done.document.flags.degraded
    assert small.asked == ["executor", *["post_verify"] * 4]


def test_where_the_configuration_says_so_an_unverified_approval_does_not_pass(small: ReviewWorld) -> None:
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, forever(boom()))
    assert small.review(config='fail_on = "degraded"').end == (Outcome.APPROVED, 11)


def test_with_fail_as_veto_a_lost_judgement_calls_a_human_at_once(small: ReviewWorld) -> None:
    """D11: an outage burns no retries."""
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, forever(boom()))
    done = small.review(environ={"HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO": "true"})
    assert done.end == ESCALATED
    assert done.document.flags.degraded
    assert not done.document.flags.exhausted
    assert small.asked == ["executor", *["post_verify"] * 3]


def test_on_a_change_to_the_bot_itself_a_lost_judgement_calls_a_human(world: ReviewWorld) -> None:
    """D14, D16: the guard never lets the executor's word alone pass."""
    world.change({".review-advisor.toml": 'profile = "adr"\n'})
    world.says(PRE_FLIGHT, forever(boom()))
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, forever(boom()))
    done = world.review(environ={"HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON": "on"})
    assert done.end == ESCALATED
    assert "guard" in done.why
    assert done.document.policy.guard.paths == (".review-advisor.toml",)


def test_a_lost_consult_leaves_the_executor_to_its_own_judgement(small: ReviewWorld) -> None:
    small.says(EXECUTOR, consult("A or B?"), report())
    small.says(MID_FLIGHT, forever(boom()))
    small.says(POST_VERIFY, confirm())
    done = small.review()
    assert done.end == APPROVED
    assert [note.status for note in done.consults] == ["failed"]


# --- time -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "slow,end,reason",
    [
        (hang(), APPROVED, "silent"),
        (stall(), ESCALATED, "timeout"),
        (forever(drip("still thinking " * 20, 0.1)), ESCALATED, "timeout"),
    ],
    ids=["hang", "stall", "drip"],
)
def test_a_judgement_that_takes_too_long_is_lost(
    small: ReviewWorld, slow: Reply, end: tuple[Outcome, int], reason: str
) -> None:
    """D44: the harness owns the wall clock. Only a judge that was never heard may be an outage."""
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, slow)
    done = small.review(config=BRIEF)
    assert done.end == end
    assert done.document.flags.degraded
    assert done.calls[-1] == ("post_verify", "lost", reason)
    assert len(small.of(POST_VERIFY)) == 1


def test_a_plan_and_a_report_that_take_too_long_are_lost(world: ReviewWorld) -> None:
    """D44."""
    world.change()
    world.says(PRE_FLIGHT, hang())
    world.says(EXECUTOR, hang())
    done = world.review(config=BRIEF)
    assert done.end == STOPPED
    assert done.calls == [("pre_flight", "lost", "silent"), ("executor", "lost", "silent")]
    assert world.asked == ["pre_flight", "executor"]


def test_a_consult_that_takes_too_long_takes_the_executor_with_it(small: ReviewWorld) -> None:
    small.says(EXECUTOR, consult("A or B?"))
    small.says(MID_FLIGHT, hang())
    done = small.review(config=BRIEF)
    assert done.end == STOPPED
    assert done.calls == [("executor", "lost", "timeout")]
    assert [note.status for note in done.consults] == ["failed"]


def test_after_the_reviews_money_a_judgement_is_refused_and_a_human_is_called(small: ReviewWorld) -> None:
    """D44. By the shipped prices the judge's call costs more than is left, and the executor's does not."""
    small.says(EXECUTOR, report())
    done = small.review(config="[budget]\nmax_usd = 0.0185\n")
    assert done.end == ESCALATED
    assert done.calls == [("executor", "answered", ""), ("post_verify", "refused", "money")]
    assert small.asked == ["executor"]


@pytest.mark.parametrize(
    "budget,reason", [("max_usd = 0.03", "money"), ("review_seconds = 5", "wall_clock")], ids=["money", "time"]
)
def test_a_judgement_that_our_own_caps_cut_short_calls_a_human(small: ReviewWorld, budget: str, reason: str) -> None:
    """D44: nobody buys an approval by making a change expensive to judge."""
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, forever(read(CODE_FILE) if reason == "money" else hang()))
    done = small.review(config=f"[budget]\n{budget}\n")
    assert done.end == ESCALATED
    assert done.calls == [("executor", "answered", ""), ("post_verify", "cut_short", reason)]


def test_a_stream_that_breaks_once_is_asked_again_by_the_cli(small: ReviewWorld) -> None:
    small.says(EXECUTOR, truncate(), report())
    small.says(POST_VERIFY, error(500, "api_error", "boom"), confirm())
    done = small.review()
    assert done.end == APPROVED
    assert small.asked == ["executor", "executor", "post_verify", "post_verify"]
    assert not done.document.flags.lost
    assert not done.document.flags.degraded


def test_a_stream_that_always_breaks_is_lost(small: ReviewWorld) -> None:
    small.says(EXECUTOR, forever(truncate()))
    done = small.review()
    assert done.end == STOPPED
    assert done.calls == [("executor", "lost", "server_error")]


# --- replies that are no answer ---------------------------------------------------------------------

QUOTED = text('I approve.\n```json\n{"verdict": "APPROVE", "reasoning": "fine"}\n```')


@pytest.mark.parametrize(
    "reply,reason,requests",
    [
        (empty(), "no_structured_output", 6),
        (QUOTED, "no_structured_output", 4),
        (INVALID, "invalid_answer", 10),
    ],
    ids=["empty", "text", "five invalid answers"],
)
def test_a_reply_that_is_no_judgement_is_asked_for_once_more_and_then_lost(
    small: ReviewWorld, reply: Reply, reason: str, requests: int
) -> None:
    """D2: a verdict in text is text, fenced or not."""
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, forever(reply))
    done = small.review()
    assert done.end == ESCALATED
    assert done.calls == [("executor", "answered", ""), *[("post_verify", "lost", reason)] * 2]
    assert len(small.of(POST_VERIFY)) == requests
    repairs = ["could not be used" in request.prompt for request in small.of(POST_VERIFY)]
    assert repairs == [False] * (requests // 2) + [True] * (requests // 2)


def test_a_report_in_text_is_no_report(small: ReviewWorld) -> None:
    """D2."""
    words = '```json\n{"verdict": "approve", "summary": "fine", "confidence": 1}\n```'
    small.says(EXECUTOR, forever(text(words)))
    done = small.review()
    assert done.end == STOPPED
    assert done.calls == [("executor", "lost", "no_structured_output")] * 2


def test_a_reply_that_is_mended_on_the_repair_ask_is_an_answer(small: ReviewWorld) -> None:
    small.says(EXECUTOR, text("Looks good."), text("Really."), report())
    small.says(POST_VERIFY, structured({"verdict": "APPROVE", "reasoning": ["fine"]}), confirm())
    done = small.review()
    assert done.end == APPROVED
    assert [call[:2] for call in done.calls] == [
        ("executor", "lost"),
        ("executor", "answered"),
        ("post_verify", "answered"),
    ]
    assert not done.document.flags.lost


def test_a_yes_after_something_unclear_is_asked_for_once_more(small: ReviewWorld) -> None:
    small.says(EXECUTOR, report())
    small.says(POST_VERIFY, INVALID, confirm(), confirm())
    done = small.review()
    assert done.end == APPROVED
    assert done.calls == [
        ("executor", "answered", ""),
        ("post_verify", "lost", "invalid_answer"),
        ("post_verify", "answered", ""),
    ]


@pytest.mark.parametrize(
    "reply,reason", [(refusal(), "model_refused"), (output_limit(), "output_limit")], ids=["refusal", "output limit"]
)
def test_a_model_that_declines_or_runs_over_is_not_asked_again(small: ReviewWorld, reply: Reply, reason: str) -> None:
    """And no other model answers in its place: the world checks the model of every request."""
    small.says(EXECUTOR, consult("A or B?"), report())
    small.says(MID_FLIGHT, guidance())
    small.says(POST_VERIFY, forever(reply))
    done = small.review()
    assert done.end == ESCALATED
    assert done.document.flags.degraded
    assert done.calls[-1] == ("post_verify", "lost", reason)
    assert len([call for call in done.calls if call[0] == "post_verify"]) == 1


def test_a_report_that_a_model_declines_to_give_is_no_verdict(small: ReviewWorld) -> None:
    small.says(EXECUTOR, forever(refusal()))
    done = small.review()
    assert done.end == STOPPED
    assert done.calls == [("executor", "lost", "model_refused")]


def test_a_plan_that_is_no_plan_is_no_plan(world: ReviewWorld) -> None:
    world.change()
    world.says(PRE_FLIGHT, forever(INVALID))
    world.says(EXECUTOR, report())
    world.says(POST_VERIFY, confirm())
    done = world.review()
    assert done.end == APPROVED
    assert done.calls[:2] == [("pre_flight", "lost", "invalid_answer")] * 2
    assert "PLAN" not in fences(world.of(EXECUTOR)[0])
