"""What ran in shadow of a review, in words."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.outcome.cost import ShadowCost
from review_advisor.core.report.wording import and_unknown, counted


def shadow_words(shadows: Sequence[ShadowCost]) -> str:
    """What ran and what it cost; empty where nothing did."""
    return "; ".join(map(_one, shadows))


def _one(cost: ShadowCost) -> str:
    if cost.status == "running":
        return f"{cost.shadow} did not end, and counts as {cost.usd:,.2f} USD"
    return (
        f"{cost.shadow} {cost.status}, {counted(cost.calls, 'call')}, {cost.usd:,.4f} USD{and_unknown(cost.unpriced)}"
    )
