"""A stored review is decided once more under another configuration, from its own answers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from review_advisor.lab.replay import OtherRules, decided_otherwise
from review_advisor.mockworld.agents import approve, confirm, evidence, finding, lost, veto
from review_advisor.mockworld.seeds import story_of
from review_advisor.mockworld.stage import play
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, counted_money, spent
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import Usage

NOTED = approve(
    finding("src/app.py", 7, "value = 7", severity="low", title="seven is taken"),
    answers=(evidence("d0.1", "src/app.py", "value = 7"),),
)


def other_rules(**differ: Any) -> OtherRules:
    """The default configuration, but for these."""
    held = Rules()
    rules = OtherRules(held.fail_on_degraded, held.exclude, held.max_usd, held.max_usd)
    return replace(rules, **differ)


def usd(document: OutcomeDocument) -> float:
    return round(spent(each for each in document.events if isinstance(each, CallEnded)).cost_usd, 6)


def vetoed_once(world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, replace(approve(), cost_usd=0.1), replace(NOTED, cost_usd=0.1))
    world.agents.script(Role.POST_VERIFY, veto("a fault"), confirm())
    return world.review()


def test_a_degraded_review_calls_a_person_once_the_rules_say_so(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    strict = decided_otherwise(document, other_rules(fail_on_degraded=True)).document
    assert strict is not None
    assert (document.exit_code, strict.outcome, strict.exit_code) == (0, Outcome.APPROVED, 11)


def test_less_money_than_the_review_cost_would_have_cost_it_an_answer(world: MockWorld) -> None:
    document = vetoed_once(world)
    enough, cost = other_rules(max_usd=usd(document)), usd(document)
    assert decided_otherwise(document, enough).unknown == ()
    (why,) = decided_otherwise(document, other_rules(max_usd=cost / 2)).unknown
    assert why.endswith("a call would have been refused or cut short")


@pytest.mark.parametrize(
    "call, counts",
    [
        (lambda call: call, 0.1),
        (lambda call: replace(call, usage=Usage(), estimated_usd=0.3), 0.3),
        (lambda call: replace(call, usage=Usage(), estimated_usd=None), 0.0),
        (lambda call: replace(call, kept=True, paid_by="run-before"), 0.1),
    ],
    ids=["reported", "killed", "without an estimate", "answered by an earlier run"],
)
def test_money_counts_as_the_review_counted_it(
    world: MockWorld, call: Callable[[CallEnded], CallEnded], counts: float
) -> None:
    """The limit of a review counts a killed call with its estimate: so does the limit that is tried."""
    document = vetoed_once(world)
    one = next(each for each in document.events if isinstance(each, CallEnded) and each.role is Role.EXECUTOR)
    events = tuple(call(one) if each is one else each for each in document.events)
    cost = counted_money(events).usd
    assert cost == pytest.approx(usd(document) - 0.1 + counts)
    other = replace(document, events=events)
    assert decided_otherwise(other, other_rules(max_usd=cost)).unknown == ()
    (why, *_) = decided_otherwise(other, other_rules(max_usd=cost - 0.01)).unknown
    assert why.startswith(f"the review cost ${cost:.2f}: at ${cost - 0.01:.2f} ")


def test_a_file_that_would_have_been_left_out_makes_every_answer_one_to_another_question(world: MockWorld) -> None:
    document = world.review()
    name = document.coverage[0].path
    assert decided_otherwise(document, other_rules(exclude=(name,))).unknown == (f"{name} would have been left out",)
    assert decided_otherwise(document, other_rules(exclude=("nothing.lock",))).unknown == ()


@pytest.mark.every_case
def test_what_is_decided_otherwise_is_what_a_fresh_simulation_decides() -> None:
    differ = 0
    for seed in range(1, 25):
        story = story_of(seed)
        strict = story.model_copy(update={"config": story.config.model_copy(update={"fail_on": "degraded"})})
        for recorded, fresh in zip(play(story).reviews, play(strict).reviews, strict=True):
            before, due = recorded.document, fresh.document
            if before is None or due is None or unsound(before.events) is not None:
                continue
            rules = before.policy.excluded.globs, before.policy.budgets.max_usd
            known = decided_otherwise(
                before, other_rules(fail_on_degraded=True, exclude=rules[0], max_usd=rules[1])
            ).document
            assert known is not None
            assert unsound(known.events) is None
            assert (known.outcome, known.exit_code, known.flags) == (due.outcome, due.exit_code, due.flags), seed
            differ += known.exit_code != before.exit_code
    assert differ > 0


def test_a_call_that_was_refused_for_money_might_be_made_under_a_higher_limit(world: MockWorld) -> None:
    world.rules = replace(world.rules, max_usd=0.01)
    world.agents.script(Role.EXECUTOR, replace(approve(), cost_usd=0.01))
    document = world.review()
    assert "money" in {each.reason for each in document.events if isinstance(each, CallEnded)}
    assert decided_otherwise(document, other_rules(max_usd=0.01, held_usd=0.01)).document is not None
    raised = decided_otherwise(document, other_rules(max_usd=30.0, held_usd=0.01))
    assert raised.unknown == ("a call that was refused for its money would have been made",)
