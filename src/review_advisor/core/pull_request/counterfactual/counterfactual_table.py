"""What stored reviews come to under other rules, side by side with what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.report.wording import counted, printable_line, table
from review_advisor.core.shadow.shadow_comparison import concluded

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReviewUnderBoth:
    """One stored review, and what it would have been; ``after`` is None where ``unknown`` says why nobody knows.

    ``posted_before`` and ``posted_after`` are the ids of the findings with a new comment; None where that is unknown.
    """

    before: OutcomeDocument
    after: OutcomeDocument | None
    unknown: tuple[str, ...]
    posted_before: frozenset[str] | None
    posted_after: frozenset[str] | None

    @property
    def ends(self) -> tuple[str, str]:
        """What the review concludes, as its exit code says, and what it would have."""
        return concluded(self.before).value, UNKNOWN if self.after is None else concluded(self.after).value

    @property
    def missed(self) -> frozenset[str] | None:
        """The findings that would have lost their comment; None where that is unknown."""
        if self.posted_before is None or self.posted_after is None:
            return None
        return self.posted_before - self.posted_after

    def as_json(self) -> dict[str, Any]:
        """Run, conclusions, comments, money and what is unknown; null stands for unknown."""
        before, after = self.ends
        missed = self.missed
        return {
            "run_id": self.before.run_id,
            "before": before,
            "after": None if self.after is None else after,
            "posted_before": None if self.posted_before is None else len(self.posted_before),
            "posted_after": None if self.posted_after is None else len(self.posted_after),
            "missed": None if missed is None else sorted(missed),
            "usd_before": usd_of(self.before),
            "usd_after": None if self.after is None else usd_of(self.after),
            "unknown": list(self.unknown),
        }


def usd_of(document: OutcomeDocument) -> float:
    """US dollars that the calls of a review reported. What an earlier run has paid for is that run's."""
    return round(spent(e for e in document.events if isinstance(e, CallEnded) and not e.kept).cost_usd, 6)


def both_as_json(reviews: Sequence[ReviewUnderBoth], left_out: Sequence[str]) -> dict[str, Any]:
    """Every review, the sums over those whose result is known, and what was left out."""
    return {"reviews": [each.as_json() for each in reviews], "totals": _totals(reviews), "left_out": list(left_out)}


def _totals(reviews: Sequence[ReviewUnderBoth]) -> dict[str, Any]:
    pairs = [(each, each.after) for each in reviews if each.after is not None]
    shown = [each for each in reviews if each.missed is not None]
    return {
        "reviews": len(reviews),
        "unknown": len(reviews) - len(pairs),
        "usd_before": round(sum(usd_of(each.before) for each, _ in pairs), 6),
        "usd_after": round(sum(usd_of(after) for _, after in pairs), 6),
        "posted_known": len(shown),
        "posted_before": sum(len(each.posted_before or ()) for each in shown),
        "posted_after": sum(len(each.posted_after or ()) for each in shown),
        "missed": sum(len(each.missed or ()) for each in shown),
    }


def both_text(reviews: Sequence[ReviewUnderBoth]) -> str:
    """How many reviews went which way, what they post and cost, and why something is unknown."""
    sums = _totals(reviews)
    ends = Counter(each.ends for each in reviews)
    rows = [("before", "after", "reviews"), *((was, now, str(count)) for (was, now), count in sorted(ends.items()))]
    known = f"of {counted(sums['reviews'] - sums['unknown'], 'review')} whose result is known"
    shown = f"of {counted(sums['posted_known'], 'review')} whose comments are known"
    told = [
        table(rows),
        f"cost: ${sums['usd_before']:.4f} before, ${sums['usd_after']:.4f} after, {known}\n",
        f"comments: {sums['posted_before']} before, {sums['posted_after']} after, {shown}\n",
        f"missed: {counted(sums['missed'], 'finding')} would have had no comment\n",
    ]
    reasons = Counter(why for each in reviews for why in each.unknown)
    if reasons:
        told.append(f"unknown: {counted(sums['unknown'], 'review')}\n")
        told += [f"  {count} x {printable_line(why)}\n" for why, count in reasons.most_common()]
    return "".join(told)
