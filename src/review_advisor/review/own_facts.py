"""Whether an outcome is of the change that the forge shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from review_advisor.change.kinds import PathRule
from review_advisor.policy.budgets import review_seconds
from review_advisor.policy.exclusion import excluding_glob
from review_advisor.policy.policy import Policy, Rules, money_for
from review_advisor.policy.roster import Advisor, Roster
from review_advisor.review.events import PolicyFrozen

UNREADABLE = "\ufffd"
"""In a path it stands for bytes that are no text: such a name reads otherwise in git."""


@dataclass(frozen=True, slots=True)
class OwnFacts:
    """What whoever publishes knows without the outcome."""

    paths: tuple[str, ...]
    """All names in the change, as the forge lists them, old ones of renamed files too."""
    rules: Rules
    implementation: tuple[str, ...]
    """The globs of the bot's own files."""
    fail_as_veto: bool
    redact: Callable[[str], str]
    """What the outcome's texts have passed."""
    watched: tuple[str, ...] = ()
    """The changed workflows that concern the bot."""
    modified: tuple[str, ...] = ()
    """The files that stand under one name on both sides."""
    cut: bool = False
    """There may be more files than the forge lists."""
    of_map: tuple[Advisor, ...] = ()
    """The advisors that the repository's map of paths adds for some path."""
    committed: tuple[tuple[str, str], ...] = ()
    """Path and kind of the secrets of a known issuer that the forge's patches add."""
    dismissed: frozenset[str] = frozenset()
    """The ids of the findings that people have dismissed."""
    unseen: tuple[str, ...] = ()
    """The changed files of which the forge shows no whole patch."""

    def is_own(self, path: str) -> bool:
        """Whether a changed path is part of the bot's own implementation."""
        return path in self.watched or PathRule(self.implementation).matches(path)


def contradiction(first: PolicyFrozen, known: OwnFacts) -> str | None:
    """What the record of a review leaves out or makes milder, in a few words; None if nothing is.

    A record may be stricter than what is known. Kinds of files, numbers of lines and modes are not compared: the forge
    does not tell them, or counts in another way.
    """
    paths = [path for path in known.paths if UNREADABLE not in path]
    recorded = {path for file in first.files for path in (file.path, file.old_path) if path is not None}
    left_out = [path for path in map(known.redact, paths) if path not in recorded]
    if left_out:
        return f"its record leaves out {left_out[0]!r}, which the pull request changes"
    policy = first.policy
    for touched, covers, what in (
        (policy.critical_touched, known.rules.critical_paths.matches, "is a critical path"),
        (policy.guard.paths, known.is_own, "is part of the bot's own implementation"),
    ):
        unsaid = _unsaid(paths, covers, touched, known.redact)
        if unsaid is not None:
            return f"its policy does not say that {unsaid!r} {what}"
    unread = {each.path for each in policy.excluded.files}
    if known.cut:  # of what the forge does not list, the name alone can be checked
        listed = {known.redact(path) for path in known.paths}
        unread = {path for path in unread if path in listed or excluding_glob(known.rules.exclude, path) is None}
    may_be = {known.redact(path) for path in known.modified if excluding_glob(known.rules.exclude, path) is not None}
    if not unread <= may_be:
        return f"it leaves {min(unread - may_be)!r} unread, which the configuration does not exclude"
    return _of_other_secrets(first, known) or _milder(policy, known, first.shards)


def _of_other_secrets(first: PolicyFrozen, known: OwnFacts) -> str | None:
    """Which secret the record leaves out, or calls settled.

    Places are not compared: two diffs may disagree on which of equal lines are new. Nor is a file of which the forge
    knows no rename, and the record one: then the forge calls more lines new.
    """
    samples = {known.redact(path) for path in known.paths if known.rules.holds_samples(path)}
    for each in first.secrets:
        if each.settled == "sample" and each.path not in samples and not known.cut:
            return f"it calls a secret in {each.path!r} a sample, which the configuration does not"
        if each.settled == "dismissed" and each.finding not in known.dismissed:
            return f"it calls a secret in {each.path!r} dismissed, which nobody has"
    named = {(each.path, each.kind) for each in first.secrets}
    there, modified = set(map(known.redact, known.paths)), set(map(known.redact, known.modified))
    moved = {file.path for file in first.files if file.old_path in there} - modified
    unread = {each.path for each in first.unsent if each.extent in ("not", "excluded")} | moved
    for path, kind in known.committed:
        shown = known.redact(path)
        if UNREADABLE not in path and shown not in unread and (shown, kind) not in named:
            return f"it names no {kind} in {shown!r}, which the pull request commits"
    return None


def _unsaid(
    paths: Iterable[str], covers: Callable[[str], bool], recorded: tuple[str, ...], redact: Callable[[str], str]
) -> str | None:
    return next((redact(path) for path in paths if covers(path) and redact(path) not in recorded), None)


def _milder(policy: Policy, known: OwnFacts, shards: int) -> str | None:
    """Which setting of the policy is milder than that of the configuration."""
    rules, budgets = known.rules, policy.budgets
    if policy.mode != rules.mode:
        return f"its review ran in mode {policy.mode}, and the configuration says {rules.mode}"
    if rules.fail_on_degraded and not policy.fail_on_degraded:
        return "its policy leaves out `fail_on` of the configuration"
    if known.fail_as_veto and not policy.fail_as_veto:
        return "its policy leaves out HYDRAFLOW_REVIEW_POSTVERIFY_FAIL_AS_VETO"
    of_roster = _of_another_roster(policy.roster, known)
    if of_roster is not None:
        return of_roster
    if rules.escalation.caps is not None and policy.static is None and policy.escalation != rules.escalation:
        return "its policy leaves out `escalation` of the configuration"
    full = shards * rules.shard_tokens
    council = replace(rules, roster=policy.roster)
    usd = money_for(council, policy.surfaces, shards, full, blind=rules.metadata_blind)
    most = (
        ("USD", budgets.max_usd, usd),
        ("seconds for a call", budgets.call_seconds, rules.call_seconds),
        (
            "seconds for the review",
            budgets.review_seconds,
            review_seconds(rules.review_seconds, shards, panel=len(policy.roster.panel)),
        ),
    )
    for unit, granted, allowed in most:
        if granted > allowed:
            return f"its policy allows {granted:g} {unit}, and the configuration {allowed:g}"
    return None


def _of_another_roster(recorded: Roster, known: OwnFacts) -> str | None:
    """What makes a roster milder than the known one.

    Every known advisor has to be in it as declared. A further one could outvote them, and brings money of its own, so
    where not every path is known it has to be one that the map of paths adds for some path.
    """
    named = known.rules.roster.advisors
    missing = [each.id for each in named if each not in recorded.advisors]
    if missing:
        return f"its policy leaves out the advisor {missing[0]!r} of the configuration, or changes it"
    may_join = known.of_map if known.cut or any(UNREADABLE in path for path in known.paths) else ()
    further = [each.id for each in recorded.advisors if each not in (*named, *may_join)]
    return f"its policy adds the advisor {further[0]!r}, whom the configuration does not name" if further else None
