"""Which settings about shadows can never do anything."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.shadow.test_shadow_rule import rule

from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, Surface
from review_advisor.core.shadow.idle_shadows import idle_settings, same_as_the_review
from review_advisor.core.shadow.shadow_rule import ShadowRule


def told(*rules: ShadowRule, mode: Any = "enforce", percent: float = 100.0, profile: Any = "attrition") -> int:
    return len(idle_settings(rules, mode=mode, percent=percent, profile=profile))


def test_a_share_of_pull_requests_is_that_of_shadow_mode() -> None:
    assert told(percent=10) == 1
    assert told(percent=10, mode="shadow") == told(percent=100) == 0


def test_only_a_profile_of_escalation_has_consults_to_answer() -> None:
    consulted = rule(part="consulted")
    assert told(consulted, profile="adr") == 1
    assert told(consulted, profile="attrition") == told(rule(part="judge"), profile="adr") == 0


@pytest.mark.parametrize("surface", Surface)
def test_consults_are_answered_where_the_surface_has_any(surface: Surface) -> None:
    alone = told(rule(part="consulted", surfaces=(surface,)))
    assert alone == (0 if SURFACE_DEFAULTS[surface].mid_flight else 1)
    assert told(rule(part="consulted", surfaces=(surface, Surface.PR_REVIEW))) == 0


@pytest.mark.parametrize(
    "more",
    [{"model": "m"}, {"advisor_model": "m"}, {"escalation": "attrition"}, {"effort": "low"}, {"instructions": "x"}],
)
def test_a_whole_review_that_tries_nothing_is_remarked_on(more: dict[str, Any]) -> None:
    assert len(same_as_the_review([rule(part="review")])) == 1
    assert same_as_the_review([rule(part="review", **more), rule(part="judge")]) == ()
