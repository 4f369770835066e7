"""Which artifacts are fetched, and what is gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from review_advisor.core.organisation.believed_runs import OWN_WORKFLOW, Believing, WorkflowRun
from review_advisor.core.organisation.shelf import LedgerArtifact, Shelf, attempts, sort_artifacts

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
    assert sort_artifacts([newer, older], [second, first, second], OURS, set(), NOW) == Shelf(wanted=(first, second))


def test_only_whole_runs_and_what_is_new_is_wanted() -> None:
    known, going_on = run(1), replace(run(2), status="in_progress", conclusion="")
    shelf = sort_artifacts([known, going_on], [stored(11, known), stored(12, going_on)], OURS, {11}, NOW)
    assert shelf == Shelf()


def test_an_artifact_counts_by_its_run_its_repository_and_its_name() -> None:
    its = stored(11, run(1))
    others = (replace(its, run=9), replace(its, run=None), replace(its, repository=2), replace(its, repository=None))
    named = (replace(its, name="review-advisor-ledger-1x"), replace(its, name="review-advisor-outcome-1"))
    assert sort_artifacts([run(1)], [*others, *named], OURS, set(), NOW).wanted == ()


def test_why_runs_are_not_believed_is_counted() -> None:
    runs = [replace(run(number), event="push") for number in (1, 2)]
    shelf = sort_artifacts(runs, [stored(11, runs[0])], OURS, set(), NOW)
    assert shelf == Shelf(unbelieved=(("the shipped workflow does not run on push", 2),))


def test_what_expired_is_a_gap_with_its_days() -> None:
    runs = [run(1, 60), run(2, 50), run(3, 1)]
    shelf = sort_artifacts(runs, [stored(10 + each.id, each, kept_for=30) for each in runs], OURS, {12}, NOW)
    assert shelf.gaps == ("1 ledger expired before being collected: 2026-04-02",)
    assert [each.id for each in shelf.wanted] == [13]
    shelf = sort_artifacts(runs, [stored(10 + each.id, each, kept_for=30) for each in runs], OURS, set(), NOW)
    assert shelf.gaps == ("2 ledgers expired before being collected: 2026-04-02 to 2026-04-12",)


def test_a_run_that_is_older_than_what_is_kept_and_has_nothing_is_a_gap() -> None:
    forgotten, draft, skipped = run(1, 40), run(2, 20), replace(run(3, 40), conclusion="skipped")
    kept = run(4, 5)
    shelf = sort_artifacts([forgotten, draft, skipped, kept], [stored(14, kept, kept_for=30)], OURS, set(), NOW)
    assert shelf.gaps == ("1 run older than what is kept (30 days), with no ledger: 2026-04-22",)
    assert sort_artifacts([forgotten], [], OURS, set(), NOW).gaps == (), "GitHub keeps artifacts for 90 days"


def test_each_attempt_has_artifacts_up_to_a_bound() -> None:
    assert list(attempts([])) == []
    assert list(attempts([run(1), replace(run(2), attempt=3)])) == [1, 2, 3]
    assert len(attempts([replace(run(1), attempt=10**9)])) == 100
