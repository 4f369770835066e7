"""What the judgements of several members come to: one judgement of the executor's verdict.

Votes are about the change, a verdict is about the executor's: request_changes or block on an approval, or approve on a
rejection, is a veto; anything else confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.answers import Disagreement, PostVerifyResult
from review_advisor.core.answers.inline_calls import MOST_OF_A_VOTE
from review_advisor.core.answers.member_vote import ACTIONS, MemberVote
from review_advisor.core.answers.tolerant import Notes
from review_advisor.core.council.ballots import Ballot, Tally, tally
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.calls import Cause, Lost
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.safety.markdown import shortened

_YES = (MOST_OF_A_VOTE, 0.0, 0.0)
_NO = (0.0, 0.0, MOST_OF_A_VOTE)
_MOST_WORDS = 7_800
"""The most characters of all members' words in one text of the joint judgement. The note of a cut comes on top."""
_BESIDE = 110
"""The characters beside one member's words: its id, and how much was cut."""


@dataclass(frozen=True, slots=True)
class MemberAnswer:
    """The answer of one member of a panel. ``fallback`` is the model that answered instead of its own.

    ``opened`` names the files that it opened as pictures before it answered.
    """

    advisor: Advisor
    answer: PostVerifyResult | Lost | Refused
    fallback: str = ""
    opened: tuple[str, ...] = ()


def panel_tally(executor: Literal["approve", "reject"], members: Sequence[MemberAnswer]) -> Tally:
    """The votes of a panel on the change that the executor approves or rejects."""
    return tally(ACTIONS, [_ballot(executor, each) for each in members])


def panel_verdict(executor: Literal["approve", "reject"], counted: Tally) -> Literal["APPROVE", "VETO"]:
    """What the votes mean for the executor's verdict."""
    return "APPROVE" if (executor == "approve") is (counted.winner == ACTIONS[0]) else "VETO"


def joint_result(
    executor: Literal["approve", "reject"], members: Sequence[MemberAnswer], counted: Tally
) -> PostVerifyResult | None:
    """The panel's one judgement, with the words of those who carry it; None if nobody answered.

    A finding is older than the change only if every member says so. What is cut is said in the text.
    """
    if counted.nobody:
        return None
    verdict = panel_verdict(executor, counted)
    present = [(each.advisor.id, each.answer) for each in members if isinstance(each.answer, PostVerifyResult)]
    milder = {each.member for each in counted.ballots if _favours_approval(each)} - {*counted.blocked_by}
    against = [(name, said) for name, said in present if (name in milder) is (executor == "reject")]
    sides = present if verdict == "APPROVE" else against
    room = _MOST_WORDS // max(1, len(sides)) - _BESIDE
    fixes = ((name, said.suggested_fix_direction) for name, said in sides if said.suggested_fix_direction)
    agreed = [set(said.pre_existing) for _, said in present] if not counted.missing else [set()]
    notes = Notes()
    joint = PostVerifyResult.model_validate(
        {
            "verdict": verdict,
            "reasoning": _joined(((name, said.reasoning) for name, said in sides if said.reasoning), room),
            "disagreements": tuple(
                _of_member(name, each, verdict) for name, said in sides for each in said.disagreements
            ),
            "suggested_fix_direction": _joined(fixes, room) or None,
            "pre_existing": tuple(each for each in present[0][1].pre_existing if each in set.intersection(*agreed)),
        },
        context=notes,
    )
    return joint.model_copy(update={"reasoning": "\n\n".join(filter(None, (joint.reasoning, *notes.words)))})


def _joined(said: Iterable[tuple[str, str]], room: int) -> str:
    """The words of each member under its name; a cut after ``room`` characters is said."""
    return "\n\n".join(f"{name}: {shortened(words, room)}" for name, words in said)


def _ballot(executor: Literal["approve", "reject"], member: MemberAnswer) -> Ballot:
    answer = member.answer
    objects = False
    votes: tuple[float, ...] | Cause
    match answer:
        case Lost():
            votes = answer.cause
        case Refused():
            votes = Cause.CONTENT
        case PostVerifyResult() if member.fallback and answer.verdict == "APPROVE":
            votes = Cause.OUTAGE
        case MemberVote():
            votes = _votes(executor, answer)
        case _:
            votes = _YES if _is_for_the_change(executor, answer) else _NO
    if isinstance(answer, PostVerifyResult):
        objects = executor == "approve" and any(each.severity == "blocking" for each in answer.disagreements)
    who = member.advisor
    return Ballot(who.id, votes, weight=who.weight, veto=who.veto, objects=objects)


def _votes(executor: Literal["approve", "reject"], answer: MemberVote) -> tuple[float, ...]:
    """The weights that a member gave. Where they cannot be read, or contradict its verdict, the severer counts."""
    if answer.vote is None:
        return _NO
    weights = answer.vote.weights
    milder_than_its_word = weights[0] > max(weights[1:]) and not _is_for_the_change(executor, answer)
    return _NO if milder_than_its_word else weights


def _is_for_the_change(executor: Literal["approve", "reject"], answer: PostVerifyResult) -> bool:
    return (executor == "approve") is (answer.verdict == "APPROVE")


def _favours_approval(ballot: Ballot) -> bool:
    votes = ballot.votes
    return isinstance(votes, tuple) and votes[0] > max(votes[1:])


def _of_member(name: str, said: Disagreement, verdict: Literal["APPROVE", "VETO"]) -> Disagreement:
    """A disagreement under its member's name. What the panel did not follow is no more than a concern."""
    return Disagreement(
        executor_claim=said.executor_claim,
        advisor_assessment=_joined([(name, said.advisor_assessment)], _MOST_WORDS - _BESIDE),
        severity=said.severity if verdict == "VETO" else "concern",
    )
