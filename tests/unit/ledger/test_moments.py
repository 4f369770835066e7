"""Moments, and the periods that they fall into."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.ledger.rows import EPOCH, LATEST, in_the_record, microseconds, moment_of

AT = datetime(2026, 1, 5, 9, 30, 15, 250_000, tzinfo=UTC)


def test_a_moment_is_counted_in_microseconds_since_1970() -> None:
    assert microseconds(AT) == 1_767_605_415_250_000
    assert microseconds(datetime(1970, 1, 1, tzinfo=UTC)) == 0
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1_000_000
    assert microseconds(AT.astimezone(timezone(timedelta(hours=5)))) == microseconds(AT)


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_counted_moment_is_the_same_moment(moment: datetime) -> None:
    assert moment_of(microseconds(moment)) == moment


def test_a_clock_that_is_wrong_shows_the_first_or_last_moment_of_the_record() -> None:
    first, last = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
    assert (first, last) == (EPOCH, LATEST)
    instant = timedelta(microseconds=1)
    assert [in_the_record(each) for each in (first - instant, first, AT, last, last + instant)] == [
        *(first, first, AT, last, last),
    ]


@pytest.mark.parametrize("count", [10**18, -(10**18)])
def test_where_no_calendar_goes_there_is_no_moment(count: int) -> None:
    with pytest.raises(OverflowError):
        moment_of(count)
