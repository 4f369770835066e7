"""A rejection that nobody can act on: it is asked once more, and then it goes to a person with what was said."""

from dataclasses import replace

import pytest
from tests.scenarios.reading import own_words

from review_advisor.github.findings_text import disputes
from review_advisor.github.sections import title_of
from review_advisor.mockworld.agents import (
    Line,
    approve,
    confirm,
    credit_gone,
    finding,
    garbage,
    lost,
    reject,
    text_only,
    veto,
)
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import UnfoundedRejection
from review_advisor.review.report import disagreement_transcript, report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

FAULT = finding("src/app.py", 3, "value = 3")
INVENTED = finding("src/app.py", 3, "value = 999", title="an invented quote")
ELSEWHERE = finding("src/other.py", 3, "value = 3", title="another file")
UNREADABLE = finding("src/app.py", -3, "value = 3", title="a line below zero")

UNFOUNDED = {
    "no finding at all": (reject(summary="it smells"), "it names no finding"),
    "a quote that does not stand": (reject(INVENTED, summary="it smells"), "its finding was refused"),
    "no quote that stands": (
        reject(INVENTED, ELSEWHERE, UNREADABLE, summary="it smells"),
        "its 3 findings were refused",
    ),
}
unfounded = pytest.mark.parametrize("said, why", UNFOUNDED.values(), ids=UNFOUNDED)


def ends_as(document: OutcomeDocument) -> tuple[Outcome, int, str | None]:
    return document.outcome, document.exit_code, unsound(document.events)


ESCALATED = (Outcome.ESCALATED, 11, None)


@unfounded
def test_it_is_asked_once_more_and_told_what_failed(world: MockWorld, said: Line, why: str) -> None:
    world.agents.script(Role.EXECUTOR, said, reject(FAULT))
    document = world.review()
    assert ends_as(document) == (Outcome.CHANGES_REQUESTED, 10, None)
    assert [each.title for each in document.findings] == ["a fault"]
    assert world.asked == ["pre_flight", "executor", "executor", "post_verify"]
    first, second = world.calls(Role.EXECUTOR)
    assert second.prompt.startswith(first.prompt)
    assert second.asks_again == first.number
    assert f"nobody can act on it: {why}." in own_words(second)
    for remark in (said.answer or {})["findings"]:
        assert remark["title"] in second.prompt


@unfounded
@pytest.mark.parametrize("again", [reject(summary="it still smells"), reject(INVENTED, summary="it still smells")])
def test_the_second_one_goes_to_a_person_with_what_the_executor_said(
    world: MockWorld, said: Line, why: str, again: Line
) -> None:
    world.agents.script(Role.EXECUTOR, said, again)
    document = world.review()
    assert ends_as(document) == ESCALATED
    assert world.asked == ["pre_flight", "executor", "executor"]
    assert title_of(document) == "A person has to decide"
    assert "without a finding that stands, also when it is asked for one" in document.because[0]
    shown = disputes(document)[0].text
    told = report_text(document)
    transcript = disagreement_transcript(document) or ""
    for words in ("it smells", "it still smells"):
        assert words in shown
        assert words in told
        assert words in transcript
    for remark in (said.answer or {})["findings"]:
        assert remark["title"] in shown
        assert f"refused: {remark['title']}" in told


@pytest.mark.parametrize(
    "again",
    [approve(), approve(FAULT), lost(), garbage(), text_only()],
    ids=["an approval", "an approval with a finding", "an outage", "no answer of the schema", "prose"],
)
def test_no_second_answer_makes_the_no_milder_than_an_escalation(world: MockWorld, again: Line) -> None:
    world.agents.script(Role.EXECUTOR, reject(summary="it smells"), again)
    document = world.review()
    assert ends_as(document) == ESCALATED
    assert world.asked == ["pre_flight", "executor", "executor"]
    assert "it smells" in disputes(document)[0].text


def test_a_second_question_over_a_limit_escalates(world: MockWorld) -> None:
    world.rules = replace(world.rules, max_usd=0.5)
    world.agents.script(Role.EXECUTOR, Line(reject().answer, cost_usd=0.5))
    document = world.review()
    assert ends_as(document) == ESCALATED
    assert "the second question was refused" in document.because[0]


def test_credit_that_ends_at_the_second_question_stops_the_review(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(), credit_gone())
    document = world.review()
    assert ends_as(document) == (Outcome.STOPPED, 12, None)


def test_a_reply_that_was_asked_for_again_may_still_be_asked_for_its_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, garbage(), reject(), reject(FAULT))
    document = world.review()
    assert ends_as(document) == (Outcome.CHANGES_REQUESTED, 10, None)
    assert [(call.number, call.asks_again) for call in world.calls(Role.EXECUTOR)] == [(2, 0), (3, 2), (4, 3)]


def test_every_attempt_is_asked_for_its_finding(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(), reject(FAULT), reject(summary="now it smells"), reject(INVENTED))
    world.agents.script(Role.POST_VERIFY, veto("three is fine"))
    document = world.review()
    assert ends_as(document) == ESCALATED
    assert [call.attempt for call in world.calls(Role.EXECUTOR)] == [0, 0, 1, 1]


def test_each_part_is_asked_for_its_own_finding(world: MockWorld) -> None:
    world.rules = replace(world.rules, shard_tokens=180)
    world.change(edited("src/a.py", 30), edited("src/b.py", 30))
    world.agents.script(Role.EXECUTOR, approve(), reject(), reject())
    document = world.review()
    assert ends_as(document) == ESCALATED
    assert [(call.shard, bool(call.asks_again)) for call in world.calls(Role.EXECUTOR)] == [
        (0, False),
        (1, False),
        (1, True),
    ]
    assert document.because[0].startswith("part 2 of 2: the executor rejects the change without a finding that stands")


def test_a_rejection_with_one_finding_that_stands_costs_no_call_more(world: MockWorld) -> None:
    world.agents.script(Role.EXECUTOR, reject(FAULT, INVENTED))
    world.agents.script(Role.POST_VERIFY, confirm())
    document = world.review()
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert world.asked == ["pre_flight", "executor", "post_verify"]
    assert not any(isinstance(event, UnfoundedRejection) for event in document.events)
