"""Declared advisors in a run of a task: they speak before it, watch its turns, vote on its end, and answer by id."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.scenarios.act_017 import RISK_ANALYST
from tests.scenarios.task_runs import COST, Declared, Played, consult, done, guidance, play

from review_advisor.agents.answers import Opinion
from review_advisor.agents.calls import (
    Answered,
    Cause,
    CreditExhaustedError,
    EditGrant,
    Lost,
    LostReason,
    ModelUnknownError,
)
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.ledger.task_events import (
    ConsultHeard,
    CouncilVoted,
    OpinionHeard,
    TaskBegun,
    TaskCalled,
    TaskEvent,
    TaskLimits,
    counted_votes,
)
from review_advisor.policy.declarations import read_declarations
from review_advisor.policy.roster import Advisor
from review_advisor.policy.roster_layers import made_roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.votes import BriefVote
from review_advisor.safety.stop import Receipt, ReviewInterrupted
from review_advisor.tasks.prompts import LONGEST_PATCH, TaskCouncil

ACTIONS = ("deploy", "delay", "rollback")
ANSWER_OF_ACT_017 = {
    "id": "riskAnalyst",
    "thought": "The new feature has passed unit tests but lacks integration tests. High risk of regression.",
    "calls": '{"deploy": 10, "rollback": 5, "delay": 95}',
}
OPINION = {"opinion": "Nobody has tested the migration.", "concerns": ["the migration"], "thought": "Careful."}
OUTAGE = Lost(LostReason.SERVER_ERROR, "The API is overloaded.")
NONSENSE = {"calls": "deploy, I think"}


def vote(**weights: int) -> dict[str, Any]:
    return {"calls": json.dumps(weights)}


def risk_analyst() -> Advisor:
    """Act 017's, verbatim, by the reader of reviews and votes."""
    roster, problems = made_roster("default", [read_declarations("advisors.json", RISK_ANALYST)])
    assert problems == ()
    return roster.advisors[-1]


def judge(id_: str = "judge", **more: Any) -> Advisor:
    return Advisor(id_, f"You are {id_}.", **{"on": "finish", **more})


def deploys(*advisors: Advisor, executor: list[Any] | None = None, **more: Any) -> Played:
    """A run whose executor completes it at once, unless it is told what to say."""
    return play(executor or [done()], council=TaskCouncil(advisors, ACTIONS), task="Deploy 2.0?", **more)


def winners(run: Played) -> list[tuple[str, str]]:
    return [(event.moment, counted_votes(event).winner) for event in run.of(CouncilVoted)]


def test_the_risk_analyst_of_act_017_has_a_deployment_delayed() -> None:
    run = deploys(risk_analyst(), declared={"riskAnalyst": [OPINION, ANSWER_OF_ACT_017]})
    assert (run.ended.status, winners(run)) == ("voted_down", [("finish", "delay")])
    told = run.outcome["council"]
    assert told["action"] == "delay"
    assert told["advisors"] == [ANSWER_OF_ACT_017]
    assert list(told["advisors"][0]) == ["id", "thought", "calls"]
    (chosen,) = told["calls"]
    assert (set(chosen), chosen["_tool"]) == ({"_tool", "_reasoningForCall"}, "delay")
    assert told["means"] == {"deploy": 10.0, "delay": 95.0, "rollback": 5.0}


def test_one_that_is_there_on_request_speaks_at_the_start_after_each_turn_and_at_the_end() -> None:
    said: list[Declared] = [OPINION, {**ANSWER_OF_ACT_017}, {**vote(deploy=90), "thought": "Fine now."}]
    run = deploys(
        risk_analyst(),
        executor=[consult(), done(applied=[1])],
        advisor=[guidance("Test it first.")],
        declared={"riskAnalyst": said},
    )
    assert [(call.role, call.attempt) for call in run.calls] == [
        (Role.PRE_FLIGHT, 0),
        (Role.EXECUTOR, 1),
        (Role.POST_VERIFY, 1),
        (Role.MID_FLIGHT, 1),
        (Role.EXECUTOR, 2),
        (Role.POST_VERIFY, 2),
    ]
    assert winners(run) == [("turn", "delay"), ("finish", "deploy")]
    assert (run.ended.status, run.outcome["council"]["action"]) == ("completed", "deploy")
    first, second = run.asked(Role.EXECUTOR)
    assert "Nobody has tested the migration." in first
    assert "deploy, delay, rollback" in first
    assert "lacks integration tests" not in first
    assert "lacks integration tests" in second  # it goes on knowing what the watcher has voted for


def test_nobody_who_votes_is_shown_the_opinion_or_the_vote_of_another() -> None:
    run = deploys(
        risk_analyst(),
        judge(),
        executor=[consult(), done(applied=[1])],
        advisor=[guidance()],
        declared={"riskAnalyst": [OPINION, ANSWER_OF_ACT_017, ANSWER_OF_ACT_017], "judge": [vote(delay=90)]},
    )
    for call in (*run.asked_of("judge"), run.asked_of("riskAnalyst")[-1]):
        assert "Which way?" in call.prompt
        assert "lacks integration tests" not in call.prompt
        assert "Nobody has tested the migration." not in call.prompt


def test_start_finish_and_none_are_three_moments() -> None:
    run = deploys(
        judge("early", on="start"),
        judge("late"),
        judge("askable", on=None),
        executor=[consult(), done(applied=[1])],
        advisor=[guidance()],
        declared={"early": [OPINION], "late": [vote(deploy=80)], "askable": []},
    )
    assert [call.advisor for call in run.calls if call.advisor in ("early", "late", "askable")] == ["early", "late"]
    assert run.calls[0].answer.__name__ == Opinion.__name__
    assert issubclass(run.calls[-1].answer, BriefVote)
    assert run.ended.status == "completed"


def test_those_who_advise_have_neither_tools_nor_a_tree_and_see_every_word_of_others_fenced() -> None:
    run = deploys(judge(), declared={"judge": [vote(deploy=80)]})
    (call,) = run.asked_of("judge")
    assert (call.tree, call.edits, call.consults) == (None, None, None)
    assert "In this task you are the advisor judge.\n\nYou are judge." in call.prompt
    assert "<<<UNTRUSTED TASK" in call.prompt
    assert "<<<UNTRUSTED EXECUTOR" in call.prompt


def test_who_votes_on_edits_is_shown_the_patch() -> None:
    patch = TaskPatch("+deploy = True\n", ("a",))
    run = deploys(judge(), declared={"judge": [vote(deploy=80)]}, made=patch, edits=EditGrant(()))
    (call,) = run.asked_of("judge")
    assert "+deploy = True" in call.prompt


@pytest.mark.parametrize(
    "votes, status, action",
    [
        ((vote(deploy=90), vote(deploy=60)), "completed", "deploy"),
        ((vote(deploy=90), vote(deploy=40, delay=50)), "conflict_needs_human", None),  # 50 apart
        ((vote(deploy=10, delay=90), vote(deploy=60)), "voted_down", "delay"),
        ((vote(deploy=90), OUTAGE), "conflict_needs_human", None),  # 45 for deploy, 50 against it by the missing one
        ((vote(deploy=10, delay=90), NONSENSE), "voted_down", "delay"),
        ((OUTAGE, NONSENSE), "conflict_needs_human", None),
    ],
)
def test_a_run_is_completed_only_if_the_mildest_action_wins(votes: Any, status: str, action: str | None) -> None:
    one, two = ([said, said] if said is NONSENSE else [said] for said in votes)
    run = deploys(judge("one"), judge("two"), declared={"one": one, "two": two})
    assert (run.ended.status, run.outcome["council"]["action"]) == (status, action)


def test_a_vote_that_nobody_can_read_is_asked_for_once_more() -> None:
    said = {"one": [vote(deploy=90)], "two": [NONSENSE, vote(deploy=80)]}
    run = deploys(judge("one"), judge("two"), declared=said)
    assert (run.ended.status, run.outcome["council"]["action"]) == ("completed", "deploy")
    first, again = run.asked_of("two")
    assert again.prompt.startswith(first.prompt)
    assert "could not be used (calls are no JSON text)" in again.prompt
    assert "deploy, I think" not in again.prompt


def test_a_missing_vote_that_changes_nothing_is_a_blind_spot_and_the_run_is_degraded() -> None:
    run = deploys(judge("one", weight=3), judge("two"), declared={"one": [vote(deploy=90)], "two": [OUTAGE]})
    assert (run.ended.status, run.outcome["council"]["action"]) == ("degraded", "deploy")
    assert run.outcome["council"]["blind_spots"] == ("two gave no vote: The API is overloaded.",)
    assert [each["id"] for each in run.outcome["council"]["advisors"]] == ["one"]


def test_a_member_with_the_veto_right_blocks_the_end() -> None:
    said = {"one": [vote(deploy=90)], "two": [vote(deploy=20, rollback=80)]}
    run = deploys(judge("one", weight=50), judge("two", veto=True), declared=said)
    assert (run.ended.status, run.outcome["council"]["action"]) == ("voted_down", "rollback")
    assert run.outcome["council"]["blocked_by"] == ("two",)


def test_an_end_of_which_a_part_was_shown_to_nobody_who_votes_calls_a_person() -> None:
    """An executor cannot hide what it does behind what it says or edits."""
    danger = "\n+os.system('danger')"
    long = TaskPatch("+x\n" * 40_000 + danger, ("a",))
    wordy = f"{'a ' * 11_000}{danger} {'b ' * 11_000}\n{done()}"
    asks = [f"{'c ' * 9_000}{number}\n{consult()}" for number in range(4)]
    heard = [guidance()] * 4
    limits = TaskLimits(max_turns=9, max_advisor_calls=9)
    runs = [
        deploys(judge(), declared={"judge": [vote(deploy=100)]}, made=long, edits=EditGrant(())),
        deploys(judge(), executor=[wordy], declared={"judge": [vote(deploy=100)]}),
        deploys(
            judge(),
            executor=[*asks, done(applied=[1, 2, 3, 4])],
            advisor=heard,
            declared={"judge": [vote(deploy=100)]},
            limits=limits,
        ),
    ]
    for run in runs:
        (voted,) = run.of(CouncilVoted)
        assert (run.ended.status, run.outcome["council"]["action"]) == ("conflict_needs_human", None)
        told = f"{voted.unread:,} characters of its messages and its patch were shown to nobody who votes"
        assert (run.ended.reason, run.outcome["council"]["blind_spots"][-1]) == (told, told)
    assert runs[0].of(CouncilVoted)[0].unread == len(long.patch) - LONGEST_PATCH
    severe = deploys(judge(), declared={"judge": [vote(rollback=100)]}, made=long, edits=EditGrant(()))
    assert severe.ended.status == "voted_down"


# --- several answers, and less than a whole vote -------------------------------------------------------------------


def several(*said: Any, usable: bool = True) -> Answered | Lost:
    """A call that gives several answers; not ``usable``: one that is lost after them."""
    cost = Receipt(COST)
    if usable:
        return Answered(said[-1], cost, said=said)
    return Lost(LostReason.SERVER_ERROR, "The API is overloaded.", cost, said=said)


@pytest.mark.parametrize("veto", [True, False])
@pytest.mark.parametrize(
    "said",
    [
        several(vote(rollback=100), vote(deploy=95)),
        several(vote(deploy=95), vote(rollback=100), vote(deploy=95)),
        several(NONSENSE, vote(rollback=100), vote(deploy=95)),
        several(vote(rollback=100), NONSENSE),
        several(vote(rollback=100), vote(deploy=95), usable=False),
        several(vote(rollback=100), usable=False),
        several(vote(deploy=100, rollback=100), vote(deploy=95)),
    ],
)
def test_no_milder_answer_of_the_same_call_takes_a_no_back(said: Answered | Lost, veto: bool) -> None:
    run = deploys(judge(veto=veto), declared={"judge": [said]})
    assert (run.ended.status, run.outcome["council"]["action"]) == ("voted_down", "rollback")


def test_a_milder_answer_beside_one_that_nobody_can_read_is_no_vote() -> None:
    unread = several(NONSENSE, vote(deploy=95))
    run = deploys(judge("one"), judge("two"), declared={"one": [vote(deploy=90)], "two": [unread, unread]})
    assert run.ended.status == "conflict_needs_human"
    lost = deploys(judge(), declared={"judge": [several(NONSENSE, usable=False)]})
    assert lost.of(CouncilVoted)[0].votes[0].cause is Cause.CONTENT


def test_votes_that_came_stand_where_the_money_reaches_for_no_further_one() -> None:
    said: dict[str, list[Declared]] = {"one": [vote(rollback=100)], "two": [NONSENSE]}
    run = deploys(judge("one"), judge("two"), declared=said, limits=TaskLimits(max_usd=0.16))
    assert run.ends_of_calls == ["answered", "answered", "answered", "refused"]
    assert (run.ended.status, run.outcome["council"]["action"]) == ("voted_down", "rollback")
    assert [bool(each.lost) for each in run.of(CouncilVoted)[0].votes] == [False, True]


def test_a_vote_that_its_share_of_the_money_cuts_short_is_lost_and_the_others_count() -> None:
    short = Lost(LostReason.CALL_BUDGET, "The call reached its money.", Receipt(COST))
    run = deploys(judge("one"), judge("two"), declared={"one": [vote(deploy=90)], "two": [short]})
    assert run.ended.status == "conflict_needs_human"
    assert [bool(each.lost) for each in run.of(CouncilVoted)[0].votes] == [False, True]


@pytest.mark.parametrize("model", ["wisest", ""])
def test_a_model_that_does_not_exist_ends_the_run_names_its_setting_and_keeps_the_other_vote(model: str) -> None:
    two = judge("two", model=model, source=".review-advisor/advisors/two.md")
    said: dict[str, list[Declared]] = {
        "one": [vote(rollback=90)],
        "two": [ModelUnknownError("There is no such model.")],
    }
    run = deploys(judge("one", weight=3), two, declared=said)
    setting = "`model` of 'two' in .review-advisor/advisors/two.md" if model else "HYDRAFLOW_PR_REVIEW_ADVISOR_MODEL"
    assert (run.ended.status, run.outcome["council"]["action"]) == ("advisor_failed", None)
    assert f"The model asked for is {model or 'strong'!r}; {setting}" in run.ended.reason
    assert [bool(each.lost) for each in run.of(CouncilVoted)[0].votes] == [False, True]


# --- who watches -----------------------------------------------------------------------------------------------------


def test_a_watcher_with_the_veto_right_ends_the_run_before_anybody_is_asked_for_advice() -> None:
    guard = judge("guard", on="request", veto=True)
    run = deploys(guard, executor=[consult()], declared={"guard": [OPINION, vote(rollback=95)]})
    assert (run.ended.status, winners(run)) == ("advisor_stop_signal", [("turn", "rollback")])
    assert run.outcome["council"]["action"] is None
    assert "blocked by guard" in run.ended.reason


def test_a_watcher_without_the_right_only_warns() -> None:
    watcher = judge("watcher", on="request")
    said: list[Declared] = [OPINION, vote(rollback=95), vote(deploy=90)]
    run = deploys(watcher, executor=[consult(), done(applied=[1])], advisor=[guidance()], declared={"watcher": said})
    assert run.ended.status == "completed"


@pytest.mark.parametrize("veto, status", [(True, "conflict_needs_human"), (False, "degraded")])
def test_a_watcher_that_says_nothing_is_missed(veto: bool, status: str) -> None:
    watcher = judge("watcher", on="request", veto=veto)
    said: list[Declared] = [OPINION, OUTAGE, *([] if veto else [vote(deploy=90)])]
    executor, advisor = ([consult()], []) if veto else ([consult(), done(applied=[1])], [guidance()])
    run = deploys(watcher, executor=executor, advisor=advisor, declared={"watcher": said})
    assert run.ended.status == status


@pytest.mark.parametrize("end", [done("failed"), done("needs_human"), "I stop here."])
def test_nobody_votes_on_work_that_is_not_completed(end: str) -> None:
    run = deploys(judge(), executor=[end], declared={"judge": []})
    assert run.of(CouncilVoted) == []
    assert run.ended.status != "completed"


# --- by id -----------------------------------------------------------------------------------------------------------


def test_the_executor_asks_an_advisor_by_its_id_under_the_one_cap() -> None:
    owner = judge("dataOwner", on=None, model="wise", scopes=("migrations",))
    run = play(
        [consult("May it run twice?", advisor="dataOwner"), consult("Sure?"), done(applied=[1])],
        declared={"dataOwner": [guidance("It may.")]},
        council=TaskCouncil((owner,)),
        limits=TaskLimits(max_advisor_calls=1),
    )
    (call,) = run.asked_of("dataOwner")
    assert (call.model, call.role) == ("wise", Role.MID_FLIGHT)
    assert "You are dataOwner." in call.system_prompt
    assert "- dataOwner: migrations" in run.asked(Role.EXECUTOR)[0]
    assert [(each.asked, bool(each.refused)) for each in run.of(ConsultHeard)] == [("dataOwner", False), ("", True)]
    assert '"advisor":"dataOwner"' in run.files["advisor_consults.jsonl"]
    assert run.ended.status == "completed"


def test_a_question_to_nobody_is_named_the_nearest_id_and_counts_for_nothing() -> None:
    run = play(
        [consult(advisor="dataOwnr"), consult(advisor="dataOwner"), done(applied=[1])],
        declared={"dataOwner": [guidance()]},
        council=TaskCouncil((judge("dataOwner", on=None),)),
        limits=TaskLimits(max_advisor_calls=1),
    )
    assert run.counts == ("completed", 1, 1, 0)
    assert "did you mean 'dataOwner'?" in run.asked(Role.EXECUTOR)[1]


# --- limits and records ----------------------------------------------------------------------------------------------


def test_money_that_does_not_reach_for_a_vote_ends_the_run() -> None:
    run = deploys(judge(), declared={"judge": []}, limits=TaskLimits(max_usd=0.05))
    assert run.ended.status == "budget_exceeded"


def test_an_account_that_cannot_be_used_ends_the_run_at_a_vote_too() -> None:
    run = deploys(judge(), declared={"judge": [CreditExhaustedError("No credit is left.")]})
    assert run.ended.status == "advisor_failed"


def test_an_interrupt_during_a_vote_is_no_status_and_every_call_is_recorded() -> None:
    said: dict[str, list[Declared]] = {
        "one": [vote(deploy=90)],
        "two": [ReviewInterrupted("The task was interrupted.")],
    }
    events: list[TaskEvent] = []
    with pytest.raises(ReviewInterrupted):
        deploys(judge("one"), judge("two"), declared=said, heard=events)
    calls = [(each.advisor, each.ended) for each in events if isinstance(each, TaskCalled) and each.advisor]
    assert calls == [("one", "answered"), ("two", "stopped")]


def test_members_asked_side_by_side_share_what_is_left_of_the_money() -> None:
    names = ("one", "two", "three")
    run = deploys(
        *map(judge, names), declared={name: [vote(deploy=90)] for name in names}, limits=TaskLimits(max_usd=0.65)
    )
    assert [round(call.max_usd, 2) for call in run.calls] == [0.65, 0.2, 0.2, 0.2]


def test_many_members_are_asked_a_few_at_a_time_and_recorded_in_their_order() -> None:
    names = [f"judge{number}" for number in range(7)]
    run = deploys(*map(judge, names), declared={name: [vote(deploy=80)] for name in names})
    (voted,) = run.of(CouncilVoted)
    assert [each.advisor for each in voted.votes] == names
    assert run.ended.status == "completed"


def test_the_folder_tells_who_is_declared_each_opinion_and_each_vote() -> None:
    run = deploys(risk_analyst(), declared={"riskAnalyst": [OPINION, ANSWER_OF_ACT_017]})
    lines = [json.loads(line) for line in run.files["session_events.jsonl"].splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds == [
        "run_started",
        "advisor_turn",
        "advisor_opinion",
        "executor_turn",
        "advisor_turn",
        "council_vote",
        "run_completed",
    ]
    (voted,) = [line for line in lines if line["type"] == "council_vote"]
    assert (voted["moment"], voted["winner"], voted["votes"][0]["weights"]) == ("finish", "delay", [10.0, 95.0, 5.0])
    assert json.loads(run.files["policy.json"])["actions"] == list(ACTIONS)
    (begun,), (heard,) = run.of(TaskBegun), run.of(OpinionHeard)
    moments = "speaks before the first turn, votes after each turn and on the end"
    assert begun.advisors == (f"riskAnalyst: {moments}, weight 1, no veto",)
    assert heard.concerns == ("the migration",)
    assert json.loads(run.files["advisor_turn_2.raw.json"])["raw_artifacts"]["advisor"] == "riskAnalyst"


def test_what_no_run_has_is_a_blind_spot() -> None:
    run = deploys(
        judge("one", instanced=True), judge("two", inline=True), declared={"one": [vote(deploy=80)], "two": []}
    )
    assert run.outcome["council"]["blind_spots"] == (
        "one speaks of each instance, and a run has none",
        "two is an inline advisor, and a run asks none of them",
    )


def test_a_run_without_declared_advisors_says_nothing_of_any() -> None:
    run = play([consult(advisor="somebody"), done(applied=[1])], [guidance()])
    assert "council" not in run.outcome
    assert "advisor" not in json.loads(run.files["advisor_consults.jsonl"])
    assert "mildest" not in "".join(call.prompt for call in run.calls)
