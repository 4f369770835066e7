"""A period cut into equal ones, for plots."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.ledger.queries import MOST_PERIODS, Period, periods

FIRST = datetime(2026, 1, 5, 9, 30, 15, 250_000, tzinfo=UTC)
MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)
DAY = timedelta(days=1)


def test_two_moments_of_a_day_are_one_period_from_its_midnight() -> None:
    assert periods(FIRST, FIRST + timedelta(hours=5), Period()) == (Period(MIDNIGHT),)


def test_days_of_which_each_ends_where_the_next_begins() -> None:
    until = FIRST + 9 * DAY
    found = periods(FIRST, FIRST + 2 * DAY, Period(until=until, repository="octo/app"))
    assert found == (
        Period(MIDNIGHT, MIDNIGHT + DAY),
        Period(MIDNIGHT + DAY, MIDNIGHT + 2 * DAY),
        Period(MIDNIGHT + 2 * DAY, until),
    )


@pytest.mark.parametrize("since, begins", [(FIRST - DAY, MIDNIGHT), (MIDNIGHT + timedelta(hours=2), None)])
def test_the_first_period_begins_no_earlier_than_the_whole(since: datetime, begins: datetime | None) -> None:
    assert periods(FIRST, FIRST, Period(since=since)) == (Period(begins or since),)


@pytest.mark.parametrize(
    "days, length, count",
    [
        (1, 1, 1),
        (100, 1, 100),
        (101, 7, 15),
        (700, 7, 100),
        (701, 28, 26),
        (2_800, 28, 100),
        (2_801, 364, 8),
        (36_400, 364, 100),
        (36_401, 365, 100),
        (50_000, 500, 100),
    ],
)
def test_days_become_weeks_and_longer_where_there_are_more_than_a_hundred(days: int, length: int, count: int) -> None:
    found = periods(FIRST, FIRST + (days - 1) * DAY, Period())
    starts = [each.since for each in found if each.since]
    assert (len(found), len(starts), starts[0]) == (count, count, MIDNIGHT)
    assert {after - before for before, after in pairwise(starts)} <= {timedelta(days=length)}


@given(st.integers(0, 200_000), st.integers(0, 86_399))
def test_every_moment_lies_in_one_period_and_there_are_a_hundred_at_most(days: int, seconds: int) -> None:
    last = FIRST + days * DAY + timedelta(seconds=seconds)
    found = periods(FIRST, last, Period())
    assert len(found) <= MOST_PERIODS == 100
    for moment in (FIRST, last):
        holding = [
            each for each in found if each.since and each.since <= moment and moment < (each.until or moment + DAY)
        ]
        assert len(holding) == 1


def test_a_day_is_a_day_of_utc() -> None:
    local = datetime(2026, 1, 5, 1, tzinfo=timezone(timedelta(hours=2)))
    assert periods(local, local, Period()) == (Period(datetime(2026, 1, 4, tzinfo=UTC)),)
