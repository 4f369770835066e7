"""The key that seals what is remembered, in the shipped workflow: `begin` and `publish` hold it, `review` never."""

from __future__ import annotations

import pytest
from tests.adapters.pull_request_world import APP, LINES, MAINTAINER, OTHER, Actions

from review_advisor.agents.findings import finding_id
from review_advisor.github.state import seal_in
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github_records import Pull

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

KEY = "0123456789abcdef0123456789abcdef"
FAULTY, RIGHT = LINES + "value = 31\n", LINES + "value = 32\n"
FAULT = finding(APP, 31, "value = 31", title="thirty-one is wrong")
FAULT_ID = finding_id(APP, "correctness", "value = 31")
KEYS = pytest.mark.parametrize("key", ["", KEY], ids=["without a key", "with a key"])


def rejected(actions: Actions, key: str) -> Pull:
    actions.state_key = key
    pull = actions.opens({APP: FAULTY, OTHER: RIGHT})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    return pull


def shown_files(actions: Actions, pull: Pull) -> set[str]:
    """What a further push shows the executor."""
    actions.models.executor_says(reject(FAULT))
    ran = actions.pushed(pull, {APP: f"{FAULTY}value = {40 + len(actions.runs)}\n"})
    executor = next(each for each in ran.asked if each.question == "ReviewReport")
    return {path for path in (APP, OTHER) if path in executor.shown("DIFF")}


@KEYS
def test_a_further_push_is_a_delta_and_the_model_never_sees_the_key(actions: Actions, key: str) -> None:
    pull = rejected(actions, key)
    assert seal_in(actions.check(pull).external_id).startswith("signed-" if key else "noted-")
    assert shown_files(actions, pull) == {APP}
    assert not any("STATE_KEY" in name for asked in actions.models.asked for name in asked.environment)
    actions.assert_untold(*([key] if key else []))


@KEYS
def test_a_dismissal_is_told_to_the_next_review(actions: Actions, key: str) -> None:
    pull = rejected(actions, key)
    actions.said(pull, f"/advisor dismiss {FAULT_ID} it is meant", by=MAINTAINER)
    assert shown_files(actions, pull) == {APP}
    executor = next(each for each in reversed(actions.models.asked) if each.question == "ReviewReport")
    assert "it is meant" in executor.shown("EARLIER")
    assert actions.statuses(pull) == {"thirty-one is wrong": "dismissed"}


@KEYS
def test_a_summary_that_another_workflow_wrote_over_has_everything_read_again(actions: Actions, key: str) -> None:
    pull = rejected(actions, key)
    (summary,) = actions.summaries(pull)
    actions.github.edits(summary, by=actions.login, body=summary.body)
    assert shown_files(actions, pull) == {APP, OTHER}


def test_a_key_that_is_given_later_or_changed_has_everything_read_once_more(actions: Actions) -> None:
    pull = rejected(actions, "")
    for key in (KEY, KEY[::-1]):
        actions.state_key = key
        assert shown_files(actions, pull) == {APP, OTHER}


@pytest.mark.one_of_its_kind
def test_a_key_that_could_be_guessed_is_refused(actions: Actions) -> None:
    actions.state_key = KEY[:-1]
    ended = actions.starts("opened", actions.opens({APP: RIGHT})).attempt_to_begin()
    assert ended.code == 2
    assert "REVIEW_ADVISOR_STATE_KEY has fewer than 32 characters" in ended.err
    assert KEY[:-1] not in ended.err


def test_the_actions_own_steps_hand_the_word_on(actions: Actions) -> None:
    actions.by_steps = True
    pull = rejected(actions, KEY)
    assert shown_files(actions, pull) == {APP}
