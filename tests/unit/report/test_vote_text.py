"""The votes of a run's declared advisors, as its user reads them."""

from __future__ import annotations

from typing import Any

from tests.scenarios.task_runs import BEGAN

from review_advisor.ledger.pages import last_vote_text, vote_texts
from review_advisor.ledger.task_events import CouncilVoted, TaskBegun, TaskLimits, TaskVote

BEGUN = TaskBegun(
    at=BEGAN, run_id="run_1", task="Deploy?", executor_backend="fake", advisor_backend="fake", limits=TaskLimits()
)


def voted(*votes: TaskVote, **more: Any) -> CouncilVoted:
    return CouncilVoted(at=BEGAN, votes=votes, **{"moment": "finish", "actions": ("deploy", "delay"), **more})


def test_a_split_vote_shows_who_dissents_and_what_becomes_of_the_run() -> None:
    one = TaskVote("one", 2.0, veto=True, weights=(90.0, 10.0), own='{"thought": "Ship it."}')
    other = TaskVote("other", 1.0, veto=False, weights=(20.0, 60.0))
    assert last_vote_text([BEGUN, voted(one, other)]).splitlines() == [
        "Vote on the end",
        "  member  deploy  delay",
        "  one     90      10     weight 2; veto right",
        "  other   20      60",
        "  mean    67      27",
        "  Result: deploy has the highest mean (deploy 67, delay 27; spread 70).",
        "  The run is conflict_needs_human: the votes for deploy are 70 apart.",
        "  Dissent: other.",
        "  one: thought Ship it.",
    ]


def test_each_vote_of_a_run_is_shown_and_the_last_one_names_the_blind_spots() -> None:
    lost = TaskVote("other", 1.0, veto=False, lost="No answer came.")
    one = TaskVote("one", 1.0, veto=False, weights=(90.0, 10.0))
    first, last = vote_texts([BEGUN, voted(one, lost, moment="turn", turn=1), voted(one, lost, turn=2)])
    assert first.startswith("Vote of who watches, turn 1\n")
    assert ("no usable vote" in first, "Blind spot" in first) == (True, False)
    assert "  Blind spot: other gave no vote: No answer came." in last.splitlines()


def test_words_of_an_advisor_cannot_act_on_a_terminal_or_a_workflow() -> None:
    vote = TaskVote("one", 1.0, veto=False, weights=(1.0, 0.0), own='{"thought": "\\u001b[2J\\n::error::no"}')
    told = last_vote_text([BEGUN, voted(vote)])
    assert "\x1b" not in told
    assert not any(line.lstrip().startswith("::") for line in told.splitlines())


def test_a_run_without_votes_has_no_text() -> None:
    assert last_vote_text([BEGUN]) == ""
