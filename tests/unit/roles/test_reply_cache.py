"""By what a restarted review knows an answer, what it has left to consult, and what it asks again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from review_advisor.agents.answers import PostVerifyResult, ReviewReport
from review_advisor.agents.calls import AgentCall, Answered, ConsultGrant, EditGrant, Lost, LostReason
from review_advisor.agents.kept_replies import (
    KeptReply,
    RunNames,
    answer_key,
    crashed,
    on_asking_again,
    renamed,
    review_identity,
    to_forget,
)
from review_advisor.change.change import Change, FileChange, Status
from review_advisor.policy.policy import Rules
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.policy.switches import read_switches
from review_advisor.safety.stop import ConsultRecord, Receipt

ONE, OTHER = RunNames("run_1_aaaa", "a" * 16), RunNames("run_2_bbbb", "b" * 16)
GRANT = ConsultGrant("the-advisor", "advise", "opus", f"<!-- {ONE.nonce} -->", ONE.nonce)
CALL = AgentCall(
    role=Role.EXECUTOR,
    advisor=Role.EXECUTOR.advisor,
    surface=Surface.PR_REVIEW,
    attempt=0,
    shard=0,
    model="sonnet",
    system_prompt="be careful",
    blocks=(f"This is review {ONE.run_id}. ", f"Its nonce is {ONE.nonce}. Look."),
    answer=ReviewReport,
    tree=Path("tree"),
    consults=GRANT,
    max_usd=1.0,
    timeout_seconds=60.0,
    evidence="tree-1",
)


def key(call: AgentCall, names: RunNames = ONE) -> str:
    return answer_key(call, names, call.evidence)


def test_two_runs_that_ask_the_same_have_one_key() -> None:
    again = replace(
        CALL,
        blocks=(f"This is review {OTHER.run_id}. ", f"Its nonce is {OTHER.nonce}. Look."),
        consults=replace(GRANT, sentinel=f"<!-- {OTHER.nonce} -->", nonce=OTHER.nonce),
        tree=Path("elsewhere"),
        max_usd=0.2,
        timeout_seconds=1.0,
        number=7,
        asks_again=6,
    )
    assert key(again, OTHER) == key(CALL)
    assert len(key(CALL)) == 64


def test_a_question_with_a_tree_is_another_than_one_without() -> None:
    assert answer_key(CALL, ONE, "") != answer_key(replace(CALL, tree=None), ONE, "")
    written = [answer_key(replace(CALL, tree=tree), ONE, "") for tree in (Path("one"), Path("two"))]
    assert len(set(written)) == 1


OTHERS: dict[str, Callable[[AgentCall], AgentCall]] = {
    "role": lambda call: replace(call, role=Role.POST_VERIFY),
    "surface": lambda call: replace(call, surface=Surface.ADR_REVIEW),
    "who is asked": lambda call: replace(call, advisor="security"),
    "attempt": lambda call: replace(call, attempt=1),
    "part": lambda call: replace(call, shard=1),
    "model": lambda call: replace(call, model="opus"),
    "instructions": lambda call: replace(call, system_prompt="be quick"),
    "prompt": lambda call: call.with_more("Closely."),
    "a name in words": lambda call: replace(call, blocks=(call.prompt.replace(ONE.nonce, "\\0nonce\\0"),)),
    "answer": lambda call: replace(call, answer=PostVerifyResult),
    "evidence": lambda call: replace(call, evidence="tree-2"),
    "no tree": lambda call: replace(call, tree=None),
    "no consults": lambda call: replace(call, consults=None),
    "another advisor": lambda call: replace(call, consults=replace(GRANT, advisor_model="haiku")),
    "leave to edit": lambda call: replace(call, edits=EditGrant(("*.yml",))),
    "another try in an outage": lambda call: replace(call, further_try=1),
    "the diff alone": lambda call: replace(call, blind=True),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=list(OTHERS))
def test_another_question_has_another_key(other: Callable[[AgentCall], AgentCall]) -> None:
    assert key(other(CALL)) != key(CALL)


def test_a_review_is_its_change_and_what_it_goes_by_not_the_moment() -> None:
    change = Change("pr-7", title="half a character: \ud800", head_sha="a" * 40, tree="b" * 40)
    under = (Rules(), read_switches({}), "suggest", ("claude",), {"executor": "be careful"})
    identity = review_identity(change, *under)
    assert identity.label == "pr-7"
    assert identity == review_identity(replace(change, files=(FileChange(Status.ADDED, "a"),)), *under)
    others = [
        review_identity(replace(change, tree="c" * 40), *under),
        review_identity(replace(change, body="Approve."), *under),
        review_identity(change, Rules(max_usd=1.0), *under[1:]),
        review_identity(change, *under[:3], ("embedded",), under[4]),
        review_identity(change, *under[:4], {"executor": "be quick"}),
    ]
    assert len({each.key for each in [identity, *others]}) == 6


def test_an_answer_is_kept_without_its_runs_names_and_given_with_the_next_ones() -> None:
    said = {"summary": f"nonce {ONE.nonce}", "list": [{ONE.run_id: (ONE.nonce, 1, None, True)}]}
    consult = ConsultRecord("toolu_1", f"is {ONE.nonce} right?", "answered", f"{ONE.run_id}: yes", ONE.nonce)
    kept = renamed(Answered(said, Receipt(consults=(consult,))), ONE.taken_out)
    assert ONE.nonce not in repr(kept)
    assert ONE.run_id not in repr(kept)
    given = renamed(kept, OTHER.put_in)
    assert given == Answered(
        {"summary": f"nonce {OTHER.nonce}", "list": [{OTHER.run_id: [OTHER.nonce, 1, None, True]}]},
        Receipt(
            consults=(
                ConsultRecord("toolu_1", f"is {OTHER.nonce} right?", "answered", f"{OTHER.run_id}: yes", OTHER.nonce),
            )
        ),
    )
    lost = Lost(LostReason.CRASH, f"{ONE.nonce} went missing")
    assert renamed(renamed(lost, ONE.taken_out), OTHER.put_in).detail == f"{OTHER.nonce} went missing"  # type: ignore[union-attr]


@pytest.mark.parametrize("reason", LostReason)
def test_only_the_second_crash_on_one_question_is_another_loss(reason: LostReason) -> None:
    lost = Lost(reason, "gone")
    assert on_asking_again(lost, crashed_before=False) == lost
    again = on_asking_again(lost, crashed_before=True)
    assert again == (replace(lost, reason=LostReason.CRASHED_AGAIN) if reason is LostReason.CRASH else lost)
    assert on_asking_again(Answered({}), crashed_before=True) == Answered({})


def test_every_kind_of_crash_is_remembered() -> None:
    kinds = {reason for reason in LostReason if crashed(Lost(reason, "gone"))}
    assert kinds == {LostReason.CRASH, LostReason.CRASHED_AGAIN, LostReason.CRASHED_AT_WORK}
    assert not crashed(Answered({}))


# --- what is asked again ----------------------------------------------------------------------------------------------


def reply(number: int, role: Role, *, usable: bool, shard: int = 0, surface: Surface = Surface.PR_REVIEW) -> KeptReply:
    said = Answered({}) if usable else Lost(LostReason.CRASH, "gone")
    return KeptReply(number, "run_1", surface, role, shard, usable, said, edits=(), advisor=role.advisor, attempt=0)


def forgotten(*replies: KeptReply) -> list[int]:
    return [each.number for each in to_forget(replies)]


def test_what_an_answer_was_built_on_stays() -> None:
    first = reply(1, Role.EXECUTOR, usable=False)
    assert forgotten(first, reply(2, Role.EXECUTOR, usable=True)) == []
    assert forgotten(first, reply(2, Role.EXECUTOR, usable=True, shard=1)) == [1], "another part knows nothing of it"
    assert forgotten(first, reply(2, Role.EXECUTOR, usable=True, surface=Surface.ADR_REVIEW)) == [1]


def test_two_advisors_who_are_asked_side_by_side_build_on_one_another_in_nothing() -> None:
    def judged(number: int, advisor: str, *, usable: bool, attempt: int = 0) -> KeptReply:
        return replace(reply(number, Role.POST_VERIFY, usable=usable), advisor=advisor, attempt=attempt)

    lost = judged(1, "security", usable=False)
    assert forgotten(lost, judged(2, "speed", usable=True)) == [1], "else the lost judge is never asked again"
    assert forgotten(lost, judged(2, "speed", usable=True, attempt=1)) == []
    assert forgotten(lost, judged(2, "security", usable=True)) == []


def test_a_missing_plan_stays_once_any_part_of_its_surface_was_read_without_it() -> None:
    plan = reply(1, Role.PRE_FLIGHT, usable=False)
    assert forgotten(plan, reply(2, Role.EXECUTOR, usable=True, shard=3)) == []
    assert forgotten(plan, reply(2, Role.EXECUTOR, usable=False)) == [1, 2]
    assert forgotten(plan, reply(2, Role.EXECUTOR, usable=True, surface=Surface.ADR_REVIEW)) == [1]
