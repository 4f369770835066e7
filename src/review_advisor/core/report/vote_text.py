"""The votes of a run's declared advisors as a matrix of advisors and actions, with the result and who dissents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from review_advisor.core.answers.opinion import own_words
from review_advisor.core.report.council_text import matrix_of
from review_advisor.core.report.wording import table
from review_advisor.core.safety.markdown import shortened
from review_advisor.core.safety.terminal import printable, wrapped
from review_advisor.core.task.task_council import after_a_turn, at_the_end, blind_spots, last_vote
from review_advisor.core.task.task_events import CouncilVoted, TaskEvent, counted_votes

_MOST_OWN = 500
"""Characters of one advisor's own fields. The run's folder has all of them."""


def vote_texts(events: Sequence[TaskEvent]) -> Iterator[str]:
    """Each vote as plain text."""
    last = last_vote(events)
    yield from (
        "\n".join(_vote(each, blind_spots(events) if each is last else ()))
        for each in events
        if isinstance(each, CouncilVoted)
    )


def last_vote_text(events: Sequence[TaskEvent]) -> str:
    """The latest of them; empty without any."""
    return next(reversed(tuple(vote_texts(events))), "")


def _vote(event: CouncilVoted, spots: Sequence[str]) -> Iterator[str]:
    counted = counted_votes(event)
    yield "Vote on the end" if event.moment == "finish" else f"Vote of who watches, turn {event.turn}"
    yield from (f"  {printable(line)}" for line in table(matrix_of(counted, {})).splitlines())
    yield wrapped("  ", f"Result: {counted.why}.")
    means = at_the_end(event) if event.moment == "finish" else after_a_turn(event)
    if means is not None and means[1] != counted.why:
        yield wrapped("  ", f"The run is {means[0]}: {means[1]}.")
    if counted.dissent:
        yield wrapped("  ", f"Dissent: {', '.join(counted.dissent)}.")
    yield from (wrapped("  ", f"Blind spot: {each.rstrip('.')}.") for each in spots)
    yield from (
        wrapped("  ", f"{each.advisor}: {shortened(own_words(each.own), _MOST_OWN)}")
        for each in event.votes
        if each.own
    )
