"""Inline members speak in one call. What they say is shown as advice, and changes no verdict."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.scenarios.reading import calls_by_end
from tests.unit.forge_text.stories import remembers

from review_advisor.agents.calls import LostReason
from review_advisor.github.comment_text import summary_body
from review_advisor.github.log_text import job_summary
from review_advisor.mockworld.agents import (
    Line,
    approve,
    confirm,
    finding,
    garbage,
    guidance,
    lost,
    reject,
    veto,
    voices,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.declarations import read_declarations
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import ADR_ADVISOR, VOICES, Advisor, Roster
from review_advisor.policy.roster_layers import made_roster
from review_advisor.policy.scope import policy_digest
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, council_records, outcome_json, read_outcome
from review_advisor.review.events import Advised, Reported, Ruled, VoicesHeard
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Move, Outcome, Ruling
from review_advisor.review.soundness import unsound
from review_advisor.safety.stop import ReviewInterrupted

POET = Advisor("poet", "You read names aloud.", on="finish", weight=100.0, inline=True)
CRITIC = replace(POET, id="critic", persona="You doubt.")
PEER = Advisor("peer", "You judge.", on="finish")


def played(*members: Advisor, said: Line | None = None, executor: tuple[Line, ...] = ()) -> OutcomeDocument:
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, *members)))
    if said is not None:
        world.agents.script(Role.POST_VERIFY, said, advisor=VOICES)
    world.agents.script(Role.EXECUTOR, *executor)
    document = world.review()
    world.finish()
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)) == document
    asked = [call for call in world.agents.asked if call.advisor == VOICES]
    assert len(asked) == (1 if any(each.inline for each in members) else 0)
    for call in asked:
        assert "The executor's report" not in call.prompt
        assert all(each.persona in call.prompt for each in members if each.inline)
    return document


def rulings(document: OutcomeDocument) -> list[Ruling]:
    return [each.ruling for each in document.events if isinstance(each, Ruled)]


BLOCKS = voices("poet", "critic", approve=0, block=100, says="burn it")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("others", [(), (PEER,)])
@pytest.mark.parametrize(
    "said", [BLOCKS, voices("poet", "critic"), lost(LostReason.CRASH), lost(LostReason.SERVER_ERROR), None]
)
def test_no_inline_member_changes_a_ruling(others: tuple[Advisor, ...], said: Line | None) -> None:
    for executor in ((approve(),), (reject(finding("src/app.py", 3, "value = 3")),)):
        alone = played(*others, executor=executor)
        beside = played(*others, POET, CRITIC, said=said, executor=executor)
        assert (beside.outcome, rulings(beside)) == (alone.outcome, rulings(alone))
        assert beside.flags.degraded == alone.flags.degraded


def test_their_words_are_shown_as_advice() -> None:
    document = played(POET, CRITIC, said=BLOCKS)
    assert document.outcome is Outcome.APPROVED
    summary = summary_body(document, PublicationRules(), remembers(document))
    for text in (report_text(document), summary, job_summary(document)):
        assert "Advice of the inline members, which have no vote" in text
        assert "poet" in text
        assert "block 100: burn it" in text
    assert council_records(document.events) == ()


@pytest.mark.parametrize("others", [(), (PEER,)])
@pytest.mark.parametrize("jobs", [1, 4])
def test_their_call_leaves_every_judgement_its_money(jobs: int, others: tuple[Advisor, ...]) -> None:
    """Also those after a retry: whatever is asked for a verdict is asked before them."""
    reports = (approve(), reject(finding("src/app.py", 3, "value = 3")))
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, *others, POET)))
    world.jobs = jobs
    world.agents.script(Role.EXECUTOR, *(reports[1:] if others else reports))
    world.agents.script(Role.POST_VERIFY, *([] if others else [veto("no")]))
    world.agents.script(Role.POST_VERIFY, voices("poet").costing(100.0), advisor=VOICES)
    document = world.review()
    assert unsound(document.events) is None
    assert calls_by_end(document).keys() == {"answered"}
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert world.agents.asked[-1].advisor == VOICES


def test_without_money_for_them_the_verdict_stands_and_they_are_missing() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, POET)))
    world.agents.script(Role.POST_VERIFY, confirm().costing(100.0))
    document = world.review()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.APPROVED
    assert not document.flags.degraded
    assert calls_by_end(document)["refused"] == ["post_verify"]


def test_they_are_asked_once_however_often_the_judge_is() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, POET)))
    world.agents.script(Role.EXECUTOR, approve(), reject(finding("src/app.py", 3, "value = 3")))
    world.agents.script(Role.POST_VERIFY, veto("no"))
    document = world.review()
    assert unsound(document.events) is None
    assert [call.attempt for call in world.agents.asked if call.advisor == VOICES] == [1]


def test_an_answer_that_lacks_a_member_is_asked_again_and_then_missing() -> None:
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, POET, CRITIC)))
    world.agents.script(Role.POST_VERIFY, garbage(), voices("poet"), advisor=VOICES)
    document = world.review()
    world.finish()
    assert unsound(document.events) is None
    assert document.outcome is Outcome.APPROVED
    assert any("post_verify/voices" in each for each in document.flags.lost)


def test_a_record_that_leaves_out_an_inline_member_is_refused() -> None:
    document = played(POET, CRITIC, said=BLOCKS)
    at, told = next((n, each) for n, each in enumerate(document.events) if isinstance(each, VoicesHeard))
    told = replace(told, voices=(Advised("poet", (100.0, 0.0, 0.0)),))
    events = (*document.events[:at], told, *document.events[at + 1 :])
    assert unsound(events) == "an inline member is left out, or is not declared"
    assert unsound((*document.events[:at], *document.events[at + 1 :])) is not None


# --- where a part ends without another judgement ----------------------------------------------------------------------

FAULT = finding("src/app.py", 3, "value = 3")
NOTED = finding("src/app.py", 4, "value = 4", "low")
CRITICAL = "src/auth/login.py"
UNSURE = approve(NOTED).sure(0.2)
PROFILED: dict[str, tuple[Line, ...]] = {
    "the review may not consult": (UNSURE.after_asking("May it?"),),
    "the review is told to stop": (UNSURE,),
    "the executor is gone after the advice": (UNSURE, lost()),
}
ENDINGS: dict[str, tuple[Line, ...]] = {
    "the retry changes nothing": (approve(),),
    "the executor is told to stop": (approve(NOTED).after_asking("May it?"),),
    "a critical question is refused": (approve(NOTED).after_asking(f"Is {CRITICAL} right?", f"Is {CRITICAL} whole?"),),
    "both rejections are bare": (reject(), reject()),
    "a bare rejection is taken back": (reject(), approve()),
    "a bare rejection is followed by silence": (reject(), lost()),
    "the retry is lost": (lost(),),
    "the verdict flips": (approve(NOTED),),
    **PROFILED,
}


def ended_in_a_retry(ending: str, *members: Advisor) -> MockWorld:
    """A world whose first report is vetoed, and whose retry ends as ``ending`` says."""
    world = MockWorld()
    flips = ending == "the verdict flips"
    profile = EscalationRules("attrition" if ending in PROFILED else "adr")
    roster = Roster((ADR_ADVISOR, *members))
    world.rules = replace(world.rules, roster=roster, metadata_blind=flips, escalation=profile)
    if "critical" in ending:
        world.change(edited(CRITICAL, 1), edited("src/app.py"))
    world.switch("HYDRAFLOW_REVIEW_MIDFLIGHT_MAX_CONSULTS", "1")
    first = (reject(FAULT), reject(FAULT)) if flips else (approve(),)
    world.agents.script(Role.EXECUTOR, *first, *ENDINGS[ending])
    world.agents.script(Role.MID_FLIGHT, guidance(stop="told to stop" in ending))
    world.agents.script(Role.POST_VERIFY, veto("no"))
    return world


def last_call_before_them(ending: str, change: Callable[[Line], Line]) -> MockWorld:
    """The same world beside an inline member, in which the last call before its own goes otherwise."""
    told = ended_in_a_retry(ending, POET)
    told.review()
    world = ended_in_a_retry(ending, POET)
    before = len(told.agents.asked) - 1
    world.agents.pace = lambda _, line: change(line) if len(world.agents.asked) == before else line
    return world


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "voiced",
    [(voices("poet"),), (lost(LostReason.CRASH),), (garbage(), voices("poet")), (garbage(), garbage())],
    ids=["they speak", "they are lost", "they are asked twice", "they say nothing usable"],
)
@pytest.mark.parametrize("ending", ENDINGS)
def test_they_speak_wherever_a_retry_ends_and_its_record_is_believed(ending: str, voiced: tuple[Line, ...]) -> None:
    alone = ended_in_a_retry(ending).review()
    world = ended_in_a_retry(ending, POET)
    world.agents.script(Role.POST_VERIFY, *voiced, advisor=VOICES)
    document = world.review()
    assert unsound(alone.events) is None
    assert unsound(document.events) is None
    assert world.agents.asked[-1].advisor == VOICES
    assert [each.move for each in rulings(document)] == [Move.RETRY]
    assert (document.outcome, document.because) == (alone.outcome, alone.because)
    assert document.outcome in (Outcome.ESCALATED, Outcome.STOPPED)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_retry_that_ends_without_money_for_them_is_believed(ending: str) -> None:
    world = last_call_before_them(ending, lambda line: line.costing(100.0))
    document = world.review()
    assert unsound(document.events) is None
    assert calls_by_end(document)["refused"] == ["post_verify"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("moment", ["before", "during"])
def test_a_retry_that_ends_in_an_interrupt_is_believed_to_have_stopped(ending: str, moment: str) -> None:
    def interrupt() -> None:
        world.agents.interrupted = ReviewInterrupted("interrupted by SIGTERM", signal_number=15)

    if moment == "before":
        world = last_call_before_them(ending, lambda line: line.while_doing(interrupt))
    else:
        world = ended_in_a_retry(ending, POET)
        stop = Line(stop=ReviewInterrupted("interrupted by SIGTERM", signal_number=15))
        world.agents.script(Role.POST_VERIFY, stop, advisor=VOICES)
    document = world.review()
    assert document.outcome is Outcome.STOPPED
    assert unsound(document.events) is None


def test_their_advice_stands_in_for_no_judgement() -> None:
    """A record from which the judgement of a retry is gone is no record of a part that calls a person."""
    world = MockWorld()
    world.rules = replace(world.rules, roster=Roster((ADR_ADVISOR, POET)))
    world.agents.script(Role.EXECUTOR, approve(), approve(NOTED))
    world.agents.script(Role.POST_VERIFY, veto("no"), veto("still no"))
    events = world.review().events
    assert unsound(events) is None
    reported = max(at for at, each in enumerate(events) if isinstance(each, Reported))
    ruled = max(at for at, each in enumerate(events) if isinstance(each, Ruled))
    after: list[Any] = [*events[ruled + 1 :]]
    after = [replace(each, number=each.number - 1) if hasattr(each, "number") else each for each in after]
    assert unsound((*events[: reported + 1], *after)) == "a report that needs a judgement has none"


# --- declared ---------------------------------------------------------------------------------------------------------


def declared(keys: str) -> tuple[Roster, tuple[str, ...]]:
    return made_roster("default", [read_declarations("a.md", f"---\nid: poet\n{keys}\n---\nYou read.\n")])


def test_an_inline_advisor_is_declared_in_its_file() -> None:
    roster, problems = declared("on: finish\nmode: inline")
    assert problems == ()
    assert [each.id for each in roster.voices] == ["poet"]
    assert roster.panel == (ADR_ADVISOR,)
    assert declared("on: finish\nmode: independent")[0].voices == ()
    world = MockWorld()
    plain = world.review().policy
    assert policy_digest(replace(plain, roster=roster)) != policy_digest(plain)


@pytest.mark.parametrize(
    "keys, why",
    [
        ("on: finish\nmode: inline\nveto: true", "cannot have a veto"),
        ("on: finish\nmode: inline\nmodel: haiku", "cannot have a model"),
        ("on: finish\nmode: inline\nisInstanced: true", "cannot be instanced"),
        ("on: start\nmode: inline", "needs `on: finish`"),
        ("mode: inline", "needs `on: finish`"),
    ],
)
def test_an_inline_advisor_that_claims_more_is_a_mistake(keys: str, why: str) -> None:
    roster, problems = declared(keys)
    assert why in problems[0]
    assert roster.voices == ()


def test_the_adrs_advisor_cannot_be_made_to_advise_only() -> None:
    file = read_declarations("a.md", f"---\nid: {ADR_ADVISOR.id}\nmode: inline\n---\n")
    roster, problems = made_roster("default", [file])
    assert "'inline' of" in problems[0]
    assert roster.panel == (ADR_ADVISOR,)
