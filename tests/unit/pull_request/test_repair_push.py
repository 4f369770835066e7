"""Which reasons against pushing a repair are told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.forge_text.stories import STORIES, told

from review_advisor.change.pull_request import PullRequest
from review_advisor.github.repair_push import NotPushed, wanted_push
from review_advisor.policy.pull_request_rules import PublicationRules

HEAD = "a" * 40
PULL = PullRequest("octo/demo", 7, "A title", "", "ada", "main", "c" * 40, "topic", HEAD, "octo/demo")
PUSHING = PublicationRules(push_repairs=True, login="our-app[bot]")


@pytest.mark.parametrize(
    "story, rules, because, said",
    [
        ("approved", PUSHING, "there is no repair", False),
        ("repair attached", PublicationRules(), "pushing repairs is not switched on", False),
        ("repair attached", PUSHING, "it was made for another head", True),
    ],
)
def test_a_reason_is_told_to_whoever_switched_pushing_on(
    story: str, rules: PublicationRules, because: str, said: bool
) -> None:
    pull = replace(PULL, head_sha="d" * 40)
    assert wanted_push(told(STORIES[story]), pull, rules) == NotPushed(because, is_noted=said)


def test_a_reason_is_told_unless_it_says_otherwise() -> None:
    assert NotPushed("x").is_noted
