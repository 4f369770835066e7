"""What is learned from a closed pull request rests on people's own comments, whatever the bot's summary claims."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest
from tests.attacks.test_forged_states import (
    HOLE,
    HOLE_ID,
    KEYS,
    NO_WORD,
    Scene,
    dismissed,
    dismissing,
    lie_with_a_seal,
    scene,
)
from tests.scenarios.publishing import BOT, MAINTAINER

from review_advisor.github.memory import peoples_word
from review_advisor.github.observation import ObservePhase
from review_advisor.mockworld.agents import reject
from review_advisor.review.observed import Value
from review_advisor.review.rulings import Outcome


def observed(stage: Scene) -> dict[tuple[str, str], Value]:
    """The labels that are recorded once the pull request is closed."""
    desk = stage.desk
    desk.github.closes(desk.pull)
    listening = partial(peoples_word, desk.forge, desk.rules, desk.pull.number)
    phase = ObservePhase(desk.forge, None, BOT, {}, datetime(2026, 1, 1, tzinfo=UTC), listening=listening)
    found = phase.observe(desk.forge.pull_request(desk.pull.number))
    return {(each.finding, each.name): each.value for each in found}


@pytest.mark.one_in(4)
@KEYS
@pytest.mark.parametrize("said", [None, *NO_WORD])
def test_a_dismissal_that_nobody_with_a_say_wrote_is_none(
    said: Callable[[Scene], None] | None, key: bytes | None
) -> None:
    stage = scene(key)
    stage.desk.publish(stage.desk.reviewed(reject(HOLE)))
    stage.forges(findings=(dismissed(HOLE_ID),))
    if said is not None:
        said(stage)
    assert observed(stage)[HOLE_ID, "dismissal"] == "none"


@KEYS
def test_no_seal_makes_up_a_dismissal(key: bytes | None) -> None:
    stage = scene(key)
    lie_with_a_seal(stage, None)
    assert observed(stage)[HOLE_ID, "dismissal"] == "none"


@KEYS
def test_an_approval_that_nobody_gave_is_none(key: bytes | None) -> None:
    stage = scene(key)
    stage.forges(outcome=Outcome.ESCALATED, approved_by=MAINTAINER)
    assert observed(stage)["", "escalation"] == "not_approved"


@KEYS
def test_what_a_maintainer_dismissed_is_dismissed(key: bytes | None) -> None:
    stage = scene(key)
    stage.desk.publish(stage.desk.reviewed(reject(HOLE)))
    dismissing(stage, MAINTAINER)
    stage.forges(findings=(dismissed(HOLE_ID),))
    assert observed(stage)[HOLE_ID, "dismissal"] == "dismissed"
