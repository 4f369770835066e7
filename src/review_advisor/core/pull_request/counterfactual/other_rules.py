"""The other settings under which a stored review is decided once more. What they leave out stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.metrics.prices import Price
from review_advisor.core.outcome.cost import counted_money
from review_advisor.core.outcome.events import CallEnded, Consulted, Event, PolicyFrozen
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import consults_left, surface_retry_budget
from review_advisor.core.policy.escalation_rules import Threshold
from review_advisor.core.policy.exclusion import excluding_glob
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.pull_request.counterfactual.other_roster import asked_by_others, roster_otherwise
from review_advisor.core.pull_request.counterfactual.would_ask import Unknown, like
from review_advisor.core.roster.advisor import Roster


@dataclass(frozen=True, slots=True)
class OtherRules:
    """What is tried; None stands for what held in the review itself.

    ``retries`` is the table of retries by blast radius, ``max_usd`` the most that one review may spend,
    ``usd_by_blast`` the money of each part, and ``exclude`` the globs of files that nobody reads. ``prices`` are what
    every call costs, ``thresholds`` the confidence that is enough, and ``roster`` who is asked.
    """

    retries: Mapping[BlastRadius, int] | None = None
    fail_as_veto: bool | None = None
    fail_on_degraded: bool | None = None
    max_consults: int | None = None
    max_usd: float | None = None
    usd_by_blast: Mapping[BlastRadius, float] | None = None
    exclude: tuple[str, ...] | None = None
    prices: tuple[Price, ...] | None = None
    thresholds: tuple[Threshold, ...] | None = None
    roster: Roster | None = None

    def row(self, policy: Policy, row: SurfacePolicy) -> SurfacePolicy:
        """The row of a surface: its retries follow from its blast radius and its authority."""
        if self.retries is None:
            return row
        budget = surface_retry_budget(row.surface, policy.blast.radius, row.authority, self.retries)
        return replace(row, retry_budget=budget)

    def policy(self, policy: Policy, first: PolicyFrozen) -> Policy:
        """The whole policy of a review, or of a part after a repair. Money stays what it is given here or was."""
        budgets = policy.budgets
        given = None if self.usd_by_blast is None else self.usd_by_blast.get(policy.blast.radius)
        most = budgets.max_usd if given is None else given * max(1, first.shards)
        most = most if self.max_usd is None else min(most, self.max_usd)
        consults = budgets.max_consults if self.max_consults is None else self.max_consults
        degraded = policy.fail_on_degraded if self.fail_on_degraded is None else self.fail_on_degraded
        thresholds = policy.escalation.thresholds if self.thresholds is None else self.thresholds
        return replace(
            policy,
            escalation=replace(policy.escalation, thresholds=thresholds),
            roster=policy.roster if self.roster is None else roster_otherwise(first, self.roster),
            surfaces=tuple(self.row(policy, row) for row in policy.surfaces),
            budgets=replace(budgets, max_usd=most, max_consults=consults),
            fail_as_veto=policy.fail_as_veto if self.fail_as_veto is None else self.fail_as_veto,
            fail_on_degraded=degraded,
        )


def asked_otherwise(
    first: PolicyFrozen, events: Sequence[Event], other: OtherRules, *, paid_before: float
) -> Iterator[Unknown]:
    """Each question that would not have been asked, or would have been another one: its answer nobody knows.

    ``events`` have the costs that hold under the other rules; as they were recorded, they came to ``paid_before``:
    money as the limits of a review count it.
    """
    calls = [each for each in events if isinstance(each, CallEnded)]
    yield from _excluded(first, other, calls)
    policy = other.policy(first.policy, first)
    yield from asked_by_others(first.policy.roster, policy.roster, calls)
    was, now = first.policy.budgets, policy.budgets
    paid = counted_money(events).usd
    if paid > now.max_usd and (now.max_usd < was.max_usd or paid > paid_before):
        would = "cost" if paid == paid_before else "would have cost"
        yield Unknown(
            f"the review {would} ${paid:.2f}: at ${now.max_usd:.2f} a call would have been refused or cut short"
        )
    cheaper = now.max_usd > was.max_usd or paid < paid_before
    refused = [each for each in calls if each.reason == "money"]
    if cheaper and refused:
        yield Unknown("a call that was refused for its money would have been made", like(refused))
    used = failed = 0
    for each in events:
        if not isinstance(each, Consulted):
            continue
        note, its = each.note, [call for call in calls if call.number == each.number]
        if note.status == "denied" and now.max_consults > was.max_consults:
            yield Unknown("a consult that was refused would have been answered", like(its))
            return
        if note.asked and consults_left(now, used, failed) == 0 and now.max_consults < was.max_consults:
            yield Unknown(f"consult {used + 1} would have been refused", like(its, Role.EXECUTOR))
            return
        used += note.asked
        failed += note.status == "failed"


def _excluded(first: PolicyFrozen, other: OtherRules, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    before = first.policy.excluded
    if other.exclude is None or other.exclude == before.globs:
        return
    unread = {each.path for each in before.files}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    for file in first.files:
        left_out = excluding_glob(other.exclude, file.path) is not None and file.path not in watched
        if left_out and file.shards:
            yield Unknown(f"{shown_path(file.path)} would have been left out", like(calls))
        elif file.path in unread and not left_out:
            yield Unknown(f"{shown_path(file.path)} would have been read", like(calls))
