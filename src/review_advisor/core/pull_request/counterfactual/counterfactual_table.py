"""What stored reviews come to under other rules, side by side with what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from review_advisor.core.metrics.prices import Price
from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.blocking import blocking_findings
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.pull_request.counterfactual.review_otherwise import Otherwise
from review_advisor.core.pull_request.counterfactual.would_ask import WantedMoney, wanted_money
from review_advisor.core.report.wording import counted, printable_line, table
from review_advisor.core.shadow.shadow_comparison import concluded

UNKNOWN = "unknown"
NOT_BEGUN = "not begun"


@dataclass(frozen=True, slots=True)
class ReviewUnderBoth:
    """One stored review, and what it would have been ``otherwise``.

    ``posted_before`` and ``posted_after`` are the ids of the findings with a new comment; None where that is unknown.
    Where it does not begin, nothing of it is decided, posted or spent.
    """

    before: OutcomeDocument
    otherwise: Otherwise
    posted_before: frozenset[str] | None
    posted_after: frozenset[str] | None
    begins: bool = True

    @property
    def after(self) -> OutcomeDocument | None:
        """The review as it would have been; None where nobody knows it, or there would be none."""
        return self.otherwise.document if self.begins else None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why nobody knows it."""
        return self.otherwise.unknown if self.begins else ()

    @property
    def is_known(self) -> bool:
        """Whether the result is known, also that there would be none."""
        return self.after is not None or not self.begins

    @property
    def ends(self) -> tuple[str, str]:
        """What the review concludes, as its exit code says, and what it would have."""
        if not self.begins:
            return concluded(self.before).value, NOT_BEGUN
        return concluded(self.before).value, UNKNOWN if self.after is None else concluded(self.after).value

    @property
    def missed(self) -> frozenset[str] | None:
        """The findings that would have lost their comment; None where that is unknown."""
        if self.posted_before is None or self.posted_after is None:
            return None
        return self.posted_before - self.posted_after

    @property
    def passed(self) -> frozenset[str] | None:
        """The findings that blocked and would not block; None where that is unknown."""
        if not self.is_known:
            return None
        return blocking_findings(self.before) - (frozenset() if self.after is None else blocking_findings(self.after))

    @property
    def usd_after(self) -> float | None:
        """US dollars that it would have cost; None where that is unknown."""
        if not self.is_known:
            return None
        return 0.0 if self.after is None else usd_of(self.after)

    def as_json(self, prices: Iterable[Price]) -> dict[str, Any]:
        """Run, conclusions, comments, money and what is unknown; null stands for unknown."""
        before, after = self.ends
        missed, passed = self.missed, self.passed
        return {
            "run_id": self.before.run_id,
            "before": before,
            "after": after if self.is_known else None,
            "posted_before": None if self.posted_before is None else len(self.posted_before),
            "posted_after": None if self.posted_after is None else len(self.posted_after),
            "missed": None if missed is None else sorted(missed),
            "no_longer_blocking": None if passed is None else sorted(passed),
            "usd_before": usd_of(self.before),
            "usd_after": self.usd_after,
            "unknown": list(self.unknown),
            "would_ask": wanted_money(self.otherwise.questions if self.begins else (), prices).as_json(),
        }


def usd_of(document: OutcomeDocument) -> float:
    """US dollars that the calls of a review reported. What an earlier run has paid for is that run's."""
    return round(spent(e for e in document.events if isinstance(e, CallEnded) and not e.kept).cost_usd, 6)


def both_as_json(
    reviews: Sequence[ReviewUnderBoth], left_out: Sequence[str], prices: Sequence[Price]
) -> dict[str, Any]:
    """Every review, the sums over those whose result is known, and what was left out."""
    each_told = [each.as_json(prices) for each in reviews]
    asked = _would_ask(reviews, prices).as_json()
    return {"reviews": each_told, "totals": {**_totals(reviews), "would_ask": asked}, "left_out": list(left_out)}


def _would_ask(reviews: Sequence[ReviewUnderBoth], prices: Iterable[Price]) -> WantedMoney:
    return wanted_money((one for each in reviews if each.begins for one in each.otherwise.questions), prices)


def _totals(reviews: Sequence[ReviewUnderBoth]) -> dict[str, Any]:
    known = [each for each in reviews if each.is_known]
    shown = [each for each in reviews if each.missed is not None]
    kept = [event for each in known if each.after is not None for event in each.after.events]
    return {
        "reviews": len(reviews),
        "unknown": len(reviews) - len(known),
        "usd_before": round(sum(usd_of(each.before) for each in known), 6),
        "usd_after": round(sum(each.usd_after or 0.0 for each in known), 6),
        "posted_known": len(shown),
        "posted_before": sum(len(each.posted_before or ()) for each in shown),
        "posted_after": sum(len(each.posted_after or ()) for each in shown),
        "missed": sum(len(each.missed or ()) for each in shown),
        "no_longer_blocking": sum(len(each.passed or ()) for each in known),
        "answers_kept": sum(isinstance(event, CallEnded) and event.ended == "answered" for event in kept),
    }


def both_text(reviews: Sequence[ReviewUnderBoth], prices: Sequence[Price]) -> str:
    """How many reviews went which way, what they post and cost, and why something is unknown."""
    sums = _totals(reviews)
    ends = Counter(each.ends for each in reviews)
    rows = [("before", "after", "reviews"), *((was, now, str(count)) for (was, now), count in sorted(ends.items()))]
    known = f"of {counted(sums['reviews'] - sums['unknown'], 'review')} whose result is known"
    missed = f"missed: {counted(sums['missed'], 'finding')} would have had no comment"
    shown = f"of {counted(sums['posted_known'], 'review')} whose comments are known"
    told = [
        table(rows),
        f"spent: ${sums['usd_before']:.4f} before, ${sums['usd_after']:.4f} after, {known}\n",
        f"posted: {counted(sums['posted_before'], 'comment')} before, {sums['posted_after']} after, {shown}\n",
        f"{missed}, {sums['no_longer_blocking']} would not have blocked\n",
        f"asked: nobody; {counted(sums['answers_kept'], 'kept answer')} decided\n",
    ]
    reasons = Counter(why for each in reviews for why in each.unknown)
    if reasons:
        told.append(f"unknown: {counted(sums['unknown'], 'review')}\n")
        told += [f"  {count} x {printable_line(why)}\n" for why, count in reasons.most_common()]
        wanted = _would_ask(reviews, prices)
        told += [f"  {wanted.words()}\n"] if wanted.questions else []
    return "".join(told)
