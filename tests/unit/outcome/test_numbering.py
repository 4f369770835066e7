"""An outcome from elsewhere whose calls are not numbered as a review numbers them is not published."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.outcome.altered import KINDS, reviewed
from tests.unit.outcome.test_questions import NOON, without_numbers

from review_advisor.core.outcome.events import CallEnded, CallStarted, Consulted, Ended, Event, OfCall, Reported
from review_advisor.core.outcome.numbering import check_numbers
from review_advisor.core.outcome.replay import Unsound
from review_advisor.core.outcome.soundness import unsound
from review_advisor.core.policy.surfaces import Role, Surface

Alter = Callable[[tuple[Event, ...]], Iterator[tuple[Event, ...]]]


def with_fields(event: Event, **fields: Any) -> Event:
    return replace(event, **fields)


def each_changed(events: tuple[Event, ...], name: str, *values: Any) -> Iterator[tuple[Event, ...]]:
    """The events with this field of one of them said otherwise, for each of them that has it, and each value."""
    for at, event in enumerate(events):
        for value in values if hasattr(event, name) else ():
            if getattr(event, name) != value:
                yield (*events[:at], with_fields(event, **{name: value}), *events[at + 1 :])


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
            assert (event.number == 0) is (isinstance(event, Reported) and event.structural)


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


NOT_LOST = "a call asks a question again that was not lost, is another one, or was asked again before"
HIDDEN = [
    ("number", 1, "a number is given to two calls"),
    ("number", 9, "an answer names a call that did not give it"),
    ("asks_again", 99, NOT_LOST),
    ("asks_again", 1, NOT_LOST),
    ("asks_again", 2, NOT_LOST),
]


@pytest.mark.parametrize("field, value, why", HIDDEN)
def test_a_lost_answer_cannot_be_hidden_behind_another_call(field: str, value: int, why: str) -> None:
    events = tuple(
        with_fields(event, **{field: value})
        if isinstance(event, CallStarted | CallEnded) and event.number == 2 else event
        for event in reviewed("approved").events
    )  # fmt: skip
    assert unsound(events) == why


def test_an_end_without_its_start_is_refused() -> None:
    events = tuple(
        event for event in reviewed("approved").events if not (isinstance(event, CallStarted) and event.number == 2)
    )
    assert unsound(events) == "a call ended that had not started, or ended twice"


def test_what_was_asked_again_once_is_not_asked_a_third_time() -> None:
    """Else the first of two lost judges passes for a question that somebody answered later."""
    events = reviewed("recovered").events
    again = next(event for event in events if isinstance(event, CallEnded) and event.asks_again)
    later = max(calls_of(events))
    forged = tuple(
        with_fields(event, asks_again=again.asks_again)
        if isinstance(event, CallStarted | CallEnded) and event.number == later else event
        for event in events
    )  # fmt: skip
    assert unsound(forged) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_an_outcome_without_numbers_is_none_of_this_version(kind: str) -> None:
    """There a lost judge could hide behind one who answered."""
    events = reviewed(kind).events
    if calls_of(events):
        assert unsound(tuple(map(without_numbers, events))) is not None


def test_a_consult_is_part_of_the_executors_call_that_it_follows() -> None:
    kinds = [kind for kind in KINDS if any(isinstance(event, Consulted) for event in reviewed(kind).events)]
    assert kinds
    for kind in kinds:
        ends = {event.number: event for event in reviewed(kind).events if isinstance(event, CallEnded)}
        for event in reviewed(kind).events:
            if isinstance(event, Consulted):
                assert (ends[event.number].place, event.advisor) == (event.place, "mid_flight")


def test_only_a_lost_question_is_asked_again() -> None:
    """Two judges, of whom one answered, are not one question."""
    about: dict[str, Any] = {
        "at": NOON, "surface": Surface.PR_REVIEW, "role": Role.POST_VERIFY, "advisor": "post_verify",
        "requested_model": "m",
    }  # fmt: skip

    def calls(first: Ended) -> list[Event]:
        return [
            CallStarted(**about, number=1),
            CallEnded(**about, number=1, ended=first),
            CallStarted(**about, number=2, asks_again=1),
            CallEnded(**about, number=2, asks_again=1, ended="answered"),
        ]

    check_numbers(calls("lost"))
    with pytest.raises(Unsound, match="asks a question again that was not lost"):
        check_numbers(calls("answered"))
