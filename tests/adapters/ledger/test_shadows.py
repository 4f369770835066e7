"""Shadows in the ledger beside their reviews: recorded as they run, added up, proven, merged, and none when forged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.adapters.ledgers import record, told
from tests.unit.shadow.test_shadow_decision import AGREED, BEGAN, CALL, WOULD_PASS, WOULD_VETO

from review_advisor.ledger.chain import FIRST, LedgerError, link
from review_advisor.ledger.chains import add_link, begin_chain
from review_advisor.ledger.database import open_to_write, transaction
from review_advisor.ledger.proving import verify
from review_advisor.ledger.queries import Period, RunFilter
from review_advisor.ledger.recorder import ChainRecorder, event_text, keep
from review_advisor.ledger.rows import microseconds
from review_advisor.ledger.run_queries import list_runs, show_run
from review_advisor.ledger.shadow_rollup import readings_of_shadow
from review_advisor.ledger.sums import add_up, shadow_sums
from review_advisor.ledger.transfer import merge, rebuild
from review_advisor.mockworld.agents import approve
from review_advisor.policy.surfaces import Role
from review_advisor.review.observed import Observed, ObservedLabel
from review_advisor.review.rulings import Outcome
from review_advisor.review.shadow import ShadowEnded, ShadowEvent, ShadowReviewed

ALWAYS = Period()
END = ShadowEnded(at=BEGAN.at, status="finished")


def shadow(number: int, *decided: ShadowEvent, of_run: str = "run_1", name: str = "opusJudge") -> list[ShadowEvent]:
    first = replace(BEGAN, run_id=f"run_{number}-shadow", shadow=name, of_run=of_run, repository="acme/shop")
    return [replace(each, at=each.at + timedelta(hours=number)) for each in (first, CALL, *decided, END)]


def keep_shadow(path: Path, events: Sequence[ShadowEvent]) -> None:
    trouble: list[str] = []
    recorder = ChainRecorder(path, trouble.append, "shadow", readings_of_shadow)
    for event in events:
        recorder(event)
    assert trouble == []


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """One review, and four shadows: agreed, would have vetoed, killed, and one of another name."""
    path = tmp_path / "ledger.sqlite3"
    record(path, told())
    keep_shadow(path, shadow(1, AGREED))
    keep_shadow(path, shadow(2, WOULD_VETO))
    keep_shadow(path, shadow(3, AGREED)[:-1])
    keep_shadow(path, shadow(4, WOULD_PASS, name="other"))
    return path


def test_a_period_counts_each_shadow_by_what_it_would_have_decided(kept: Path) -> None:
    first, second = shadow_sums(kept, ALWAYS)
    assert (first.shadow, first.reviews, first.agreed, first.would_veto, first.lost) == ("opusJudge", 3, 1, 1, 1)
    assert (first.broken_off, first.calls, first.cost_usd) == (1, 3, 1.5)
    assert (second.shadow, second.would_pass) == ("other", 1)


def test_a_shadow_of_another_part_is_added_up_by_itself(kept: Path) -> None:
    executor = shadow(5, WOULD_VETO)
    keep_shadow(kept, [replace(BEGAN, run_id="run_5-shadow", at=executor[0].at, part="executor"), *executor[1:]])
    sums = {(each.shadow, each.part): each.would_veto for each in shadow_sums(kept, ALWAYS)}
    assert sums == {("opusJudge", "executor"): 1, ("opusJudge", "judge"): 1, ("other", "judge"): 0}


def test_a_whole_review_in_shadow_is_added_up_beside_what_the_real_ones_cost(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    review = told(lambda world: world.agents.script(Role.EXECUTOR, replace(approve(), cost_usd=0.5)))
    record(path, review)
    for number, outcome in enumerate((Outcome.APPROVED, Outcome.CHANGES_REQUESTED, Outcome.ESCALATED, None), start=1):
        said = ShadowReviewed(
            at=BEGAN.at, real=Outcome.APPROVED, outcome=outcome, because="", missed=("f1",), besides=("high a.py:1 x",)
        )
        of_run = review.run_id if number < 4 else "run-of-another-ledger"
        first, *rest = shadow(number, said)
        began = replace(BEGAN, run_id=f"run_{number}-shadow", at=first.at, part="review", of_run=of_run)
        keep_shadow(path, [began, *rest])
    (sums,) = shadow_sums(path, ALWAYS)
    assert (sums.part, sums.agreed, sums.would_veto, sums.lost) == ("review", 1, 2, 1)
    assert (sums.approved, sums.changes_requested, sums.escalated) == (1, 1, 1)
    assert (sums.missed, sums.found) == (4, 4)
    assert (sums.reviews_usd, sums.reviews_unpriced) == (1.5, 1)
    assert not verify(path).broken
    assert rebuild(path).left_out == ()
    assert shadow_sums(path, ALWAYS) == (sums,)


def test_a_period_and_a_repository_choose(kept: Path) -> None:
    later = Period(since=datetime(2026, 1, 5, 10, 30, tzinfo=UTC), until=datetime(2026, 1, 5, 12, tzinfo=UTC))
    assert [(each.shadow, each.reviews) for each in shadow_sums(kept, later)] == [("opusJudge", 1)]
    assert len(shadow_sums(kept, Period(repository="ACME/shop"))) == 2
    assert shadow_sums(kept, Period(repository="acme/other")) == ()


def test_a_shadow_is_in_no_figure_and_no_list_of_reviews(kept: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.sqlite3"
    record(alone, told())
    assert add_up(kept, ALWAYS) == add_up(alone, ALWAYS)
    assert [line.run_id for line in list_runs(kept, RunFilter())] == [told().run_id]
    with pytest.raises(LedgerError, match="has no run"):
        show_run(kept, "run_2-shadow")


def test_it_is_proven_rebuilt_and_merged_like_any_chain(kept: Path, tmp_path: Path) -> None:
    before = shadow_sums(kept, ALWAYS)
    assert not verify(kept).broken
    assert rebuild(kept).left_out == ()
    assert shadow_sums(kept, ALWAYS) == before
    other = tmp_path / "other" / "ledger.sqlite3"
    assert merge(other, kept).added == 5
    assert shadow_sums(other, ALWAYS) == before


def test_a_shadow_that_is_at_work_may_still_grow_after_the_ledger_was_proven(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    record(path, told())
    trouble: list[str] = []
    recorder = ChainRecorder(path, trouble.append, "shadow", readings_of_shadow)
    events = shadow(1, AGREED)
    recorder(events[0])
    reached = verify(path, at=events[0].at).reached
    for event in events[1:]:
        recorder(event)
    proof = verify(path, reached, spot_checks=0)
    assert (proof.whole, proof.differs, trouble) == (True, None, [])


def test_what_people_did_later_stands_beside_what_it_would_have_done(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    review = told()
    record(path, review)
    keep_shadow(path, shadow(1, WOULD_VETO, of_run=review.run_id))
    (before,) = shadow_sums(path, ALWAYS)
    assert (before.would_veto, before.would_veto_known) == (1, 0)
    observed = Observed(
        at=review.ended_at + timedelta(days=1),
        run_id="obs_1",
        repository="acme/shop",
        pull_request=7,
        head_sha=review.head_sha or "",
        labels=(
            ObservedLabel("", "merge", "merged", "by GitHub"),
            ObservedLabel("", "judged", "judged", "by git"),
            ObservedLabel("", "reverted", "reverted", "by git"),
        ),
    )
    keep(path, observed)
    (after,) = shadow_sums(path, ALWAYS)
    assert (after.would_veto, after.would_veto_known, after.would_veto_reverted) == (1, 1, 1)


@pytest.mark.parametrize(
    "events",
    [
        [*shadow(1, AGREED), AGREED],
        [shadow(1)[0], *shadow(1, AGREED)],
        [replace(BEGAN, run_id="another"), *shadow(1)[1:]],
        [shadow(1)[0], replace(CALL, call=replace(CALL.call, duration_seconds=-1.0))],
    ],
)
def test_a_forged_chain_is_left_out(tmp_path: Path, events: list[ShadowEvent]) -> None:
    forged, path = tmp_path / "forged.sqlite3", tmp_path / "ledger.sqlite3"
    with closing(open_to_write(forged)) as connection, transaction(connection):
        row, last = begin_chain(connection, "run_1-shadow", microseconds(events[0].at)), FIRST
        for index, event in enumerate(events):
            made = link("run_1-shadow", index, last, event_text(event))
            add_link(connection, row, made)
            last = made.hash
    with pytest.raises(LedgerError, match="run_1-shadow"):
        merge(path, forged)
