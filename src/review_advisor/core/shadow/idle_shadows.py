"""Which settings about shadows can never do anything, beside the rest of a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from review_advisor.core.policy.escalation_rules import EscalationProfile
from review_advisor.core.policy.mode import Mode
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS
from review_advisor.core.shadow.shadow_rule import ShadowRule

EVERY_PULL_REQUEST = 100.0


def idle_settings(
    rules: Sequence[ShadowRule], *, mode: Mode, percent: float, profile: EscalationProfile
) -> tuple[str, ...]:
    """A sentence on each. ``percent`` is the share of pull requests that ``mode = "shadow"`` reviews."""
    return tuple(_idle(rules, mode=mode, percent=percent, profile=profile))


def _idle(rules: Sequence[ShadowRule], *, mode: Mode, percent: float, profile: EscalationProfile) -> Iterator[str]:
    if mode != "shadow" and percent != EVERY_PULL_REQUEST:
        yield f'github.shadow_percent: it is that of `mode = "shadow"`, and the mode is {mode!r}.'
    for rule in rules:
        if rule.part != "consulted":
            continue
        if profile == "adr":
            yield (
                f"shadow.{rule.id}: it answers the consults of the review itself, and under the escalation profile"
                " 'adr' there are none."
            )
        elif rule.surfaces and not any(SURFACE_DEFAULTS[each].mid_flight for each in rule.surfaces):
            named = ", ".join(each.value for each in rule.surfaces)
            yield f"shadow.{rule.id}: nobody is consulted on {named}."


def same_as_the_review(rules: Sequence[ShadowRule]) -> tuple[str, ...]:
    """A remark on each whole review that tries nothing: it tells how far two equal reviews differ."""
    tries = (
        (rule, (rule.advisors, rule.model, rule.advisor_model, rule.escalation, rule.effort, rule.instructions))
        for rule in rules
        if rule.part == "review"
    )
    return tuple(
        f"shadow.{rule.id}: the whole review differs in nothing from the real one; its figures tell chance alone."
        for rule, said in tries
        if not any(said)
    )
