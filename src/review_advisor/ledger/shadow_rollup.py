"""How often shadows would have decided otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from review_advisor.ledger.kpis import NO_SHADOW_MODE, ShadowModeSums, shadow_mode_text, wilson
from review_advisor.ledger.rows import Tables, row
from review_advisor.policy.shadow_rules import ShadowPart
from review_advisor.review.document import MOST_USD, ShadowCost, counted_money
from review_advisor.review.events import CallEnded
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import (
    ShadowAdvised,
    ShadowBegan,
    ShadowCalled,
    ShadowEnded,
    ShadowEvent,
    ShadowReviewed,
    ShadowSaid,
    ShadowStatus,
)
from review_advisor.safety.wording import and_unknown, counted, printable_line

ShadowDecision = Literal["would_veto", "would_pass", "differs", "lost", "agreed"]
"""The weightiest first. ``would_veto`` would have stopped what passed, ``would_pass`` the other way round:

- a judge: it objects to an approval that passed; accepts one to which the review objected; differs on a rejection
- an executor: it rejects what the real one approves; differs: it approves what the real one rejects
- an advisor on consults: it calls a person; calls none where the real one did; differs: it changes something else
- a surface: it objects to a review that approved
- a whole review: it does not approve what was approved; approves what was not; differs: one requests changes, the other
  calls a person

``lost``: an answer of the shadow did not come."""


MOST_TOLD = 10
"""Findings of a shadow alone that its row tells in words; its events have all."""


_WEIGHTIEST_FIRST: tuple[ShadowDecision, ...] = ("would_veto", "would_pass", "differs", "lost", "agreed")


def decision_on(decided: ShadowSaid) -> ShadowDecision:
    """What the shadow would have changed in one part of a surface, or in the whole review."""
    if isinstance(decided, ShadowReviewed):
        return _decision_on_review(decided.real, decided.outcome)
    if isinstance(decided, ShadowAdvised):
        return _decision_on_advice(decided)
    if decided.shadow_objects is None:
        return "lost"
    if decided.shadow_objects is decided.real_objects:
        return "agreed"
    if decided.verdict == "reject":
        return "differs"
    return "would_veto" if decided.shadow_objects else "would_pass"


def _decision_on_review(real: Outcome, outcome: Outcome | None) -> ShadowDecision:
    if outcome is None:
        return "lost"
    if outcome is real:
        return "agreed"
    if real is Outcome.APPROVED:
        return "would_veto"
    return "would_pass" if outcome is Outcome.APPROVED else "differs"


def _decision_on_advice(advised: ShadowAdvised) -> ShadowDecision:
    if advised.stops is None:
        return "lost"
    if advised.stops is not advised.real_stops:
        return "would_veto" if advised.stops else "would_pass"
    return "agreed" if advised.changes == advised.real else "differs"


def shadow_decision(decided: Iterable[ShadowSaid], *, finished: bool) -> ShadowDecision:
    """The same for the review: its weightiest part counts. A shadow that did not reach its end has lost an answer."""
    found = {decision_on(each) for each in decided}
    if not finished or not found:
        found.add("lost")
    return next(each for each in _WEIGHTIEST_FIRST if each in found)


def shadow_cost(events: Sequence[ShadowEvent]) -> ShadowCost:
    """What a shadow counts with, by its events so far; what it may cost while it runs, or if nobody can tell."""
    first, calls, status = _course(events)
    unpriced = sum(call.usage.cost_usd is None for call in calls)
    if status is None:
        return ShadowCost(first.shadow, "running", first.max_usd, len(calls), unpriced)
    money = counted_money(calls)
    usd = max(money.usd, first.max_usd) if money.untold else money.usd
    return ShadowCost(first.shadow, status, round(min(usd, MOST_USD), 4), len(calls), unpriced)


def _course(events: Sequence[ShadowEvent]) -> tuple[ShadowBegan, list[CallEnded], ShadowStatus | None]:
    """How a shadow began, the calls that it made, and how it ended; None while it runs, or where it was killed."""
    first, last = events[0], events[-1]
    if not isinstance(first, ShadowBegan):
        raise TypeError("a shadow's events begin with ShadowBegan")
    calls = [each.call for each in events if isinstance(each, ShadowCalled) and each.call.ended != "refused"]
    return first, calls, last.status if isinstance(last, ShadowEnded) else None


def readings_of_shadow(events: Sequence[ShadowEvent]) -> Tables:
    """The ledger's row of one shadow, by table. Without its end the status is ``unfinished``."""
    first, calls, status = _course(events)
    costs = [call.usage.cost_usd for call in calls if call.usage.cost_usd is not None]
    decided = [each for each in events if isinstance(each, ShadowSaid)]
    reviewed = next((each for each in decided if isinstance(each, ShadowReviewed)), None)
    told = row(
        of_run=first.of_run,
        shadow=first.shadow,
        part=first.part,
        setup=first.setup,
        repository=first.repository,
        pull_request=first.pull_request,
        status=status or "unfinished",
        decision=shadow_decision(decided, finished=status == "finished"),
        missed=sum(len(each.missed) for each in decided if not isinstance(each, ShadowAdvised)),
        calls=len(calls),
        unpriced=len(calls) - len(costs),
        cost_usd=sum(costs),
        outcome="" if reviewed is None or reviewed.outcome is None else reviewed.outcome.value,
        found=0 if reviewed is None else len(reviewed.besides),
        besides="" if reviewed is None else "\n".join(reviewed.besides[:MOST_TOLD]),
    )
    return {"shadows": (told,)}


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
