"""A release is judged: executor and advisor say what they think, and the recorded events decide whether that counts."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from tests.scenarios.task_runs import NONCE, Declared, Played, Reply, block, consult, done, guidance, play

from review_advisor.agents.calls import Lost, LostReason
from review_advisor.ledger.task_events import BlockIgnored, ReportHeard, TaskBegun, TaskEvent, TaskLimits
from review_advisor.policy.surfaces import Role
from review_advisor.safety.fence import fenced
from review_advisor.safety.stop import ReviewInterrupted
from review_advisor.tasks.readiness import (
    READINESS_REPORT,
    RELEASE_COUNCIL,
    ReadinessEvaluation,
    ReleaseEvidence,
    evaluated,
    evaluation_text,
)

TEXT = "# Release 2.0\n\nAll 1,204 tests passed.\nThe migration has no way back\nonce the old column is dropped.\n"
EVIDENCE = ReleaseEvidence("a file", TEXT)
BLOCKER = {
    "id": "B1",
    "severity": "high",
    "description": "A failed migration cannot be undone.",
    "evidence": "The migration has no way back once the old column is dropped.",
}
RISK = {"id": "R1", "severity": "high", "description": "It may take long.", "mitigation": "Watch it."}
OPINION: Declared = {"opinion": "Is there a way back?", "concerns": []}
OUTAGE = Lost(LostReason.SERVER_ERROR, "The API is overloaded.")


def report(verdict: str = "go", **said: Any) -> str:
    """The block of a report without a mistake, unless it is told one."""
    told: dict[str, Any] = {"summary": "As it is.", "blockers": [], "risks": [], "required_actions": [], **said}
    counts = {
        "blocker_count": len(told["blockers"]),
        "risk_count": len(told["risks"]),
        "required_action_count": len(told["required_actions"]),
    }
    usual = {"advisor_consulted": True, "confidence": 0.8, "measurable_outputs": counts}
    return block("RELEASE_READINESS_REPORT", {"verdict": verdict, **usual, **told})


def vote(**weights: int) -> dict[str, Any]:
    return {"calls": json.dumps(weights)}


GO, DOUBT, HOLD = vote(go=90, conditional_go=5, hold=5), vote(go=5, conditional_go=90, hold=5), vote(hold=95, go=0)


def played(
    last: str | list[Reply],
    judge: list[Declared] | None = None,
    *,
    first: list[Reply] | None = None,
    advisor: list[Reply] | None = None,
    **more: Any,
) -> Played:
    """A run in which the executor asks once and then says ``last``, unless it is told otherwise."""
    ends = [f"{done(applied=(1,))}\n{last}"] if isinstance(last, str) else last
    return play(
        [*([consult()] if first is None else first), *ends],
        [guidance()] if advisor is None else advisor,
        task="Judge whether the release is ready.",
        limits=TaskLimits(max_advisor_calls=2),
        declared={"release-planner": [OPINION], "release-judge": [GO] if judge is None else judge},
        council=RELEASE_COUNCIL,
        owed=READINESS_REPORT,
        **{"evidence": TEXT, **more},
    )


def judged(run: Played, evidence: ReleaseEvidence = EVIDENCE) -> ReadinessEvaluation:
    return evaluated(run.events, evidence)


def told(evaluation: ReadinessEvaluation) -> tuple[str, bool, int]:
    return evaluation.verdict, evaluation.passed, evaluation.exit_code


# --- verdicts that count ---


def test_a_release_of_which_executor_and_advisor_think_well_may_go() -> None:
    run = played(report("go"))
    assert told(judged(run)) == ("go", True, 0)
    assert run.ended.status == "completed"
    assert [call.advisor for call in run.calls] == [
        "release-planner",
        "executor",
        "mid_flight",
        "executor",
        "release-judge",
    ]
    assert [call.role for call in run.calls[::2]] == [Role.PRE_FLIGHT, Role.MID_FLIGHT, Role.POST_VERIFY]


def test_a_release_may_go_on_conditions_that_are_named() -> None:
    run = played(report("conditional_go", risks=[RISK], required_actions=["Watch the migration."]), [DOUBT])
    assert told(judged(run)) == ("conditional_go", True, 10)


def test_a_release_is_held_for_a_blocker_that_quotes_the_evidence() -> None:
    assert told(judged(played(report("hold", blockers=[BLOCKER]), [HOLD]))) == ("hold", True, 10)


def test_a_release_is_held_also_if_its_judge_would_let_it_go() -> None:
    assert told(judged(played(report("hold", blockers=[BLOCKER]), [GO]))) == ("hold", True, 10)


def test_everybody_is_shown_the_evidence_as_material() -> None:
    run = played(report("go"))
    shown = [fenced(call.prompt, "EVIDENCE", NONCE) for call in run.calls]
    assert shown == [TEXT] * 5


# --- verdicts that do not ---


def test_nobody_is_let_go_over_the_advisors_veto() -> None:
    run = played(report("go"), [HOLD])
    assert run.ended.status == "voted_down"
    assert told(judged(run)) == ("go", False, 11)
    assert told(judged(played(report("go"), [DOUBT]))) == ("go", False, 11)


def test_a_release_does_not_go_that_its_judge_would_let_go_on_conditions_only() -> None:
    run = played(report("go"), [DOUBT])
    assert run.ended.status == "voted_down"
    assert told(judged(run)) == ("go", False, 11)


def test_without_a_consult_no_verdict_counts() -> None:
    run = played([f"{done()}\n{report('go')}"], first=[], advisor=[])
    assert run.ended.status == "completed"
    evaluation = judged(run)
    assert told(evaluation) == ("go", False, 11)
    assert evaluation.failures == (
        "The advisor has answered no question though the report says so: at least one answer is needed.",
    )


def test_a_consult_that_got_no_answer_is_none_whatever_the_report_says() -> None:
    run = played([f"{done()}\n{report('go')}"], advisor=[OUTAGE])
    assert run.ended.status == "degraded"
    assert told(judged(run)) == ("go", False, 11)
    assert any("answered no question" in each for each in judged(run).failures)


def test_an_invented_quotation_does_not_count() -> None:
    invented = {**BLOCKER, "evidence": "The migration deletes all orders."}
    evaluation = judged(played(report("hold", blockers=[invented]), [HOLD]))
    assert told(evaluation) == ("hold", False, 11)
    assert evaluation.failures == ("The evidence of blocker B1 is no quotation of the evidence.",)


def test_a_verdict_that_is_milder_than_its_own_report_calls_a_person() -> None:
    assert told(judged(played(report("go", blockers=[BLOCKER])))) == ("go", False, 11)


def test_a_judge_that_is_lost_calls_a_person() -> None:
    run = played(report("go"), [OUTAGE])
    assert run.ended.status == "conflict_needs_human"
    assert told(judged(run)) == ("go", False, 11)


def test_a_planner_that_is_lost_leaves_the_run_to_the_others() -> None:
    run = play(
        [consult(), f"{done(applied=(1,))}\n{report('go')}"],
        [guidance()],
        declared={"release-planner": [OUTAGE], "release-judge": [GO]},
        council=RELEASE_COUNCIL,
        owed=READINESS_REPORT,
        evidence=TEXT,
        limits=TaskLimits(max_advisor_calls=2),
    )
    evaluation = judged(run)
    assert told(evaluation) == ("go", True, 0)
    assert evaluation.blind_spots == ("release-planner gave no opinion: The API is overloaded.",)
    assert "release-planner gave no opinion" in evaluation_text(evaluation)


@pytest.mark.parametrize(
    "weights, goes",
    [((34, 33, 33), False), ((50, 25, 25), False), ((50, 0, 50), False), ((51, 25, 24), True), ((40, 10, 10), True)],
)
def test_a_release_goes_only_with_more_than_half_of_the_votes(weights: tuple[int, int, int], goes: bool) -> None:
    go, conditional_go, hold = weights
    evaluation = judged(played(report("go"), [vote(go=go, conditional_go=conditional_go, hold=hold)]))
    assert told(evaluation) == ("go", goes, 0 if goes else 11)


def test_an_answer_in_prose_is_no_consult() -> None:
    evaluation = judged(played(report("go"), advisor=["I refuse to answer."]))
    assert told(evaluation) == ("go", False, 11)
    assert any("has answered no question" in each for each in evaluation.failures)


def test_the_advisor_may_stop_the_run_and_a_person_decides() -> None:
    run = played([], judge=[], advisor=[guidance("Stop.", stop=True)])
    assert told(judged(run)) == ("none", False, 11)


def test_who_asks_beyond_the_cap_has_no_verdict() -> None:
    run = played([], judge=[], first=[consult(), consult(), consult(), consult()], advisor=[guidance(), guidance()])
    assert run.ended.status == "advisor_call_limit_reached"
    evaluation = judged(run)
    assert told(evaluation) == ("none", False, 11)
    assert (evaluation.metrics["consults_asked"], evaluation.metrics["consults_answered"]) == (2, 2)


def test_a_credit_that_is_spent_says_that_the_run_could_not_go_on() -> None:
    run = play(
        [Lost(LostReason.SERVER_ERROR, "gone")],
        declared={"release-planner": [OPINION]},
        council=RELEASE_COUNCIL,
        owed=READINESS_REPORT,
        evidence=TEXT,
    )
    assert told(judged(run)) == ("none", False, 12)


# --- the report's block ---

UNREADABLE = block("RELEASE_READINESS_REPORT", "no JSON")


@pytest.mark.parametrize("bad", ["", report("go", extra="key"), report("go", confidence=2)])
def test_a_report_that_cannot_be_used_is_asked_for_once_more(bad: str) -> None:
    ends: list[Reply] = [f"{done(applied=(1,))}\n{bad}", f"{done(applied=(1,))}\n{report('go')}"]
    run = played(ends)
    assert told(judged(run)) == ("go", True, 0)
    assert "Your RELEASE_READINESS_REPORT could not be used" in run.asked(Role.EXECUTOR)[-1]


@pytest.mark.parametrize("bad", ["", UNREADABLE, report("go", extra="key")])
def test_a_report_that_stays_unusable_is_none(bad: str) -> None:
    run = played([f"{done(applied=(1,))}\n{bad}"] * 2, judge=[])
    assert run.ended.status == "malformed_block"
    assert told(judged(run)) == ("none", False, 11)


def test_a_hold_in_a_report_that_cannot_be_used_is_not_taken_back_in_silence() -> None:
    ends: list[Reply] = [
        f"{done(applied=(1,))}\n{report('hold', extra='key')}",
        f"{done(applied=(1,))}\n{report('go')}",
    ]
    evaluation = judged(played(ends))
    assert told(evaluation) == ("go", False, 11)
    assert evaluation.failures == ("Another report of this run says hold, the last one says go.",)


@pytest.mark.parametrize("verdicts", [("hold", "go"), ("go", "hold")])
def test_of_two_reports_in_one_message_no_worse_one_is_passed_over(verdicts: tuple[str, str]) -> None:
    run = played("\n".join(report(each) for each in verdicts), [GO])
    assert [each.action for each in run.of(ReportHeard)] == list(verdicts)
    assert judged(run).exit_code != 0


def test_silence_about_a_guidance_and_a_missing_report_are_asked_about_together() -> None:
    run = played([done(), f"{done(applied=(1,))}\n{report('go')}"])
    last = run.asked(Role.EXECUTOR)[-1]
    assert ("what became of" in last, "RELEASE_READINESS_REPORT could not be used" in last) == (True, True)
    assert told(judged(run)) == ("go", True, 0)


def test_nothing_goes_out_on_a_message_that_its_judge_was_not_shown_whole() -> None:
    run = played([f"{done(applied=(1,))}\n{'x' * 20_000}\n{report('go')}"])
    assert run.ended.status == "conflict_needs_human"
    assert told(judged(run)) == ("go", False, 11)


def test_a_message_that_grows_as_it_is_shown_hides_nothing_from_its_judge() -> None:
    run = played([f"{done(applied=(1,))}\n{chr(0x200B) * 15_000}\n{report('go')}"])
    assert "EXECUTOR_DONE" in run.calls[-1].prompt
    assert run.ended.status == "conflict_needs_human"
    assert told(judged(run)) == ("go", False, 11)


def test_a_report_without_the_runs_nonce_is_text() -> None:
    quoted = report("go").replace(NONCE, "fedcba9876543210")
    run = played([f"{done(applied=(1,))}\n{quoted}"] * 2, judge=[])
    assert told(judged(run)) == ("none", False, 11)


def test_an_executor_that_wants_a_person_owes_no_report() -> None:
    run = played([done("needs_human", applied=(1,))], judge=[])
    assert run.ended.status == "conflict_needs_human"
    assert told(judged(run)) == ("none", False, 11)


def test_beside_a_question_a_report_ends_nothing() -> None:
    run = played(report("go"), first=[f"{consult()}\n{report('go')}"])
    assert [each.why for each in run.of(BlockIgnored)] == ["a question in the same message comes first"]
    assert told(judged(run)) == ("go", True, 0)
    unreported = played([done(applied=(1,))] * 2, first=[f"{consult()}\n{report('go')}"], judge=[])
    assert (unreported.ended.status, judged(unreported).exit_code) == ("malformed_block", 11)


TWO_VERDICTS = report("go").replace('"verdict": "go"', '"verdict": "hold", "verdict": "go"')


@pytest.mark.parametrize("bad", [UNREADABLE, report("perhaps"), TWO_VERDICTS])
def test_a_report_of_which_nobody_can_tell_the_verdict_counts_as_a_hold(bad: str) -> None:
    ends: list[Reply] = [f"{done(applied=(1,))}\n{bad}", f"{done(applied=(1,))}\n{report('go')}"]
    evaluation = judged(played(ends))
    assert told(evaluation) == ("go", False, 11)
    assert evaluation.failures == (
        "Another report of this run cannot be read, which counts as hold, the last one says go.",
    )


def test_a_hold_beside_a_question_is_not_taken_back_in_silence() -> None:
    run = played(report("go"), first=[f"{consult()}\n{report('hold')}"])
    assert told(judged(run)) == ("go", False, 11)


@pytest.mark.parametrize("end", [block("EXECUTOR_DONE", "no JSON"), f'<EXECUTOR_DONE nonce="{NONCE}">'])
def test_a_hold_beside_an_end_that_nobody_can_read_is_not_taken_back_in_silence(end: str) -> None:
    run = played([f"{end}\n{report('hold')}", f"{done(applied=(1,))}\n{report('go')}"])
    assert told(judged(run)) == ("go", False, 11)


# --- what is recorded ---


def test_folder_and_dashboard_tell_the_report() -> None:
    run = played(report("go"))
    lines = [json.loads(line) for line in run.files["session_events.jsonl"].splitlines()]
    (handed_in,) = [each for each in lines if each["type"] == "executor_report"]
    assert (handed_in["action"], json.loads(handed_in["report"])["verdict"]) == ("go", "go")
    begun = run.of(TaskBegun)[0]
    assert begun.evidence_sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert begun.prompts.endswith(f"+{READINESS_REPORT.version}")


def test_a_run_that_is_killed_has_not_passed() -> None:
    events: list[TaskEvent] = []
    with pytest.raises(ReviewInterrupted):
        played([ReviewInterrupted("SIGTERM", signal_number=15)], judge=[], heard=events)
    evaluation = evaluated(events, EVIDENCE)
    assert (evaluation.status, evaluation.passed, evaluation.exit_code) == ("running", False, 12)


def test_a_run_of_another_task_owes_no_report_and_asks_what_it_asked() -> None:
    run = play([done()])
    assert "RELEASE_READINESS_REPORT" not in run.calls[0].prompt
    assert "EVIDENCE" not in run.calls[0].prompt
