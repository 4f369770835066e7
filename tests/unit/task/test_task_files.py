"""The files of a task's run: readings of its events, also of a run that is not over."""

import json
from typing import get_args

import pytest
from tests.scenarios.task_runs import consult, done, guidance, play

from review_advisor.app.runs import TASK_STATUSES
from review_advisor.ledger.task_events import EXIT_CODES, STATUS_WORDS, RunStatus, TaskLimits, error_mode
from review_advisor.tasks.run_files import task_files, task_outcome


def test_a_run_that_is_not_over_says_running_after_every_event() -> None:
    events = play([consult(), done(applied=[1])], [guidance()]).events
    for count in range(1, len(events)):
        told = json.loads(task_files(events[:count], {})["outcome.json"])
        assert (told["status"], told["completed_at"], told["executor_done"]) == ("running", None, {})


def test_the_outcome_comes_last_so_that_whoever_sees_it_sees_the_rest() -> None:
    assert list(play([done()]).files)[-1] == "outcome.json"


def test_a_refused_question_is_an_alert_and_no_consult() -> None:
    run = play([consult(), done()], limits=TaskLimits(max_advisor_calls=0))
    lines = [json.loads(line) for line in run.files["session_events.jsonl"].splitlines()]
    assert "alert" in [line["type"] for line in lines]
    assert run.files["advisor_consults.jsonl"] == ""


def test_events_that_do_not_begin_a_run_are_none() -> None:
    events = play([done()]).events
    with pytest.raises(TypeError):
        task_files(events[1:], {})
    with pytest.raises(TypeError):
        task_outcome(events[1:])


def test_every_status_has_an_exit_code_words_and_a_place_in_the_list_of_runs_and_only_completed_is_zero() -> None:
    statuses = get_args(RunStatus)
    assert set(EXIT_CODES) == set(STATUS_WORDS) == set(statuses) == set(TASK_STATUSES)
    assert [status for status in statuses if EXIT_CODES[status] == 0] == ["completed"]


def test_the_error_mode_is_none_the_status_or_the_tag_that_nobody_could_read() -> None:
    assert error_mode("completed", "MEMORY_PROPOSAL") == "none"
    assert error_mode("max_turns_reached", "MEMORY_PROPOSAL") == "max_turns_reached"
    assert error_mode("malformed_block", "EXECUTOR_DONE") == "malformed:EXECUTOR_DONE"
