"""Which reviews or pull requests a share of them holds."""

import pytest

from review_advisor.policy.shadow_rules import drawn


@pytest.mark.parametrize("percent, least, most", [(0, 0, 0), (20, 320, 480), (100, 2_000, 2_000)])
def test_a_share_holds_about_so_many(percent: float, least: int, most: int) -> None:
    assert least <= sum(drawn(percent, "acme/shop", str(number)).is_in for number in range(2_000)) <= most


def test_every_run_draws_the_same_and_more_percent_take_nothing_away() -> None:
    for number in range(200):
        held = [drawn(percent, "acme/shop", str(number)).is_in for percent in (0, 5, 20, 60, 100)]
        assert held == sorted(held)
        assert drawn(20, "acme/shop", str(number)) == drawn(20, "acme/shop", str(number))


def test_what_is_drawn_is_not_what_its_parts_run_together_are() -> None:
    assert drawn(50, "ab", "c").place != drawn(50, "a", "bc").place


def test_text_that_no_file_takes_is_drawn_too() -> None:
    assert 0 <= drawn(50, "\ud800").place < 100
