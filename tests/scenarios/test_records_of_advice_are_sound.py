"""Whatever a review under a profile of escalation comes through, publishing takes its record for what it is."""

from dataclasses import replace

import pytest

from review_advisor.mockworld.agents import Line, approve, change, finding, garbage, guidance, lost, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules, Handoff
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.escalation import Disposition
from review_advisor.review.events import AdviceOpen, Disposed, Escalated, Event, Recommended, Reported
from review_advisor.review.report import advice_ends, advice_lines
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ReviewInterrupted

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
    world.agents.script(Role.MID_FLIGHT, guidance(flags=("it may overflow",)))
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


REJECT = change("change_verdict", verdict="reject")


def disposed(document: OutcomeDocument) -> list[tuple[str, str]]:
    return [(each.recommendation, each.disposition) for each in document.events if isinstance(each, Disposed)]


def conflict_at_the_cap(world: MockWorld, handoff: Handoff) -> OutcomeDocument:
    """The executor approves, the advisor rejects, and the cap refuses the question that could reconcile them."""
    return consulted_once(world, handoff, guidance("reject it", REJECT))


def consulted_once(world: MockWorld, handoff: Handoff, advice: Line) -> OutcomeDocument:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition", handoff))
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    world.change(edited("src/auth/login.py"))
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.MID_FLIGHT, advice)
    return sound(world)


@pytest.mark.parametrize("handoff", ["human", "advisor_only"])
def test_a_conflict_whose_question_is_refused_calls_a_person(world: MockWorld, handoff: Handoff) -> None:
    """Nobody may decide it alone: not even the advisor, to whom the cap leaves other decisions."""
    document = conflict_at_the_cap(world, handoff)
    assert document.outcome is Outcome.ESCALATED
    assert "post_verify" not in world.asked
    assert [each.advisor_alone for each in document.events if isinstance(each, Escalated)] == [False, False]
    assert disposed(document) == [("r1", "open")]
    assert "r1" in document.because[0]


def test_an_outcome_that_hands_a_conflict_off_is_not_published(world: MockWorld) -> None:
    events = conflict_at_the_cap(world, "advisor_only").events
    handed: list[Event] = [
        replace(each, advisor_alone=True) if isinstance(each, Escalated) and each.refused else each for each in events
    ]
    assert unsound(handed) == "a refused consult is handed to somebody else"


def test_an_outcome_that_says_that_a_refused_question_was_asked_is_not_published(world: MockWorld) -> None:
    events = conflict_at_the_cap(world, "human").events
    asked: list[Event] = [
        replace(each, disposition="superseded") if isinstance(each, Disposed) else each for each in events
    ]
    assert unsound(asked) == "advice is superseded by a question that nobody asked"


@pytest.mark.parametrize(
    "became, why",
    [
        ("superseded", "advice is superseded by a question that nobody asked"),
        ("overridden", "a conflict ends without a question about it"),
        ("refused", "a conflict ends without a question about it"),
        ("applied", "a conflict ends without a question about it"),
    ],
)
def test_an_outcome_that_leaves_the_question_about_a_conflict_out_is_not_published(
    world: MockWorld, became: Disposition, why: str
) -> None:
    """The record of a conflict goes on as that of a review whose consult was lost, which is approved."""
    conflict = conflict_at_the_cap(world, "human").events
    approved = consulted_once(MockWorld(), "human", lost())
    assert approved.outcome is Outcome.APPROVED
    (end,) = [place for place, each in enumerate(conflict) if isinstance(each, Recommended)]
    (left,) = [each for each in conflict if isinstance(each, Disposed)]
    (report,) = [place for place, each in enumerate(approved.events) if isinstance(each, Reported)]
    ended = replace(left, disposition=became, reason="the diff shows otherwise", at=conflict[end].at)
    assert unsound([*conflict[: end + 1], ended, *approved.events[report:]]) == why


def drops_of(number: int) -> tuple[Line, ...]:
    """So many times the advice to drop the high finding, without a proof."""
    first = MockWorld()
    first.agents.script(Role.EXECUTOR, reject(DOUBTED))
    (found,) = first.review().findings
    return tuple(guidance(f"drop it, {n}", change("drop", found.id)) for n in range(number))


def drop_refused_twice(world: MockWorld) -> OutcomeDocument:
    other = finding("src/app.py", 5, "value = 5", "medium", confidence=0.2)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(DOUBTED, other))
    world.agents.script(Role.MID_FLIGHT, *drops_of(2))
    return sound(world)


def advised_in_part(world: MockWorld) -> OutcomeDocument:
    """The advisor wants two changes, of which one is refused for lack of a proof; the executor applies the other."""
    mild = finding("src/app.py", 9, "value = 9", "medium", confidence=0.5)
    first = MockWorld()
    first.agents.script(Role.EXECUTOR, approve(DOUBTED, mild))
    grave, milder = (each.id for each in sorted(first.review().findings, key=lambda each: each.severity))
    world.agents.script(Role.EXECUTOR, approve(DOUBTED, mild), approve(FAULT))
    both = guidance("drop both", change("drop", grave), change("drop", milder))
    world.agents.script(Role.MID_FLIGHT, both)
    return sound(world)


def test_advice_of_which_one_change_is_refused_and_another_applied_is_told_as_that(world: MockWorld) -> None:
    document = advised_in_part(world)
    end = next(each for each in document.events if isinstance(each, Disposed))
    assert (end.recommendation, end.disposition) == ("r1", "applied in part")
    assert end.reason.startswith("the report shows the rest; refused: drop ")
    assert (
        "recommendation r1 is applied in part (the report shows the rest; refused: drop "
        in advice_lines(document.events)[1]
    )
    assert advice_ends(document.events)[0].disposition == "applied in part"


@pytest.mark.parametrize("claim", ["applied", "refused", "overridden"])
def test_an_outcome_that_calls_advice_applied_in_part_something_else_is_not_published(
    world: MockWorld, claim: Disposition
) -> None:
    events = advised_in_part(world).events
    told = next(each for each in events if isinstance(each, Disposed))
    forged = replace(told, disposition=claim)
    problem = unsound([forged if each is told else each for each in events])
    assert (problem is None) is (claim == "overridden"), "overriding takes the executor's word alone"


def test_the_same_advice_that_is_refused_twice_stops_the_loop(world: MockWorld) -> None:
    document = drop_refused_twice(world)
    assert world.asked.count("mid_flight") == 2
    assert document.outcome is Outcome.ESCALATED
    assert "twice and not applied" in document.because[0]
    assert disposed(document) == [("r1", "refused"), ("r2", "open")]


def test_advice_that_was_refused_in_an_earlier_attempt_stops_the_loop_too(world: MockWorld) -> None:
    other = finding("src/app.py", 5, "value = 5", "medium", confidence=0.2)
    world.agents.script(Role.EXECUTOR, approve(DOUBTED), approve(DOUBTED), approve(DOUBTED, other))
    world.agents.script(Role.MID_FLIGHT, *drops_of(2))
    world.agents.script(Role.POST_VERIFY, veto("look at row 5"))
    document = sound(world)
    assert [each.repeated for each in document.events if isinstance(each, Recommended)] == [False, True]
    assert document.outcome is Outcome.ESCALATED


@pytest.mark.parametrize("claim", [True, False], ids=["advice is the first of its kind", "advice was given before"])
def test_an_outcome_that_miscounts_the_same_advice_is_not_published(world: MockWorld, claim: bool) -> None:
    events = drop_refused_twice(world).events
    forged: list[Event] = [
        replace(each, repeated=not each.repeated) if isinstance(each, Recommended) and each.repeated is claim else each
        for each in events
    ]
    assert unsound(forged) == "advice is miscounted that was given before and not applied"


def every_halt(world: MockWorld) -> dict[str, tuple[tuple[Line, ...], tuple[Line, ...]]]:
    doubtful, other = approve().sure(0.5), finding("src/app.py", 5, "value = 5", "medium", confidence=0.1)
    look = guidance("look at row 3")
    return {
        "a second conflict": ((doubtful,), (guidance("reject it", REJECT), guidance("reject it", REJECT))),
        "a question about a conflict without an answer": ((doubtful,), (guidance("no", REJECT), lost())),
        "repeated advice": ((doubtful, approve(other).overriding("r1")), (look, look)),
        "a stop signal": ((doubtful,), (guidance("a person must look", stop=True),)),
        "a stop signal after a conflict": (
            (doubtful,),
            (guidance("reject it", REJECT), guidance("a person must look", stop=True)),
        ),
        "no report after advice": ((doubtful, lost()), (look,)),
        "no report after advice and a question": (
            (doubtful, garbage().after_asking(QUESTION), garbage().after_asking(QUESTION)),
            (look,),
        ),
        "an unfounded rejection after advice": ((doubtful, reject()), (look,)),
        "an unfounded rejection after a question": ((reject().after_asking(QUESTION), reject()), ()),
        "no answer to what became of advice": (
            (doubtful, approve(), approve()),
            (guidance("look at row 3", flags=("it may overflow",)),),
        ),
        "a refused question": (
            (approve().after_asking(*(f"Is value {n} right in src/app.py?" for n in range(5))),),
            (),
        ),
    }


@pytest.mark.parametrize("halt", every_halt(MockWorld()))
def test_advice_that_a_halt_overtakes_is_open_and_is_named(world: MockWorld, halt: str) -> None:
    executor, advisor = every_halt(world)[halt]
    world.agents.script(Role.EXECUTOR, *executor)
    world.agents.script(Role.MID_FLIGHT, *advisor)
    document = sound(world)
    assert document.outcome is Outcome.ESCALATED
    given = [each for each in advice_ends(document.events) if each.recommendation]
    assert given
    assert None not in [each.disposition for each in given]
    left = [each.recommendation for each in given if each.disposition == "open"]
    assert all(name in document.because[0] for name in left)
    *_, last = [each for each in document.events if isinstance(each, Disposed)]
    silent = [each for each in document.events if each is not last]
    assert unsound(silent) == "some advice has no end"
