"""Two advisors of one role are asked about one report: each call says who was asked, and a lost one stays lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.mockworld.agents import Line, confirm, garbage, lost
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded, CallStarted
from review_advisor.review.ports import Ports
from review_advisor.review.report import report_text

JUDGES = ("security", "speed")


def judged(world: MockWorld, *lines: Line) -> OutcomeDocument:
    """What the judges' calls come to, made one after the other by the dispatch of a review."""
    before = world.review()
    (call,) = world.calls(Role.POST_VERIFY)
    ports = Ports(world.agents, world.source, world.journal, world.artifacts, world.clock, world.pictures, world.wiki)
    dispatch = Dispatch(ports, before.policy.budgets, 1, NO_SECRETS)
    world.agents.script(Role.POST_VERIFY, *lines)
    for advisor in JUDGES:
        dispatch.ask(replace(call, advisor=advisor), PostVerifyResult)
    return outcome_document([before.events[0], *dispatch.events, before.events[-1]])


@pytest.mark.parametrize(
    "lines, missing",
    [
        ((confirm(), confirm()), ()),
        ((lost(), confirm()), ("security",)),
        ((confirm(), lost()), ("speed",)),
        ((lost(), lost()), JUDGES),
        ((garbage(), confirm(), lost()), ("speed",)),
        ((garbage(), lost(), confirm()), ("security",)),
        ((garbage(), confirm(), garbage(), confirm()), ()),
    ],
)
def test_the_judge_who_is_lost_is_named_beside_the_one_who_answered(
    world: MockWorld, lines: tuple[Line, ...], missing: tuple[str, ...]
) -> None:
    document = judged(world, *lines)
    names = tuple(f"pr_review/post_verify/{advisor}" for advisor in missing)
    assert document.flags.lost == names
    assert all(name in report_text(document) for name in names)


def test_a_judge_is_asked_again_by_name_and_number(world: MockWorld) -> None:
    document = judged(world, confirm(), garbage(), confirm())
    ends = [event for event in document.events if isinstance(event, CallEnded)]
    asked = [(event.number, event.advisor, event.asks_again) for event in ends]
    assert asked == [(1, "security", 0), (2, "speed", 0), (3, "speed", 2)]
    starts = [event for event in document.events if isinstance(event, CallStarted)]
    assert [(event.number, event.advisor, event.asks_again) for event in starts] == asked
