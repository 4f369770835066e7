"""What the reviews in shadow mode of a period would have done to merges, and what became of those."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from review_advisor.core.report.wording import and_unknown, counted


@dataclass(frozen=True, slots=True)
class WouldHave:
    """The reviews that would have ended in one way.

    ``closed`` of them were the last of a head at which the pull request was closed, as far as somebody observed it;
    ``merged`` of these were merged, and ``reverted`` of those were reverted later.
    """

    reviews: int = 0
    closed: int = 0
    merged: int = 0
    reverted: int = 0


NONE = WouldHave()


@dataclass(frozen=True, slots=True)
class ShadowModeSums:
    """All reviews in shadow mode of a period. ``did_not_end`` were stopped, or are unfinished.

    ``cost_usd`` is what their calls reported; ``unpriced`` calls did not. ``wall_ms`` is the median; None where no
    review ended.
    """

    passed: WouldHave = NONE
    blocked: WouldHave = NONE
    escalated: WouldHave = NONE
    did_not_end: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    wall_ms: float | None = None

    @property
    def reviews(self) -> int:
        """How many there were."""
        return self.did_not_end + sum(each.reviews for each in (self.passed, self.blocked, self.escalated))

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return {"reviews": self.reviews, **asdict(self)}


NO_SHADOW_MODE = ShadowModeSums()


def shadow_mode_text(sums: ShadowModeSums) -> str:
    """The same for a person; empty where no review ran in shadow mode."""
    if not sums.reviews:
        return ""
    money = f"{sums.cost_usd:,.2f} USD{and_unknown(sums.unpriced)}"
    median = "" if sums.wall_ms is None else f", median {sums.wall_ms / 1000:,.0f} s"
    lines = [
        f"shadow mode: {counted(sums.reviews, 'review')}, {money}{median}",
        f"  would have passed     {_line(sums.passed)}",
        f"  would have blocked    {_line(sums.blocked)}",
        f"  would have escalated  {_line(sums.escalated)}",
        f"  did not run to an end {sums.did_not_end}",
    ]
    return "\n".join(lines) + "\n"


def _line(part: WouldHave) -> str:
    if not part.closed:
        return f"{part.reviews}"
    return f"{part.reviews}; of {part.closed} seen closed, {part.merged} were merged and {part.reverted} reverted"
