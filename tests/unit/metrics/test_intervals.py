"""The interval of a share."""

import pytest

from review_advisor.ledger.kpis import wilson


def test_no_share_has_an_interval_without_a_case() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(
    "part, cases, expected", [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (5, 10, (0.2366, 0.7634))]
)
def test_the_interval_is_wilsons(part: int, cases: int, expected: tuple[float, float]) -> None:
    assert wilson(part, cases) == pytest.approx(expected, abs=1e-4)


def test_more_cases_make_the_interval_narrower() -> None:
    intervals = [wilson(part, 2 * part) for part in (1, 10, 100)]
    widths = [high - low for low, high in filter(None, intervals)]
    assert widths == sorted(widths, reverse=True)
    assert len(widths) == 3
