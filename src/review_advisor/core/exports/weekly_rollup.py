"""The weekly rollup of ``advisor-pattern-v2``: how sure executors were, when they were advised, what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from review_advisor.core.exports.advisor_log import advisor_log
from review_advisor.core.exports.panel_log import PanelLog
from review_advisor.core.outcome.events import Event, ReviewEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.report.advice_ends import AdviceEnd, advice_ends
from review_advisor.core.report.wording import counted, printable_line, table

BINS = 10
"""Of shares and of confidence, each a tenth wide; 1.0 is in the last one."""
_JUDGED = (Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.ESCALATED)


def verdict_of(events: Sequence[Event]) -> Outcome | None:
    """How a review ended; None for one that came to no verdict, which counts in no sum about advice."""
    last = events[-1]
    return last.outcome if isinstance(last, ReviewEnded) and last.outcome in _JUDGED else None


@dataclass(frozen=True, slots=True)
class OverriddenAdvice:
    """Advice that an executor did not follow, and its reason."""

    run_id: str
    recommendation: str
    action: str
    reason: str


@dataclass(slots=True)
class WeeklyRollup:
    """What the reviews of a period add up to. A review without a verdict does not count.

    ``by_consults`` counts reviews by their number of consults, ``settled`` those of them that called no person.
    ``shares`` counts reviews by the advisors' share of their tokens, ``ratings`` the executors' self-ratings, and
    ``escalated`` those ratings that were put to the advisor. The events of ``unreadable`` runs cannot be read;
    ``left_out`` runs are older than the newest ones that a rollup reads.
    """

    reviews: int = 0
    unreadable: int = 0
    left_out: int = 0
    by_consults: Counter[int] = field(default_factory=Counter)
    settled: Counter[int] = field(default_factory=Counter)
    shares: Counter[int] = field(default_factory=Counter)
    ratings: Counter[int] = field(default_factory=Counter)
    escalated: Counter[int] = field(default_factory=Counter)
    triggers: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    conflicts: int = 0
    overrides: list[OverriddenAdvice] = field(default_factory=list)
    councils: PanelLog = field(default_factory=PanelLog)

    def add(self, run_id: str, events: Sequence[Event]) -> None:
        """Count a review. One without a verdict counts for nothing."""
        outcome = verdict_of(events)
        if outcome is None:
            return
        self.reviews += 1
        self.councils.add(events)
        ends = advice_ends(events)
        held = sum(end.consulted is not None and end.consulted.note.asked for end in ends)
        self.by_consults[held] += 1
        self.settled[held] += outcome is not Outcome.ESCALATED
        log = advisor_log(events)
        if log.cost_split.advisor_fraction is not None:
            self.shares[_bin(log.cost_split.advisor_fraction)] += 1
        for step in log.confidence_log:
            self.ratings[_bin(step.confidence)] += 1
            self.escalated[_bin(step.confidence)] += step.escalated
        for end in ends:
            self._end(run_id, end)

    def _end(self, run_id: str, end: AdviceEnd) -> None:
        self.triggers.update([each.kind.value for each in end.due.reasons] if end.due else ["asked"])
        guidance = end.consulted.note.guidance if end.consulted else None
        if guidance is None:
            self.ends["refused by a cap" if end.consulted is None else end.consulted.note.status] += 1
            return
        self.ends[end.disposition or "open"] += 1
        self.conflicts += end.merge is not None and bool(end.merge.merged.conflict)
        if end.disposition == "overridden":
            self.overrides.append(OverriddenAdvice(run_id, end.recommendation, guidance.action, end.reason))

    @property
    def conflicts_per_1000(self) -> float | None:
        """Merges that contradicted the executor, for each thousand reviews."""
        return 1_000 * self.conflicts / self.reviews if self.reviews else None

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "reviews": self.reviews,
            "unreadable": self.unreadable,
            "left_out": self.left_out,
            "by_consults": [
                {"consults": held, "reviews": many, "settled": self.settled[held]}
                for held, many in sorted(self.by_consults.items())
            ],
            "advisor_share": [self.shares[place] for place in range(BINS)],
            "confidence": [
                {"from": place / BINS, "ratings": self.ratings[place], "escalated": self.escalated[place]}
                for place in range(BINS)
            ],
            "triggers": dict(self.triggers.most_common()),
            "ends": dict(self.ends.most_common()),
            "conflicts_per_1000": self.conflicts_per_1000,
            "councils": self.councils.as_json(),
            "overrides": [asdict(each) for each in self.overrides],
        }


def weekly_text(told: WeeklyRollup) -> str:
    """The rollup for a person: a table for each distribution, then every override with its reason."""
    if not told.reviews:
        return f"No review of the period has a verdict{_missing(told)}.\n"
    by_consults = [
        (str(held), str(many), f"{told.settled[held] / many:.0%}") for held, many in sorted(told.by_consults.items())
    ]
    bins = [
        (_words(place), str(told.shares[place]), str(told.ratings[place]), str(told.escalated[place]))
        for place in range(BINS)
    ]
    blocks = [
        f"Advice in {counted(told.reviews, 'review')} with a verdict{_missing(told)}",
        table([("consults", "reviews", "settled without a person"), *by_consults]),
        table([("from .. to", "reviews by advisor's share", "ratings by confidence", "of them escalated"), *bins]),
        table([("trigger", "consults"), *_counted(told.triggers)]),
        table([("end of the advice", "consults"), *_counted(told.ends)]),
        f"conflicts per 1,000 reviews: {told.conflicts_per_1000:.1f}\n",
    ]
    rows = [tuple(map(printable_line, (each.run_id, each.action, each.reason))) for each in told.overrides]
    blocks += [table([("overridden in", "advice", "reason"), *rows])] if rows else ["No advice was overridden.\n"]
    blocks += [told.councils.text] if told.councils.text else []
    return "\n".join(f"{block.rstrip()}\n" for block in blocks)


def _missing(told: WeeklyRollup) -> str:
    older = f"; {counted(told.left_out, 'older run')} not read" if told.left_out else ""
    return older + (f"; {counted(told.unreadable, 'run')} could not be read" if told.unreadable else "")


def _counted(counts: Counter[str]) -> Iterable[tuple[str, str]]:
    return ((name, str(many)) for name, many in counts.most_common()) if counts else [("none", "0")]


def _bin(value: float) -> int:
    return min(int(value * BINS), BINS - 1)


def _words(place: int) -> str:
    return f"{place / BINS:.1f} .. {(place + 1) / BINS:.1f}"
