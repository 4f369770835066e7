"""Before a judge that an outage took becomes a degraded approval: one wait and another try, then fallback models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.agents.findings import finding_id
from review_advisor.mockworld.agents import approve, confirm, finding, lost, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded, CallStarted, Event, PolicyFrozen, Ruled
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ReviewInterrupted

DOWN = lost(LostReason.SERVER_ERROR)


def outage(world: MockWorld, *fallback_models: str, wait: float = 60.0, **rules: Any) -> None:
    world.rules = replace(world.rules, outage=OutageRules(wait, fallback_models), **rules)


def judged(world: MockWorld, *lines: Any) -> OutcomeDocument:
    world.agents.script(Role.POST_VERIFY, *lines)
    document = world.review()
    assert unsound(document.events) is None
    return document


def judges(world: MockWorld) -> list[str]:
    return [call.model for call in world.calls(Role.POST_VERIFY)]


def test_a_short_outage_costs_a_wait_and_nothing_else(world: MockWorld) -> None:
    outage(world)
    document = judged(world, DOWN.taking(1), confirm().taking(1))
    assert (document.outcome, document.flags.degraded, document.flags.lost) == (Outcome.APPROVED, False, ())
    first, second = (
        each for each in document.events if isinstance(each, CallStarted) and each.role is Role.POST_VERIFY
    )
    assert (first.asks_again, second.asks_again) == (0, first.number)
    assert (second.at - first.at).total_seconds() == pytest.approx(61)


def test_by_default_a_review_waits_a_minute_and_no_other_model_judges() -> None:
    assert Rules().outage == OutageRules(60.0, (), busy_tries=3)


def test_an_outage_that_lasts_leaves_a_degraded_approval(world: MockWorld) -> None:
    outage(world)
    document = judged(world, DOWN, DOWN)
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)
    assert document.flags.lost == ("pr_review/post_verify",)
    assert document.because == ("post-verify was lost (server_error): the executor's verdict stands, unverified",)


def test_without_a_wait_and_without_a_fallback_nothing_is_tried(world: MockWorld) -> None:
    outage(world, wait=0)
    assert judged(world, DOWN).flags.degraded
    assert judges(world) == ["opus"]


SILENT = lost(LostReason.SILENT)


@pytest.mark.parametrize("fallback_models", [(), ("haiku",)])
@pytest.mark.parametrize("busy_tries", [1, 2, 3])
def test_a_judge_that_a_busy_server_and_then_silence_took_is_waited_for_once(
    world: MockWorld, busy_tries: int, fallback_models: tuple[str, ...]
) -> None:
    world.rules = replace(world.rules, outage=OutageRules(60.0, fallback_models, busy_tries=busy_tries))
    assert judged(world, DOWN, SILENT, confirm()).outcome is Outcome.APPROVED
    assert judges(world) == ["opus"] * 3
    again = judged(world, DOWN, SILENT, SILENT, *([confirm()] if fallback_models else []))
    assert (again.outcome, again.flags.degraded) == (Outcome.APPROVED, True)
    assert judges(world) == ["opus"] * 6 + [*fallback_models]


@pytest.mark.parametrize("second", [LostReason.SILENT, LostReason.CRASH, LostReason.SERVER_ERROR])
def test_a_rate_limit_counts_even_if_an_outage_follows_it(world: MockWorld, second: LostReason) -> None:
    """Whoever brings about the limit may not be helped by what else fails."""
    world.rules = replace(world.rules, outage=OutageRules(60.0, ("haiku",), busy_tries=1))
    document = judged(world, lost(LostReason.RATE_LIMITED), lost(second))
    assert document.outcome is Outcome.ESCALATED
    assert judges(world) == ["opus", "opus"]


@pytest.mark.parametrize("reason", [LostReason.MODEL_REFUSED, LostReason.TIMEOUT, LostReason.OUTPUT_LIMIT])
def test_what_the_change_may_have_silenced_is_not_tried_again(world: MockWorld, reason: LostReason) -> None:
    outage(world, "haiku")
    assert judged(world, lost(reason)).outcome is Outcome.ESCALATED
    assert judges(world) == ["opus"]


def test_a_second_answer_that_the_change_may_have_silenced_calls_a_person(world: MockWorld) -> None:
    outage(world, "haiku")
    document = judged(world, DOWN, lost(LostReason.MODEL_REFUSED))
    assert document.outcome is Outcome.ESCALATED
    assert judges(world) == ["opus", "opus"]


def test_a_second_crash_on_one_question_is_no_outage(world: MockWorld) -> None:
    outage(world, "haiku")
    document = judged(world, lost(LostReason.CRASH), lost(LostReason.CRASH))
    assert document.outcome is Outcome.ESCALATED
    assert "crashed_again" in document.because[0]
    assert judges(world) == ["opus", "opus"]


def test_a_fallback_that_agrees_is_named_and_stays_degraded(world: MockWorld) -> None:
    outage(world, "haiku", fail_on_degraded=True)
    document = judged(world, DOWN, DOWN, confirm())
    assert judges(world) == ["opus", "opus", "haiku"]
    assert (document.outcome, document.exit_code, document.flags.degraded) == (Outcome.APPROVED, 11, True)
    assert "the fallback model haiku confirms the verdict" in document.because[0]
    text = report_text(document)
    assert "DEGRADED" in text.splitlines()[0]
    assert "the fallback model haiku confirms" in text


def test_the_fallback_models_are_asked_in_their_order_each_once(world: MockWorld) -> None:
    outage(world, "opus", "haiku", "haiku", "sonnet", wait=0)
    document = judged(world, DOWN, DOWN, confirm())
    assert judges(world) == ["opus", "haiku", "sonnet"]
    assert "sonnet" in document.because[0]


def test_a_veto_of_a_fallback_is_a_veto(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 4, "value = 4", "low")))
    document = judged(world, DOWN, veto("a hole"), DOWN, veto("still a hole"))
    assert document.outcome is Outcome.ESCALATED
    assert document.flags.exhausted
    assert document.because == ("vetoed after 1 of 1 retries, by the fallback model haiku",)


def test_the_advisors_own_word_after_a_fallbacks_veto_is_whole(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 4, "value = 4", "low")))
    document = judged(world, DOWN, veto("a hole"), confirm())
    assert (document.outcome, document.flags.degraded, document.flags.recovered) == (Outcome.APPROVED, False, True)


def test_a_fallback_takes_back_no_veto_of_the_advisors_own_model(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    world.agents.script(Role.EXECUTOR, approve(), approve(finding("src/app.py", 4, "value = 4", "low")))
    document = judged(world, veto("a hole"), DOWN, confirm())
    assert document.outcome is Outcome.ESCALATED
    assert "after a veto that nobody took back" in document.because[0]


def test_a_fallback_confirms_no_critical_finding_as_pre_existing(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    old = finding("src/app.py", 4, "value = 4", "critical") | {"pre_existing": True}
    identity = finding_id("src/app.py", "correctness", "value = 4")
    world.agents.script(Role.EXECUTOR, approve(old))
    document = judged(world, DOWN, confirm(pre_existing=(identity,)))
    assert document.outcome is Outcome.ESCALATED
    assert [(each.id, each.pre_existing) for each in document.findings] == [(identity, False)]


def test_under_the_guard_no_fallback_approves(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    world.change(edited("REVIEW.md", 1))
    document = judged(world, DOWN, confirm())
    assert document.outcome is Outcome.ESCALATED
    assert "while the self-modification guard holds" in document.because[0]


def test_where_a_lost_judge_is_a_veto_no_fallback_approves(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO", "true")
    assert judged(world, DOWN, confirm()).outcome is Outcome.ESCALATED


def test_the_wait_is_not_longer_than_the_review_may_take(world: MockWorld) -> None:
    outage(world, "haiku", wait=3_000)
    document = judged(world, DOWN)
    assert (document.outcome, document.flags.degraded) == (Outcome.APPROVED, True)
    assert judges(world) == ["opus"]


def test_a_review_that_waits_can_be_interrupted(world: MockWorld) -> None:
    outage(world)

    def pressed() -> None:
        world.agents.interrupted = ReviewInterrupted("interrupted by SIGINT", signal_number=2)

    world.agents.script(Role.POST_VERIFY, DOWN.while_doing(pressed))
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert world.clock.monotonic() < 60


def test_no_other_role_is_waited_for(world: MockWorld) -> None:
    outage(world, "haiku")
    world.agents.script(Role.EXECUTOR, DOWN)
    assert world.review().outcome is Outcome.STOPPED
    assert len(world.calls(Role.EXECUTOR)) == 1


def forged(document: OutcomeDocument, change: dict[type, dict[str, Any]]) -> str | None:
    """What is said of a record in which the judge's events are otherwise."""
    events: list[Event] = []
    for event in document.events:
        to = change.get(type(event), {})
        of_fallback = getattr(event, "requested_model", "haiku") == "haiku"
        events.append(replace(event, **to) if to and of_fallback else event)
    return unsound(events)


def test_a_record_cannot_make_a_fallbacks_approval_whole(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    document = judged(world, DOWN, confirm())
    (ruled,) = (each.ruling for each in document.events if isinstance(each, Ruled))
    whole: dict[type, dict[str, Any]] = {Ruled: {"ruling": replace(ruled, degraded=False, verdict="APPROVE")}}
    assert forged(document, whole) == "a ruling does not follow from the answer of the judge"


def test_a_record_cannot_name_a_judge_that_the_policy_does_not(world: MockWorld) -> None:
    outage(world, "haiku", wait=0)
    document = judged(world, DOWN, confirm())
    other: dict[type, dict[str, Any]] = {kind: {"requested_model": "cheap"} for kind in (CallStarted, CallEnded)}
    assert forged(document, other) is not None
    first = document.events[0]
    assert isinstance(first, PolicyFrozen)
    none = replace(first, policy=replace(first.policy, outage=OutageRules()))
    assert unsound((none, *document.events[1:])) is not None
