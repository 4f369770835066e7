"""Whether advice pays in a repository, by what its reviews came to: the conditions of advisor-pattern-v2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from review_advisor.core.metrics.kpis import Sums, kpis
from review_advisor.core.metrics.targets import WALL_CLOCK

FEWEST_REVIEWS = 20
FEWEST_RATINGS = 50
_MOSTLY = 0.5
_RARELY = 0.02
_ALIKE = 0.95


@dataclass(frozen=True, slots=True)
class Fitness:
    """One condition: whether it holds, None where too little is known, and one sentence with the figures.

    ``remedy`` says what to do where it does not hold.
    """

    name: str
    holds: bool | None
    says: str
    remedy: str = ""


def fitness(sums: Sums, ratings: Mapping[int, int]) -> tuple[Fitness, ...]:
    """Every condition, of the reviews that ``sums`` counts. ``ratings`` are self-ratings of executors by tenth."""
    return (_difficulty(sums), _use(sums), _signal(ratings), _wait(sums))


def _difficulty(sums: Sums) -> Fitness:
    name = "not too hard"
    if sums.judged < FEWEST_REVIEWS:
        return _too_few(name, sums.judged, "reviews", FEWEST_REVIEWS)
    vetoed, consulted = sums.vetoed / sums.judged, _share(sums.consulting, sums.advised)
    return Fitness(
        name,
        max(vetoed, consulted) <= _MOSTLY,
        f"{vetoed:.0%} of {sums.judged} reviews were vetoed, and executors consulted in {consulted:.0%}",
        "the executor is too weak for most changes: give HYDRAFLOW_REVIEW_EXECUTOR_MODEL a stronger model",
    )


def _use(sums: Sums) -> Fitness:
    name = "not too easy"
    if sums.judged < FEWEST_REVIEWS:
        return _too_few(name, sums.judged, "reviews", FEWEST_REVIEWS)
    used = (sums.vetoed + sums.consulting) / sums.judged
    return Fitness(
        name,
        used >= _RARELY,
        f"the advisor vetoed {sums.vetoed} and was consulted in {sums.consulting} of {sums.judged} reviews",
        "the advisor hardly ever changes a review: give HYDRAFLOW_REVIEW_ADVISOR_MODEL a cheaper model",
    )


def _signal(ratings: Mapping[int, int]) -> Fitness:
    name, many = "confidence tells", sum(ratings.values())
    if many < FEWEST_RATINGS:
        return _too_few(name, many, "ratings", FEWEST_RATINGS)
    place, most = max(ratings.items(), key=lambda item: item[1])
    return Fitness(
        name,
        most / many < _ALIKE,
        f"{most / many:.0%} of {many} ratings lie between {place / 10:.1f} and {(place + 1) / 10:.1f}",
        'the rating tells nothing: leave escalation.profile at "adr", or name thresholds in .review-advisor/',
    )


def _wait(sums: Sums) -> Fitness:
    name = "time allows"
    kpi = next(each for each in kpis(sums) if each.name == "wall_clock")
    if kpi.value is None or kpi.cases < FEWEST_REVIEWS:
        return _too_few(name, kpi.cases, "timed reviews", FEWEST_REVIEWS)
    return Fitness(
        name,
        WALL_CLOCK.holds(kpi.value),
        f"a median review takes {kpi.value:.2f} times the executor's time, wanted {WALL_CLOCK.words('times')}",
        'people wait for the advisor: raise jobs, lower [effort], or review less often with github.review = "opened"',
    )


def _too_few(name: str, many: int, what: str, fewest: int) -> Fitness:
    return Fitness(name, None, f"not measured: {many} {what}, and it takes {fewest} to tell")


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
