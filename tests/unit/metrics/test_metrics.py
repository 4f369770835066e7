"""What each story adds to the nine metrics: exactly this, and nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import pytest

from review_advisor.agents.calls import LostReason
from review_advisor.change.change import FileChange, Status
from review_advisor.ledger.telemetry import METRICS, SECONDS_BUCKETS, measurements
from review_advisor.mockworld.agents import (
    approve,
    confirm,
    credit_gone,
    finding,
    garbage,
    guidance,
    learned,
    lost,
    picture_differs,
    plan,
    reject,
    text_only,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import REVIEW_SURFACES, Role, Surface
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, Event, Verified

TRIVIAL = edited("src/app.py", 3)
LOGIN = "shots/login.png"
REMARK = finding("src/app.py", 1, "value = 1", "low")

CALLS = "review_advisor_calls_total"
DURATION = "review_advisor_call_duration_seconds"
VERDICTS = "review_advisor_post_verify_verdict_total"
DEGRADED = "review_advisor_post_verify_degraded_total"
DISAGREEMENTS = "review_advisor_disagreement_total"
VALIDATED = "review_advisor_disagreement_validated_total"
RETRIES = "review_advisor_veto_retries_total"
RECOVERED = "review_advisor_veto_recovered_total"
EXHAUSTED = "review_advisor_veto_exhausted_total"

Points = dict[tuple[str, ...], float]
"""The sum of what was added, by the metric's name and its attributes' values in the ADR's order."""


def points(document: OutcomeDocument, *names: str) -> Points:
    """What a review adds to these metrics, or to all but the durations."""
    summed: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for each in measurements(document):
        assert tuple(each.attributes) == each.metric.attributes
        if each.metric.name in names or (not names and each.metric.name != DURATION):
            summed[each.metric.name, *each.attributes.values()] += each.value
    return dict(summed)


# --- the metrics themselves --------------------------------------------------------------------------------------


def test_there_are_nine_and_their_attributes_are_the_adrs() -> None:
    assert {metric.name: metric.attributes for metric in METRICS} == {
        CALLS: ("surface", "role", "outcome"),
        DURATION: ("surface", "role"),
        VERDICTS: ("surface", "verdict"),
        DEGRADED: ("surface",),
        DISAGREEMENTS: ("surface", "role", "severity"),
        VALIDATED: ("surface", "role"),
        RETRIES: ("surface", "attempt"),
        RECOVERED: ("surface",),
        EXHAUSTED: ("surface",),
    }


def test_the_buckets_stay_those_that_dashboards_were_built_on() -> None:
    """Series of other buckets cannot be added to those that a backend has already stored."""
    assert SECONDS_BUCKETS == (1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900)


def test_one_is_a_histogram_of_seconds_and_the_others_are_counters() -> None:
    assert {(metric.kind, metric.unit) for metric in METRICS if metric.name == DURATION} == {("histogram", "s")}
    assert {metric.kind for metric in METRICS if metric.name != DURATION} == {"counter"}


# --- stories -----------------------------------------------------------------------------------------------------


def everybody_agrees(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    return judged("pr_review", "approve")


def judged(surface: str, verdict: str) -> Points:
    """One judgement on one surface."""
    return {(CALLS, surface, "post_verify", "success"): 1, (VERDICTS, surface, verdict): 1}


def planned(world: MockWorld) -> Points:
    return {(CALLS, "pr_review", "pre_flight", "success"): 1} | judged("pr_review", "approve")


def a_plan_that_nobody_can_read(world: MockWorld) -> Points:
    world.agents.script(Role.PRE_FLIGHT, garbage(), text_only())
    return {(CALLS, "pr_review", "pre_flight", "parse_error"): 2} | judged("pr_review", "approve")


def a_plan_that_is_lost(world: MockWorld) -> Points:
    world.agents.script(Role.PRE_FLIGHT, lost(LostReason.TIMEOUT))
    return {(CALLS, "pr_review", "pre_flight", "error"): 1} | judged("pr_review", "approve")


def consults(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?", "two?", "three?"))
    world.agents.script(Role.MID_FLIGHT, lost(), guidance())
    answered = {(CALLS, "pr_review", "mid_flight", "success"): 1, (CALLS, "pr_review", "mid_flight", "error"): 1}
    return answered | judged("pr_review", "approve")


def a_judgement_that_is_lost(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, lost())
    return {(CALLS, "pr_review", "post_verify", "error"): 1, (DEGRADED, "pr_review"): 1}


def a_judgement_that_nobody_can_pay(world: MockWorld) -> Points:
    """It was refused: a judgement is missing, but no call was made."""
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve().costing(1.0))
    return {(DEGRADED, "pr_review"): 1}


def a_judgement_that_reached_its_cap(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, lost(LostReason.CALL_BUDGET))
    return {(CALLS, "pr_review", "post_verify", "error"): 1, (DEGRADED, "pr_review"): 1}


def credit_that_ends_with_the_judgement(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, credit_gone())
    return {(CALLS, "pr_review", "post_verify", "error"): 1}


def no_advisor(world: MockWorld) -> Points:
    world.switch("HYDRAFLOW_REVIEW_ADVISOR_ENABLED", "off")
    return {}


def a_concern(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, confirm("a name is odd", "a test is slow"))
    return judged("pr_review", "approve") | {(DISAGREEMENTS, "pr_review", "post_verify", "concern"): 2}


ONE_RECOVERY: Points = {
    (CALLS, "pr_review", "post_verify", "success"): 2,
    (VERDICTS, "pr_review", "veto"): 1,
    (VERDICTS, "pr_review", "approve"): 1,
    (DISAGREEMENTS, "pr_review", "post_verify", "blocking"): 1,
    (RETRIES, "pr_review", "1"): 1,
    (RECOVERED, "pr_review"): 1,
}


def a_veto_that_is_taken_back(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve(), approve(REMARK))
    world.agents.script(Role.POST_VERIFY, veto("a fault"))
    return ONE_RECOVERY


def a_veto_without_a_list(world: MockWorld) -> Points:
    """Its reasoning is the one disagreement, which the executor has to answer."""
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve(), approve(REMARK))
    world.agents.script(Role.POST_VERIFY, veto())
    return ONE_RECOVERY


def vetoes_to_the_end(world: MockWorld) -> Points:
    world.change(edited("src/auth/login.py"))
    for n in range(1, 5):
        world.agents.script(Role.EXECUTOR, approve(finding("src/auth/login.py", n, f"value = {n}", "low")))
        world.agents.script(Role.POST_VERIFY, veto(f"fault {n}"))
    return {
        (CALLS, "pr_review", "pre_flight", "success"): 1,
        (CALLS, "pr_review", "post_verify", "success"): 4,
        (VERDICTS, "pr_review", "veto"): 4,
        (DISAGREEMENTS, "pr_review", "post_verify", "blocking"): 4,
        (RETRIES, "pr_review", "1"): 1,
        (RETRIES, "pr_review", "2"): 1,
        (RETRIES, "pr_review", "3"): 1,
        (RETRIES, "pr_review", "exhausted"): 1,
        (EXHAUSTED, "pr_review"): 1,
    }


def a_retry_that_changes_nothing(world: MockWorld) -> Points:
    """It goes to a human, and the budget was not spent."""
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, veto("a fault"))
    return judged("pr_review", "veto") | {
        (DISAGREEMENTS, "pr_review", "post_verify", "blocking"): 1,
        (RETRIES, "pr_review", "1"): 1,
    }


def an_advisory_veto(world: MockWorld) -> Points:
    world.change(TRIVIAL)
    world.rules = replace(world.rules, wiki_folder="docs/wiki")
    fact = learned("Values are numbered", "src/app.py", "value = 2")
    world.agents.script(Role.EXECUTOR, approve().teaching(fact), surface=Surface.PR_REVIEW)
    world.agents.script(Role.POST_VERIFY, veto("an opinion"), surface=Surface.WIKI_INGEST)
    disagreed = {(DISAGREEMENTS, "wiki_ingest", "post_verify", "blocking"): 1}
    return judged("pr_review", "approve") | judged("wiki_ingest", "approve") | disagreed


def spec_record_and_pictures(world: MockWorld) -> Points:
    world.pictures.stated = (picture_differs(LOGIN),)
    changed = FileChange(Status.MODIFIED, LOGIN, binary=True)
    world.change(TRIVIAL, edited("docs/adr/0001-x.md", 3), changed, spec="count")
    surfaces = ("pr_review", "pre_merge_spec_check", "adr_review", "visual_gate")
    return {(CALLS, "adr_review", "pre_flight", "success"): 1} | {
        name: value for surface in surfaces for name, value in judged(surface, "approve").items()
    }


STORIES: tuple[Callable[[MockWorld], Points], ...] = (
    everybody_agrees,
    planned,
    a_plan_that_nobody_can_read,
    a_plan_that_is_lost,
    consults,
    a_judgement_that_is_lost,
    a_judgement_that_nobody_can_pay,
    a_judgement_that_reached_its_cap,
    credit_that_ends_with_the_judgement,
    no_advisor,
    a_concern,
    a_veto_that_is_taken_back,
    a_veto_without_a_list,
    vetoes_to_the_end,
    a_retry_that_changes_nothing,
    an_advisory_veto,
    spec_record_and_pictures,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__.replace("_", " "))
def test_a_story_adds_this_and_nothing_else(story: Callable[[MockWorld], Points]) -> None:
    world = MockWorld()
    expected = story(world)
    assert points(world.review()) == expected
    world.finish()


def test_the_stories_show_every_value_that_an_attribute_can_have() -> None:
    told = [points for story in STORIES for points in story(MockWorld())]
    values: defaultdict[str, set[str]] = defaultdict(set)
    attributes = {metric.name: metric.attributes for metric in METRICS}
    for name, *its in told:
        for attribute, value in zip(attributes[name], its, strict=True):
            values[attribute].add(value)
    assert values == {
        "surface": {surface.value for surface in REVIEW_SURFACES},
        "role": {"pre_flight", "mid_flight", "post_verify"},
        "outcome": {"success", "error", "parse_error"},
        "verdict": {"approve", "veto"},
        "severity": {"blocking", "concern"},
        "attempt": {"1", "2", "3", "exhausted"},
    }


# --- calibration -------------------------------------------------------------------------------------------------


SIGNAL = "a migration without a way back"


def test_a_disagreement_that_the_plan_foresaw_is_validated_whatever_its_letters() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan(signals=(SIGNAL, "races")))
    world.agents.script(Role.POST_VERIFY, confirm(f"This is {SIGNAL.upper()}.", "There are races.", "A typo."))
    assert points(world.review(), VALIDATED) == {(VALIDATED, "pr_review", "post_verify"): 1}


@pytest.mark.parametrize("signal, counts", [("ten signs.", True), ("nine sign", False)])
def test_a_signal_of_fewer_than_ten_characters_foresees_nothing(signal: str, counts: bool) -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan(signals=(signal,)))
    world.agents.script(Role.POST_VERIFY, confirm(f"It says {signal}."))
    assert bool(points(world.review(), VALIDATED)) is counts


def test_without_a_plan_nothing_is_validated() -> None:
    world = MockWorld()
    world.change(TRIVIAL)
    world.agents.script(Role.POST_VERIFY, confirm(SIGNAL))
    assert points(world.review(), VALIDATED) == {}


def test_the_spec_check_is_held_against_the_plan_that_it_reuses() -> None:
    world = MockWorld()
    world.change(spec="count")
    world.agents.script(Role.PRE_FLIGHT, plan(signals=(SIGNAL,)))
    world.agents.script(Role.POST_VERIFY, confirm(SIGNAL), surface=Surface.PRE_MERGE_SPEC_CHECK)
    assert points(world.review(), VALIDATED) == {(VALIDATED, "pre_merge_spec_check", "post_verify"): 1}


def test_the_validated_metric_says_that_it_is_provisional() -> None:
    (validated,) = [metric for metric in METRICS if metric.name == VALIDATED]
    assert validated.description.startswith("Provisional: ")


# --- what the original got wrong ---------------------------------------------------------------------------------


def test_a_degraded_approval_after_a_veto_is_no_verdict_and_no_recovery_d31() -> None:
    world = MockWorld()
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve(), approve(REMARK))
    world.agents.script(Role.POST_VERIFY, veto("a fault"), lost())
    assert points(world.review(), VERDICTS, DEGRADED, RECOVERED, EXHAUSTED) == {
        (VERDICTS, "pr_review", "veto"): 1,
        (DEGRADED, "pr_review"): 1,
    }


def test_a_retry_that_ends_in_the_executors_own_no_is_neither_recovered_nor_exhausted_d31() -> None:
    world = MockWorld()
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve(), reject(REMARK))
    world.agents.script(Role.POST_VERIFY, veto("a fault"))
    assert points(world.review(), RECOVERED, EXHAUSTED) == {}


def test_validated_and_all_disagreements_carry_the_same_role_d31() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan(signals=(SIGNAL,)))
    world.agents.script(Role.POST_VERIFY, confirm(SIGNAL))
    both = points(world.review(), VALIDATED, DISAGREEMENTS)
    assert {name[2] for name in both} == {"post_verify"}
    assert {name[0] for name in both} == {VALIDATED, DISAGREEMENTS}


def test_pre_flight_has_a_duration_d33() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan().taking(40))
    world.agents.script(Role.POST_VERIFY, confirm().taking(70))
    assert points(world.review(), DURATION) == {
        (DURATION, "pr_review", "pre_flight"): 40,
        (DURATION, "pr_review", "post_verify"): 70,
    }


def test_a_consult_has_a_duration_where_the_cli_said_it_d33() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, approve().after_asking("one?", "two?"))
    world.agents.script(Role.MID_FLIGHT, guidance().taking(2.5), lost().taking(30))
    assert points(world.review(), DURATION)[DURATION, "pr_review", "mid_flight"] == 2.5


def test_a_call_that_was_lost_took_its_time_too_d33() -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, lost(LostReason.TIMEOUT).taking(300))
    assert points(world.review(), DURATION)[DURATION, "pr_review", "pre_flight"] == 300


def test_a_surface_that_was_vetoed_says_nowhere_that_it_passed_d34() -> None:
    world = MockWorld()
    world.change(TRIVIAL, FileChange(Status.MODIFIED, LOGIN, binary=True))
    world.pictures.stated = (picture_differs(LOGIN),)
    world.agents.script(Role.POST_VERIFY, veto("the button is gone"), surface=Surface.VISUAL_GATE)
    told = {name: value for name, value in points(world.review()).items() if name[1] == "visual_gate"}
    disagreed = {(DISAGREEMENTS, "visual_gate", "post_verify", "blocking"): 1}
    assert told == judged("visual_gate", "veto") | disagreed


# --- runs that are started again ---------------------------------------------------------------------------------


def test_what_an_earlier_run_was_answered_is_judged_here_and_was_called_there() -> None:
    world = MockWorld()
    world.change(TRIVIAL)
    world.agents.script(Role.EXECUTOR, approve().after_asking("why?"), approve(REMARK).after_asking("how?"))
    world.agents.script(Role.POST_VERIFY, veto("a fault"))
    document = world.review()
    again = outcome_document([first_attempt_kept(event) for event in document.events])
    assert points(again) == ONE_RECOVERY | {
        (CALLS, "pr_review", "post_verify", "success"): 1,
        (CALLS, "pr_review", "mid_flight", "success"): 1,
    }
    assert points(again, DURATION) == {
        (DURATION, "pr_review", "post_verify"): 1,
        (DURATION, "pr_review", "mid_flight"): 1,
    }


def first_attempt_kept(event: Event) -> Event:
    return replace(event, kept=True) if isinstance(event, CallEnded) and event.attempt == 0 else event


# --- agreement with the other readings ---------------------------------------------------------------------------


def test_calls_and_disagreements_are_those_of_the_document() -> None:
    world = MockWorld()
    world.change(edited("src/auth/login.py"), spec="count")
    world.agents.script(Role.EXECUTOR, approve().after_asking("why?"))
    world.agents.script(Role.POST_VERIFY, confirm("a concern"), lost())
    document = world.review()
    made = [event for event in document.events if isinstance(event, CallEnded) and event.role is not Role.EXECUTOR]
    notes = [note for surface in document.surfaces for part in surface.parts for note in part.consults]
    verified = [event for event in document.events if isinstance(event, Verified)]
    assert sum(points(document, CALLS).values()) == len(made) + len(notes)
    consulted = sum(note.duration_ms or 0 for note in notes) / 1_000
    assert sum(points(document, DURATION).values()) == sum(call.duration_seconds for call in made) + consulted
    assert sum(points(document, DISAGREEMENTS).values()) == sum(len(each.judged.disagreements) for each in verified)
