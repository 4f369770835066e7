"""A repair played again: what holds for the change with it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from review_advisor.core.escalation.reasons import refused_question
from review_advisor.core.outcome.events import PolicyFrozen, Repaired
from review_advisor.core.outcome.replayed.replayed_advice import watched_in
from review_advisor.core.outcome.replayed.steps_in_order import Unsound, require
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import surface_retry_budget
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Authority
from review_advisor.core.roles.mid_flight import ConsultNote, stop_signal, unanswered_critical

_RADII = tuple(BlastRadius)


def weighed(policy: Policy, row: SurfacePolicy, told: Repaired) -> tuple[Policy, SurfacePolicy]:
    """What holds for the change with the repair in it: nothing that is milder than for the head."""
    if told.blast is None or told.guard is None:
        raise Unsound("an accepted repair has no blast radius or no guard")
    milder = _RADII.index(told.blast.radius) < _RADII.index(policy.blast.radius)
    milder = milder or not set(policy.guard.paths) <= set(told.guard.paths)
    require(not milder, "a repair lowers the blast radius or takes paths out of the guard")
    authority = Authority.VETO if told.guard.holds else row.authority
    budget = surface_retry_budget(row.surface, told.blast.radius, authority)
    return replace(policy, guard=told.guard, blast=told.blast), replace(row, authority=authority, retry_budget=budget)


def left_open(first: PolicyFrozen, policy: Policy, tree: str, consults: Sequence[ConsultNote]) -> str | None:
    """A critical question that the consult cap refused. The events do not name all files of a repaired change."""
    paths = None if tree else (path for file in first.files for path in file.paths)
    return unanswered_critical(consults, policy.critical_touched, paths)


def calls_a_person(
    first: PolicyFrozen, policy: Policy, row: SurfacePolicy, shard: int, tree: str, *, consults: Sequence[ConsultNote]
) -> str | None:
    """Why the consults of an attempt send its report to a human, or None."""
    refused = refused_question(watched_in(first, policy, row, shard), consults)
    return stop_signal(consults) or refused or left_open(first, policy, tree, consults)
