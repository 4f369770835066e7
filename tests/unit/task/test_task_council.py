"""What a vote of declared advisors means for a run: only the mildest action leaves its end as it is."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scenarios.task_runs import BEGAN

from review_advisor.agents.calls import Cause
from review_advisor.ledger.task_events import CouncilVoted, TaskVote, after_a_turn, at_the_end
from review_advisor.policy.roster import Advisor
from review_advisor.tasks.prompts import NO_COUNCIL, TaskCouncil, chosen_action

ACTIONS = ("deploy", "delay", "rollback")


def cast(*weights: float, veto: bool = False, cause: Cause | None = None) -> TaskVote:
    lost = "" if cause is None else "no answer"
    return TaskVote("judge", 1.0, veto, weights=weights, lost=lost, cause=cause or Cause.CONTENT)


def voted(*votes: TaskVote, moment: Literal["turn", "finish"] = "finish", claimed: str = "") -> CouncilVoted:
    return CouncilVoted(at=BEGAN, moment=moment, actions=ACTIONS, votes=votes, claimed=claimed)


def test_who_speaks_when_is_read_from_the_declarations() -> None:
    every = tuple(Advisor(str(on), "persona", on=on) for on in ("start", "finish", "request", None))
    council = TaskCouncil((*every, Advisor("inline", "persona", on="finish", inline=True)), ACTIONS)
    who = (council.opening, council.watching, council.voting, council.on_demand)
    ids = [[each.id for each in those] for those in who]
    assert ids == [["start", "request"], ["request"], ["finish", "request"], ["None"]]
    assert len(council.blind_spots) == 1
    assert (NO_COUNCIL.opening, NO_COUNCIL.voting, NO_COUNCIL.on_demand) == ((), (), ())


@pytest.mark.parametrize(
    "votes, status",
    [
        ((cast(100, 0, 0),), None),
        ((cast(90, 0, 0), cast(50, 0, 0)), None),  # 40 apart is not too far
        ((cast(91, 0, 0), cast(50, 0, 0)), "conflict_needs_human"),
        ((cast(50, 50, 0),), "voted_down"),  # of equal means the severer action wins
        ((cast(100, 0, 0), cast(19, 0, 80, veto=True)), "voted_down"),
        ((cast(100, 0, 0), cast(cause=Cause.OUTAGE, veto=True)), "conflict_needs_human"),
        ((cast(100, 0, 0), cast(cause=Cause.CONTENT)), "conflict_needs_human"),
        ((cast(100, 0, 0), cast(100, 0, 0), cast(cause=Cause.OUTAGE)), "degraded"),
        ((cast(cause=Cause.OUTAGE),), "conflict_needs_human"),
    ],
)
def test_what_a_vote_makes_of_a_completed_run(votes: tuple[TaskVote, ...], status: str | None) -> None:
    means = at_the_end(voted(*votes))
    assert (None if means is None else means[0]) == status
    assert (chosen_action(voted(*votes)) is None) == (status == "conflict_needs_human")


@pytest.mark.parametrize(
    "claimed, stands", [("", 1), ("deploy", 1), ("delay", 2), ("rollback", 3), ("an action of nobody's", 1)]
)
def test_an_end_stands_if_the_vote_is_for_nothing_worse_than_what_it_claims(claimed: str, stands: int) -> None:
    votes = (cast(70, 20, 10), cast(10, 70, 20), cast(10, 20, 70))
    means = [at_the_end(voted(each, claimed=claimed)) for each in votes]
    assert [each is None for each in means] == [place < stands for place in range(3)]


@pytest.mark.parametrize(
    "votes, status",
    [
        ((cast(0, 0, 100),), None),
        ((cast(0, 0, 79, veto=True),), None),
        ((cast(0, 0, 80, veto=True),), "advisor_stop_signal"),
        ((cast(cause=Cause.OUTAGE),), None),
        ((cast(cause=Cause.OUTAGE, veto=True),), "conflict_needs_human"),
    ],
)
def test_only_who_has_the_veto_right_ends_a_run_after_a_turn(votes: tuple[TaskVote, ...], status: str | None) -> None:
    means = after_a_turn(voted(*votes, moment="turn"))
    assert (None if means is None else means[0]) == status


WEIGHTS = st.floats(0, 100).map(lambda number: round(number, 1))
VOTES = st.lists(
    st.builds(cast, WEIGHTS, WEIGHTS, WEIGHTS, veto=st.booleans()),
    min_size=1,
    max_size=5,
)


@given(VOTES, st.data(), st.sampled_from(Cause))
def test_no_lost_vote_completes_a_run_or_chooses_a_milder_action(
    votes: list[TaskVote], data: st.DataObject, cause: Cause
) -> None:
    at = data.draw(st.integers(0, len(votes) - 1))
    lost = [cast(veto=each.veto, cause=cause) if place == at else each for place, each in enumerate(votes)]
    before, after = chosen_action(voted(*votes)), chosen_action(voted(*lost))
    assert at_the_end(voted(*lost)) is not None
    if after == ACTIONS[0] and before is not None:
        assert before == ACTIONS[0]
