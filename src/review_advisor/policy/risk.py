"""Blast radius, self-modification guard and pre-flight trigger."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from review_advisor.change.change import Change
from review_advisor.change.ci_files import WORKFLOW_FOLDER, watched
from review_advisor.change.kinds import (
    NEVER_REPAIRED,
    OWN_IMPLEMENTATION_ANYWHERE,
    OWN_IMPLEMENTATION_HERE,
    OWN_NAME,
    PathRule,
)


class BlastRadius(StrEnum):
    """The tiers of ADR-0059 (R-2)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


MEDIUM_ABOVE_LINES = 200


@dataclass(frozen=True, slots=True)
class Blast:
    """The tier and its reasons."""

    radius: BlastRadius
    because: tuple[str, ...]


def blast_radius(
    critical: tuple[str, ...], own_implementation: tuple[str, ...], code_lines: int, risky: tuple[str, ...] = ()
) -> Blast:
    """High for a critical path on either side or for self-modification; medium for many lines or a risky subject."""
    reasons = [f"critical path touched: {path}" for path in critical]
    reasons += [f"the bot's own implementation touched: {path}" for path in own_implementation]
    if reasons:
        return Blast(BlastRadius.HIGH, tuple(reasons))
    if code_lines > MEDIUM_ABOVE_LINES:
        return Blast(BlastRadius.MEDIUM, (f"{code_lines} changed lines of code, more than {MEDIUM_ABOVE_LINES}",))
    if risky:
        return Blast(BlastRadius.MEDIUM, tuple(f"changed code {deals}" for deals in risky))
    return Blast(BlastRadius.LOW, (f"{code_lines} changed lines of code, no critical path",))


_ORDERS = PathRule((*OWN_IMPLEMENTATION_ANYWHERE, *NEVER_REPAIRED))


@dataclass(frozen=True, slots=True)
class Guard:
    """Whether the change touches the bot's own implementation, and where."""

    paths: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """True forces veto authority, a high blast radius, and escalation of a missing post-verify."""
        return bool(self.paths)


def guard(change: Change, own_globs: tuple[str, ...], check_name: str = OWN_NAME) -> Guard:
    """Look at both sides of every path, before any classification; of CI only at what concerns the bot."""
    own = PathRule(own_implementation(change, own_globs)).touched_by(change.files)
    return Guard(tuple(dict.fromkeys((*own, *watched(change, check_name)))))


def own_implementation(change: Change, own_globs: tuple[str, ...]) -> tuple[str, ...]:
    """The globs of the bot's own implementation in this repository.

    ``own_globs`` are what its configuration adds: the file that it was read from, wherever it stands, and the files of
    the team's own rules.
    """
    return implementation_globs(own_globs, here=change.own_repository, pyproject=change.config_in_pyproject)


def implementation_globs(own_globs: tuple[str, ...], *, here: bool, pyproject: bool) -> tuple[str, ...]:
    """The same for whoever has no change. ``here``: it is the bot's own repository; ``pyproject`` may configure it."""
    patterns = OWN_IMPLEMENTATION_ANYWHERE + own_globs
    if here:
        patterns += OWN_IMPLEMENTATION_HERE
    if pyproject:
        patterns += ("/pyproject.toml",)
    return patterns


def gives_orders(path: str) -> bool:
    """Whether a file at ``path`` tells the bot, CI, git, an editor or an agent what to do, in whichever repository."""
    return _ORDERS.matches(path)


def every_implementation() -> tuple[str, ...]:
    """The globs for whoever does not know the repository: those of any, and those of the bot's own."""
    return (*OWN_IMPLEMENTATION_ANYWHERE, WORKFLOW_FOLDER, *OWN_IMPLEMENTATION_HERE)


MANY_CODE_LINES = 20


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whether pre-flight runs, and why or why not."""

    fires: bool
    because: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriggerFacts:
    """What a trigger looks at. ``guarded`` are the paths of the bot's own implementation that the change touches."""

    forced: bool
    prior_fix_attempts: int
    critical: tuple[str, ...]
    code_lines: int
    guarded: tuple[str, ...] = ()


class CompositeTrigger:
    """pr_review's trigger: forced, the guard, tried before, a critical path, or more than 20 changed lines of code."""

    def decide(self, facts: TriggerFacts) -> Trigger:
        """All reasons that hold, the guard's right behind the switch, then the ADR's; without any it does not fire."""
        reasons: list[str] = []
        if facts.forced:
            reasons.append("forced by HYDRAFLOW_REVIEW_PREFLIGHT_FORCE_ON")
        reasons += [f"the self-modification guard holds: {path}" for path in facts.guarded]
        if facts.prior_fix_attempts >= 1:
            reasons.append(f"prior fix attempts: {facts.prior_fix_attempts}")
        reasons += [f"critical path touched: {path}" for path in facts.critical]
        if facts.code_lines > MANY_CODE_LINES:
            reasons.append(f"{facts.code_lines} changed lines of code, more than {MANY_CODE_LINES}")
        if reasons:
            return Trigger(True, tuple(reasons))
        return Trigger(False, (f"{facts.code_lines} changed lines of code, no critical path, no prior attempt",))


class AlwaysTrigger:
    """adr_review's trigger."""

    def decide(self, facts: TriggerFacts) -> Trigger:
        """Fires, whatever the facts."""
        del facts
        return Trigger(True, ("this surface is always planned",))
