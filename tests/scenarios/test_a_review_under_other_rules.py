"""A stored review is decided once more under other rules, from its own answers and by the functions that decide."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from review_advisor.lab.replay import OtherRules, decided_otherwise
from review_advisor.mockworld.agents import approve, confirm, evidence, finding, lost, veto
from review_advisor.mockworld.seeds import story_of
from review_advisor.mockworld.stage import PlayedReview, play
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role
from review_advisor.policy.switches import FAIL_AS_VETO
from review_advisor.review.document import OutcomeDocument, counted_money, spent
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import Usage

NEVER = dict.fromkeys(BlastRadius, 0)
OFTEN = dict.fromkeys(BlastRadius, 9)
NOTED = approve(
    finding("src/app.py", 7, "value = 7", severity="low", title="seven is taken"),
    answers=(evidence("d0.1", "src/app.py", "value = 7"),),
)
SWITCH = "HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS"


def usd(document: OutcomeDocument) -> float:
    return round(spent(each for each in document.events if isinstance(each, CallEnded)).cost_usd, 6)


def vetoed_once(world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, replace(approve(), cost_usd=0.1), replace(NOTED, cost_usd=0.1))
    world.agents.script(Role.POST_VERIFY, veto("a fault"), confirm())
    return world.review()


def test_without_a_retry_the_veto_calls_a_person_and_the_second_attempt_costs_nothing(world: MockWorld) -> None:
    document = vetoed_once(world)
    asked = len(world.asked)
    found = decided_otherwise(document, OtherRules(retries=NEVER))
    assert found.unknown == ()
    assert found.document is not None
    assert (document.outcome, found.document.outcome) == (Outcome.APPROVED, Outcome.ESCALATED)
    assert "vetoed" in found.document.because[0]
    assert 0 < usd(found.document) < usd(document)
    assert [len(each.surfaces[0].parts[0].reports) for each in (document, found.document)] == [2, 1]
    assert len(world.asked) == asked, "nobody is asked"


def test_one_more_retry_than_there_were_answers_for_is_a_question_that_nobody_can_answer(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, approve(), NOTED)
    world.agents.script(Role.POST_VERIFY, veto("a fault"), veto("another fault"))
    document = world.review()
    assert document.outcome is Outcome.ESCALATED
    found = decided_otherwise(document, OtherRules(retries=OFTEN))
    assert found.document is None
    assert found.unknown == ("a retry would have been asked, and its answer is unknown",)


def test_a_lost_judgement_counts_as_a_veto_once_the_rules_say_so(world: MockWorld) -> None:
    world.agents.script(Role.POST_VERIFY, lost())
    document = world.review()
    found = decided_otherwise(document, OtherRules(fail_as_veto=True)).document
    assert found is not None
    assert (document.outcome, found.outcome) == (Outcome.APPROVED, Outcome.ESCALATED)
    strict = decided_otherwise(document, OtherRules(fail_on_degraded=True)).document
    assert strict is not None
    assert (document.exit_code, strict.outcome, strict.exit_code) == (0, Outcome.APPROVED, 11)


def test_a_lower_cap_of_consults_leaves_the_executor_without_an_answer_that_it_had(world: MockWorld) -> None:
    questions = tuple(f"Is value {k} right in src/app.py?" for k in range(3))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions))
    document = world.review()
    assert decided_otherwise(document, OtherRules(max_consults=3)).unknown == ()
    assert decided_otherwise(document, OtherRules(max_consults=2)).unknown == ("consult 3 would have been refused",)


def test_a_consult_that_was_refused_would_have_had_an_answer_that_nobody_knows(world: MockWorld) -> None:
    world.switch(SWITCH, "1")
    world.agents.script(Role.EXECUTOR, approve().after_asking("Is value 1 right in src/app.py?", "And 2?"))
    document = world.review()
    assert decided_otherwise(document, OtherRules(max_consults=2)).unknown == (
        "a consult that was refused would have been answered",
    )


def test_less_money_than_the_review_cost_would_have_cost_it_an_answer(world: MockWorld) -> None:
    document = vetoed_once(world)
    enough, cost = OtherRules(max_usd=usd(document)), usd(document)
    assert decided_otherwise(document, enough).unknown == ()
    (why,) = decided_otherwise(document, OtherRules(max_usd=cost / 2)).unknown
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
    assert decided_otherwise(other, OtherRules(max_usd=cost)).unknown == ()
    (why, *_) = decided_otherwise(other, OtherRules(max_usd=cost - 0.01)).unknown
    assert why.startswith(f"the review cost ${cost:.2f}: at ${cost - 0.01:.2f} ")


def test_a_file_that_would_have_been_left_out_makes_every_answer_one_to_another_question(world: MockWorld) -> None:
    document = world.review()
    name = document.coverage[0].path
    assert decided_otherwise(document, OtherRules(exclude=(name,))).unknown == (f"{name} would have been left out",)
    assert decided_otherwise(document, OtherRules(exclude=("nothing.lock",))).unknown == ()


def played(seed: int, **switches: str) -> tuple[PlayedReview, ...]:
    story = story_of(seed)
    return tuple(play(story.model_copy(update={"switches": {**story.switches, **switches}})).reviews)


def judged_anew(first: int, last: int) -> Counter[str]:
    """What a changed threshold makes of these worlds, each held against the same world told under it."""
    counts: Counter[str] = Counter()
    for seed in range(first, last + 1):
        fresh = played(seed, **{FAIL_AS_VETO: "1"})
        for told, again in zip(played(seed), fresh, strict=True):
            if told.document is None or unsound(told.document.events) is not None:
                continue
            counts["reviews"] += 1
            found = decided_otherwise(told.document, OtherRules(fail_as_veto=True))
            if found.document is None:
                assert found.unknown
                counts["unknown"] += 1
                continue
            assert again.document is not None
            due, known = again.document, found.document
            assert (known.outcome, known.exit_code, known.flags) == (due.outcome, due.exit_code, due.flags), seed
            assert (usd(known), known.findings) == (usd(due), due.findings), seed
            assert unsound(known.events) is None, seed
            counts["decided otherwise"] += known.outcome is not told.document.outcome
    return counts


@pytest.mark.every_case
def test_what_is_decided_otherwise_is_what_a_fresh_simulation_decides() -> None:
    counts = judged_anew(1, 60)
    assert counts["reviews"] > 60
    assert counts["unknown"] == 0


@pytest.mark.every_case
def test_over_hundreds_of_reviews_totals_are_those_of_a_fresh_simulation() -> None:
    counts = judged_anew(61, 310)
    assert counts["reviews"] > 300
    assert counts["decided otherwise"] > 0


@pytest.mark.every_case
def test_under_its_own_rules_a_review_stays_what_it_was() -> None:
    for seed in range(1, 40):
        for told in played(seed):
            if told.document is not None and unsound(told.document.events) is None:
                found = decided_otherwise(told.document, OtherRules()).document
                assert found == told.document, seed
