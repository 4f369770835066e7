"""Which artifacts are fetched, and what is gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from review_advisor.github.artifacts import LedgerArtifact, WorkflowRun
from review_advisor.lab.collected import OWN_WORKFLOW, Believing, Shelf, attempts, sort_artifacts

NOW = datetime(2026, 6, 1, tzinfo=UTC)
HERE = 1
OURS = Believing(HERE, OWN_WORKFLOW, {"main"})


def run(number: int, days_ago: int = 1) -> WorkflowRun:
    """A believed run."""
    return WorkflowRun(number, HERE, OWN_WORKFLOW, "pull_request_target", "x", HERE, NOW - timedelta(days=days_ago))


def stored(number: int, of: WorkflowRun, kept_for: int = 90) -> LedgerArtifact:
    """Its ledger."""
    until = of.begun + timedelta(days=kept_for)
    return LedgerArtifact(number, "review-advisor-ledger-1", of.id, HERE, 1_000, until < NOW, of.begun, until)


def test_the_oldest_comes_first_and_each_once() -> None:
    older, newer = run(1, 2), run(2, 1)
    first, second = stored(21, older), stored(20, newer)
    assert sort_artifacts([newer, older], [second, first, second], OURS, {}, NOW) == Shelf(wanted=(first, second))


def test_only_whole_runs_and_what_is_new_is_wanted() -> None:
    known, going_on = run(1), replace(run(2), status="in_progress", conclusion="")
    shelf = sort_artifacts([known, going_on], [stored(11, known), stored(12, going_on)], OURS, {11: 1}, NOW)
    assert shelf == Shelf()


def test_an_artifact_counts_by_its_run_its_repository_and_its_name() -> None:
    its = stored(11, run(1))
    others = (replace(its, run=9), replace(its, run=None), replace(its, repository=2), replace(its, repository=None))
    named = (replace(its, name="review-advisor-ledger-1x"), replace(its, name="review-advisor-outcome-1"))
    assert sort_artifacts([run(1)], [*others, *named], OURS, {}, NOW).wanted == ()


def test_why_runs_are_not_believed_is_counted() -> None:
    runs = [replace(run(number), event="push") for number in (1, 2)]
    shelf = sort_artifacts(runs, [stored(11, runs[0])], OURS, {}, NOW)
    assert shelf == Shelf(unbelieved=(("the shipped workflow does not run on push", 2),))


def test_what_expired_is_a_gap_with_its_days() -> None:
    runs = [run(1, 60), run(2, 50), run(3, 1)]
    shelf = sort_artifacts(runs, [stored(10 + each.id, each, kept_for=30) for each in runs], OURS, {12: 2}, NOW)
    assert shelf.gaps == ("1 ledger expired before being collected: 2026-04-02",)
    assert [each.id for each in shelf.wanted] == [13]
    shelf = sort_artifacts(runs, [stored(10 + each.id, each, kept_for=30) for each in runs], OURS, {}, NOW)
    assert shelf.gaps == ("2 ledgers expired before being collected: 2026-04-02 to 2026-04-12",)


def test_a_run_that_is_older_than_what_is_kept_and_has_nothing_is_a_gap() -> None:
    forgotten, kept = replace(run(1, 40), conclusion="failure"), run(4, 5)
    draft = replace(forgotten, id=2, begun=run(2, 20).begun)
    its = [stored(14, kept, kept_for=30)]
    shelf = sort_artifacts([forgotten, draft, kept], its, OURS, {}, NOW)
    assert shelf.gaps == ("1 run older than what is kept (30 days), with no ledger: 2026-04-22",)
    assert sort_artifacts([forgotten], [], OURS, {}, NOW).gaps == (), "GitHub keeps artifacts for 90 days"


@pytest.mark.parametrize("conclusion", ["skipped", "cancelled", "action_required", "startup_failure"])
def test_a_run_in_which_nothing_ran_is_no_gap(conclusion: str) -> None:
    assert sort_artifacts([replace(run(1, 100), conclusion=conclusion)], [], OURS, {}, NOW) == Shelf()


def test_a_run_of_which_something_was_collected_is_no_gap_when_github_lists_nothing_more() -> None:
    failed = replace(run(1, 100), conclusion="failure")
    assert sort_artifacts([failed, run(2, 100)], [], OURS, {11: 1, 12: 2}, NOW) == Shelf()


def test_an_old_run_that_ended_well_without_a_ledger_is_told_and_is_no_gap() -> None:
    shelf = sort_artifacts([run(1, 100)], [], OURS, {}, NOW)
    told = "1 successful run older than what is kept (90 days), with no ledger: 2026-02-21"
    assert shelf == Shelf(silent=(told,))


def test_each_attempt_has_artifacts_up_to_a_bound() -> None:
    assert list(attempts([])) == []
    assert list(attempts([run(1), replace(run(2), attempt=3)])) == [1, 2, 3]
    assert len(attempts([replace(run(1), attempt=10**9)])) == 100
