"""What the policy's digest stands for: whatever changes what is judged, and nothing that the change brings about."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.budgets import Budgets
from review_advisor.policy.escalation_rules import EscalationRules
from review_advisor.policy.exclusion import Exclusion, StaticReview
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.policy import Policy, RoleDecision, SurfacePolicy
from review_advisor.policy.risk import Blast, BlastRadius, Guard
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.scope import policy_digest
from review_advisor.policy.surfaces import ADVISOR_ROLES, Authority, Role, Surface

OFF = RoleDecision(runs=False, because=("switched off",), disabled_by="SOME_SWITCH")
TRIGGERED = RoleDecision(runs=True, because=("a critical path",))

COUNTS: dict[type, dict[str, Any]] = {
    Policy: {
        "surfaces": (),
        "fail_as_veto": True,
        "fail_on_degraded": True,
        "shard_tokens": 2_000,
        "wants_knowledge": True,
        "blind": RoleDecision(runs=True, because=("on",)),
        "outage": OutageRules(60.0, ("haiku",)),
        "language": "German",
        "excluded": Exclusion(("dist/",)),
        "escalation": EscalationRules("attrition"),
        "roster": Roster((ADR_ADVISOR, Advisor("scribe", "Reads the documentation."))),
    },
    SurfacePolicy: {
        "surface": Surface.ADR_REVIEW,
        "executor_model": "another",
        "advisor_model": "another",
        "left_out_by": "SOME_SWITCH",
    },
    Budgets: {"call_seconds": 1.0, "max_consults": 1, "max_refunds": 1, "max_consult_tokens": 1},
}
"""Fields that stand for the configuration and the switches, each with another value."""
DOES_NOT_COUNT: dict[type, dict[str, Any]] = {
    Policy: {
        "blast": Blast(BlastRadius.HIGH, ("more",)),
        "guard": Guard(("CLAUDE.md",)),
        "critical_touched": ("auth/x.py",),
        "code_lines": 4_000,
        "static": StaticReview(("Go",)),
        "consult_requested": True,
        "risky": ("src/a.py: builds SQL",),
        "repair": RoleDecision(runs=False, because=("two parts",)),
        "mode": "shadow",
    },
    SurfacePolicy: {
        "authority": Authority.ADVISORY,
        "authority_because": "the self-modification guard holds",
        "retry_budget": 3,
    },
    Budgets: {"max_usd": 9.0, "review_seconds": 2_400.0},
}
"""What the change itself brings about, which is looked at afresh each time; and what is only done with the outcome."""
OWN_FIELDS = ("budgets", "roles")
"""What is looked at part by part."""


def policy() -> Policy:
    return MockWorld().review().policy


def changed(kind: type, name: str, value: Any) -> Policy:
    whole = policy()
    if kind is Policy:
        return replace(whole, **{name: value})
    if kind is Budgets:
        return replace(whole, budgets=replace(whole.budgets, **{name: value}))
    first, *others = whole.surfaces
    return replace(whole, surfaces=(replace(first, **{name: value}), *others))


def rows(table: dict[type, dict[str, Any]]) -> list[tuple[type, str, Any]]:
    return [(kind, name, value) for kind, values in table.items() for name, value in values.items()]


@pytest.mark.parametrize("kind,name,value", rows(COUNTS))
def test_what_is_configured_changes_the_digest(kind: type, name: str, value: Any) -> None:
    other = changed(kind, name, value)
    assert other != policy()
    assert policy_digest(other) != policy_digest(policy())


@pytest.mark.parametrize("kind,name,value", rows(DOES_NOT_COUNT))
def test_what_the_change_brings_about_does_not(kind: type, name: str, value: Any) -> None:
    other = changed(kind, name, value)
    assert other != policy()
    assert policy_digest(other) == policy_digest(policy())


def decided(role: Role, decision: RoleDecision) -> Policy:
    return changed(SurfacePolicy, "roles", {**policy().surfaces[0].roles, role: decision})


@pytest.mark.parametrize("role", ADVISOR_ROLES)
def test_a_switch_on_any_role_changes_the_digest_and_a_trigger_does_not(role: Role) -> None:
    assert policy_digest(decided(role, OFF)) != policy_digest(policy())
    assert decided(role, TRIGGERED) != policy()
    assert policy_digest(decided(role, TRIGGERED)) == policy_digest(policy())


@pytest.mark.parametrize("kind", [Policy, SurfacePolicy, Budgets])
def test_every_field_is_one_or_the_other(kind: type) -> None:
    """A new field has to be put into one of the two tables."""
    known = {*COUNTS[kind], *DOES_NOT_COUNT[kind], *OWN_FIELDS}
    assert {each.name for each in fields(kind)} - known == set()
