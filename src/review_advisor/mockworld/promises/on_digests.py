"""The promises about digests: what a later review is compared with says everything that decided, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from review_advisor.core.policy.blast import Blast, BlastRadius
from review_advisor.core.policy.guard import Guard
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.scope import policy_digest
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.policy.switches import read_switches
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.mockworld.stories.stage import PlayedReview

BROUGHT_ALONG = frozenset({"max_usd", "review_seconds"})
"""A budget that the change itself makes larger."""
HELD_ON = {
    Role.PRE_FLIGHT: {"pr_review", "adr_review"},
    Role.MID_FLIGHT: {"pr_review", "pre_merge_spec_check"},
    Role.POST_VERIFY: {"pr_review", "pre_merge_spec_check", "adr_review", "visual_gate", "wiki_ingest"},
}
"""ADR-0059's matrix: where a role runs that a switch may turn off. The specification's plan is that of pr_review."""
LEFT_OUT = {"adr_review"}
"""The surfaces that do not run at all where their own switch is off."""


def the_same_settings_have_one_digest(reading: Reading) -> Iterator[str]:
    """A review and the one before it have one policy digest if their settings agree, and two if they do not."""
    mine = reading.review
    for other in reading.earlier[-1:]:
        if mine.document is None or other.document is None:
            continue
        same = policy_digest(mine.document.policy) == policy_digest(other.document.policy)
        if same != (_settings(mine) == _settings(other)):
            yield f"the digests of reviews {other.number} and {mine.number} are {'the same' if same else 'two'}"


def _settings(review: PlayedReview) -> object:
    """What the environment says of the surfaces that ran; the configuration is one in all of a story."""
    switches = read_switches(review.environment)
    rows = review.document.policy.surfaces if review.document is not None else ()
    return (
        switches.fail_as_veto,
        switches.max_consults,
        [
            (
                row.surface,
                switches.advisor_models[row.surface],
                switches.executor_models[row.surface],
                row.surface not in LEFT_OUT or switches.surfaces[row.surface],
                {role: switches.disabled_by(role, row.surface) for role in row.roles if row.surface in HELD_ON[role]},
            )
            for row in rows
        ],
    )


def every_setting_is_in_the_policys_digest(reading: Reading) -> Iterator[str]:
    """Each setting changes the digest; what the change itself brings does not."""
    document = reading.review.document
    if document is None:
        return
    policy = document.policy
    before = policy_digest(policy)
    for name, other in _other_settings(policy):
        if policy_digest(other) == before:
            yield f"{name} is not in the digest"
    for name, other in _other_changes(policy):
        if policy_digest(other) != before:
            yield f"{name} is in the digest, and the change itself decides it"


def _other_settings(policy: Policy) -> Iterator[tuple[str, Policy]]:
    yield "fail_as_veto", replace(policy, fail_as_veto=not policy.fail_as_veto)
    yield "fail_on_degraded", replace(policy, fail_on_degraded=not policy.fail_on_degraded)
    yield "shard_tokens", replace(policy, shard_tokens=policy.shard_tokens + 1)
    yield "wants_knowledge", replace(policy, wants_knowledge=not policy.wants_knowledge)
    yield "metadata_blind", replace(policy, blind=replace(policy.blind, runs=not policy.blind.runs))
    for budget in fields(policy.budgets):
        if budget.name not in BROUGHT_ALONG:
            more = replace(policy.budgets, **{budget.name: (getattr(policy.budgets, budget.name) or 0) + 1})
            yield budget.name, replace(policy, budgets=more)
    first, *others = policy.surfaces
    yield "the advisor's model", replace(policy, surfaces=(replace(first, advisor_model="another"), *others))
    yield "the executor's model", replace(policy, surfaces=(replace(first, executor_model="another"), *others))


def _other_changes(policy: Policy) -> Iterator[tuple[str, Policy]]:
    radius = BlastRadius.LOW if policy.blast.radius is BlastRadius.HIGH else BlastRadius.HIGH
    yield "the blast radius", replace(policy, blast=Blast(radius, ("because",)))
    yield "the guard", replace(policy, guard=Guard(("CLAUDE.md",) if not policy.guard.holds else ()))
    yield "the money", replace(policy, budgets=replace(policy.budgets, max_usd=policy.budgets.max_usd + 1))
    longer = policy.budgets.review_seconds + 1
    yield "the wall clock", replace(policy, budgets=replace(policy.budgets, review_seconds=longer))
