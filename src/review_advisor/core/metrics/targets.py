"""What the KPIs are held against: every threshold of rollups and alerts, once. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

Unit = Literal["share", "times", "per 1,000", "number"]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a value is wanted: from ``low`` to ``high``, ends included unless ``strictly``; None is an open end."""

    low: float | None = None
    high: float | None = None
    strictly: bool = False

    def holds(self, value: float) -> bool:
        """Whether ``value`` is where it is wanted."""
        if self.strictly:
            return (self.low is None or value > self.low) and (self.high is None or value < self.high)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def words(self, unit: Unit) -> str:
        """The target for a person: ``>= 70.0%``, ``8.0% to 15.0%``."""
        if self.low is not None and self.high is not None:
            return f"{format_value(self.low, unit)} to {format_value(self.high, unit)}"
        if self.low is not None:
            return f"{'>' if self.strictly else '>='} {format_value(self.low, unit)}"
        if self.high is not None:
            return f"{'<' if self.strictly else '<='} {format_value(self.high, unit)}"
        return "-"


def format_value(value: float, unit: Unit) -> str:
    """A value with its unit."""
    match unit:
        case "share":
            return f"{value:.1%}"
        case "times":
            return f"{value:.2f} x"
        case "per 1,000":
            return f"{value:.1f} per 1,000"
        case "number":
            return f"{round(value, 2):g}"


SELF_REPAIR = Target(low=0.7)
"""ADR-0059: below it, what the advisor objects to cannot be acted on."""
VALIDATED = Target(low=0, strictly=True)
"""ADR-0059: some of what the advisor objected to turns out to be right."""
WALL_CLOCK = Target(high=1.5, strictly=True)
"""ADR-0059: the median review against the executor's first attempts of the same reviews."""
CONSULT_SHARE = Target(low=0.08, high=0.15)
"""Of all tokens (advisor-pattern-v2), those of consults alone: outside, the triggers are mistuned."""
CONSULT_RATE = Target(low=0.08, high=0.15)
"""Reviews in which the executor consulted: the same band, wanted at both ends and never to grow."""
DEGRADED = Target(high=0.1)
"""Reviews in which a judgement was due and did not come; the same as the alert on the metrics."""
MISSED_ESCALATIONS = Target(high=0.05, strictly=True)
"""Wrong verdicts that nobody consulted about (advisor-pattern-v2)."""
NO_TARGET = Target()


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert: the KPI's value over the last ``window`` is not where it must be, from ``least`` cases on."""

    name: str
    kpi: str
    window: timedelta
    allowed: Target
    least: int
    means: str


DAY = timedelta(days=1)
WEEK = timedelta(days=7)

RULES = (
    Rule(
        "consult-share",
        "consult_share",
        DAY,
        Target(high=0.3),
        10,
        "Consults use too many of the tokens: there are too many of them, or they are too long.",
    ),
    Rule(
        "consult-flood",
        "consult_rate",
        DAY,
        Target(high=0.3),
        10,
        "Executors consult in too many reviews: they lean on the advisor.",
    ),
    Rule(
        "consult-collapse",
        "consult_rate",
        WEEK,
        Target(low=0.01),
        100,
        "Executors rarely consult: they may no longer notice what they do not know.",
    ),
    Rule(
        "degraded",
        "degraded_share",
        DAY,
        DEGRADED,
        10,
        "Judgements are missing: such changes pass on the executor's verdict alone, unless FAIL_AS_VETO is set.",
    ),
    Rule(
        "self-repair",
        "self_repair",
        WEEK,
        SELF_REPAIR,
        10,
        "Too few vetoes end in a repair: the advisor's objections are not actionable.",
    ),
)
"""Every alert, in the order in which they are told."""
