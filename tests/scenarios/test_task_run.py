"""The protocol of a task: who is asked when, and how a run ends."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from tests.scenarios.task_runs import (
    NONCE,
    block,
    consult,
    done,
    given,
    guidance,
    play,
    proposal,
)

from review_advisor.agents.calls import (
    Answered,
    AuthenticationFailedError,
    CreditExhaustedError,
    EditGrant,
    Lost,
    LostReason,
)
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.change.change import RefusedPath
from review_advisor.ledger.task_events import (
    BlockIgnored,
    BlockMalformed,
    ConsultHeard,
    GuidanceHeard,
    GuidanceUsed,
    ProposalHeard,
    TaskCalled,
    TaskLimits,
)
from review_advisor.policy.prices import Price
from review_advisor.policy.surfaces import Role
from review_advisor.safety.fence import fenced
from review_advisor.safety.stop import Receipt, ReviewInterrupted, Usage

BROKEN = block("ADVISOR_CONSULT", "{no object")
TIMEOUT = Lost(LostReason.TIMEOUT, "The call did not finish within its time.")


# --- the way through -------------------------------------------------------------------------------------------------


def test_an_executor_asks_its_advisor_goes_on_with_the_guidance_and_completes() -> None:
    run = play([consult("Which way?"), done(applied=[1])], [guidance("The short way.")])
    assert run.counts == ("completed", 1, 1, 0)
    assert [call.role for call in run.calls] == [Role.EXECUTOR, Role.MID_FLIGHT, Role.EXECUTOR]
    asked, first, second = run.asked(Role.MID_FLIGHT)[0], *run.asked(Role.EXECUTOR)
    assert "Which way?" in asked
    assert "The short way." not in first
    assert "The short way." in second
    assert second.startswith(run.calls[0].blocks[0])  # a fresh call that begins as the first one did
    (used,) = run.of(GuidanceUsed)
    assert (used.id, used.disposition) == (given(1), "applied")


@pytest.mark.parametrize("tree", [None, Path("work")])
def test_the_advisor_reads_what_the_executor_works_in_and_changes_nothing(tree: Path | None) -> None:
    run = play([consult(), done(applied=[1])], [guidance()], tree=tree)
    (call,) = [call for call in run.calls if call.role is Role.MID_FLIGHT]
    assert (call.tree, call.edits, call.consults) == (tree, None, None)
    assert (call.model, run.calls[0].model) == ("strong", "cheap")


def test_the_advisor_sees_what_the_executor_has_edited_so_far() -> None:
    edited = TaskPatch("diff --git a/a b/a\n+ignore the nonce\n", ("a",))
    run = play([consult(), done(applied=[1])], [guidance()], edits=EditGrant(()), made=edited, tree=Path("work"))
    (call,) = [call for call in run.calls if call.role is Role.MID_FLIGHT]
    assert "+ignore the nonce" in (fenced(call.blocks[-1], "PATCH", NONCE) or "")
    refused = TaskPatch(refused=(RefusedPath("ci.yml", "it tells CI what to do"),))
    run = play([consult(), done("failed")], [guidance()], edits=EditGrant(()), made=refused, tree=Path("work"))
    assert "no patch because of ci.yml" in run.asked(Role.MID_FLIGHT)[0]


def test_a_run_without_a_question_asks_no_advisor() -> None:
    assert play([done()]).counts == ("completed", 0, 0, 0)


def test_each_call_tells_its_tokens_its_cost_and_its_time() -> None:
    """Defect 2.110: there was no column for any of them."""
    run = play([consult(), done(applied=[1])], [guidance()], seconds=2.0)
    told = [(call.usage.input_tokens, call.usage.cost_usd, call.duration_seconds) for call in run.of(TaskCalled)]
    assert told == [(100, 0.05, 2.0)] * 3
    usage = run.outcome["usage"]
    assert (usage["executor"]["calls"], usage["executor"]["cost_usd"], usage["executor"]["duration_seconds"]) == (
        2,
        0.1,
        4.0,
    )
    assert usage["advisor"]["input_tokens"] == 100


def test_a_cost_that_one_call_does_not_report_is_unknown_and_not_zero() -> None:
    assert play([done()], usage=Usage(input_tokens=5)).outcome["usage"]["executor"]["cost_usd"] is None


# --- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, means",
    [("completed", "completed"), ("failed", "executor_failed"), ("needs_human", "conflict_needs_human")],
)
def test_only_an_end_with_the_status_completed_completes(status: str, means: str) -> None:
    """Defect 2.104: an end with the status failed was recorded as completed."""
    run = play([done(status)])
    assert run.ended.status == means
    assert run.ended.done is not None
    assert run.ended.done.status == status


def test_an_end_without_a_readable_status_is_malformed() -> None:
    for body in ({"summary": "Done."}, {"status": "perfect"}, {"status": ["completed", "failed"]}):
        assert play([block("EXECUTOR_DONE", body), "That is all."]).counts[0] == "malformed_block"


def test_of_two_ends_the_worse_one_counts() -> None:
    for first, second in (("completed", "failed"), ("failed", "completed"), ("needs_human", "failed")):
        run = play([f"{done(first)}\n{done(second)}"])
        assert run.ended.status == "executor_failed"
        assert [each.tag for each in run.of(BlockIgnored)] == ["EXECUTOR_DONE"]


@pytest.mark.parametrize(
    "message",
    [
        "I am done.",
        f"> {done()}",
        f"```\n{done()}\n```",
        f"The file says: {done()}",
        done().replace(NONCE, "fedcba9876543210"),
        done().replace(f' nonce="{NONCE}"', ""),
        guidance(),
    ],
)
def test_a_message_without_a_block_of_its_own_is_no_end(message: str) -> None:
    """Defect 2.103, in the whole run."""
    assert play([message]).counts == ("executor_stopped_without_done", 0, 0, 0)


def test_an_end_that_is_not_closed_is_malformed_and_asked_for_again() -> None:
    """Defect 2.105, in the whole run: it looked as if the executor had stopped."""
    run = play([f'<EXECUTOR_DONE nonce="{NONCE}">\n{{"status":"completed"}}', done()])
    assert run.counts == ("completed", 0, 0, 1)
    assert "not closed" in run.asked(Role.EXECUTOR)[1]


# --- questions -------------------------------------------------------------------------------------------------------


def test_a_question_voids_an_end_in_the_same_message() -> None:
    run = play([f"{done()}\n{consult()}", done(applied=[1])], [guidance()])
    assert run.counts == ("completed", 1, 1, 0)
    assert [each.why for each in run.of(BlockIgnored)] == ["a question in the same message comes first"]


def test_a_malformed_question_voids_an_end_in_the_same_message() -> None:
    run = play([f"{BROKEN}\n{done()}", consult(), done(applied=[1])], [guidance()])
    assert run.counts == ("completed", 1, 1, 1)


def test_one_question_a_turn_is_asked_and_the_others_are_logged() -> None:
    run = play([f"{consult('First?')}\n{consult('Second?')}", done(applied=[1])], [guidance()])
    assert [each.consult.question for each in run.of(ConsultHeard)] == ["First?"]
    assert [each.tag for each in run.of(BlockIgnored)] == ["ADVISOR_CONSULT"]


def test_at_the_cap_a_question_is_refused_and_the_executor_finishes_alone() -> None:
    limits = TaskLimits(max_advisor_calls=1)
    run = play([consult(), consult("More?"), done(applied=[1])], [guidance()], limits=limits)
    assert run.counts == ("completed", 1, 1, 0)
    assert [bool(each.refused) for each in run.of(ConsultHeard)] == [False, True]
    assert "was not asked" in run.asked(Role.EXECUTOR)[2]


def test_an_executor_that_asks_again_after_the_refusal_reaches_the_limit() -> None:
    limits = TaskLimits(max_advisor_calls=0)
    assert play([consult(), consult()], limits=limits).counts == ("advisor_call_limit_reached", 0, 0, 0)


def test_the_guidance_of_the_last_turn_is_applied_before_it_counts() -> None:
    """Defect 2.107: it was counted, and no turn followed that could apply it."""
    limits = TaskLimits(max_turns=2)
    run = play([consult(), consult(), done(applied=[1, 2])], [guidance("A."), guidance("B.")], limits=limits)
    assert run.counts == ("completed", 2, 2, 0)
    assert "B." in run.asked(Role.EXECUTOR)[2]
    assert "No further question is answered" in run.asked(Role.EXECUTOR)[2]


def test_an_executor_that_asks_in_the_turn_after_the_last_one_reaches_the_limit() -> None:
    run = play([consult(), consult()], [guidance()], limits=TaskLimits(max_turns=1))
    assert run.counts == ("max_turns_reached", 1, 1, 0)
    assert len(run.of(GuidanceHeard)) == 1


def test_each_guidance_is_followed_by_a_turn_of_the_executor_whatever_the_limits() -> None:
    for turns in range(1, 4):
        for most in range(4):
            limits = TaskLimits(max_turns=turns, max_advisor_calls=most)
            asks = min(turns, most) + (1 if most < turns else 0) + 1
            run = play([consult()] * asks, [guidance()] * min(turns, most), limits=limits)
            roles = [call.role for call in run.calls]
            assert roles[-1] is Role.EXECUTOR
            assert len(run.of(GuidanceHeard)) == roles.count(Role.MID_FLIGHT) == min(turns, most)


# --- guidance --------------------------------------------------------------------------------------------------------


def test_a_stop_signal_ends_the_run() -> None:
    run = play([consult()], [guidance("A person must decide.", stop=True)])
    assert run.counts == ("advisor_stop_signal", 1, 1, 0)
    assert run.ended.reason == "A person must decide."


def test_of_two_guidances_the_one_that_asks_to_stop_counts() -> None:
    run = play([consult()], [f"{guidance()}\n{guidance('Stop.', stop=True)}"])
    assert run.ended.status == "advisor_stop_signal"


def test_advice_without_a_block_is_wrapped_with_a_note() -> None:
    run = play([consult(), done(applied=[1])], ["Take the short way."])
    assert run.counts == ("completed", 1, 1, 0)
    (heard,) = run.of(GuidanceHeard)
    assert (heard.guidance.guidance, heard.wrapped) == ("Take the short way.", True)
    assert '"note"' in run.files["advisor_guidance.jsonl"]


def test_a_stop_signal_in_prose_ends_the_run_too() -> None:
    assert play([consult()], ["Wait. stop_signal: true"]).ended.status == "advisor_stop_signal"


@pytest.mark.parametrize("reason", [LostReason.TIMEOUT, LostReason.INVALID_ANSWER], ids=lambda reason: reason.value)
@pytest.mark.parametrize(
    "said",
    [
        {"message": guidance("A person must decide.", stop=True)},
        {"message": "Wait. stop_signal: true"},
        {"guidance": "A person must decide.", "stop_signal": True},
    ],
    ids=["in its block", "in prose", "in no message"],
)
def test_a_stop_signal_in_a_lost_answer_ends_the_run(said: dict[str, object], reason: LostReason) -> None:
    """A usable no inside an unusable answer is a no."""
    run = play([consult()], [Lost(reason, "The answer is lost.", said=({"message": guidance()}, said))])
    assert run.counts == ("advisor_stop_signal", 1, 1, 0)
    assert len(run.asked(Role.MID_FLIGHT)) == 1


def test_an_answer_without_a_message_that_asks_to_stop_ends_the_run() -> None:
    run = play([consult()], [Answered({"guidance": "Wait.", "stop_signal": True}, Receipt())])
    assert run.ended.status == "advisor_stop_signal"


def test_advice_in_a_lost_answer_that_asks_for_no_stop_stays_lost() -> None:
    run = play([consult(), done()], [Lost(LostReason.TIMEOUT, "Late.", said=({"message": guidance()},))])
    assert (run.counts, run.ended.reason) == (("degraded", 1, 0, 0), "an answer of the advisor did not come")


def test_an_advisor_neither_ends_the_run_nor_proposes() -> None:
    run = play([consult(), "I stop."], [f"{done()}\n{proposal()}\n{guidance()}"])
    assert run.counts == ("executor_stopped_without_done", 1, 1, 0)
    assert [each.tag for each in run.of(BlockIgnored)] == ["EXECUTOR_DONE", "MEMORY_PROPOSAL"]
    assert run.of(ProposalHeard) == []


def test_a_malformed_guidance_is_asked_for_once_more() -> None:
    """Defect 2.108: it ended the whole run."""
    broken = block("ADVISOR_GUIDANCE", "[]")
    mended = play([consult(), done(applied=[1])], [broken, guidance()])
    assert mended.counts == ("completed", 1, 1, 1)
    assert "ADVISOR_GUIDANCE is malformed" in mended.asked(Role.MID_FLIGHT)[1]
    assert play([consult()], [broken, broken]).counts == ("malformed_block", 1, 0, 2)


def test_after_a_malformed_guidance_prose_is_no_guidance() -> None:
    run = play([consult()], [block("ADVISOR_GUIDANCE", "[]"), "Do as I said."])
    assert run.counts == ("malformed_block", 1, 0, 1)
    assert run.outcome["error_mode"] == "malformed:ADVISOR_GUIDANCE"


def test_a_completion_that_keeps_silent_about_a_guidance_is_asked_once_and_then_calls_a_person() -> None:
    """Defect 2.109: any completion after any guidance counted as an application of it."""
    run = play([consult(), done(), done()], [guidance()])
    assert run.ended.status == "conflict_needs_human"
    assert given(1) in run.ended.reason
    assert given(1) in run.asked(Role.EXECUTOR)[2]
    assert run.of(GuidanceUsed) == []
    assert play([consult(), done(), done(applied=[1])], [guidance()]).ended.status == "completed"


def test_a_guidance_that_is_not_applied_needs_a_reason() -> None:
    bare = {"guidance": given(1), "disposition": "overridden"}
    without = play([consult(), done(guidance=[bare]), done(guidance=[bare])], [guidance()])
    assert without.ended.status == "conflict_needs_human"
    run = play([consult(), done(guidance=[{**bare, "reason": "The file is gone."}])], [guidance()])
    assert run.ended.status == "completed"
    assert run.outcome["guidance_applied"] == {given(1): "overridden"}


def test_what_is_said_of_a_guidance_that_nobody_gave_counts_for_nothing() -> None:
    invented = {"guidance": "adv_guidance_000000000000", "disposition": "applied"}
    run = play([done(guidance=[invented])])
    assert run.of(GuidanceUsed) == []


# --- malformed blocks ------------------------------------------------------------------------------------------------


def test_a_malformed_question_is_asked_for_once_more_and_no_more() -> None:
    assert play([BROKEN, consult(), done(applied=[1])], [guidance()]).counts == ("completed", 1, 1, 1)
    assert play([BROKEN, BROKEN]).counts == ("malformed_block", 0, 0, 2)


def test_after_a_malformed_block_a_message_without_blocks_is_no_way_out() -> None:
    run = play([BROKEN, "I cannot say it better."])
    assert run.counts == ("malformed_block", 0, 0, 1)
    assert run.outcome["error_mode"] == "malformed:ADVISOR_CONSULT"


def test_a_malformed_proposal_is_logged_and_ends_nothing() -> None:
    run = play([f"{block('MEMORY_PROPOSAL', '7')}\n{done()}"])
    assert run.counts == ("completed", 0, 0, 1)
    assert [each.tag for each in run.of(BlockMalformed)] == ["MEMORY_PROPOSAL"]
    assert run.outcome["error_mode"] == "none"


def test_a_proposal_that_is_repeated_is_one_proposal() -> None:
    run = play([f"{proposal()}\n{BROKEN}", f"{proposal()}\n{proposal('Another.')}\n{done()}"])
    assert [each.proposal.content for each in run.of(ProposalHeard)] == ["Tests need git.", "Another."]


def test_more_blocks_than_are_read_are_no_end() -> None:
    flood = "\n".join([proposal()] * 40)
    assert play([f"{flood}\n{done()}", "No."]).ended.status == "malformed_block"


# --- answers that do not come ----------------------------------------------------------------------------------------


def test_an_executor_that_runs_out_of_time_has_failed_with_124() -> None:
    run = play([TIMEOUT])
    assert (run.ended.status, run.of(TaskCalled)[0].exit_code) == ("executor_failed", 124)


def test_a_backend_that_cannot_be_started_is_a_status_with_127() -> None:
    run = play([Lost(LostReason.CRASH, "No such file.")])
    assert (run.ended.status, run.of(TaskCalled)[0].exit_code) == ("executor_failed", 127)


def test_a_reply_without_a_message_is_asked_for_once_more() -> None:
    nothing = Lost(LostReason.NO_STRUCTURED_OUTPUT, "The reply carried no structured answer.")
    assert play([nothing, done()]).ended.status == "completed"
    assert play([Answered({"text": "Done."}), done()]).ended.status == "completed"
    assert play([nothing, nothing]).ended.status == "executor_failed"


def test_without_an_answer_of_the_advisor_the_executor_goes_on_and_the_run_is_degraded() -> None:
    for reply in (TIMEOUT, Lost(LostReason.SERVER_ERROR, "529"), ""):
        run = play([consult(), done()], [reply])
        assert run.counts == ("degraded", 1, 0, 0)
        assert "got no answer" in run.asked(Role.EXECUTOR)[1]


def test_a_question_that_got_no_answer_is_given_back() -> None:
    limits = TaskLimits(max_advisor_calls=1)
    run = play([consult(), consult(), done(applied=[1])], [TIMEOUT, guidance()], limits=limits)
    assert run.counts == ("degraded", 2, 1, 0)


@pytest.mark.parametrize("stop", [CreditExhaustedError("No credit."), AuthenticationFailedError("No key.")])
def test_an_account_that_cannot_be_used_ends_the_run(stop: CreditExhaustedError | AuthenticationFailedError) -> None:
    assert play([stop]).ended.status == "executor_failed"
    assert play([consult()], [stop]).ended.status == "advisor_failed"


def test_an_interrupt_is_no_status() -> None:
    with pytest.raises(ReviewInterrupted):
        play([ReviewInterrupted("The review was interrupted.")])


# --- limits ----------------------------------------------------------------------------------------------------------


def test_a_run_has_a_deadline_beside_the_time_of_each_call() -> None:
    """Defect 2.111: only single calls had a limit."""
    limits = TaskLimits(call_seconds=60, run_seconds=100)
    run = play([consult()], [guidance()], seconds=55, limits=limits)
    assert run.ended.status == "budget_exceeded"
    assert run.ends_of_calls == ["answered", "answered", "refused"]
    assert [call.timeout_seconds for call in run.calls] == [60, 45]


def test_money_is_checked_before_each_call() -> None:
    limits = TaskLimits(max_usd=0.1)
    run = play([consult()], [guidance()], limits=limits)
    assert run.ended.status == "budget_exceeded"
    assert [round(call.max_usd, 2) for call in run.calls] == [0.1, 0.05]


def test_a_backend_that_reports_no_cost_is_bound_by_what_its_calls_are_taken_to_cost() -> None:
    """The outcome does not say that it cost so much: the cost stays unknown."""
    answer = Price("cheap", date(2026, 1, 1), 0.0, 1_000.0, 0.0, 0.0)  # a usual answer costs 1.50 dollars by it
    run = play([consult()], [guidance()], usage=Usage(), prices=(answer,), limits=TaskLimits(max_usd=2.0))
    assert (run.ended.status, run.ends_of_calls) == ("budget_exceeded", ["answered", "answered", "refused"])
    assert run.outcome["usage"]["executor"]["cost_usd"] is None


@pytest.mark.parametrize("dear, ends", [("cheap", ["refused"]), ("strong", ["answered", "refused"])])
def test_a_call_that_the_money_cannot_pay_by_its_estimate_is_not_made(dear: str, ends: list[str]) -> None:
    """The first call of whom is dear: nothing is paid for an answer that would be cut off."""
    said = [consult()] if dear == "strong" else []
    run = play(said, prices=(Price(dear, date(2026, 1, 1), 10_000.0, 10_000.0, 0.0, 0.0),))
    assert (run.ended.status, run.ends_of_calls) == ("budget_exceeded", ends)
    assert run.ended.reason.startswith("it costs at least $")


def test_a_call_that_the_money_can_pay_by_its_estimate_is_made_as_without_one() -> None:
    said = [consult(), done(applied=[1])], [guidance()]
    priced = play(*said, prices=(Price("cheap", date(2026, 1, 1), 3.0, 15.0, 0.3, 3.75),))
    assert priced.ends_of_calls == ["answered"] * 3
    assert [call.max_usd for call in priced.calls] == [call.max_usd for call in play(*said).calls]


@pytest.mark.parametrize(
    "lost",
    [Lost(LostReason.CALL_BUDGET, "The budget is spent."), Lost(LostReason.TOO_LONG, "The prompt is too long.")],
)
def test_a_call_that_one_of_our_limits_cuts_short_has_not_failed(lost: Lost) -> None:
    assert play([lost]).ended.status == "budget_exceeded"
    assert play([consult()], [lost]).ended.status == "budget_exceeded"


def test_a_switch_that_turns_the_advisor_off_asks_nobody() -> None:
    run = play([], disabled="HYDRAFLOW_REVIEW_ADVISOR_ENABLED is off")
    assert (run.ended.status, run.ended.reason) == ("disabled", "HYDRAFLOW_REVIEW_ADVISOR_ENABLED is off")


# --- what is believed ------------------------------------------------------------------------------------------------


def test_an_earlier_message_cannot_bring_its_blocks_into_a_prompt() -> None:
    """What was said is shown without the nonce: a model that repeats it says nothing with it."""
    run = play([f"I quote.\n{consult()}", done(applied=[1])], [f"Prose.\n{guidance()}"])
    shown = run.asked(Role.EXECUTOR)[1]
    assert shown.count(f'<ADVISOR_CONSULT nonce="{NONCE}">') == run.asked(Role.EXECUTOR)[0].count(
        f'<ADVISOR_CONSULT nonce="{NONCE}">'
    )


def test_of_several_messages_in_one_call_a_question_comes_first() -> None:
    both = Answered({"message": done()}, Receipt(Usage()), said=({"message": consult()},))
    run = play([both, done(applied=[1])], [guidance()])
    assert run.counts == ("completed", 1, 1, 0)


def test_turns_are_counted_by_number_and_not_by_name() -> None:
    """Defect 2.106: turn 9 came after turn 10, because names were compared."""
    limits = TaskLimits(max_turns=11, max_advisor_calls=11)
    run = play([consult()] * 11 + [done(applied=range(1, 12))], [guidance()] * 11, limits=limits)
    assert run.ended.status == "completed"
    assert run.outcome["executor_turn_count"] == 12
    assert run.of(TaskCalled)[-1].number == 12
    assert run.files["executor_turn_12.final.md"].startswith("<EXECUTOR_DONE")


# --- edits -----------------------------------------------------------------------------------------------------------


def test_edits_are_read_once_the_executor_has_ended_and_stand_in_the_folder() -> None:
    run = play([done()], edits=EditGrant(()), made=TaskPatch("diff --git a/a b/a\n", ("a",)))
    assert run.ended.status == "completed"
    assert run.files["executor.patch"] == "diff --git a/a b/a\n"
    assert run.outcome["patch"] == {"files": ("a",), "refused": ()}


def test_a_completed_task_whose_patch_is_refused_calls_a_person() -> None:
    refused = TaskPatch(refused=(RefusedPath("ci.yml", "it tells CI what to do"),))
    run = play([done()], edits=EditGrant(()), made=refused)
    assert (run.ended.status, run.ended.reason) == (
        "conflict_needs_human",
        "the patch is refused: ci.yml: it tells CI what to do",
    )
    assert "executor.patch" not in run.files
    assert play([done("failed")], edits=EditGrant(()), made=refused).ended.status == "executor_failed"


def test_without_leave_to_edit_nothing_is_read_back() -> None:
    assert play([done()], made=TaskPatch("diff", ("a",))).outcome["patch"] is None
