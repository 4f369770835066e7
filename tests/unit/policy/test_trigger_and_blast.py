import pytest

from review_advisor.core.policy.blast import BlastRadius, blast_radius
from review_advisor.core.policy.trigger import AlwaysTrigger, CompositeTrigger, TriggerFacts

QUIET = TriggerFacts(forced=False, prior_fix_attempts=0, critical=(), code_lines=0)


@pytest.mark.parametrize("lines, fires", [(0, False), (20, False), (21, True), (5000, True)])
def test_more_than_twenty_lines_of_code_are_planned(lines: int, fires: bool) -> None:
    assert CompositeTrigger().decide(TriggerFacts(False, 0, (), lines)).fires is fires


REASONS = [
    (TriggerFacts(True, 0, (), 0), "forced by HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON"),
    (TriggerFacts(False, 1, (), 0), "prior fix attempts: 1"),
    (TriggerFacts(False, 0, ("auth/a.py",), 0), "critical path touched: auth/a.py"),
    (TriggerFacts(False, 0, (), 21), "21 changed lines of code, more than 20"),
]


@pytest.mark.parametrize("facts, reason", REASONS)
def test_each_reason_alone_is_enough_and_is_given(facts: TriggerFacts, reason: str) -> None:
    trigger = CompositeTrigger().decide(facts)
    assert (trigger.fires, trigger.because) == (True, (reason,))


def test_all_reasons_are_given_in_the_adrs_order() -> None:
    trigger = CompositeTrigger().decide(TriggerFacts(True, 1, ("auth/a.py",), 21))
    assert trigger.because == tuple(reason for _, reason in REASONS)


def test_not_firing_has_its_reason_too() -> None:
    trigger = CompositeTrigger().decide(QUIET)
    assert (trigger.fires, trigger.because) == (False, ("0 changed lines of code, no critical path, no prior attempt",))


def test_always_is_always() -> None:
    assert AlwaysTrigger().decide(QUIET).fires


@pytest.mark.parametrize(
    "critical, own, lines, radius",
    [
        ((), (), 0, BlastRadius.LOW),
        ((), (), 200, BlastRadius.LOW),
        ((), (), 201, BlastRadius.MEDIUM),
        (("auth/a.py",), (), 0, BlastRadius.HIGH),
        ((), (".mcp.json",), 0, BlastRadius.HIGH),
        (("auth/a.py",), (".mcp.json",), 201, BlastRadius.HIGH),
    ],
)
def test_the_tiers_of_blast(critical: tuple[str, ...], own: tuple[str, ...], lines: int, radius: BlastRadius) -> None:
    blast = blast_radius(critical, own, lines)
    assert blast.radius is radius
    assert len(blast.because) == max(1, len(critical) + len(own))


def test_a_high_blast_names_every_path() -> None:
    assert blast_radius(("a",), ("b",), 999).because == (
        "critical path touched: a",
        "the bot's own implementation touched: b",
    )


def test_a_small_change_of_risky_code_is_medium_and_says_what_it_deals_with() -> None:
    blast = blast_radius((), (), 3, ("src/a.py: builds SQL",))
    assert (blast.radius, blast.because) == (BlastRadius.MEDIUM, ("changed code src/a.py: builds SQL",))
    assert blast_radius(("auth/a.py",), (), 3, ("src/a.py: builds SQL",)).radius is BlastRadius.HIGH
