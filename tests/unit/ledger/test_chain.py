"""The chain of a run's events: what was changed, taken out, added or moved is found; the first place is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.ledger.chain import FIRST, LARGEST_RUN, Break, Chain, Link, Noted, canonical, link, links, proven

Links = tuple[Link, ...]
EVENTS = tuple(canonical({"kind": "said", "number": number}) for number in range(4))


def noted(whole: Links) -> Noted:
    return Noted(len(whole), whole[-1].hash if whole else FIRST)


def broken(now: Links, whole: Links) -> Break | None:
    """Where links break that are there in the place of a whole chain of run-1."""
    return proven("run-1", now, noted(whole)).broken


def test_a_link_is_what_its_documentation_says() -> None:
    """Written out once, so that another program can prove a chain."""
    (first, second, *_) = links("run-1", EVENTS)
    assert first == Link(0, "0" * 64, "0d6d175e0a72ab0881e3aed82874a0bcced3c77aa0a1b81f02af51dcc7e362ad", EVENTS[0])
    assert (second.index, second.previous) == (1, first.hash)


def test_an_untouched_chain_is_whole() -> None:
    whole = links("run-1", EVENTS)
    assert proven("run-1", whole, noted(whole)) == proven("run-1", whole) == Chain("run-1", whole)
    assert broken((), ()) is None


def test_canonical_json_is_one_text_whatever_the_order_and_the_letters() -> None:
    assert canonical({"b": 1, "a": "ä\ud800\n"}) == '{"a":"\\u00e4\\ud800\\n","b":1}'
    with pytest.raises(ValueError, match="Out of range float"):
        canonical({"a": float("nan")})


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_no_single_change_of_a_chain_stays_unseen(numbers: list[int], data: st.DataObject) -> None:
    whole = links("run-1", [canonical({"number": number}) for number in numbers])
    place = data.draw(st.integers(0, len(numbers) - 1))
    kept = whole[place]
    changed = data.draw(
        st.sampled_from(
            [
                replace(kept, event=canonical({"number": numbers[place] + 1})),
                replace(kept, hash=kept.hash[::-1]) if kept.hash != kept.hash[::-1] else replace(kept, hash="x"),
                replace(kept, previous=kept.hash),
                replace(kept, index=kept.index + 1),
            ]
        )
    )
    found = broken((*whole[:place], changed, *whole[place + 1 :]), whole)
    assert found is not None
    assert found.index in (place, place + 1)


@pytest.mark.parametrize(
    "links_now, index, why",
    [
        (lambda ls: ls[:-1], 3, "3 events are there, and the run's row counts 4"),
        (
            lambda ls: (*ls, link("run-1", 4, ls[-1].hash, EVENTS[0])),
            4,
            "5 events are there, and the run's row counts 4",
        ),
        (lambda ls: ls[1:], 0, "it is missing, or stands in another place"),
        (lambda ls: (ls[0], ls[2], ls[1], ls[3]), 1, "it is missing, or stands in another place"),
        (lambda ls: (), 0, "0 events are there, and the run's row counts 4"),
        (lambda ls: links("run-2", EVENTS), 0, "its content is not what was recorded"),
    ],
)
def test_what_is_missing_added_or_of_another_run_is_named(
    links_now: Callable[[Links], Links], index: int, why: str
) -> None:
    whole = links("run-1", EVENTS)
    assert broken(links_now(whole), whole) == Break("run-1", index, why)


def test_a_chain_that_was_written_anew_to_another_end_differs_from_its_noted_hash() -> None:
    anew = links("run-1", (*EVENTS[:3], EVENTS[0]))
    assert broken(anew, links("run-1", EVENTS)) == Break("run-1", 3, "the run's row has another last hash")


def test_nothing_is_read_beyond_the_first_link_that_is_wrong() -> None:
    first, second, *_ = links("run-1", EVENTS)
    endless = chain((first, replace(second, hash=first.hash)), repeat(second))
    assert proven("run-1", endless) == Chain(
        "run-1", (first,), Break("run-1", 1, "its content is not what was recorded")
    )


def test_a_run_of_any_length_is_not_read() -> None:
    """A file of a few kB may unpack to it."""
    long = '"' + "a" * (LARGEST_RUN // 2) + '"'
    made = links("run-1", [long, long, *EVENTS])
    assert proven("run-1", made) == Chain("run-1", made[:1], Break("run-1", 1, "the run is larger than 64 MB"))
