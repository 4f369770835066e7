"""Escalation: the harness consults the advisor after the executor's turns, by evidence, under the one cap."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.scenarios.reading import shown

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.queries import review_decisions
from review_advisor.mockworld.agents import (
    Line,
    approve,
    change,
    confirm,
    finding,
    garbage,
    guidance,
    lost,
    reject,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules, Handoff, Threshold
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_json, read_outcome
from review_advisor.review.events import (
    CallEnded,
    CallStarted,
    Consulted,
    Escalated,
    Event,
    OfCall,
    Recommended,
    Reported,
)
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

ATTRITION = EscalationRules("attrition")
HARNESS = EscalationRules("harness")
FAULT = finding("src/app.py", 3, "value = 3")
DOUBTED = finding("src/app.py", 3, "value = 3", "medium", confidence=0.5)


def under(world: MockWorld, rules: EscalationRules) -> MockWorld:
    world.rules = replace(world.rules, escalation=rules)
    return world


def escalations(document: OutcomeDocument) -> list[Escalated]:
    return [each for each in document.events if isinstance(each, Escalated)]


def kinds(document: OutcomeDocument) -> list[list[str]]:
    return [[reason.kind.value for reason in each.reasons] for each in escalations(document)]


def advised(document: OutcomeDocument) -> OutcomeDocument:
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)).events == document.events
    return document


def test_a_doubted_verdict_is_put_to_the_advisor_and_the_executor_goes_on_with_its_guidance(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve(summary="now I am sure").applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("look at the last row"))
    document = advised(world.review())
    assert world.asked == ["pre_flight", "executor", "mid_flight", "executor", "post_verify"]
    assert kinds(document) == [["low_confidence"]]
    (consult,) = world.calls(Role.MID_FLIGHT)
    assert "verdict's confidence 0.50 is below 0.70" in consult.prompt
    assert "value = 1" not in world.calls(Role.EXECUTOR)[0].system_prompt
    again = world.calls(Role.EXECUTOR)[1].prompt
    assert "look at the last row" in again
    assert document.outcome is Outcome.APPROVED


def test_the_consulted_advisor_sees_the_change_what_stands_around_it_and_the_doubted_finding(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(FAULT).applying("r1"))
    advised(world.review())
    (consult,) = world.calls(Role.MID_FLIGHT)
    same, question = consult.blocks
    assert "+value = 3" in shown(consult, "DIFF")
    assert "+value = 3" in same, "what all consults of a part share begins them"
    for piece in ("Add a value", "VERDICT SO FAR: reject", "a risk", "a fault"):
        assert piece in question, piece
    executor = world.calls(Role.EXECUTOR)[0]
    assert consult.tree == executor.tree
    assert (consult.consults, consult.edits) == (None, None)


def test_a_consult_lists_answers_and_the_chosen_one_is_recorded_with_its_comment(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(FAULT).applying("r1"))
    chosen = guidance("keep it")
    assert chosen.answer is not None
    world.agents.script(Role.MID_FLIGHT, replace(chosen, answer={**chosen.answer, "answer": "keep the verdict"}))
    document = advised(world.review())
    (consult,) = [each.note for each in document.events if isinstance(each, Consulted)]
    offered = [each.answer.split()[0] for each in consult.consult.answers]
    assert offered == ["keep", "drop", "raise", "lower", "keep", "change", "stop"]
    assert all(each.description for each in consult.consult.answers)
    assert consult.guidance is not None
    assert (consult.guidance.answer, consult.guidance.rationale) == ("keep the verdict", "because")
    (decision,) = review_decisions(document.events)
    assert (decision["answers"], decision["answer"]) == (
        [each.answer for each in consult.consult.answers],
        "keep the verdict",
    )


def test_by_default_the_harness_consults_nobody(world: MockWorld) -> None:
    world.change(edited(".github/workflows/ci.yml"))
    world.agents.script(Role.EXECUTOR, approve().sure(0.1).failing(5).reading(9))
    document = world.review()
    assert "mid_flight" not in world.asked
    assert escalations(document) == []


@pytest.mark.parametrize(
    "path, line, due",
    [
        ("src/app.py", approve(), []),
        ("src/app.py", approve().failing(1), []),
        ("src/app.py", approve().failing(2), ["tool_failure"]),
        ("src/auth/login.py", approve().failing(2).sure(0.1), ["critical_step", "tool_failure", "low_confidence"]),
        ("src/never_seen.zig", approve(), []),
        ("src/app.py", approve().reading(5), []),
    ],
)
def test_the_reasons_stand_in_their_order_and_novelty_is_none(
    world: MockWorld, path: str, line: Line, due: list[str]
) -> None:
    under(world, ATTRITION).change(edited(path))
    world.agents.script(Role.EXECUTOR, line)
    assert kinds(advised(world.review())) == ([due] if due else [])


def test_the_profile_harness_also_watches_evidence_readings_and_the_end(world: MockWorld) -> None:
    under(world, HARNESS)
    invented = finding("src/app.py", 3, "nobody wrote this")
    world.agents.script(Role.EXECUTOR, reject(FAULT, invented).reading(3))
    document = advised(world.review())
    assert kinds(document) == [["missing_evidence", "repeated_reading", "before_completion"]]


def test_an_executor_of_the_profile_harness_has_three_turns(world: MockWorld) -> None:
    under(world, HARNESS)
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.2) for n in range(1, 5)]
    turns = (reject(each).applying(f"r{turn}") for turn, each in enumerate(doubts[:3]))
    world.agents.script(Role.EXECUTOR, *turns)
    world.agents.script(Role.MID_FLIGHT, guidance("consider row 1"), guidance("consider row 2"))
    document = advised(world.review())
    assert world.asked.count("executor") == 3
    assert document.outcome is Outcome.ESCALATED
    assert "3 turns" in document.because[0]


def attempts_that_each_doubt(world: MockWorld, number: int) -> None:
    """So many turns of one attempt, each of which doubts another finding."""
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.2) for n in range(1, number + 1)]
    advice = [f"consider row {n}" for n in range(1, number + 1)]
    world.agents.script(Role.EXECUTOR, *(reject(each).applying(f"r{turn}") for turn, each in enumerate(doubts)))
    world.agents.script(Role.MID_FLIGHT, *map(guidance, advice[: min(number, 4)]))


def test_after_four_consults_the_fifth_request_calls_a_person(world: MockWorld) -> None:
    attempts_that_each_doubt(under(world, ATTRITION), 5)
    document = advised(world.review())
    assert world.asked.count("mid_flight") == 4
    assert [bool(each.refused) for each in escalations(document)] == [False] * 4 + [True]
    assert document.outcome is Outcome.ESCALATED
    assert "All 4 consults" in document.because[0]


def test_four_consults_without_a_fifth_request_end_no_review(world: MockWorld) -> None:
    """Defect 0.91: a cap that is looked at before anybody asks ends a review that needs nothing more."""
    attempts_that_each_doubt(under(world, ATTRITION), 4)
    world.agents.script(Role.EXECUTOR, reject(FAULT).applying("r4"))
    document = advised(world.review())
    assert world.asked.count("mid_flight") == 4
    assert document.outcome is Outcome.CHANGES_REQUESTED


def test_consults_of_the_executor_count_under_the_same_cap(world: MockWorld) -> None:
    under(world, ATTRITION)
    questions = tuple(f"Is value {n} right in src/app.py?" for n in range(4))
    world.agents.script(Role.EXECUTOR, approve().sure(0.5).applying("r1", "r2", "r3", "r4").after_asking(*questions))
    document = advised(world.review())
    assert [bool(each.refused) for each in escalations(document)] == [True]
    assert document.outcome is Outcome.ESCALATED


def test_a_fifth_question_of_the_executor_calls_a_person(world: MockWorld) -> None:
    under(world, ATTRITION)
    questions = tuple(f"Is value {n} right in src/app.py?" for n in range(5))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions))
    document = advised(world.review())
    assert document.outcome is Outcome.ESCALATED
    assert "a question was refused" in document.because[0]


@pytest.mark.parametrize(
    "judgement, outcome",
    [(confirm(), Outcome.APPROVED), (veto("a fault"), Outcome.ESCALATED), (lost(), Outcome.ESCALATED)],
)
def test_after_the_cap_the_advisor_alone_may_decide(world: MockWorld, judgement: Line, outcome: Outcome) -> None:
    under(world, EscalationRules("attrition", "advisor_only"))
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    world.agents.script(
        Role.EXECUTOR,
        approve().sure(0.5),
        approve(finding("src/app.py", 1, "value = 1", "low", confidence=0.1)).applying("r1"),
    )
    world.agents.script(Role.POST_VERIFY, judgement)
    document = advised(world.review())
    assert [each.advisor_alone for each in escalations(document)] == [False, True]
    assert document.outcome is outcome


@pytest.mark.parametrize(
    "judgement, outcome",
    [(confirm(), Outcome.APPROVED), (veto("a fault"), Outcome.ESCALATED), (lost(), Outcome.ESCALATED)],
)
def test_after_a_refused_question_of_the_executor_the_advisor_alone_may_decide(
    world: MockWorld, judgement: Line, outcome: Outcome
) -> None:
    under(world, EscalationRules("attrition", "advisor_only"))
    questions = tuple(f"Is value {n} right in src/app.py?" for n in range(5))
    world.agents.script(Role.EXECUTOR, approve().after_asking(*questions).applying("r1", "r2", "r3", "r4"))
    world.agents.script(Role.POST_VERIFY, judgement)
    document = advised(world.review())
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert document.outcome is outcome


@pytest.mark.parametrize("handoff", ["human", "advisor_only"])
def test_a_consult_that_would_go_beyond_the_tokens_of_consults_calls_a_person(
    world: MockWorld, handoff: Handoff
) -> None:
    """The record cannot show that an estimate was right, so the advisor never decides alone by it."""
    under(world, EscalationRules("attrition", handoff))
    doubted = finding("src/app.py", 1, "value = 1", "medium", confidence=0.2)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), reject(doubted).applying("r1"))
    world.agents.script(Role.MID_FLIGHT, replace(guidance("consider row 1"), output_tokens=11_500))
    document = advised(world.review())
    assert world.asked.count("mid_flight") == 1
    _, refused = escalations(document)
    assert "may use 12,000 tokens" in refused.refused
    assert not refused.advisor_alone
    assert document.outcome is Outcome.ESCALATED


def test_the_same_state_and_reasons_are_put_to_the_advisor_once_in_an_attempt(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve().sure(0.4).applying("r1"))
    document = advised(world.review())
    assert world.asked.count("mid_flight") == 1
    assert document.outcome is Outcome.APPROVED


def test_a_consult_that_brings_no_advice_leaves_the_executor_alone(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5))
    world.agents.script(Role.MID_FLIGHT, lost())
    document = advised(world.review())
    assert world.asked == ["pre_flight", "executor", "mid_flight", "post_verify"]
    assert document.flags.lost == ("pr_review/mid_flight",)


def test_a_stop_signal_of_the_advisor_calls_a_person(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5))
    world.agents.script(Role.MID_FLIGHT, guidance("a person must look", stop=True))
    document = advised(world.review())
    assert world.asked == ["pre_flight", "executor", "mid_flight"]
    assert document.outcome is Outcome.ESCALATED


STOP = {"action": "a person must look", "stop_signal": True}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(Line({"stop_signal": True}), id="in an answer that its schema refuses"),
        pytest.param(Line({"action": "look", "signals": {"Stop-Signal": "yes"}}), id="under another key"),
        pytest.param(Line({**STOP, "verdict": "reject"}), id="beside a verdict that nobody asked for"),
        pytest.param(guidance("go on").after_saying(STOP), id="in a draft"),
        pytest.param(lost().after_saying(STOP), id="before the call was lost"),
        pytest.param(lost(LostReason.TIMEOUT).after_saying(STOP), id="before the call's time was over"),
    ],
)
def test_no_form_of_a_stop_signal_is_lost_with_the_answer_that_carries_it(world: MockWorld, line: Line) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5))
    world.agents.script(Role.MID_FLIGHT, line)
    document = world.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.ESCALATED
    assert "the advisor asked to stop" in document.because[0]


def test_of_several_answers_to_a_consult_the_last_one_is_the_advice(world: MockWorld) -> None:
    under(world, ATTRITION)
    verdict = change("change_verdict", verdict="approve")
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), approve())
    world.agents.script(Role.MID_FLIGHT, guidance("keep it", verdict).after_saying({"action": "a draft"}))
    document = advised(world.review())
    (merge,) = [each.merged for each in document.events if isinstance(each, Recommended)]
    assert [(each.what, each.after) for each in merge.wanted] == [("verdict", "approve")]


def test_an_executor_that_gives_no_report_after_advice_calls_a_person(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().sure(0.5), lost())
    document = advised(world.review())
    assert document.outcome is Outcome.ESCALATED
    assert "no report after the advice" in document.because[0]


def test_a_grave_finding_that_advice_took_away_without_a_proof_stays(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, reject(FAULT).sure(0.5), approve().applying("r1"))
    world.agents.script(Role.MID_FLIGHT, guidance("drop the finding"))
    document = advised(world.review())
    assert document.outcome is Outcome.CHANGES_REQUESTED
    (report,) = [each for each in document.events if isinstance(each, Reported)]
    assert report.put_back == (document.findings[0].id,)


@pytest.mark.parametrize("judgement", [lost(), None], ids=["lost", "switched off"])
def test_a_rejection_that_advice_turned_is_approved_by_a_judgement_only(
    world: MockWorld, judgement: Line | None
) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED), approve().applying("r1"))
    if judgement is None:
        world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "false")
    else:
        world.agents.script(Role.POST_VERIFY, judgement)
    document = advised(world.review())
    assert document.outcome is Outcome.ESCALATED
    assert "needs a judgement" in document.because[0]


def test_a_threshold_holds_for_its_surface_category_and_language(world: MockWorld) -> None:
    under(world, replace(ATTRITION, thresholds=(Threshold(0.95, category="correctness", language="python"),)))
    world.agents.script(Role.EXECUTOR, reject(FAULT))
    assert kinds(advised(world.review())) == [["low_confidence"]]


def test_each_part_of_a_large_change_is_critical_by_its_own_paths(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.rules = replace(world.rules, shard_tokens=2_000)
    world.change(edited("src/auth/login.py"), edited("src/app.py", 400), edited("src/view.py", 400))
    document = advised(world.review())
    assert len(document.surfaces[0].parts) > 1
    assert kinds(document) == [["critical_step"]]


def without_the_consult(events: Sequence[Event]) -> list[Event]:
    """A forged record: the calls after the consult that is left out have moved up."""
    left = [each for each in events if not isinstance(each, Escalated | Consulted)]
    left = [each for each in left if not isinstance(each, CallStarted | CallEnded) or each.role is not Role.MID_FLIGHT]
    numbers = sorted({0, *(each.number for each in left if isinstance(each, OfCall))})
    moved = {number: place for place, number in enumerate(numbers)}
    return [replace(each, number=moved[each.number]) if isinstance(each, OfCall) else each for each in left]


def test_an_outcome_that_leaves_out_a_consult_that_was_due_is_not_published(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve().failing(2))
    world.agents.script(Role.MID_FLIGHT, garbage(), garbage())
    document = advised(world.review())
    moved = without_the_consult(document.events)
    assert unsound(moved) == "a consult that was due is missing"


def test_an_outcome_that_takes_a_grave_finding_away_by_advice_is_not_published(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.agents.script(Role.EXECUTOR, approve(FAULT).sure(0.5), approve().applying("r1"))
    document = advised(world.review())
    forged: list[Event] = [
        replace(each, report=replace(each.report, findings=()), put_back=()) if isinstance(each, Reported) else each
        for each in document.events
    ]
    assert unsound(forged) == "a grave finding is gone after advice that proves nothing"


def test_a_person_may_have_the_advisor_consulted(world: MockWorld) -> None:
    under(world, ATTRITION)
    world.consult_requested = True
    assert kinds(advised(world.review())) == [["explicit"]]
