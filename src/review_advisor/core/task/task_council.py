"""The declared advisors of a run: who speaks when, over which actions they vote, and what a vote means for the run.

They are read, asked and counted as in a review. The actions are the run's own, mildest first: its end stands if the
mildest of them wins, or one that is no worse than the action that its report is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from review_advisor.core.answers.opinion import own_table
from review_advisor.core.roster.advisor import Advisor, Moment, Roster
from review_advisor.core.task.task_events import (
    CouncilVoted,
    OpinionHeard,
    TaskBegun,
    TaskEnded,
    TaskEvent,
    counted_votes,
)
from review_advisor.core.task.task_status import EXIT_CODES, RunStatus


@dataclass(frozen=True, slots=True)
class TaskCouncil:
    """The ``advisors`` that a run has beside its own, and the ``actions`` over which they vote, mildest first."""

    advisors: tuple[Advisor, ...] = ()
    actions: tuple[str, ...] = ()

    @property
    def opening(self) -> tuple[Advisor, ...]:
        """Those who speak before the first turn."""
        return Roster(self.advisors).opening

    @property
    def watching(self) -> tuple[Advisor, ...]:
        """Those who vote after each turn."""
        return tuple(each for each in self.voting if each.on == "request")

    @property
    def voting(self) -> tuple[Advisor, ...]:
        """Those who vote on the end."""
        return Roster(self.advisors).panel

    @property
    def on_demand(self) -> tuple[Advisor, ...]:
        """Those whom the executor asks by their id."""
        return Roster(self.advisors).on_demand

    @property
    def words(self) -> tuple[str, ...]:
        """Each advisor with its moment and its right in this run, for a person."""
        return tuple(
            f"{each.id}: {_MOMENTS[each.on]}, weight {each.weight:g}, {'veto' if each.veto else 'no veto'}"
            for each in self.advisors
            if not each.inline
        )

    @property
    def blind_spots(self) -> tuple[str, ...]:
        """What a declaration asks for and no run has."""
        return tuple(_unfit(self.advisors))


NO_COUNCIL = TaskCouncil()
_MOMENTS: Mapping[Moment | None, str] = {
    "start": "speaks before the first turn",
    "finish": "votes on the end",
    "request": "speaks before the first turn, votes after each turn and on the end",
    None: "is asked by its id",
}


def _unfit(advisors: Sequence[Advisor]) -> Iterator[str]:
    for each in advisors:
        if each.inline:
            yield f"{each.id} is an inline advisor, and a run asks none of them"
        elif each.instanced:
            yield f"{each.id} speaks of each instance, and a run has none"


def after_a_turn(event: CouncilVoted) -> tuple[RunStatus, str] | None:
    """How a run ends after the vote of those who watch it, and why; None if it goes on.

    Only somebody with the veto right ends it. If none of those who block has spoken, a person decides.
    """
    counted = counted_votes(event)
    if not counted.blocked_by:
        return None
    if set(counted.blocked_by) <= set(counted.missing):
        return "conflict_needs_human", f"the vote of {_named(counted.missing)} is missing, who may block"
    return "advisor_stop_signal", counted.why


def at_the_end(event: CouncilVoted) -> tuple[RunStatus, str] | None:
    """What the vote makes of a run that its executor has completed, and why; None if it stays as it is."""
    counted = counted_votes(event)
    if counted.nobody:
        return "conflict_needs_human", counted.why
    if counted.winner not in event.standing:
        if counted_votes(event, missing=False).winner not in event.standing:
            return "voted_down", counted.why
        against = event.standing[-1]
        why = f"the vote of {_named(counted.missing)} is missing, and a missing vote counts against {against}"
        return "conflict_needs_human", why
    if counted.is_split:
        return "conflict_needs_human", f"the votes for {counted.winner} are {counted.spread:.0f} apart"
    if event.unread:
        return "conflict_needs_human", unread_words(event)
    if counted.missing:
        return "degraded", f"the vote of {_named(counted.missing)} is missing"
    return None


def unread_words(event: CouncilVoted) -> str:
    """How much of the run nobody who voted was shown."""
    return f"{event.unread:,} characters of its messages and its patch were shown to nobody who votes"


def chosen_action(event: CouncilVoted) -> str | None:
    """The action that a vote on the end chooses; None where it leaves that to a person."""
    means = at_the_end(event)
    return None if means is not None and means[0] == "conflict_needs_human" else counted_votes(event).winner


def last_vote(events: Sequence[TaskEvent]) -> CouncilVoted | None:
    """The latest vote of a run: that on its end, if there was one."""
    return next((each for each in reversed(events) if isinstance(each, CouncilVoted)), None)


def blind_spots(events: Sequence[TaskEvent]) -> tuple[str, ...]:
    """Whom the run has not heard, in sentences."""
    spots = [each for event in events if isinstance(event, TaskBegun) for each in event.blind_spots]
    opinions = [event for event in events if isinstance(event, OpinionHeard) and event.lost]
    spots += [f"{each.advisor} gave no opinion: {each.lost}" for each in opinions]
    last = last_vote(events)
    if last is not None:
        spots += [f"{each.advisor} gave no vote: {each.lost}" for each in last.votes if each.lost]
        spots += [unread_words(last)] if last.unread else []
    return tuple(spots)


def council_document(events: Sequence[TaskEvent]) -> dict[str, Any] | None:
    """What the declared advisors came to, in the form of ``council --json``; None in a run without any."""
    first = events[0]
    if not isinstance(first, TaskBegun) or not first.advisors:
        return None
    last = last_vote(events)
    about: dict[str, Any] = {"declared": first.advisors, "actions": first.actions, "action": None}
    if last is not None:
        counted, end = counted_votes(last), events[-1]
        is_decided = isinstance(end, TaskEnded) and EXIT_CODES[end.status] != EXIT_CODES["running"]
        about |= {
            "action": chosen_action(last) if last.moment == "finish" and is_decided else None,
            "moment": last.moment,
            "advisors": vote_rows(last),
            "calls": counted.calls,
            "means": dict(zip(counted.actions, counted.means, strict=True)),
            "spread": counted.spread,
            "is_split": counted.is_split,
            "blocked_by": counted.blocked_by,
            "dissent": counted.dissent,
        }
    return {**about, "blind_spots": blind_spots(events)}


def vote_rows(event: CouncilVoted) -> list[dict[str, Any]]:
    """The votes that came, each in act 017's form: its id, its own fields, and its calls."""
    return [{"id": each.advisor, **own_table(each.own), "calls": each.calls} for each in event.votes if not each.lost]


def _named(ids: Sequence[str]) -> str:
    return " and ".join(ids)
