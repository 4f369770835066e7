"""The other settings under which a stored review is decided once more. What they leave out stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Consulted, PolicyFrozen
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import consults_left, surface_retry_budget
from review_advisor.core.policy.exclusion import excluding_glob
from review_advisor.core.policy.policy import Policy, SurfacePolicy


@dataclass(frozen=True, slots=True)
class OtherRules:
    """What is tried; None stands for what held in the review itself.

    ``retries`` is the table of retries by blast radius, ``max_usd`` the most that one review may spend,
    ``usd_by_blast`` the money of each part, and ``exclude`` the globs of files that nobody reads.
    """

    retries: Mapping[BlastRadius, int] | None = None
    fail_as_veto: bool | None = None
    fail_on_degraded: bool | None = None
    max_consults: int | None = None
    max_usd: float | None = None
    usd_by_blast: Mapping[BlastRadius, float] | None = None
    exclude: tuple[str, ...] | None = None

    def row(self, policy: Policy, row: SurfacePolicy) -> SurfacePolicy:
        """The row of a surface: its retries follow from its blast radius and its authority."""
        if self.retries is None:
            return row
        budget = surface_retry_budget(row.surface, policy.blast.radius, row.authority, self.retries)
        return replace(row, retry_budget=budget)

    def policy(self, policy: Policy, shards: int) -> Policy:
        """The whole policy. Money is never more than the review had: what it would have needed nobody knows."""
        budgets = policy.budgets
        given = None if self.usd_by_blast is None else self.usd_by_blast.get(policy.blast.radius)
        most = budgets.max_usd if given is None else given * max(1, shards)
        most = most if self.max_usd is None else min(most, self.max_usd)
        consults = budgets.max_consults if self.max_consults is None else self.max_consults
        degraded = policy.fail_on_degraded if self.fail_on_degraded is None else self.fail_on_degraded
        return replace(
            policy,
            surfaces=tuple(self.row(policy, row) for row in policy.surfaces),
            budgets=replace(budgets, max_usd=most, max_consults=consults),
            fail_as_veto=policy.fail_as_veto if self.fail_as_veto is None else self.fail_as_veto,
            fail_on_degraded=degraded,
        )


def asked_otherwise(first: PolicyFrozen, document: OutcomeDocument, other: OtherRules) -> Iterator[str]:
    """Each question that would not have been asked, or would have been another one: its answer nobody knows."""
    yield from _excluded(first, other)
    policy = other.policy(first.policy, first.shards)
    was, now = first.policy.budgets, policy.budgets
    calls = [each for each in document.events if isinstance(each, CallEnded)]
    paid = sum(each.usage.cost_usd or 0.0 for each in calls if not each.kept)
    if now.max_usd < was.max_usd and paid > now.max_usd:
        yield f"the review cost ${paid:.2f}: at ${now.max_usd:.2f} a call would have been refused or cut short"
    if now.max_usd > was.max_usd and any(each.reason == "money" for each in calls):
        yield "a call that was refused for its money would have been made"
    used = failed = 0
    for each in document.events:
        if not isinstance(each, Consulted):
            continue
        note = each.note
        if note.status == "denied" and now.max_consults > was.max_consults:
            yield "a consult that was refused would have been answered"
            return
        if note.asked and consults_left(now, used, failed) == 0 and now.max_consults < was.max_consults:
            yield f"consult {used + 1} would have been refused"
            return
        used += note.asked
        failed += note.status == "failed"


def _excluded(first: PolicyFrozen, other: OtherRules) -> Iterator[str]:
    before = first.policy.excluded
    if other.exclude is None or other.exclude == before.globs:
        return
    unread = {each.path for each in before.files}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    for file in first.files:
        left_out = excluding_glob(other.exclude, file.path) is not None and file.path not in watched
        if left_out and file.shards:
            yield f"{shown_path(file.path)} would have been left out"
        elif file.path in unread and not left_out:
            yield f"{shown_path(file.path)} would have been read"
