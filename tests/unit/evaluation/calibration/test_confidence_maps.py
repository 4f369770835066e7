"""The three maps, each against what is known of its fit."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.lab.calibration import MAPS, isotonic, platt, temperature

SAID = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


@pytest.mark.parametrize("name", MAPS)
@given(said=SAID)
def test_a_map_rises_and_stays_between_0_and_1(name: str, said: list[tuple[float, bool]]) -> None:
    fitted = next(fit for known, fit in MAPS.items() if known == name)(said)
    mapped = [fitted.of(place / 50) for place in range(51)]

    assert all(0 <= each <= 1 for each in mapped)
    assert all(low <= high + 1e-9 for low, high in pairwise(mapped))


def test_isotonic_pools_neighbours_that_fall() -> None:
    said = [(0.1, False), (0.2, True), (0.3, False), (0.4, True), (0.5, True)]

    assert isotonic(said).points == ((0.1, 0.0), (0.2, 0.5), (0.3, 0.5), (0.4, 1.0), (0.5, 1.0))
    assert isotonic(said).of(0.15) == pytest.approx(0.25)


def test_equal_confidence_is_one_step() -> None:
    assert isotonic([(0.9, True)] * 3 + [(0.9, False)]).points == ((0.9, 0.75),)


def test_where_nine_of_ten_state_what_comes_true_in_half_platt_says_half() -> None:
    said = [(0.9, place % 2 == 0) for place in range(400)]

    assert platt(said).of(0.9) == pytest.approx(0.5, abs=0.01)
    assert temperature(said).of(0.9) == pytest.approx(0.5, abs=0.01)


def test_temperature_leaves_a_half_and_honest_confidence_where_they_are() -> None:
    said = [(tenth / 10, place < tenth) for tenth in range(1, 10) for place in range(10)]

    assert temperature(said).of(0.5) == pytest.approx(0.5)
    assert [temperature(said).of(each) for each in (0.2, 0.8)] == pytest.approx([0.2, 0.8], abs=0.001)
    assert [platt(said).of(each) for each in (0.2, 0.8)] == pytest.approx([0.2, 0.8], abs=0.02)
