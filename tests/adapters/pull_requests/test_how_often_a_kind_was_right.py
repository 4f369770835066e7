"""What the believed base knows of a kind of finding stands beside it: on the terminal and on the pull request."""

from __future__ import annotations

import json

import pytest
from tests.adapters.pull_request_world import APP, LINES, Actions, WorkflowRun

from review_advisor.ledger.kind_records import KINDS_FILE
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.github_records import Pull

SAID = "Findings of this kind were right 87% of the time, as people said (n = 54)."


def kinds(labels: int = 54, right: int = 47, **named: str) -> str:
    """The file of a base that knows one kind: what the scripted executor raises."""
    model = {"advisor": "executor", "model": "stub", "surface": "pr_review", "category": "correctness"} | named
    rows = [*(f"{name} = {json.dumps(value)}" for name, value in model.items()), f"labels = {labels}"]
    return "\n".join(['made = 2026-11-26\nlabels_of = "people"\n[[kind]]', *rows, f"right = {right}\n"])


def reviewed(actions: Actions, base: str | None, head: str | None = None) -> tuple[Pull, WorkflowRun]:
    """A pull request with a fault: its base knows kinds, or nothing, and it may bring a file of its own."""
    if base is not None:
        actions.main_becomes({KINDS_FILE: base})
    own = {} if head is None else {KINDS_FILE: head}
    pull = actions.opens({APP: LINES + "value = 31\n", **own})
    actions.models.executor_says(reject(finding(APP, 31, "value = 31")))
    return pull, actions.happens("opened", pull)


def comments(actions: Actions, pull: Pull) -> str:
    return "".join(each.body for thread in actions.threads(pull) for each in thread.comments)


def test_a_finding_is_told_with_its_kind_and_nothing_else_changes(actions: Actions) -> None:
    pull, ran = reviewed(actions, kinds())

    assert comments(actions, pull).count(SAID) == 1
    assert SAID in ran.done["review"].out
    assert SAID not in ran.outcome.read_text(), "the outcome is of events alone"
    assert not any("87%" in each.prompt or "calibration" in each.prompt for each in actions.models.asked)
    assert actions.check(pull).conclusion == "failure"


@pytest.mark.every_case
@pytest.mark.parametrize(
    "base",
    [None, kinds(labels=29, right=25), kinds(category="security"), kinds(model="other"), "made = 1\n", kinds(right=55)],
)
def test_what_the_base_does_not_know_well_is_not_told(actions: Actions, base: str | None) -> None:
    pull, ran = reviewed(actions, base)

    assert "as people said" not in comments(actions, pull) + actions.summary(pull) + ran.done["review"].out
    assert comments(actions, pull)


@pytest.mark.every_case
def test_a_change_cannot_bring_its_own_record(actions: Actions) -> None:
    pull, ran = reviewed(actions, None, head=kinds(labels=1_000, right=0))

    assert "as people said" not in comments(actions, pull) + ran.done["review"].out
    assert json.loads(ran.outcome.read_text())["policy"]["blast"]["radius"] == "high", "the guard watches the file"


@pytest.mark.every_case
def test_a_file_that_cannot_be_used_is_a_warning_and_no_refusal(actions: Actions) -> None:
    pull, ran = reviewed(actions, kinds(right=55))

    assert f"{KINDS_FILE}: kind.0: 55 of 54 labels cannot be right." in ran.done["review"].err
    assert ran.done["review"].code == 10
    assert actions.check(pull).conclusion == "failure"
