"""When pre-flight runs. A trigger is a value with its reasons, never a bare bool."""

from __future__ import annotations

from dataclasses import dataclass

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
