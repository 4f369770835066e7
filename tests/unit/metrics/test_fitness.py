"""Whether advice pays: each condition can fail, and says nothing where too little is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.ledger.kpis import FEWEST_RATINGS, FEWEST_REVIEWS, Fitness, Sums, fitness

FITTING = Sums(
    runs=40, judged=40, advised=40, consulting=4, vetoed=6, recovered=5, timed=40, wall_ms=1_200, executor_ms=1_000
)
SPREAD = {5: 20, 7: 40, 9: 40}


def told(sums: Sums = FITTING, ratings: dict[int, int] | None = None) -> dict[str, Fitness]:
    return {each.name: each for each in fitness(sums, SPREAD if ratings is None else ratings)}


def test_every_condition_holds_where_advice_pays() -> None:
    assert {name: each.holds for name, each in told().items()} == {
        "not too hard": True,
        "not too easy": True,
        "confidence tells": True,
        "time allows": True,
    }


@pytest.mark.parametrize(
    "name, sums, ratings",
    [
        ("not too hard", replace(FITTING, vetoed=21), SPREAD),
        ("not too hard", replace(FITTING, consulting=21), SPREAD),
        ("not too easy", replace(FITTING, vetoed=0, consulting=0), SPREAD),
        ("confidence tells", FITTING, {9: 96, 3: 4}),
        ("time allows", replace(FITTING, wall_ms=1_600), SPREAD),
    ],
)
def test_a_condition_fails_alone_and_names_its_remedy(name: str, sums: Sums, ratings: dict[int, int]) -> None:
    found = told(sums, ratings)
    assert [each.name for each in found.values() if each.holds is False] == [name]
    assert found[name].remedy


def test_where_too_little_is_known_nothing_is_said_to_hold() -> None:
    few = replace(FITTING, judged=FEWEST_REVIEWS - 1, timed=FEWEST_REVIEWS - 1, vetoed=19, consulting=0)
    found = told(few, {9: FEWEST_RATINGS - 1})
    assert [each.holds for each in found.values()] == [None] * 4
    assert all(each.says.startswith("not measured: ") for each in found.values())


def test_an_empty_ledger_is_not_measured() -> None:
    assert [each.holds for each in told(Sums(), {}).values()] == [None] * 4


def test_the_figures_stand_in_the_sentence() -> None:
    assert told()["not too hard"].says == "15% of 40 reviews were vetoed, and executors consulted in 10%"
