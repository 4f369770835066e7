"""How often each shadow of a period would have decided otherwise, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from review_advisor.core.metrics.intervals import wilson
from review_advisor.core.report.wording import and_unknown, counted, printable_line
from review_advisor.core.shadow.shadow_decision import ShadowDecision
from review_advisor.core.shadow.shadow_mode import NO_SHADOW_MODE, ShadowModeSums, shadow_mode_text
from review_advisor.core.shadow.shadow_rule import ShadowPart

NOTHING_IN_SHADOW = "Nothing ran in shadow in this period.\n"


@dataclass(frozen=True, slots=True)
class ShadowSums:
    """The figures of one shadow in one setup. Each review is counted once, under its weightiest decision.

    ``ShadowDecision`` says what each means for the ``part``. ``would_veto_known`` of those were merged and observed,
    ``would_veto_reverted`` of them reverted later. ``would_pass_known`` have a known fate, and in
    ``would_pass_settled`` people dismissed a finding or overrode the outcome. ``capped`` and ``broken_off`` say how
    often it did not reach its end, whatever it had decided by then. ``missed`` are the critical and high findings that
    a shadow executor, or a whole review in shadow, did not have; ``found`` are those that only the latter had.
    ``approved``, ``changes_requested`` and ``escalated`` say how often it ended so. ``reviews_usd`` is what the reviews
    beside it reported as their cost, ``reviews_unpriced`` of them reported none.
    """

    shadow: str
    part: ShadowPart
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
    approved: int = 0
    changes_requested: int = 0
    escalated: int = 0
    found: int = 0
    reviews_usd: float = 0.0
    reviews_unpriced: int = 0

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


@dataclass(frozen=True, slots=True)
class _Words:
    """What the decisions of a part are called; empty where it cannot come to one."""

    would_veto: str
    would_pass: str = ""
    differs: str = ""


_WORDS: dict[ShadowPart, _Words] = {
    "judge": _Words("would have vetoed", "would have passed", "differs on a no"),
    "executor": _Words("would have rejected", differs="would have approved"),
    "consulted": _Words("would have called a person", "would have called nobody", "would have advised otherwise"),
    "surface": _Words("would have stopped"),
    "review": _Words("would have stopped", "would have approved", "differs on a no"),
}
_ANY_PART: tuple[ShadowDecision, ...] = ("agreed", "lost")
_UNTOLD = "differs"
"""A decision that this part cannot come to, in a ledger that says so all the same."""


@dataclass(frozen=True, slots=True)
class ShadowOfRun:
    """What one shadow of a review came to."""

    of_run: str
    shadow: str
    part: ShadowPart
    setup: str
    status: str
    decision: ShadowDecision
    cost_usd: float
    unpriced: int
    outcome: str = ""
    besides: str = ""

    @property
    def found(self) -> tuple[str, ...]:
        """The grave findings that only it had, each on one line: as many as its row tells."""
        return tuple(map(printable_line, self.besides.splitlines()))

    @property
    def words(self) -> str:
        """On one line: who it was, what it would have done, and what it cost."""
        said = self.decision if self.decision in _ANY_PART else getattr(_WORDS[self.part], self.decision) or _UNTOLD
        ended = f" ({self.outcome.replace('_', ' ')})" if self.outcome else ""
        ended += "" if self.status == "finished" else f", {self.status}"
        money = f"{self.cost_usd:,.2f} USD{and_unknown(self.unpriced)}"
        return printable_line(f"{self.shadow} ({self.setup}): {said}{ended}, {money}")


def shadow_text(rollup: ShadowRollup) -> str:
    """The same for a person."""
    told = (shadow_mode_text(rollup.mode), *map(_part_text, rollup.parts))
    return "\n".join(filter(None, told)) or NOTHING_IN_SHADOW


def _part_text(sums: ShadowSums) -> str:
    known_veto = f"of {sums.would_veto_known} with a known fate, {sums.would_veto_reverted} were reverted"
    known_pass = f"of {sums.would_pass_known} with a known fate, people settled {sums.would_pass_settled}"
    money = f"{sums.cost_usd:,.2f} USD{and_unknown(sums.unpriced)}"
    words = _WORDS[sums.part]
    told = [("agreed", _share(sums.agreed, sums.compared))]
    for word, count, known in (
        (words.would_veto, sums.would_veto, known_veto),
        (words.would_pass, sums.would_pass, known_pass),
        (words.differs, sums.differs, ""),
    ):
        if word or count:
            told.append((word or _UNTOLD, _share(count, sums.compared) + (f"; {known}" if count and known else "")))
    told.append(("lost", f"{sums.lost}; at its own cap {sums.capped}, broken off {sums.broken_off}"))
    if sums.part == "review":
        changes = f"{sums.changes_requested} changes requested"
        told.append(("it concluded", f"{sums.approved} approved, {changes}, {sums.escalated} escalated"))
    if sums.missed:
        told.append(("missed", counted(sums.missed, "critical or high finding")))
    if sums.found:
        told.append(("found besides", counted(sums.found, "critical or high finding")))
    width = max(len(word) for word, _ in told)
    lines = [
        printable_line(f"{sums.shadow} ({sums.setup})"),
        f"  {counted(sums.reviews, 'review')}, {counted(sums.calls, 'call')}, {money}{_beside(sums)}",
        *(f"  {word:{width}}  {figures}" for word, figures in told),
    ]
    return "\n".join(lines) + "\n"


def _beside(sums: ShadowSums) -> str:
    """What the same work has cost in the real reviews; empty for a part of a review."""
    if sums.part != "review":
        return ""
    unknown = f" (of {sums.reviews_unpriced} unknown)" if sums.reviews_unpriced else ""
    return f"; the reviews themselves {sums.reviews_usd:,.2f} USD{unknown}"


def _share(part: int, cases: int) -> str:
    interval = wilson(part, cases)
    if interval is None:
        return f"{part}"
    low, high = interval
    return f"{part} of {cases} ({part / cases:.0%}, 95% interval {low:.0%} to {high:.0%})"
