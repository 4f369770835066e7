"""How far stated confidence is from what came true."""

from random import Random

import pytest
from tests.unit.evaluation.calibration.streams import KIND, honest, overconfident, stream

from review_advisor.lab.calibration import bins, brier, ece, reliability, risk_curve
from review_advisor.ledger.kind_records import ConfidencePair
from review_advisor.ledger.kpis import wilson


def test_a_bin_holds_a_tenth_and_the_last_one_certainty_too() -> None:
    found = bins([(0.3, True), (0.39, False), (0.4, True), (0.95, True), (1.0, False)])

    assert [(each.low, each.cases, each.right) for each in found] == [(0.3, 2, 1), (0.4, 1, 1), (0.9, 2, 1)]
    assert found[0].stated == pytest.approx(0.345)
    assert found[0].interval == wilson(1, 2)


def test_the_error_is_of_bins_and_the_brier_score_of_findings() -> None:
    said = [(0.8, True), (0.8, False)]

    assert ece(said) == pytest.approx(0.3)
    assert brier(said) == pytest.approx((0.04 + 0.64) / 2)
    assert ece([(0.5, True), (0.5, False)]) == 0


def test_risk_falls_with_what_is_left_out_and_equal_confidence_is_not_parted() -> None:
    curve = risk_curve([(0.9, True), (0.9, True), (0.6, False), (0.6, True), (0.3, False)])

    assert [(each.confidence, each.coverage, each.risk) for each in curve] == [
        (0.9, 0.4, 0.0),
        (0.6, 0.8, 0.25),
        (0.3, 1.0, 0.4),
    ]


def test_of_a_known_stream_the_error_is_what_it_was_made_with() -> None:
    sound = reliability(stream(1, honest, 400), 200, Random(1).randrange)
    proud = reliability(stream(1, overconfident, 400), 200, Random(1).randrange)

    assert proud.ece_interval is not None
    assert sound.ece < 0.05 < proud.ece_interval.low < proud.ece < proud.ece_interval.high
    assert 0 < sound.area < proud.area < 1


def test_intervals_are_of_pull_requests() -> None:
    """The same findings, each repeated in its own pull request, prove no more than once."""
    alone = stream(2, overconfident, 40)
    again = [each for each in alone for _ in range(5)]
    one, many = (reliability(each, 300, Random(1).randrange).brier_interval for each in (alone, again))
    apart = [ConfidencePair(f"{place}", KIND, e.confidence, e.right, "people") for place, e in enumerate(again)]
    split = reliability(apart, 300, Random(1).randrange).brier_interval

    assert one is not None
    assert many is not None
    assert split is not None
    assert (many.low, many.high) == pytest.approx((one.low, one.high))
    assert split.high - split.low < 0.6 * (many.high - many.low)


def test_a_few_pull_requests_have_no_interval() -> None:
    """Their findings are alike, so nobody knows how far the next pull request is from them."""
    one = [ConfidencePair("acme/shop#1", KIND, 0.9, n % 2 == 0, "people") for n in range(40)]
    found = reliability(one, 100, Random(1).randrange)
    assert (found.cases, found.groups, found.ece_interval, found.brier_interval) == (40, 1, None, None)
