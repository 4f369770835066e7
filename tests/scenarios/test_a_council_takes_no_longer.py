"""Advisors are asked side by side: more of them take no longer than one, while a call may start for each of them."""

from dataclasses import replace

import pytest
from benchmarks._side_by_side import SharedClock

from review_advisor.agents.calls import AgentCall
from review_advisor.mockworld.agents import FakeAdvisorRunner, Line
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Moment, Roster

CALL = 60.0
"""Seconds that each call takes in the world's time."""


def seconds_of(roster: Roster, *, jobs: int) -> float:
    """How long a review takes whose advisors agree with everything."""

    def pace(_call: AgentCall, line: Line) -> Line:
        return line.taking(CALL)

    clock = SharedClock()
    world = MockWorld(clock, FakeAdvisorRunner(clock, pace=pace))
    world.change(edited("src/auth/login.py", 30))
    world.rules = replace(world.rules, roster=roster)
    world.threads, world.jobs = clock.threads, jobs
    document = world.review()
    world.finish()
    return (document.ended_at - document.started_at).total_seconds()


def advisors(number: int, on: Moment) -> Roster:
    return Roster((ADR_ADVISOR, *(Advisor(f"advisor{each}", "You look.", on=on) for each in range(number))))


@pytest.mark.parametrize("members, jobs, rounds", [(2, 4, 1), (4, 4, 1), (5, 4, 2), (8, 8, 1), (8, 4, 2), (3, 1, 3)])
def test_the_members_of_a_council_are_asked_side_by_side(members: int, jobs: int, rounds: int) -> None:
    """After plan and executor each member finds by itself and then votes."""
    assert seconds_of(advisors(members - 1, "finish"), jobs=jobs) == CALL * (2 + 2 * rounds)


@pytest.mark.parametrize("jobs, rounds", [(1, 4), (2, 2), (4, 1)])
def test_the_advisors_that_open_a_review_are_asked_side_by_side(jobs: int, rounds: int) -> None:
    """A plan, their opinions, the executor and one judge."""
    assert seconds_of(advisors(4, "start"), jobs=jobs) == CALL * (3 + rounds)
