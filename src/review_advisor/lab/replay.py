"""Stored reviews decided once more under another configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from review_advisor.agents.purse import CallEstimates
from review_advisor.agents.recordings import Unknown, WantedQuestion
from review_advisor.change.diff_text import shown_path
from review_advisor.github.memory import round_of, state_after
from review_advisor.github.state import State
from review_advisor.github.threads import postings
from review_advisor.policy.exclusion import excluding_glob
from review_advisor.policy.policy import Policy
from review_advisor.policy.prices import Price
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import (
    OutcomeDocument,
    blocking_findings,
    council_findings,
    counted_money,
    outcome_document,
    spent,
)
from review_advisor.review.events import CallEnded, Event, PolicyFrozen
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.safety.wording import counted, printable_line, table


@dataclass(frozen=True, slots=True)
class WantedMoney:
    """How many questions would have to be asked, and what those with a priced model cost at least, in US dollars."""

    questions: int = 0
    least_usd: float = 0.0
    unpriced: int = 0
    unpriced_models: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"least_usd": round(self.least_usd, 6), "unpriced_models": list(self.unpriced_models)}

    def words(self) -> str:
        """One line for a person."""
        wanted = f"would have to ask: {counted(self.questions, 'question')}, at least ${self.least_usd:.4f}"
        if not self.unpriced:
            return wanted
        named = printable_line(", ".join(self.unpriced_models))
        return f"{wanted}; {self.unpriced} of them have no price ({named})"


def wanted_money(questions: Iterable[WantedQuestion], prices: Iterable[Price]) -> WantedMoney:
    """The estimate of a review's purse for each question, added up."""
    estimates = CallEstimates(prices)
    every = tuple(questions)
    usd = [estimates.fresh_usd(each.role, each.model, each.characters, each.day) for each in every]
    unpriced = [each.model for each, known in zip(every, usd, strict=True) if known is None]
    return WantedMoney(len(every), sum((each or 0.0 for each in usd), 0.0), len(unpriced), tuple(sorted(set(unpriced))))


@dataclass(frozen=True, slots=True)
class OtherRules:
    """What another configuration changes about stored reviews."""

    fail_on_degraded: bool
    exclude: tuple[str, ...]
    """Globs of files that nobody reads."""
    max_usd: float
    """The most that one review may spend."""
    held_usd: float
    """The most that one could spend under the configuration that held."""
    untried: tuple[str, ...] = ()
    """What differs otherwise, by name: no record tells what it leads to."""

    def policy(self, first: PolicyFrozen) -> Policy:
        """The whole policy of a review."""
        policy = first.policy
        budgets = replace(policy.budgets, max_usd=min(policy.budgets.max_usd, self.max_usd))
        return replace(policy, budgets=budgets, fail_on_degraded=self.fail_on_degraded)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A review under other rules: its document, or None with each thing that its events cannot tell.

    ``questions`` would have to be asked to know it: those of the reason that has the most, as reasons overlap.
    """

    document: OutcomeDocument | None
    unknown: tuple[str, ...] = ()
    questions: tuple[WantedQuestion, ...] = ()


def decided_otherwise(document: OutcomeDocument, other: OtherRules) -> Otherwise:
    """What the answers of a stored review lead to under ``other`` rules. Asks nobody, and never raises for events."""
    first, *inner = document.events
    if not isinstance(first, PolicyFrozen) or not inner:
        return Otherwise(None, ("its events are not those of a review",))
    policy = other.policy(first)
    calls = [each for each in inner if isinstance(each, CallEnded)]
    unknown = [*_untried(other, calls), *_excluded(first, other, calls), *_limited(first, other, inner, calls)]
    if unknown:
        reasons = tuple(dict.fromkeys(each.why for each in unknown))
        return Otherwise(None, reasons, max((each.questions for each in unknown), key=len))
    return Otherwise(outcome_document([replace(first, policy=policy), *inner]))


def _untried(other: OtherRules, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    for name in other.untried:
        asks = () if name.startswith("github.") else _asked_anew(calls)
        yield Unknown(f"what another {name} would have led to is not recorded", asks)


def _excluded(first: PolicyFrozen, other: OtherRules, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    before = first.policy.excluded
    if other.exclude == before.globs:
        return
    unread = {each.path for each in before.files}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    for file in first.files:
        left_out = excluding_glob(other.exclude, file.path) is not None and file.path not in watched
        if left_out and file.shards:
            yield Unknown(f"{shown_path(file.path)} would have been left out", _asked_anew(calls))
        elif file.path in unread and not left_out:
            yield Unknown(f"{shown_path(file.path)} would have been read", _asked_anew(calls))


def _limited(
    first: PolicyFrozen, other: OtherRules, events: Sequence[Event], calls: Sequence[CallEnded]
) -> Iterator[Unknown]:
    """What another limit of money would have changed. Money counts as the limits of a review count it.

    A higher limit gives a review more only where the limit that held bound it, and not what it costs at most.
    """
    before, after = first.policy.budgets.max_usd, other.max_usd
    paid = counted_money(events).usd
    if after < before and paid > after:
        yield Unknown(f"the review cost ${paid:.2f}: at ${after:.2f} a call would have been refused or cut short")
    refused = [each for each in calls if each.reason == "money"]
    if refused and after > other.held_usd and before >= other.held_usd:
        yield Unknown("a call that was refused for its money would have been made", _asked_anew(refused))


def _asked_anew(calls: Iterable[CallEnded]) -> tuple[WantedQuestion, ...]:
    """The questions of these calls, as they would be asked once more."""
    return tuple(
        WantedQuestion(each.role, each.requested_model, each.prompt_characters, each.at.date())
        for each in calls
        if not each.asks_again
    )


UNKNOWN = "unknown"


def concluded(document: OutcomeDocument) -> Outcome:
    """What a review concludes, as its exit code says: an approval can call a person, too."""
    return Outcome.ESCALATED if document.exit_code == EXIT_CODES[Outcome.ESCALATED] else document.outcome


@dataclass(frozen=True, slots=True)
class ReviewUnderBoth:
    """One stored review, and what it would have been ``otherwise``.

    ``posted_before`` and ``posted_after`` are the ids of the findings with a new comment; None where that is unknown.
    """

    before: OutcomeDocument
    otherwise: Otherwise
    posted_before: frozenset[str] | None
    posted_after: frozenset[str] | None

    @property
    def after(self) -> OutcomeDocument | None:
        """The review as it would have been; None where nobody knows it."""
        return self.otherwise.document

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

    @property
    def passed(self) -> frozenset[str] | None:
        """The findings that blocked and would not block; None where that is unknown."""
        return None if self.after is None else blocking_findings(self.before) - blocking_findings(self.after)

    @property
    def usd_after(self) -> float | None:
        """US dollars that it would have cost; None where that is unknown."""
        return None if self.after is None else usd_of(self.after)

    def as_json(self, prices: Iterable[Price]) -> dict[str, Any]:
        """Run, conclusions, comments, money and what is unknown; null stands for unknown."""
        before, after = self.ends
        missed, passed = self.missed, self.passed
        return {
            "run_id": self.before.run_id,
            "before": before,
            "after": None if self.after is None else after,
            "posted_before": None if self.posted_before is None else len(self.posted_before),
            "posted_after": None if self.posted_after is None else len(self.posted_after),
            "missed": None if missed is None else sorted(missed),
            "no_longer_blocking": None if passed is None else sorted(passed),
            "usd_before": usd_of(self.before),
            "usd_after": self.usd_after,
            "unknown": list(self.otherwise.unknown),
            "would_ask": wanted_money(self.otherwise.questions, prices).as_json(),
        }


def usd_of(document: OutcomeDocument) -> float:
    """US dollars that the calls of a review reported. What an earlier run has paid for is that run's."""
    return round(spent(e for e in document.events if isinstance(e, CallEnded) and not e.kept).cost_usd, 6)


def both_as_json(
    reviews: Sequence[ReviewUnderBoth], left_out: Sequence[str], prices: Sequence[Price]
) -> dict[str, Any]:
    """Every review, the sums over those whose result is known, and what was left out."""
    totals = {**_totals(reviews), "would_ask": _would_ask(reviews, prices).as_json()}
    return {"reviews": [each.as_json(prices) for each in reviews], "totals": totals, "left_out": list(left_out)}


def _would_ask(reviews: Sequence[ReviewUnderBoth], prices: Iterable[Price]) -> WantedMoney:
    return wanted_money((one for each in reviews for one in each.otherwise.questions), prices)


def _totals(reviews: Sequence[ReviewUnderBoth]) -> dict[str, Any]:
    known = [each for each in reviews if each.after is not None]
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
    """How many reviews are known, which way they went, what they post and cost, and why something is unknown."""
    sums = _totals(reviews)
    ends = Counter(each.ends for each in reviews)
    rows = [("before", "after", "reviews"), *((was, now, str(count)) for (was, now), count in sorted(ends.items()))]
    shown = f"of {counted(sums['posted_known'], 'review')} whose comments are known"
    missed = f"missed: {counted(sums['missed'], 'finding')} would have had no comment"
    lines = [
        f"known: {sums['reviews'] - sums['unknown']} of {counted(sums['reviews'], 'review')}\n",
        table(rows),
        f"spent: ${sums['usd_before']:.4f} before, ${sums['usd_after']:.4f} after, of the known reviews\n",
        f"posted: {counted(sums['posted_before'], 'comment')} before, {sums['posted_after']} after, {shown}\n",
        f"{missed}, {sums['no_longer_blocking']} would not have blocked\n",
        f"asked: nobody; {counted(sums['answers_kept'], 'kept answer')} decided\n",
    ]
    reasons = Counter(why for each in reviews for why in each.otherwise.unknown)
    if reasons:
        lines.append(f"unknown: {counted(sums['unknown'], 'review')}\n")
        lines += [f"  {count} x {printable_line(why)}\n" for why, count in reasons.most_common()]
        wanted = _would_ask(reviews, prices)
        lines += [f"  {wanted.words()}\n"] if wanted.questions else []
    return "".join(lines)


def posted_anew(
    documents: Iterable[OutcomeDocument | None], rules: PublicationRules
) -> tuple[frozenset[str] | None, ...]:
    """The ids of the findings that each review gets a new comment for; None from the first unknown review on."""
    before: State | None = None
    posted: set[str] = set()
    found: list[frozenset[str] | None] = []
    known = True
    for document in documents:
        known = known and document is not None
        if document is None or not known:
            found.append(None)
            continue
        narrowing = replace(rules.narrowing(round_of(before, document)), few=council_findings(document.events).few)
        decided = postings(document.findings, blocking_findings(document), posted, narrowing)
        shown = document.outcome is not Outcome.STOPPED
        fresh = frozenset(each.finding.id for each in decided if each.allowed and shown)
        posted |= fresh
        found.append(fresh)
        before = state_after(before, document, asked=False)
    return tuple(found)
