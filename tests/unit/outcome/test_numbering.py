"""An outcome from elsewhere whose calls are not numbered as a review numbers them is not published."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.outcome.altered import KINDS, reviewed
from tests.unit.outcome.test_questions import NOON

from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import (
    CallEnded,
    CallStarted,
    Consulted,
    Ended,
    Event,
    OfCall,
    PolicyFrozen,
    Reported,
    Verified,
)
from review_advisor.review.soundness import Unsound, check_numbers, unsound


def each_changed(events: tuple[Event, ...], name: str, *values: Any) -> Iterator[tuple[Event, ...]]:
    """The events with this field of one of them said otherwise, for each of them that has it, and each value."""
    for at, event in enumerate(events):
        for value in values if hasattr(event, name) else ():
            if getattr(event, name) != value:
                yield (*events[:at], replace(event, **{name: value}), *events[at + 1 :])


def calls_of(events: tuple[Event, ...]) -> set[int]:
    return {event.number for event in events if isinstance(event, CallStarted | CallEnded)}


@pytest.mark.parametrize("kind", KINDS)
def test_calls_count_from_one_and_each_is_named_by_what_belongs_to_it(kind: str) -> None:
    events = reviewed(kind).events
    begun = [
        event.number
        for event in events
        if isinstance(event, CallStarted) or (isinstance(event, CallEnded) and event.ended == "refused")
    ]
    assert sorted(begun) == list(range(1, len(begun) + 1))
    for event in events:
        if isinstance(event, OfCall):
            joint = isinstance(event, Verified) and kind == "of a council"
            assert (event.number == 0) is (joint or (isinstance(event, Reported) and event.structural))


@pytest.mark.one_in(24)
@pytest.mark.parametrize("kind", KINDS)
def test_another_number_in_any_event_is_refused(kind: str) -> None:
    events = reviewed(kind).events
    others = (0, *calls_of(events), max(calls_of(events), default=0) + 1)
    for altered in (
        *each_changed(events, "number", *others),
        *each_changed(events, "asks_again", *others),
        *each_changed(events, "advisor", "", "security", "executor"),
    ):
        assert unsound(altered) is not None


NOT_LOST = "a call asks a question again that was answered, is another one, or was asked again before"
HIDDEN = [
    ("number", 1, "a number is given to two calls"),
    ("number", 9, "an answer names a call that did not give it"),
    ("asks_again", 99, NOT_LOST),
    ("asks_again", 1, NOT_LOST),
    ("asks_again", 2, NOT_LOST),
]


@pytest.mark.parametrize("field, value, why", HIDDEN)
def test_a_lost_answer_cannot_be_hidden_behind_another_call(field: str, value: int, why: str) -> None:
    changes: dict[str, Any] = {field: value}
    events = tuple(
        replace(event, **changes)
        if isinstance(event, CallStarted | CallEnded) and event.number == 2 else event
        for event in reviewed("approved").events
    )  # fmt: skip
    assert unsound(events) == why


def test_an_end_without_its_start_is_refused() -> None:
    events = tuple(
        event for event in reviewed("approved").events if not (isinstance(event, CallStarted) and event.number == 2)
    )
    assert unsound(events) == "a call ended that had not started, or ended twice"


@pytest.mark.parametrize("kind", KINDS)
def test_an_outcome_whose_calls_have_no_numbers_is_refused(kind: str) -> None:
    """There a lost judge could hide behind one who answered."""
    events = reviewed(kind).events
    if calls_of(events):
        numberless = (replace(each, number=0) if isinstance(each, OfCall) else each for each in events)
        assert unsound(tuple(numberless)) == "a call has no number"


def test_a_consult_is_part_of_the_executors_call_that_it_follows() -> None:
    kinds = [kind for kind in KINDS if any(isinstance(event, Consulted) for event in reviewed(kind).events)]
    assert kinds
    for kind in kinds:
        ends = {event.number: event for event in reviewed(kind).events if isinstance(event, CallEnded)}
        for event in reviewed(kind).events:
            if isinstance(event, Consulted):
                assert (ends[event.number].place, event.advisor) == (event.place, "mid_flight")


def asked(*calls: tuple[Ended, int]) -> list[Event]:
    """One judge's calls, one after the other: how each ended, and which one it asks again."""
    about: dict[str, Any] = {
        "at": NOON, "surface": Surface.PR_REVIEW, "role": Role.POST_VERIFY, "advisor": "post_verify",
        "requested_model": "m",
    }  # fmt: skip
    events: list[Event] = []
    for number, (ended, asks_again) in enumerate(calls, start=1):
        events.append(CallStarted(**about, number=number, asks_again=asks_again))
        events.append(CallEnded(**about, number=number, asks_again=asks_again, ended=ended))
    return events


def test_only_a_lost_question_is_asked_again_and_only_once() -> None:
    """Otherwise two judges, of whom one answered, could pass for one question."""
    check_numbers(asked(("lost", 0), ("answered", 1)))
    refused: list[list[tuple[Ended, int]]] = [
        [("answered", 0), ("answered", 1)],
        [("cut_short", 0), ("answered", 1)],
        [("lost", 0), ("lost", 1), ("answered", 1)],
        [("lost", 0), ("lost", 1), ("answered", 2)],
    ]
    for calls in refused:
        with pytest.raises(Unsound, match=NOT_LOST):
            check_numbers(asked(*calls))


def in_an_outage(reasons: list[str], tries: int) -> list[Event]:
    """A review that makes a call again so often, and its calls: each lost for this reason, and then one answered."""
    frozen = replace(policy_frozen(), policy=replace(policy_frozen().policy, outage=OutageRules(busy_tries=tries)))
    calls: list[tuple[Ended, int]] = [("lost", min(place, 1)) for place in range(len(reasons))]
    events = asked(*calls, ("answered", 1))
    told = iter(reasons)
    return [
        frozen,
        *(
            replace(each, reason=next(told)) if isinstance(each, CallEnded) and each.ended == "lost" else each
            for each in events
        ),
    ]


def policy_frozen() -> PolicyFrozen:
    (first, *_) = reviewed("approved").events
    assert isinstance(first, PolicyFrozen)
    return first


def test_only_rate_limits_let_a_question_be_asked_more_than_twice() -> None:
    """Otherwise whoever makes the record could ask until the answer pleases."""
    check_numbers(in_an_outage(["rate_limited", "server_error", "rate_limited"], tries=3))
    for reasons, tries in (
        (["rate_limited", "invalid_answer"], 3),
        (["invalid_answer", "rate_limited"], 3),
        (["rate_limited", "crash"], 3),
        (["rate_limited", "rate_limited", "rate_limited"], 1),
    ):
        with pytest.raises(Unsound, match=NOT_LOST):
            check_numbers(in_an_outage(reasons, tries))
