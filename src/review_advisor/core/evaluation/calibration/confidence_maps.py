"""Maps from stated confidence to how often it came true: temperature, Platt and isotonic, fitted in plain Python."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

from review_advisor.core.evaluation.calibration.reliability import JudgedConfidence

MapName = Literal["temperature", "platt", "isotonic"]
_EDGE = 0.01
"""Stated certainty is taken for 99%: its logarithm would be infinite."""
_STEPS = 50
_STEEPEST = 20.0
_SMALL = 1e-9


@dataclass(frozen=True, slots=True)
class ConfidenceMap:
    """Points of a rising line from stated confidence to the share that came true; between them it is straight."""

    name: MapName
    points: tuple[tuple[float, float], ...]

    def of(self, confidence: float) -> float:
        """The mapped confidence, 0 to 1."""
        place = bisect_left(self.points, (confidence, -1.0))
        if place == 0:
            return self.points[0][1]
        if place == len(self.points):
            return self.points[-1][1]
        (left, low), (right, high) = self.points[place - 1], self.points[place]
        return low + (high - low) * (confidence - left) / (right - left)


@dataclass(frozen=True, slots=True)
class _Sums:
    confidence: float
    cases: int
    right: int


def temperature(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The logit of the confidence, divided by one number: a half stays a half."""
    return _curve("temperature", *_logistic(said, moves=False))


def platt(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The logit of the confidence, times one number plus another. Labels are smoothed as Platt says."""
    return _curve("platt", *_logistic(said, moves=True))


def isotonic(said: Sequence[JudgedConfidence]) -> ConfidenceMap:
    """The rising steps that are nearest to what came true, by pooling neighbours that fall."""
    pooled: list[tuple[float, float, int, float]] = []
    for each in _sums(said):
        block = (each.confidence, each.confidence, each.cases, each.right / each.cases)
        while pooled and pooled[-1][3] >= block[3]:
            first, _, cases, share = pooled.pop()
            whole = cases + block[2]
            block = (first, block[1], whole, (share * cases + block[3] * block[2]) / whole)
        pooled.append(block)
    points = [(edge, share) for first, last, _, share in pooled for edge in dict.fromkeys((first, last))]
    return ConfidenceMap("isotonic", tuple(points))


MAPS: Mapping[MapName, Callable[[Sequence[JudgedConfidence]], ConfidenceMap]] = {
    "temperature": temperature,
    "platt": platt,
    "isotonic": isotonic,
}
"""Those with fewer numbers first: the first of equals is chosen."""


def _sums(said: Sequence[JudgedConfidence]) -> list[_Sums]:
    held: dict[float, list[bool]] = {}
    for confidence, came in said:
        held.setdefault(confidence, []).append(came)
    return [_Sums(confidence, len(its), sum(its)) for confidence, its in sorted(held.items())]


def _logit(confidence: float) -> float:
    held = min(max(confidence, _EDGE), 1 - _EDGE)
    return log(held / (1 - held))


def _sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value)) if value >= 0 else exp(value) / (1 + exp(value))


def _curve(name: MapName, slope: float, shift: float) -> ConfidenceMap:
    places = [place / 100 for place in range(101)]
    return ConfidenceMap(name, tuple((place, _sigmoid(slope * _logit(place) + shift)) for place in places))


def _logistic(said: Sequence[JudgedConfidence], *, moves: bool) -> tuple[float, float]:
    """The slope and the shift of the greatest likelihood, by Newton's steps. A slope never falls below 0."""
    right = sum(came for _, came in said)
    high, low = ((right + 1) / (right + 2), 1 / (len(said) - right + 2)) if moves else (1.0, 0.0)
    points = [(_logit(e.confidence), e.cases, e.right * high + (e.cases - e.right) * low) for e in _sums(said)]
    slope, shift = 1.0, 0.0
    for _ in range(_STEPS):
        g1 = g2 = h11 = h12 = h22 = 0.0
        for at, cases, target in points:
            share = _sigmoid(slope * at + shift)
            error, weight = cases * share - target, max(cases * share * (1 - share), _SMALL)
            g1, g2 = g1 + error * at, g2 + error
            h11, h12, h22 = h11 + weight * at * at, h12 + weight * at, h22 + weight
        step1, step2 = _newton(g1, g2, h11, h12, h22, moves=moves)
        slope, shift = min(max(slope - step1, 0.0), _STEEPEST), shift - step2
        if abs(step1) + abs(step2) < _SMALL:
            break
    return slope, shift


def _newton(g1: float, g2: float, h11: float, h12: float, h22: float, *, moves: bool) -> tuple[float, float]:
    """One step for the slope and the shift, each at most 1: far steps overshoot where points are few."""
    if not moves:
        return _bounded(g1 / (h11 + _SMALL)), 0.0
    determinant = h11 * h22 - h12 * h12
    if determinant <= _SMALL * h11 * h22 + _SMALL**2:  # all state the same confidence: only a shift can be told
        return 0.0, _bounded(g2 / h22)
    return _bounded((h22 * g1 - h12 * g2) / determinant), _bounded((h11 * g2 - h12 * g1) / determinant)


def _bounded(step: float) -> float:
    return min(max(step, -1.0), 1.0)
