"""The votes of several advisors, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, create_model

from review_advisor.agents.answers import (
    ACTIONS,
    MOST_OF_A_VOTE,
    Answer,
    Disagreement,
    MemberVote,
    Notes,
    PostVerifyResult,
    UnreadableCallsError,
    complaints,
    inline_calls,
    own_fields,
    severest_calls,
    with_own_fields,
)
from review_advisor.agents.calls import Cause, Lost
from review_advisor.policy.budgets import Refused
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, as_advisor
from review_advisor.policy.surfaces import Role
from review_advisor.safety.markdown import shortened

BLOCKS_FROM = 80.0


WIDEST_SPREAD = 40.0


def cause_without_ruling(cause: Cause) -> Cause:
    """The cause as which a loss counts where no ruling looks at rate limits, as in tasks and briefs.

    There one to a rate limit counts like one that the content caused, or it would make the result milder.
    """
    return Cause.CONTENT if cause is Cause.RATE_LIMIT else cause


@dataclass(frozen=True, slots=True)
class Ballot:
    """One member's vote."""

    member: str
    votes: tuple[float, ...] | Cause
    """0 to 100 for each action, in their order, or why there are none."""
    weight: float = 1.0
    veto: bool = False
    """The member has the veto right."""
    objects: bool = False
    """It has a blocking disagreement, which counts only with the veto right."""

    def counted(self, actions: Sequence[str]) -> tuple[float, ...]:
        """The votes as they are counted; those of a missing member are the severest possible."""
        if isinstance(self.votes, tuple):
            return self.votes
        return tuple(MOST_OF_A_VOTE if place else 0.0 for place in range(len(actions)))

    @property
    def is_cast(self) -> bool:
        """Whether it counts: that of a member that a rate limit took does not."""
        return self.votes is not Cause.RATE_LIMIT

    def blocks(self, actions: Sequence[str]) -> bool:
        """Whether it blocks by itself."""
        return self.is_cast and self.veto and (self.objects or self.counted(actions)[-1] >= BLOCKS_FROM)


@dataclass(frozen=True, slots=True)
class Tally:
    """What the votes come to."""

    actions: tuple[str, ...]
    """Mildest first."""
    ballots: tuple[Ballot, ...]
    means: tuple[float, ...]
    """The weighted mean of the votes for each action."""
    winner: str
    spread: float
    """How far apart the votes for the winner are."""
    blocked_by: tuple[str, ...] = ()
    """The members that block by themselves."""

    @property
    def missing(self) -> tuple[str, ...]:
        """The members whose vote did not come."""
        return tuple(each.member for each in self.ballots if isinstance(each.votes, Cause))

    @property
    def rate_limited(self) -> tuple[str, ...]:
        """The members that a rate limit took."""
        return tuple(each.member for each in self.ballots if not each.is_cast)

    @property
    def nobody(self) -> bool:
        """Whether no vote came at all."""
        return len(self.missing) == len(self.ballots)

    @property
    def is_split(self) -> bool:
        """Whether the members' votes for the winner are too far apart."""
        return self.spread > WIDEST_SPREAD

    @property
    def dissent(self) -> tuple[str, ...]:
        """The members that gave another action more votes than the winner."""
        place = self.actions.index(self.winner)
        return tuple(
            each.member
            for each in self.ballots
            if isinstance(each.votes, tuple) and each.votes[place] < max(each.votes)
        )

    @property
    def why(self) -> str:
        """The reason for the winner, in one sentence."""
        if self.nobody:
            return "no member of the council answered"
        if self.blocked_by:
            return f"{self.winner}: blocked by {', '.join(self.blocked_by)}"
        means = ", ".join(f"{action} {mean:.0f}" for action, mean in zip(self.actions, self.means, strict=True))
        return f"{self.winner} has the highest mean ({means}; spread {self.spread:.0f})"

    @property
    def calls(self) -> tuple[dict[str, str], ...]:
        """The chosen action in the form of act 017."""
        return ({"_tool": self.winner, "_reasoningForCall": self.why},)


def tally(actions: Sequence[str], ballots: Sequence[Ballot]) -> Tally:
    """Count ``ballots`` over ``actions``, which are mildest first. Without a vote the severest wins."""
    kinds = tuple(actions)
    cast = [each for each in ballots if each.is_cast]
    sums = _sums(kinds, cast)
    blocked_by = tuple(each.member for each in ballots if each.blocks(kinds))
    highest = max(sums)
    place = len(kinds) - 1 if blocked_by else max(at for at, each in enumerate(sums) if each == highest)
    shown = [each.counted(kinds)[place] for each in cast if each.votes is not Cause.OUTAGE]
    return Tally(
        actions=kinds,
        ballots=tuple(ballots),
        means=tuple(float(each) for each in sums),
        winner=kinds[place],
        spread=max(shown, default=0.0) - min(shown, default=0.0),
        blocked_by=blocked_by,
    )


def _sums(actions: Sequence[str], ballots: Sequence[Ballot]) -> list[Fraction]:
    """The weighted mean of each action. Where all weights are 0, they are equal."""
    weights = [Fraction(each.weight) for each in ballots]
    if not any(weights):
        weights = [Fraction(1)] * len(ballots)
    whole = sum(weights) or 1
    votes = [each.counted(actions) for each in ballots]
    return [
        sum((weight * Fraction(each[at]) for weight, each in zip(weights, votes, strict=True)), Fraction(0)) / whole
        for at in range(len(actions))
    ]


_YES = (MOST_OF_A_VOTE, 0.0, 0.0)


_NO = (0.0, 0.0, MOST_OF_A_VOTE)


_MOST_WORDS = 7_800
"""The most characters of all members' words in one text of the joint judgement. The note of a cut comes on top."""


_BESIDE = 110
"""The characters beside one member's words: its id, and how much was cut."""


@dataclass(frozen=True, slots=True)
class MemberAnswer:
    """The answer of one member of a panel."""

    advisor: Advisor
    answer: PostVerifyResult | Lost | Refused
    fallback: str = ""
    """The model that answered instead of its own."""
    opened: tuple[str, ...] = ()
    """The files that it opened as pictures before it answered."""


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
    against = [(name, answer) for name, answer in present if (name in milder) is (executor == "reject")]
    sides = present if verdict == "APPROVE" else against
    room = _MOST_WORDS // max(1, len(sides)) - _BESIDE
    fixes = ((name, answer.suggested_fix_direction) for name, answer in sides if answer.suggested_fix_direction)
    agreed = [set(answer.pre_existing) for _, answer in present] if not counted.missing else [set()]
    notes = Notes()
    joint = PostVerifyResult.model_validate(
        {
            "verdict": verdict,
            "reasoning": _joined(((name, answer.reasoning) for name, answer in sides if answer.reasoning), room),
            "disagreements": tuple(
                _of_member(name, each, verdict) for name, answer in sides for each in answer.disagreements
            ),
            "suggested_fix_direction": _joined(fixes, room) or None,
            "pre_existing": tuple(each for each in present[0][1].pre_existing if each in set.intersection(*agreed)),
        },
        context=notes,
    )
    return joint.model_copy(update={"reasoning": "\n\n".join(filter(None, (joint.reasoning, *notes.words)))})


def _joined(texts: Iterable[tuple[str, str]], room: int) -> str:
    """The text of each member under its name; a cut after ``room`` characters is marked."""
    return "\n\n".join(f"{name}: {shortened(text, room)}" for name, text in texts)


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


def _of_member(name: str, disagreement: Disagreement, verdict: Literal["APPROVE", "VETO"]) -> Disagreement:
    """A disagreement under its member's name. What the panel did not follow is no more than a concern."""
    return Disagreement(
        executor_claim=disagreement.executor_claim,
        advisor_assessment=_joined([(name, disagreement.advisor_assessment)], _MOST_WORDS - _BESIDE),
        severity=disagreement.severity if verdict == "VETO" else "concern",
    )


class BriefVote(Answer):
    """What one advisor says of a brief, beside the fields of its own."""

    calls: str


@dataclass(frozen=True, slots=True)
class Voice:
    """One advisor's answer, or why there is none."""

    advisor: Advisor
    own: str = ""
    """Its own fields as JSON."""
    calls: str = ""
    votes: tuple[float, ...] = ()
    lost: str = ""
    """Why there is no vote; empty with one."""
    cause: Cause = Cause.CONTENT
    """What a lost vote was lost to."""


def vote_form(advisor: Advisor) -> type[BriefVote]:
    """The form of one advisor's answer."""
    return with_own_fields(BriefVote, advisor.answer)


def joint_form(advisors: Sequence[Advisor]) -> type[Answer]:
    """The form of one answer that holds a vote of each advisor, under its id."""
    fields: dict[str, Any] = {
        f"voice_{number}": (vote_form(each), Field(alias=each.id)) for number, each in enumerate(advisors)
    }
    base = type("_Voices", (Answer,), {"model_config": ConfigDict(title="BriefVotes")})
    made: type[Answer] = create_model("BriefVotes", __base__=base, **fields)
    return made


def as_all(advisors: Sequence[Advisor]) -> str:
    """The personas of all advisors, for one call that speaks for each of them."""
    return "Answer as each of these advisors in turn, each under its id:\n\n" + "\n\n".join(map(as_advisor, advisors))


def voice_of(advisor: Advisor, answers: Sequence[object], actions: Sequence[str], lost: Lost | None = None) -> Voice:
    """What an advisor said in one call, read strictly: an answer without a readable vote is lost.

    Of several answers the severest counts. One that is against the mildest action counts even if its other fields
    cannot be read, another answer is unreadable, or the call was ``lost`` after it. Otherwise one unreadable answer
    loses the vote, and what may have been a no is lost to its content.
    """
    read = [_read(advisor, each, actions) for each in answers]
    noes = [each for each in read if _says_no(each.weights)]
    problem = next((each.problem for each in read if each.problem), "" if read else "it gave no answer")
    if not noes and lost is not None:
        return Voice(
            advisor, lost=lost.detail or lost.reason.value, cause=Cause.CONTENT if problem and read else lost.cause
        )
    if not noes and problem:
        return Voice(advisor, lost=problem)
    counting = [each for each in read if each.weights]
    calls = counting[0].calls if len(counting) == 1 else severest_calls([each.calls for each in counting], actions)
    return Voice(advisor, (noes or counting)[-1].own, calls, inline_calls(calls, actions).weights)


def votes_in(answer: Answer, advisors: Sequence[Advisor]) -> tuple[BriefVote, ...]:
    """The vote of each advisor in an answer of their ``joint_form``."""
    return tuple(getattr(answer, f"voice_{number}") for number, _ in enumerate(advisors))


@dataclass(frozen=True, slots=True)
class _ReadVote:
    """One answer: its vote where that can be read, its own fields, and the ``problem`` with any of it."""

    calls: str = ""
    weights: tuple[float, ...] = ()
    own: str = ""
    problem: str = ""


def _read(advisor: Advisor, given: object, actions: Sequence[str]) -> _ReadVote:
    own = problem = ""
    try:
        answer = vote_form(advisor).model_validate(given)
        own, calls = own_fields(answer, BriefVote), answer.calls
    except ValidationError as error:
        text = given.get("calls") if isinstance(given, Mapping) else None
        problem, calls = complaints(error), text if isinstance(text, str) else ""
    try:
        return _ReadVote(calls, inline_calls(calls, actions).weights, own, problem)
    except UnreadableCallsError as unreadable:
        return _ReadVote(problem=problem or str(unreadable))


def _says_no(weights: Sequence[float]) -> bool:
    """Whether a vote is not for the mildest action, or blocks if its member has the right."""
    return bool(weights) and (max(weights[1:]) >= weights[0] or weights[-1] >= BLOCKS_FROM)


def asked_as(member: Advisor) -> str:
    """The id under which a member of the panel is asked: the ADR's advisor is the usual one of its role."""
    return Role.POST_VERIFY.advisor if member.id == ADR_ADVISOR.id else member.id
