"""Reviews in shadow mode, as a ledger adds them up: only those, by what they would have concluded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.adapters.ledgers import Story, meddle, record, rows, told

from review_advisor.ledger.chain import LedgerError
from review_advisor.ledger.kpis import ShadowModeSums, WouldHave
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Period
from review_advisor.ledger.recorder import keep
from review_advisor.ledger.sums import shadow_mode_sums
from review_advisor.ledger.transfer import merge, rebuild
from review_advisor.mockworld.agents import Line, approve, credit_gone, finding, lost, reject, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import Observed, ObservedLabel, Value

ALWAYS = Period()
BAD = finding("src/app.py", 3, "value = 3", "critical")


def says(*report: Line, judged: tuple[Line, ...] = (), mode: str = "shadow", strict: bool = False) -> Story:
    def story(world: MockWorld) -> None:
        world.rules = replace(world.rules, mode="shadow" if mode == "shadow" else "enforce", fail_on_degraded=strict)
        world.change(edited("src/app.py", 30))
        world.agents.script(Role.EXECUTOR, *report)
        world.agents.script(Role.POST_VERIFY, *judged)

    return story


def reviews() -> list[OutcomeDocument]:
    """Two approvals, a rejection, an escalation, an unverified approval that calls a person, a stop; one in force."""
    stories = (
        says(approve().costing(0.01)),
        says(reject(BAD).costing(0.02)),
        says(approve(), approve(BAD), judged=(veto("no"), veto("no"))),
        says(approve(), judged=(lost(),), strict=True),
        says(credit_gone()),
        says(approve().costing(0.08), mode="enforce"),
        says(approve().costing(None)),
    )
    return [told(story, number, pull_request=number) for number, story in enumerate(stories, start=1)]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.sqlite3"
    record(path, *reviews())
    return path


def observe(path: Path, number: int, ended: Value, reverted: Value | None = None) -> None:
    """The pull request is seen closed at the head that was reviewed."""
    labels = [ObservedLabel("", "merge", ended, "seen")]
    if reverted is not None:
        labels += [ObservedLabel("", "reverted", reverted, "seen"), ObservedLabel("", "judged", "judged", "seen")]
    at = datetime(2026, 2, 1, tzinfo=UTC) + timedelta(hours=number)
    head = told(pull_request=number).head_sha or ""
    keep(
        path,
        Observed(
            at=at,
            run_id=f"observed_{number}",
            repository="acme/shop",
            pull_request=number,
            head_sha=head,
            labels=tuple(labels),
        ),
    )


def test_reviews_are_counted_by_what_they_would_have_concluded(kept: Path) -> None:
    """An approval that calls a person under `fail_on` would not have passed, and a review in force counts nowhere."""
    sums = shadow_mode_sums(kept, ALWAYS)
    counts = (sums.passed.reviews, sums.blocked.reviews, sums.escalated.reviews, sums.did_not_end)
    assert (counts, sums.reviews) == ((2, 1, 2, 1), 6)
    assert (sums.cost_usd, sums.unpriced) == (0.03, 1)
    assert sums.wall_ms is not None


def test_what_became_of_them_is_what_somebody_observed(kept: Path) -> None:
    observe(kept, 1, "merged", "reverted")
    observe(kept, 2, "merged", "not_reverted")
    observe(kept, 7, "closed")
    observe(kept, 6, "merged", "reverted")
    sums = shadow_mode_sums(kept, ALWAYS)
    assert sums.passed == WouldHave(reviews=2, closed=2, merged=1, reverted=1)
    assert sums.blocked == WouldHave(reviews=1, closed=1, merged=1, reverted=0)
    assert sums.escalated == WouldHave(reviews=2)


def test_an_unfinished_review_did_not_run_to_an_end(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, told(says(approve())), until=3)
    assert shadow_mode_sums(path, ALWAYS) == ShadowModeSums(did_not_end=1)


def test_a_period_and_a_repository_narrow_them(kept: Path) -> None:
    begun = told(number=3).started_at
    assert shadow_mode_sums(kept, Period(since=begun)).reviews == 4
    assert shadow_mode_sums(kept, Period(repository="ACME/Shop")).reviews == 6
    assert shadow_mode_sums(kept, Period(repository="other/one")).reviews == 0


def test_the_rows_are_readings_of_the_events(kept: Path, tmp_path: Path) -> None:
    before = rows(kept)
    assert len(before["shadow_mode"]) == 6
    rebuild(kept)
    assert rows(kept) == before
    assert not verify(kept).broken
    other = tmp_path / "other.sqlite3"
    merge(other, kept)
    assert shadow_mode_sums(other, ALWAYS) == shadow_mode_sums(kept, ALWAYS)


def test_a_row_that_no_review_leaves_is_refused(kept: Path) -> None:
    meddle(kept, "UPDATE runs SET wall_ms = 'soon'")
    with pytest.raises(LedgerError, match="damaged"):
        shadow_mode_sums(kept, ALWAYS)
