"""The failure modes, anti-patterns and defects of advisor-pattern-v2: each has a story in which it does not happen."""

import json
from dataclasses import replace

import pytest

from review_advisor.agents.answers import Guidance, Recommendation
from review_advisor.ledger.artifacts import advisor_log
from review_advisor.mockworld.agents import Json, Line, approve, change, finding, guidance, reject, text_only
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.escalation_rules import EscalationRules, Threshold
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.escalation import Merged
from review_advisor.review.events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.review.report import advice_lines, report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

DOUBTED = finding("src/app.py", 3, "value = 3", "medium", confidence=0.5)
HIGH = finding("src/app.py", 3, "value = 3", confidence=0.5)


@pytest.fixture(autouse=True)
def attrition(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules("attrition"))


def identity_of(world: MockWorld, said: Json) -> str:
    """The id that a finding gets."""
    other = MockWorld()
    other.agents.script(Role.EXECUTOR, reject(said))
    return other.review().findings[0].id


def reviewed(world: MockWorld) -> OutcomeDocument:
    document = world.review()
    assert unsound(document.events) is None
    return document


def of(document: OutcomeDocument, kind: type) -> list[object]:
    return [each for each in document.events if isinstance(each, kind)]


def ends(document: OutcomeDocument) -> list[tuple[str, str]]:
    return [(each.recommendation, each.disposition) for each in document.events if isinstance(each, Disposed)]


def turns(*lines: Line, advice: tuple[Line, ...], world: MockWorld) -> OutcomeDocument:
    world.agents.script(Role.EXECUTOR, *lines)
    world.agents.script(Role.MID_FLIGHT, *advice)
    return reviewed(world)


# --- merging (defects 0.95 and 0.96) ----------------------------------------------------------------------------------


def test_advice_is_merged_with_the_report_and_its_diff_is_recorded(world: MockWorld) -> None:
    """Defect 0.95: the pack's sample adds advice to the trace, never merges it, and records no end of it."""
    identity = identity_of(world, DOUBTED)
    document = turns(reject(DOUBTED), approve(), advice=(guidance("drop it", change("drop", identity)),), world=world)
    (merge,) = [each for each in document.events if isinstance(each, Recommended)]
    assert [(each.what, each.before, each.after) for each in merge.merged.diff] == [
        (identity, "medium", "dropped"),
        ("verdict", "reject", "approve"),
    ]
    assert ends(document) == [("r1", "applied")]
    assert any("medium -> dropped" in line for line in advice_lines(document.events))


def test_a_grave_finding_goes_by_advice_only_with_a_quote_that_stands(world: MockWorld) -> None:
    identity = identity_of(world, HIGH)
    unproven = change("drop", identity, quote="nobody wrote this")
    document = turns(reject(HIGH), approve(), advice=(guidance("drop it", unproven),), world=world)
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert ends(document) == [("r1", "refused")]


def test_with_a_quote_that_stands_it_goes(world: MockWorld) -> None:
    identity = identity_of(world, HIGH)
    proven = change("drop", identity, quote="value = 4")
    document = turns(reject(HIGH), approve(), advice=(guidance("drop it", proven),), world=world)
    assert document.outcome is Outcome.APPROVED
    assert ends(document) == [("r1", "applied")]


def test_an_outcome_whose_merge_says_something_else_is_not_published(world: MockWorld) -> None:
    identity = identity_of(world, DOUBTED)
    document = turns(reject(DOUBTED), approve(), advice=(guidance("drop it", change("drop", identity)),), world=world)
    forged = [
        replace(each, merged=replace(each.merged, wanted=())) if isinstance(each, Recommended) else each
        for each in document.events
    ]
    assert unsound(forged) == "a merge does not follow from the report and the advice"
    silent = [each for each in document.events if not isinstance(each, Disposed)]
    assert unsound(silent) == "some advice has no end"


# --- the five failure modes -------------------------------------------------------------------------------------------


def test_the_advisors_bill_is_bounded_by_the_cap_not_by_a_prompt(world: MockWorld) -> None:
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.1) for n in range(1, 10)]
    lines = [reject(each).applying(f"r{turn}") for turn, each in enumerate(doubts[:5])]
    advice = tuple(guidance(f"look at row {n}") for n in range(1, 5))
    document = turns(*lines, advice=advice, world=world)
    assert world.asked.count("mid_flight") == 4
    assert document.outcome is Outcome.ESCALATED


def test_advice_is_never_overridden_in_silence(world: MockWorld) -> None:
    risky = guidance("look at row 3", flags=("row 3 may overflow",))
    document = turns(approve().sure(0.5), approve(), approve(), advice=(risky,), world=world)
    (asked,) = [each for each in document.events if isinstance(each, AdviceOpen)]
    assert asked.recommendations == ("r1",)
    assert "r1" in world.calls(Role.EXECUTOR)[2].prompt
    assert ends(document) == [("r1", "open")]
    assert document.outcome is Outcome.ESCALATED
    assert "r1" in document.because[0]


def test_advice_that_changes_nothing_needs_no_account(world: MockWorld) -> None:
    """No risk, no finding, no other verdict: a person who is called for that has nothing to decide."""
    keeps = guidance("it is right as it stands", change("keep", identity_of(world, DOUBTED)))
    document = turns(reject(DOUBTED).sure(0.5), approve().sure(0.9), advice=(keeps,), world=world)
    assert world.asked == ["pre_flight", "executor", "mid_flight", "executor", "post_verify"]
    assert ends(document) == [("r1", "not stated")]
    assert document.outcome is Outcome.APPROVED
    assert "recommendation r1 is not stated" in "".join(advice_lines(document.events))


@pytest.mark.parametrize(
    "advice",
    [
        guidance("raise it", flags=("row 3 may overflow",)),
        guidance("bring it", findings=(finding("src/app.py", 4, "nobody wrote this", "low"),)),
        guidance("drop it", change("drop", "f-" + "0" * 32)),
    ],
    ids=["a risk flag", "a finding", "a change"],
)
def test_advice_that_would_change_something_has_an_end(world: MockWorld, advice: Line) -> None:
    asked_again = [approve()] if (advice.answer or {}).get("risk_flags") else []
    document = turns(approve().sure(0.5), approve().sure(0.9), *asked_again, advice=(advice,), world=world)
    (end,) = ends(document)
    assert end[1] in ("open", "refused")
    forged = [
        replace(each, disposition="not stated") if isinstance(each, Disposed) else each for each in document.events
    ]
    assert unsound(forged) is not None


def test_an_override_counts_with_a_reason_only(world: MockWorld) -> None:
    document = turns(
        approve().sure(0.5),
        approve().overriding("r1", " "),
        approve().overriding("r1", "row 3 is bounded above"),
        advice=(guidance("look at row 3", flags=("row 3 may overflow",)),),
        world=world,
    )
    assert ends(document) == [("r1", "overridden")]
    assert document.outcome is Outcome.APPROVED
    (call,) = [each for each in advisor_log(document.events).advisor_calls if each.role is Role.MID_FLIGHT]
    assert (call.disposition, call.reason) == ("overridden", "row 3 is bounded above")


def test_an_executor_that_is_sure_is_not_advised_on_every_step(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 3, "value = 3")))
    reviewed(world)
    assert "mid_flight" not in world.asked


def test_the_same_advice_twice_unapplied_stops_the_loop(world: MockWorld) -> None:
    other = finding("src/app.py", 5, "value = 5", "medium", confidence=0.1)
    document = turns(
        reject(DOUBTED),
        reject(DOUBTED, other).overriding("r1"),
        advice=(guidance("Look at row 3"), guidance("look at  row 3")),
        world=world,
    )
    assert document.outcome is Outcome.ESCALATED
    assert "twice and not applied" in document.because[0]


@pytest.mark.parametrize("pad", [0, 1])
def test_advice_that_keeps_something_beside_what_is_refused_is_refused_advice(world: MockWorld, pad: int) -> None:
    """Else a padded keep, another one each time, escapes the end of the loop."""
    other = finding("src/app.py", 5, "value = 5", "medium", confidence=0.1)
    pads = [change("keep", identity_of(world, each)) for each in (HIGH, other)]
    drop = change("drop", identity_of(world, HIGH), quote="nobody wrote this")
    document = turns(
        reject(HIGH, other),
        reject(HIGH, other, finding("src/app.py", 4, "value = 4", "medium", confidence=0.1)),
        advice=(guidance("drop it", pads[0], drop), guidance("drop it", pads[pad], drop)),
        world=world,
    )
    assert ends(document)[0] == ("r1", "refused")
    assert "twice and not applied" in document.because[0]
    forged = [
        replace(each, disposition="applied in part")
        if isinstance(each, Disposed) and each.recommendation == "r1"
        else each
        for each in document.events
    ]
    assert unsound(forged) == "advice of which all was refused counts as applied"


def test_text_that_depresses_the_executor_cannot_drain_the_budget(world: MockWorld) -> None:
    """Calls are capped, and a person is called: hostile text buys neither money nor an approval."""
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    other = finding("src/app.py", 5, "value = 5", "medium", confidence=0.0)
    document = turns(
        reject(DOUBTED).sure(0.0), reject(other).sure(0.0).applying("r1"), advice=(guidance(),), world=world
    )
    assert world.asked.count("mid_flight") == 1
    assert document.outcome is Outcome.ESCALATED


# --- conflicts --------------------------------------------------------------------------------------------------------


def sure_of_a_medium(world: MockWorld) -> tuple[Line, str]:
    said = finding("src/app.py", 3, "value = 3", "medium")
    return reject(said).sure(0.5), identity_of(world, said)


def test_a_conflict_gets_one_reconciling_question_then_a_person(world: MockWorld) -> None:
    line, identity = sure_of_a_medium(world)
    drop = guidance("drop it", change("drop", identity))
    document = turns(line, advice=(drop, drop), world=world)
    kinds = [each.reasons[0].kind.value for each in document.events if isinstance(each, Escalated)]
    assert kinds == ["low_confidence", "reconcile"]
    assert world.asked.count("executor") == 1
    assert document.outcome is Outcome.ESCALATED
    assert "contradict one another" in document.because[0]


def test_a_conflict_has_the_shape_of_a_merge(world: MockWorld) -> None:
    """Defect 0.96: the pack declares one shape of a merge and returns another."""
    line, identity = sure_of_a_medium(world)
    other = guidance("raise it", change("raise", identity))
    document = turns(line, line, advice=(guidance("drop it", change("drop", identity)), other), world=world)
    first, second = (each.merged for each in document.events if isinstance(each, Recommended))
    assert [type(each) for each in (first, second)] == [Merged, Merged]
    assert (bool(first.conflict), first.verdict, dict(first.findings)) == (True, "reject", {identity: "medium"})
    assert (second.conflict, dict(second.findings)) == ("", {identity: "high"})


def test_advice_that_gives_way_to_the_question_supersedes_the_conflict(world: MockWorld) -> None:
    line, identity = sure_of_a_medium(world)
    advice = (guidance("drop it", change("drop", identity)), guidance("keep it", change("keep", identity)))
    document = turns(line, line, advice=advice, world=world)
    assert ends(document) == [("r1", "superseded"), ("r2", "applied")]
    assert document.outcome is Outcome.CHANGES_REQUESTED


# --- the anti-patterns ------------------------------------------------------------------------------------------------


def test_the_advisor_is_no_second_executor(world: MockWorld) -> None:
    turns(approve().sure(0.5), approve().applying("r1"), advice=(guidance(),), world=world)
    (call,) = world.calls(Role.MID_FLIGHT)
    assert (call.consults, call.edits) == (None, None)


def test_the_threshold_is_tuned_for_each_class_of_task(world: MockWorld) -> None:
    low = tuple(Threshold(0.4, category=category) for category in ("correctness", "verdict"))
    tuned = EscalationRules("attrition", thresholds=low)
    world.rules = replace(world.rules, escalation=tuned)
    world.agents.script(Role.EXECUTOR, reject(DOUBTED).sure(0.5))
    reviewed(world)
    assert "mid_flight" not in world.asked


# --- the defects of the pack ------------------------------------------------------------------------------------------


def test_two_failed_tools_count_and_start_again_after_a_consult(world: MockWorld) -> None:
    """Defect 0.92: in the pack's sample nobody ever counts them."""
    document = turns(approve().failing(2), approve().failing(1).applying("r1"), advice=(guidance(),), world=world)
    assert len(of(document, Escalated)) == 1


def test_the_file_of_the_advisor_has_every_field_of_the_contract_also_after_an_abort(world: MockWorld) -> None:
    """Defect 0.93: it is written although the fifth request ends the review; nothing divides by no tokens."""
    doubts = [finding("src/app.py", n, f"value = {n}", "medium", confidence=0.1) for n in range(1, 6)]
    lines = [reject(each).applying(f"r{turn}") for turn, each in enumerate(doubts)]
    advice = tuple(guidance(f"look at row {n}") for n in range(1, 5))
    document = turns(*lines, advice=advice, world=world)
    told = json.loads(advisor_log(document.events).model_dump_json())
    assert set(told) == {"task_id", "final_answer", "advisor_calls", "cost_split", "confidence_log"}
    consults = [each for each in told["advisor_calls"] if each["role"] == "mid_flight"]
    assert [each["trigger"] for each in consults] == ["low_confidence"] * 4
    assert all(each["recommendation"] and each["timestamp"] and each["prompt"] for each in consults)
    assert consults[0]["rec"] == {"action": "look at row 1", "rationale": "because", "risk_flags": []}
    assert told["cost_split"]["opus_fraction"] is None
    rated = [each for each in told["confidence_log"] if each["confidence"] == 0.1]
    assert {(each["threshold"], each["escalated"]) for each in rated} >= {(0.7, True)}
    assert told["final_answer"].startswith("escalated")


def test_advice_that_is_no_json_is_a_failed_consult(world: MockWorld) -> None:
    """Defect 0.94: the sample's parser dies of a fenced answer."""
    world.agents.script(Role.EXECUTOR, approve().sure(0.5))
    world.agents.script(Role.MID_FLIGHT, text_only(), text_only())
    assert reviewed(world).outcome is Outcome.APPROVED


def test_the_advisor_may_not_execute(world: MockWorld) -> None:
    """Defect 0.97: the pack grants it in one list and not in the other."""
    turns(approve().sure(0.5), approve().applying("r1"), advice=(guidance(),), world=world)
    assert all((call.edits, call.withheld.edits) == (None, False) for call in world.calls(Role.MID_FLIGHT))


def test_a_rationale_beyond_eighty_words_is_cut() -> None:
    long = " ".join(["word"] * 100)
    assert len(Recommendation(action="go", rationale=long).rationale.split()) == 80
    assert Guidance(action="go", rationale=long).rationale == long


def test_without_a_profile_advice_needs_no_end_and_the_report_says_that_none_is_stated(world: MockWorld) -> None:
    world.rules = replace(world.rules, escalation=EscalationRules())
    world.agents.script(Role.EXECUTOR, approve().after_asking("Seven?"))
    document = reviewed(world)
    assert document.outcome is Outcome.APPROVED
    assert "what became of it: not stated" in report_text(document)
    (call,) = [each for each in advisor_log(document.events).advisor_calls if each.role is Role.MID_FLIGHT]
    assert (call.disposition, call.reason) == ("not stated", "")
    assert '"changes"' not in world.calls(Role.EXECUTOR)[0].prompt


def test_what_the_advisor_is_sent_of_a_change_is_redacted(world: MockWorld) -> None:
    """The pack's known issue: secrets of a trace reach the advisor."""
    token = "ghp_" + "aB3dE5fG7hJ9" * 3
    world.change(edited("src/auth/login.py"))
    world.source.stated = replace(world.source.stated, title=f"Use {token}")
    turns(approve(), approve().applying("r1"), advice=(guidance(),), world=world)
    (call,) = world.calls(Role.MID_FLIGHT)
    assert token not in call.prompt
    assert "Use " in call.prompt
