"""Which groups are shown: no row, and no row minus another one, tells of too few people."""

from __future__ import annotations

import pytest

from review_advisor.ledger.kpis import Rollup, Sums, kpis
from review_advisor.ledger.organisation import UNKNOWN_AUTHOR, group_rollup
from review_advisor.policy.prices import money

ROLLUP = Rollup(Sums(), money(0.0, (), {}), kpis(Sums()))


def hidden(authors: dict[str, int], *without: str) -> set[str]:
    found = group_rollup("author-group", dict.fromkeys([*authors, *without], ROLLUP), authors, 3)
    return {row.name for row in found.rows if row.rollup is None}


@pytest.mark.parametrize(
    "authors, expected",
    [
        ({"a": 3, "b": 4}, set()),
        ({"a": 1, "b": 5, "c": 4}, {"a", "c"}),
        ({"a": 1, "b": 2, "c": 4}, {"a", "b"}),
        ({"a": 1, "b": 1, "c": 4, "d": 5}, {"a", "b", "c"}),
        ({"a": 1, "b": 1, "c": 0, "d": 5}, {"a", "b", "c", "d"}),
        ({"a": 2}, {"a"}),
    ],
)
def test_the_groups_that_are_hidden_have_enough_authors_together(authors: dict[str, int], expected: set[str]) -> None:
    assert hidden(authors) == expected


def test_runs_without_an_author_are_shown_unless_they_alone_tell_of_the_rest() -> None:
    assert hidden({"a": 1, "b": 4}, UNKNOWN_AUTHOR) == {"a", "b"}
    assert hidden({"a": 1, "b": 1}, UNKNOWN_AUTHOR) == {"a", "b", UNKNOWN_AUTHOR}
    assert hidden({"a": 3}, UNKNOWN_AUTHOR) == set()


def test_a_group_of_apps_is_nobody_whom_another_group_could_give_away() -> None:
    assert hidden({"a": 3}, "bots") == {"bots"}
