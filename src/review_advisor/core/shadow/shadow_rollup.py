"""What a period of shadows says: how often each would have decided otherwise, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from review_advisor.core.metrics.intervals import wilson
from review_advisor.core.report.wording import and_unknown, counted, printable_line
from review_advisor.core.shadow.shadow_mode import NO_SHADOW_MODE, ShadowModeSums, shadow_mode_text

NOTHING_IN_SHADOW = "Nothing ran in shadow in this period.\n"


@dataclass(frozen=True, slots=True)
class ShadowSums:
    """What one shadow, as it was set up, comes to. Each review is counted once, under its weightiest decision.

    ``would_veto``: the shadow objects to an approval that passed; ``would_veto_known`` of these were merged and
    observed, ``would_veto_reverted`` of them reverted later. ``would_pass``: it takes an approval to which the review
    objected; people have been heard on ``would_pass_known`` of these, and have dismissed a finding or overridden the
    outcome of ``would_pass_settled``. ``differs``: the two differ on a rejection. ``lost``: an answer did not come.
    ``capped`` and ``broken_off`` say how often it did not reach its end, whatever it had decided by then. ``missed``
    are the critical and high findings that a shadow executor did not have.
    """

    shadow: str
    setup: str
    reviews: int
    agreed: int
    would_veto: int
    would_veto_known: int
    would_veto_reverted: int
    would_pass: int
    would_pass_known: int
    would_pass_settled: int
    differs: int
    lost: int
    capped: int
    broken_off: int
    missed: int
    calls: int
    unpriced: int
    cost_usd: float

    @property
    def compared(self) -> int:
        """The reviews in which its answers came."""
        return self.reviews - self.lost

    def as_json(self) -> dict[str, Any]:
        """Its fields, and the interval of 95% of each share of the compared reviews; null without one."""
        shares = ("agreed", "would_veto", "would_pass", "differs")
        intervals = {name: wilson(getattr(self, name), self.compared) for name in shares}
        return {**asdict(self), "compared": self.compared, "intervals": intervals}


@dataclass(frozen=True, slots=True)
class ShadowRollup:
    """All that ran in shadow in a period. ``parts`` are parts of reviews, ``mode`` are reviews in shadow mode."""

    parts: tuple[ShadowSums, ...] = ()
    mode: ShadowModeSums = NO_SHADOW_MODE

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {"mode": self.mode.as_json(), "parts": [each.as_json() for each in self.parts]}


def shadow_text(rollup: ShadowRollup) -> str:
    """The same for a person."""
    told = (shadow_mode_text(rollup.mode), *map(_part_text, rollup.parts))
    return "\n".join(filter(None, told)) or NOTHING_IN_SHADOW


def _part_text(sums: ShadowSums) -> str:
    known_veto = f"of {sums.would_veto_known} with a known fate, {sums.would_veto_reverted} were reverted"
    known_pass = f"of {sums.would_pass_known} with a known fate, people settled {sums.would_pass_settled}"
    money = f"{sums.cost_usd:,.2f} USD{and_unknown(sums.unpriced)}"
    lines = [
        printable_line(f"{sums.shadow} ({sums.setup})"),
        f"  {counted(sums.reviews, 'review')}, {counted(sums.calls, 'call')}, {money}",
        f"  agreed             {_share(sums.agreed, sums.compared)}",
        f"  would have vetoed  {_share(sums.would_veto, sums.compared)}{f'; {known_veto}' if sums.would_veto else ''}",
        f"  would have passed  {_share(sums.would_pass, sums.compared)}{f'; {known_pass}' if sums.would_pass else ''}",
        f"  differs on a no    {_share(sums.differs, sums.compared)}",
        f"  lost               {sums.lost}; at its own cap {sums.capped}, broken off {sums.broken_off}",
    ]
    if sums.missed:
        lines.append(f"  missed             {counted(sums.missed, 'critical or high finding')}")
    return "\n".join(lines) + "\n"


def _share(part: int, cases: int) -> str:
    interval = wilson(part, cases)
    if interval is None:
        return f"{part}"
    low, high = interval
    return f"{part} of {cases} ({part / cases:.0%}, 95% interval {low:.0%} to {high:.0%})"
