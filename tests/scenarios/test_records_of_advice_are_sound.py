"""Whatever a review under a profile of escalation comes through, publishing takes its record for what it is."""

from dataclasses import replace

import pytest

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Reported
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed
from review_advisor.core.policy.escalation_rules import EscalationRules
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ReviewInterrupted
from review_advisor.mockworld.lines import Line, approve, change, finding, garbage, guidance, reject
from review_advisor.mockworld.world import MockWorld

FAULT = finding("src/app.py", 3, "value = 3")
DOUBTED = finding("src/app.py", 3, "value = 3", confidence=0.5)
QUESTION = "Is value 3 right in src/app.py?"


@pytest.fixture(autouse=True)
def attrition(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))


def sound(world: MockWorld) -> OutcomeDocument:
    document = world.review()
    assert unsound(document.events) is None
    return document


@pytest.mark.parametrize("asks", ["first", "second"])
@pytest.mark.parametrize("says", [True, False], ids=["it says what became of the advice", "it is asked for that"])
def test_a_rejection_that_is_asked_for_a_finding_may_have_been_advised(world: MockWorld, asks: str, says: bool) -> None:
    """The executor's own question has an end before the next report is told of."""
    answers = {"first": reject(), "second": reject(FAULT)}
    answers[asks] = answers[asks].after_asking(QUESTION)
    answers["second"] = answers["second"].applying("r1") if says else answers["second"]
    world.agents.script(Role.EXECUTOR, *answers.values(), *([] if says else [reject(FAULT).applying("r1")]))
    document = sound(world)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert any(isinstance(each, AdviceOpen) for each in document.events) is not says
    assert [each.disposition for each in document.events if isinstance(each, Disposed)] == ["applied"]


def test_a_finding_that_was_put_back_may_be_proven_wrong_later(world: MockWorld) -> None:
    first = MockWorld()
    first.agents.script(Role.EXECUTOR, reject(DOUBTED))
    (found,) = first.review().findings
    other = finding("src/app.py", 9, "value = 9", "medium", confidence=0.2)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), approve(other).applying("r1"), approve().applying("r2"))
    proven = change("drop", found.id, quote="value = 4")
    world.agents.script(Role.MID_FLIGHT, guidance("look again"), guidance("drop it", proven))
    document = sound(world)
    (report,) = [each for each in document.events if isinstance(each, Reported)]
    assert (report.report.findings, report.put_back) == ((), ())
    assert document.outcome is Outcome.APPROVED


@pytest.mark.parametrize(
    "executor, advisor",
    [
        pytest.param((reject(),), (), id="before it is asked for a finding"),
        pytest.param((reject(), garbage()), (), id="before it is asked for a finding a second time"),
        pytest.param((approve().sure(0.5),), (garbage(),), id="before the advisor is asked a second time"),
        pytest.param((approve().sure(0.5),), (guidance(),), id="before the executor goes on with the advice"),
    ],
)
def test_a_review_that_is_interrupted_has_stopped_wherever_that_was(
    world: MockWorld, executor: tuple[Line, ...], advisor: tuple[Line, ...]
) -> None:
    def interrupt() -> None:
        world.agents.interrupted = ReviewInterrupted("interrupted by SIGTERM", signal_number=15)

    last = (advisor or executor)[-1].while_doing(interrupt)
    world.agents.script(Role.EXECUTOR, *(executor if advisor else (*executor[:-1], last)))
    world.agents.script(Role.MID_FLIGHT, *(last for _ in advisor))
    assert sound(world).outcome is Outcome.STOPPED
