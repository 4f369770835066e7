"""How much of a change the executor is shown."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from review_advisor.change.change import Change, FileChange
from review_advisor.change.kinds import Kind, kind_of
from review_advisor.policy.escalation_rules import NO_ESCALATION
from review_advisor.policy.policy import Policy, Rules, watched_paths
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.roster import Advisor


@dataclass(frozen=True, slots=True)
class Scope:
    """``since`` is the head that was reviewed before; None: the whole change. Judges always see the whole change."""

    since: str | None
    because: tuple[str, ...]


WHOLE = Scope(None, ("this is the first review",))


def review_scope(change: Change, policy: Policy, shards: int) -> Scope:
    """Whether the last review may be built on (DESIGN 7): only if nothing but the head has moved."""
    earlier = change.earlier
    if earlier is None:
        return WHOLE
    against = [
        (not earlier.is_ancestor, "the history was rewritten since the last review"),
        (earlier.base_sha != change.base_sha, "the base has moved since the last review"),
        (earlier.rules_sha != (change.rules_sha or ""), "the commit whose configuration holds is another one"),
        (earlier.policy_digest != policy_digest(policy), "the policy has changed since the last review"),
        (not earlier.complete, "the last review was not complete"),
        (policy.blast.radius is BlastRadius.HIGH, "the blast radius is high"),
        (shards > 1, "the change does not fit one call"),
        (not unseen_files(change), "nothing in the change differs since the last review"),
    ]
    because = tuple(words for holds, words in against if holds)
    if because:
        return Scope(None, because)
    return Scope(earlier.head_sha, ("only the head has moved since a complete review",))


def unseen_files(change: Change) -> tuple[FileChange, ...]:
    """The files that differ since the last review, in their order; all of them where there was none."""
    if change.earlier is None:
        return change.files
    return tuple(file for file in change.files if not change.earlier.paths.isdisjoint(file.paths))


def files_to_show(change: Change, scope: Scope) -> tuple[FileChange, ...]:
    """The files that the executor has to see: those that differ, and each with a finding that is still open.

    Without the latter an approval could stand over a finding that nobody looked at again.
    """
    if scope.since is None or change.earlier is None:
        return change.files
    again = change.earlier.paths | {each.path for each in change.earlier.findings if each.status == "open"}
    return tuple(file for file in change.files if not again.isdisjoint(file.paths))


def policy_digest(policy: Policy) -> str:
    """Stands for the configuration and the switches that a review was decided under.

    What the change itself brings about is left out: blast radius, guard and triggers are looked at afresh each time.
    """
    rows = [
        (
            row.surface.value,
            row.executor_model,
            row.advisor_model,
            row.left_out_by,
            sorted((role.value, decision.disabled_by or "") for role, decision in row.roles.items()),
        )
        for row in policy.surfaces
    ]
    budgets = asdict(policy.budgets)
    for by_size in ("max_usd", "review_seconds"):
        budgets.pop(by_size)
    if budgets["max_consult_tokens"] is None:
        budgets.pop("max_consult_tokens")
    facts = [rows, policy.fail_as_veto, policy.fail_on_degraded, policy.shard_tokens, policy.wants_knowledge, budgets]
    facts += [policy.blind.runs, asdict(policy.outage), policy.language, policy.excluded.globs]
    facts.append(list(map(_advisor_facts, policy.roster.advisors)))
    facts += [] if policy.escalation == NO_ESCALATION else [asdict(policy.escalation)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _advisor_facts(advisor: Advisor) -> dict[str, Any]:
    """What is declared of an advisor; that a path has added it is brought about by the change."""
    facts = asdict(advisor)
    facts.pop("by_path")
    if not advisor.inline:
        facts.pop("inline")
    if not advisor.temperament:
        facts.pop("temperament")
    return facts


_AFTER_CRITICAL = (
    (Kind.CODE,),
    (Kind.LOCK, Kind.GENERATED, Kind.VENDORED),
    (Kind.TESTS,),
    (Kind.DOCS,),
)
"""Files of these kinds come after the critical ones, in this order."""


def most_dangerous_first(change: Change, rules: Rules) -> Change:
    """The same change with its files in the order of reading: critical paths and the bot's own implementation first.

    Files of one rank keep their order, so the parts are the same each time.
    """
    watched = watched_paths(change, rules)

    def rank(file: FileChange) -> int:
        if not watched.isdisjoint(file.paths):
            return 0
        kind = kind_of(file)
        return next(place for place, kinds in enumerate(_AFTER_CRITICAL, 1) if kind in kinds)

    return replace(change, files=tuple(sorted(change.files, key=rank)))
