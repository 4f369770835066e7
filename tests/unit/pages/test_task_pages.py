"""A task's row and page have the form of a review's, so that one list and one kind of page show both."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from tests.scenarios.task_runs import Played, consult, done, guidance, play, proposal

from review_advisor.agents.calls import EditGrant
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.ledger.pages import STATUSES, TaskPage, like_outcome, list_json, task_parts
from review_advisor.ledger.queries import TaskLine
from review_advisor.ledger.rows import readings_of_task
from review_advisor.ledger.task_events import RunStatus, TaskBegun, TaskEvent, TaskLimits

PATCH = "diff --git a/a b/a\n+1\n"


def line_of(events: list[TaskEvent]) -> TaskLine:
    first = events[0]
    assert isinstance(first, TaskBegun)
    (row,) = readings_of_task(events)["tasks"]
    facts: dict[str, Any] = dict(row)
    return TaskLine(run_id=first.run_id, started_at=first.at.isoformat(), **facts)


def told(played: Played) -> dict[str, Any]:
    return TaskPage(line_of(played.events), tuple(played.events)).as_json()


@pytest.fixture(scope="module")
def asked() -> Played:
    """Two questions, of which the cap refuses the second; one thing to remember; a patch."""
    says = [consult("Which?", options=["a", "b"]), consult("And now?"), proposal("Tests need git.") + done(applied=[1])]
    limits = TaskLimits(max_advisor_calls=1)
    return play(
        says,
        [guidance("This.")],
        limits=limits,
        task="<b>Do it</b>",
        edits=EditGrant(()),
        made=TaskPatch(PATCH, ("a",)),
    )


def test_every_event_of_a_task_is_on_its_page(asked: Played) -> None:
    page = told(asked)
    assert [entry["number"] for entry in page["entries"]] == list(range(len(asked.events)))
    assert [entry["title"] for entry in page["entries"]][:5] == [
        "The task began",
        "The executor answered",
        "The executor asks",
        "The advisor answered",
        "The advisor answers",
    ]
    titles = {entry["title"] for entry in page["entries"]}
    assert titles >= {"A question is refused", "Guidance applied", "Offered to remember", "The edits were read"}
    texts = str(page["entries"])
    for said in ("Which?", "'a', 'b'", "And now?", "This.", "It is shorter.", "Tests need git."):
        assert said in texts


def test_the_page_sums_up_what_the_task_used(asked: Played) -> None:
    page = told(asked)
    assert page["why"] == ["Done."]
    assert page["repair"] == PATCH
    assert [(cost["role"], cost["model"], cost["calls"]) for cost in page["costs"]] == [
        ("executor", "cheap", 3),
        ("mid_flight", "strong", 1),
    ]
    assert sum(cost["cost_usd"] for cost in page["costs"]) == pytest.approx(4 * 0.05)
    summary = dict(page["summary"])
    assert (summary["Status"], summary["Consults"], summary["Guidance"]) == ("completed", "1", "1")


def test_a_review_and_a_task_have_the_same_columns(asked: Played) -> None:
    line = line_of(asked.events)
    (chunk,) = list_json([line], {line.run_id: task_parts(line)}, {line.run_id: "file"})
    columns = chunk["columns"]
    assert {len(values) for values in columns.values()} == {1}
    assert (columns["kind"], columns["title"]) == (["task"], ["<b>Do it</b>"])
    assert chunk["castings"] == [[["task", "executor", "scripted", ""], ["task", "mid_flight", "scripted", ""]]]


def test_an_error_mode_is_an_error_for_the_filter() -> None:
    line = line_of(play(["No block."]).events)
    assert [part.error for part in task_parts(line)] == ["executor_stopped_without_done", ""]


@pytest.mark.parametrize("status", get_args(RunStatus))
def test_every_status_has_the_colour_of_a_reviews_and_only_completed_that_of_an_approval(status: str) -> None:
    assert like_outcome(status) in STATUSES
    assert (like_outcome(status) == "approved") == (status == "completed")


def test_a_status_that_nobody_knows_is_shown_like_an_unfinished_run() -> None:
    assert like_outcome("of a later version") == "unfinished"


def test_events_that_cannot_be_read_are_a_sentence_on_the_page(asked: Played) -> None:
    page = TaskPage(line_of(asked.events), trouble="Event 2 was changed.").as_json()
    assert (page["trouble"], page["entries"], page["costs"]) == ("Event 2 was changed.", [], [])
    assert page["summary"]
