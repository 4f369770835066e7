"""When a review is planned, and the reasons given for it."""

import pytest

from review_advisor.policy.risk import AlwaysTrigger, CompositeTrigger, TriggerFacts

QUIET = TriggerFacts(forced=False, prior_fix_attempts=0, critical=(), code_lines=0)


@pytest.mark.parametrize("lines, fires", [(0, False), (20, False), (21, True), (5000, True)])
def test_more_than_twenty_lines_of_code_are_planned(lines: int, fires: bool) -> None:
    assert CompositeTrigger().decide(TriggerFacts(False, 0, (), lines)).fires is fires


REASONS = [
    (TriggerFacts(True, 0, (), 0), "forced by HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON"),
    (TriggerFacts(False, 0, (), 0, ("CLAUDE.md",)), "the self-modification guard holds: CLAUDE.md"),
    (TriggerFacts(False, 1, (), 0), "prior fix attempts: 1"),
    (TriggerFacts(False, 0, ("auth/a.py",), 0), "critical path touched: auth/a.py"),
    (TriggerFacts(False, 0, (), 21), "21 changed lines of code, more than 20"),
]


@pytest.mark.parametrize("facts, reason", REASONS)
def test_each_reason_alone_is_enough_and_is_given(facts: TriggerFacts, reason: str) -> None:
    trigger = CompositeTrigger().decide(facts)
    assert (trigger.fires, trigger.because) == (True, (reason,))


def test_all_reasons_are_given_in_their_order() -> None:
    trigger = CompositeTrigger().decide(TriggerFacts(True, 1, ("auth/a.py",), 21, ("CLAUDE.md",)))
    assert trigger.because == tuple(reason for _, reason in REASONS)


def test_not_firing_has_its_reason_too() -> None:
    trigger = CompositeTrigger().decide(QUIET)
    assert (trigger.fires, trigger.because) == (False, ("0 changed lines of code, no critical path, no prior attempt",))


def test_always_is_always() -> None:
    assert AlwaysTrigger().decide(QUIET).fires
