from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

import pytest

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import AuthenticationFailedError, CreditExhaustedError, Lost, LostReason
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import Change, FileChange, RefusedPath, RepairState, Status
from review_advisor.change.kinds import Kind
from review_advisor.change.shards import Unsent
from review_advisor.policy.budgets import Refused
from review_advisor.policy.policy import Rules, SurfacePolicy, decide_policy
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import read_switches, surface_switch
from review_advisor.review.ends import (
    Ending,
    NotRun,
    PartEnding,
    end_of_stop,
    flipped,
    halted,
    join_parts,
    join_review,
    never_approved,
    nothing_changed,
    ruled,
    settled,
    unread,
    unseen_blind,
    why_not_run,
)
from review_advisor.review.events import FileFact, PartEnded
from review_advisor.review.rulings import EXIT_CODES, Move, Outcome, Ruling, worst
from review_advisor.safety.stop import ReviewInterrupted, Stop

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
YES = CheckedReport("approve", "fine", 0.9)
NO = CheckedReport("reject", "not fine", 0.9)
CONFIRMED = Ruling(Move.ACCEPT, "confirmed", verdict="APPROVE")
VETO = Attempt(0, "approve", "fine", PostVerifyResult(verdict="VETO", reasoning="no"), "")

NOTHING, APPROVED, REQUESTED, ESCALATED, STOPPED = Outcome


def part(outcome: Outcome, shard: int = 0, *, read: bool = True, because: str = "so") -> PartEnded:
    return PartEnded(at=NOON, surface=Surface.PR_REVIEW, shard=shard, outcome=outcome, because=because, read=read)


FILES = [FileFact("a.py", Status.MODIFIED, Kind.CODE, False, (0,))]
PARTLY = Unsent("a.py", "partly", "a long line")
NOT = Unsent("a.py", "not", "a long line")


def row_of(surface: Surface, environ: Mapping[str, str] = MappingProxyType({})) -> SurfacePolicy:
    """A surface's row under these switches, of a change that has every surface but pictures."""
    record = FileChange(Status.ADDED, "docs/adr/0007-keep.md", added=3)
    rules = Rules(wiki_folder="wiki")
    rows = decide_policy(Change("patch-1", files=(record,)), rules, read_switches(environ)).surfaces
    return next(row for row in rows if row.surface is surface)


def finding(severity: str = "low", evidence: str = "x") -> Finding:
    return Finding("f-1" + evidence, "a.py", 1, 1, False, severity, "c", "t", "", None, 1.0, evidence)  # type: ignore[arg-type]


def test_the_worst_outcome_wins_in_the_order_of_the_exit_codes() -> None:
    assert worst([APPROVED, ESCALATED, REQUESTED]) is ESCALATED
    assert worst([ESCALATED, STOPPED]) is STOPPED
    assert sorted(EXIT_CODES, key=EXIT_CODES.__getitem__) == list(Outcome)
    assert list(EXIT_CODES.values()) == [0, 0, 10, 11, 12]


def test_a_review_in_which_nothing_was_reviewed_did_not_run() -> None:
    assert worst([]) is STOPPED
    assert join_review([], FILES, [], None).outcome is STOPPED


def test_a_lost_report_stops_and_a_refused_one_calls_a_human() -> None:
    assert unread(Lost(LostReason.CRASH, "boom")) == PartEnding(STOPPED, "no verdict: boom", read=False)
    assert unread(Refused("money", "no money")) == PartEnding(ESCALATED, "not reviewed: no money", read=False)


def test_a_halt_calls_a_human_without_blaming_a_budget() -> None:
    assert halted("stop") == PartEnding(ESCALATED, "stop")


@pytest.mark.parametrize("report, outcome", [(YES, APPROVED), (NO, REQUESTED)])
def test_an_accepted_report_ends_as_it_says(report: CheckedReport, outcome: Outcome) -> None:
    assert ruled(CONFIRMED, report, ()) == PartEnding(outcome, "confirmed")


def test_recovered_is_a_confirmed_approval_after_a_veto_and_nothing_else_d31() -> None:
    degraded = Ruling(Move.ACCEPT, "lost", degraded=True)
    assert ruled(CONFIRMED, YES, (VETO,)).recovered
    assert not ruled(CONFIRMED, YES, ()).recovered
    assert not ruled(CONFIRMED, NO, (VETO,)).recovered
    assert not ruled(degraded, YES, (VETO,)).recovered
    assert ruled(degraded, YES, (VETO,)).degraded


def test_an_escalation_keeps_why() -> None:
    spent = Ruling(Move.ESCALATE, "spent", exhausted=True, verdict="VETO")
    lost = Ruling(Move.ESCALATE, "lost", degraded=True)
    assert ruled(spent, YES, (VETO,)) == PartEnding(ESCALATED, "spent", exhausted=True)
    assert ruled(lost, YES, ()) == PartEnding(ESCALATED, "lost", degraded=True)


def test_prose_is_no_change_d11() -> None:
    assert nothing_changed(None, YES) is None
    assert nothing_changed(YES, CheckedReport("approve", "fine, really", 0.99)) is not None


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(NO, id="another verdict"),
        pytest.param(CheckedReport("approve", "fine", 0.9, findings=(finding(),)), id="another finding"),
        pytest.param(CheckedReport("approve", "fine", 0.9, settled=("d0.1",)), id="evidence"),
    ],
)
def test_a_change_that_counts_is_worth_a_second_question(now: CheckedReport) -> None:
    assert nothing_changed(YES, now) is None
    assert nothing_changed(now, now) is not None


def test_a_findings_severity_counts_and_its_order_does_not() -> None:
    one, two, graver = finding(evidence="1"), finding(evidence="2"), finding("high", "1")
    before = CheckedReport("reject", "s", 1.0, (one, two))
    assert nothing_changed(before, CheckedReport("reject", "s", 1.0, (two, one))) is not None
    assert nothing_changed(before, CheckedReport("reject", "s", 1.0, (graver, two))) is None


def test_a_surface_is_as_good_as_its_worst_part() -> None:
    joined = join_parts([part(APPROVED), part(REQUESTED, 1, because="bad"), part(REQUESTED, 2, because="worse")])
    assert joined == Ending(REQUESTED, ("part 2 of 3: bad", "part 3 of 3: worse"))


def test_the_reason_of_a_single_part_stands_alone() -> None:
    assert join_parts([part(APPROVED, because="fine")]) == Ending(APPROVED, ("fine",))


def test_one_lost_part_among_read_ones_is_a_humans() -> None:
    assert join_parts([part(APPROVED), part(STOPPED, 1, read=False)]).outcome is ESCALATED
    assert join_parts([part(STOPPED, 0, read=False), part(STOPPED, 1, read=False)]).outcome is STOPPED


@pytest.mark.parametrize("unsent, said", [(PARTLY, "read in part"), (NOT, "not read")])
def test_unread_text_is_never_approved_d3(unsent: Unsent, said: str) -> None:
    joined = join_review([Ending(APPROVED, ("fine",))], FILES, [unsent], None)
    assert joined == Ending(ESCALATED, (f"a.py was {said}: a long line",))


def test_a_stop_beats_everything() -> None:
    assert join_review([Ending(ESCALATED, ("x",))], FILES, [NOT], "no credit") == Ending(STOPPED, ("no credit",))


def test_the_reviews_reasons_are_those_of_its_worst_surfaces_each_once() -> None:
    ends = [Ending(REQUESTED, ("a", "b")), Ending(APPROVED, ("c",)), Ending(REQUESTED, ("b",))]
    assert join_review(ends, FILES, [], None) == Ending(REQUESTED, ("a", "b"))


@pytest.mark.parametrize(
    "stop, reason, resume",
    [
        (CreditExhaustedError("x", resume_at=NOON), "credit_exhausted", NOON),
        (AuthenticationFailedError("x"), "authentication_failed", None),
        (ReviewInterrupted("x"), "interrupted", None),
    ],
)
def test_a_stop_is_recorded_with_its_reason(stop: Stop, reason: str, resume: datetime | None) -> None:
    event = end_of_stop(stop, NOON)
    assert (event.reason, event.detail, event.resume_at, event.at) == (reason, "x", resume, NOON)


UNVERIFIED = Ruling(Move.ACCEPT, "lost", degraded=True)
REFUSED_EDITS = (RefusedPath("CLAUDE.md", "no"),)


@pytest.mark.parametrize(
    "ruling, repair, recovered, repaired",
    [
        (CONFIRMED, RepairState("a patch"), True, True),
        (CONFIRMED, RepairState("a patch", REFUSED_EDITS), False, False),
        (CONFIRMED, RepairState(refused=REFUSED_EDITS), False, False),
        (UNVERIFIED, RepairState("a patch"), False, False),
    ],
)
def test_an_approval_that_came_with_edits_is_none_of_the_head(
    ruling: Ruling, repair: RepairState, recovered: bool, repaired: bool
) -> None:
    ending = ruled(ruling, YES, (VETO,), repair)
    assert ending.outcome is REQUESTED
    assert (ending.recovered, ending.repaired, ending.degraded) == (recovered, repaired, ruling.degraded)


def test_a_rejection_stands_whatever_was_edited() -> None:
    ending = ruled(CONFIRMED, NO, (VETO,), RepairState("a patch"))
    assert (ending.outcome, ending.recovered, ending.repaired) == (REQUESTED, False, False)


def test_another_diff_is_another_state() -> None:
    assert nothing_changed(YES, YES) is not None
    assert nothing_changed(YES, YES, same_diff=False) is None


# --- the diff judged alone -------------------------------------------------------------------------------------------

RECOVERED = PartEnding(APPROVED, "confirmed", recovered=True)
CRASHED = Lost(LostReason.CRASH, "boom")
TOO_DEAR = Refused("money", "no money")


@pytest.mark.parametrize("missing", [CRASHED, TOO_DEAR], ids=["lost", "refused"])
@pytest.mark.parametrize("guarded", [False, True])
def test_an_approval_not_judged_alone_stands_only_after_an_outage(missing: Lost | Refused, guarded: bool) -> None:
    ending = unseen_blind(RECOVERED, missing, guarded=guarded)
    stands = missing is CRASHED and not guarded
    assert ending.outcome is (APPROVED if stands else ESCALATED)
    assert ending.recovered is stands, "what goes to a human has not recovered"


def test_what_was_not_judged_alone_is_said_with_its_reason() -> None:
    lost, refused = (
        "the verdict by the diff alone was lost (crash)",
        "the verdict by the diff alone was refused (no money)",
    )
    assert unseen_blind(RECOVERED, CRASHED, guarded=False).because == f"confirmed; {lost}"
    assert unseen_blind(RECOVERED, TOO_DEAR, guarded=False).because == refused
    assert unseen_blind(RECOVERED, CRASHED, guarded=True).because == f"{lost} while the self-modification guard holds"


@pytest.mark.parametrize("outcome", [REQUESTED, ESCALATED, STOPPED])
def test_what_is_no_approval_keeps_its_outcome_without_the_verdict_by_the_diff_alone(outcome: Outcome) -> None:
    ending = unseen_blind(PartEnding(outcome, "so"), TOO_DEAR, guarded=True)
    assert (ending.outcome, ending.because) == (outcome, "so; the verdict by the diff alone was refused (no money)")


@pytest.mark.parametrize(
    "blind, report, attempt, flips",
    [
        (YES, YES, 0, False),
        (NO, NO, 1, False),
        (YES, NO, 0, True),
        (YES, NO, 1, False),
        (NO, YES, 0, True),
        (NO, YES, 1, True),
    ],
)
def test_a_verdict_may_turn_only_by_a_veto_and_only_into_a_rejection(
    blind: CheckedReport, report: CheckedReport, attempt: int, flips: bool
) -> None:
    words = flipped(blind, report, attempt)
    assert (words is not None) is flips
    assert words is None or words.endswith(f": {blind.verdict} by the diff alone, then {report.verdict}")


# --- what ends without a model, late, or unseen ----------------------------------------------------------------------


def test_our_own_check_settles_with_its_own_words() -> None:
    assert settled(YES) == PartEnding(APPROVED, "fine")
    assert settled(NO) == PartEnding(REQUESTED, "not fine")


def test_knowledge_waits_for_a_verdict_of_the_machines_and_nothing_else_does() -> None:
    wiki, other = row_of(Surface.WIKI_INGEST), row_of(Surface.PR_REVIEW)
    late = {outcome: why_not_run(wiki, Ending(outcome, ()), guarded=True) for outcome in Outcome}
    assert late == {
        NOTHING: None,
        APPROVED: None,
        REQUESTED: None,
        ESCALATED: NotRun("the review so far is escalated"),
        STOPPED: NotRun("the review so far is stopped"),
    }
    assert {why_not_run(other, Ending(outcome, ()), guarded=True) for outcome in Outcome} == {None}


@pytest.mark.parametrize("so_far", Outcome)
def test_a_surface_that_its_switch_leaves_out_has_no_part_in_the_outcome_but_under_the_guard(so_far: Outcome) -> None:
    row = row_of(Surface.ADR_REVIEW, {surface_switch(Surface.ADR_REVIEW): "off"})
    switch = "HYDRAFLOW_ADR_REVIEW_ADVISOR_ENABLED"
    assert why_not_run(row, Ending(so_far, ()), guarded=False) == NotRun(f"switched off by {switch}", switch)
    held = why_not_run(row, Ending(so_far, ()), guarded=True)
    assert held is not None
    assert held.ending is not None
    assert held.ending.outcome is ESCALATED


def test_what_nobody_can_see_is_a_humans_and_nothing_worse_becomes_better() -> None:
    unseen = ("a.svg cannot be shown",)
    ended = {outcome: never_approved(PartEnding(outcome, "so"), unseen) for outcome in Outcome}
    assert {outcome: ending.outcome for outcome, ending in ended.items()} == {
        NOTHING: ESCALATED,
        APPROVED: ESCALATED,
        REQUESTED: ESCALATED,
        ESCALATED: ESCALATED,
        STOPPED: STOPPED,
    }
    assert ended[APPROVED].because == ended[REQUESTED].because == "a.svg cannot be shown"
    assert ended[ESCALATED].because == "a.svg cannot be shown; so"
    assert ended[STOPPED].because == "so"
    assert {never_approved(PartEnding(outcome, "so"), ()).outcome for outcome in Outcome} == set(Outcome)


def test_an_approval_with_edits_says_why_it_is_none_of_the_head() -> None:
    repairs = (RepairState("a patch"), RepairState("a patch", REFUSED_EDITS))
    confirmed, refused = (ruled(CONFIRMED, YES, (VETO,), repair).because for repair in repairs)
    assert confirmed == "approved only with the attached repair: the head itself still has what was vetoed"
    assert refused == "the executor approves only with edits that were refused: the head still lacks a repair"
    unverified = ruled(UNVERIFIED, YES, (VETO,), RepairState("a patch")).because
    assert unverified == "the head still has what was vetoed, and its repair was not judged: lost"
    assert ruled(CONFIRMED, YES, (VETO,), RepairState()).outcome is APPROVED, "no edits, no repair"
