"""The judges of one part, played again from its events: in which order they are asked, and what they gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.answers.findings import Finding
from review_advisor.core.council.member_calls import asked_as
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.outcome.events import (
    MemberReviewed,
    Verified,
    Voted,
)
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.roster.advisor import REFUTER, VOICES, Advisor

Kind = TypeVar("Kind", bound=Step)


class Played(Protocol):
    """The part whose events are played. Both raise if the events do not fit."""

    def judged_by(self, advisor: str) -> Lost | Refused | None:
        """All calls of the next question to a judge; why there is no answer, or None for one."""

    def read(self, kind: type[Kind]) -> Kind:
        """The next event, which has to be of this kind."""


@dataclass(slots=True)
class ReplayedJudges:
    """The judges of one part, and the refuter.

    ``answered`` says which call brought the latest answer, and of which model.
    """

    part: Played
    answered: Callable[[], tuple[int, str]]
    require: Callable[[bool, str], None]
    _found: set[tuple[str, str]] = field(default_factory=set)
    _judged: bool = False

    def alone(self, member: Advisor, model: str) -> tuple[MemberAnswer, Attempt | None]:
        """What a panel of one gave, and its judgement as it was told."""
        self._judged = True
        missing = self.part.judged_by(asked_as(member))
        if missing is not None:
            return MemberAnswer(member, missing), None
        told = self.part.read(Verified).judged
        return self._answer(member, told.result, model), told

    def member(self, member: Advisor, model: str, tree: str) -> MemberAnswer:
        """What a member of a council gave: what it found, asked once for each version of the part, then its vote."""
        self._judged = True
        advisor = asked_as(member)
        if (tree, advisor) not in self._found:
            missing = self.part.judged_by(advisor)
            if missing is not None:
                return MemberAnswer(member, missing)
            self._is_read_from_its_call(self.part.read(MemberReviewed).number)
            self._found.add((tree, advisor))
        missing = self.part.judged_by(advisor)
        if missing is not None:
            return MemberAnswer(member, missing)
        told = self.part.read(Voted)
        self._is_read_from_its_call(told.number)
        return self._answer(member, told.vote, member.model or model)

    def voices(self, members: Sequence[Advisor]) -> None:
        """What inline members advise once the part is decided, if any judge was asked."""
        if self._judged and members and self.part.judged_by(VOICES) is None:
            told = self.part.read(VoicesHeard)
            self._is_read_from_its_call(told.number)
            same = [each.advisor for each in told.voices] == [each.id for each in members]
            self.require(same, "an inline member is left out, or is not declared")

    def challenges(self, findings: Iterable[Finding]) -> Sequence[Challenged]:
        """What the refuter said of these findings, about each of which it was asked."""
        said = []
        for finding in findings:
            if self.part.judged_by(REFUTER) is None:
                told = self.part.read(Challenged)
                same = (told.finding, told.number) == (finding.id, self.answered()[0])
                self.require(same, "the refuter answers about another finding, or in another call")
                said.append(told)
        return said

    def _is_read_from_its_call(self, number: int) -> None:
        self.require(number == self.answered()[0], "what a member of the council says is read from another call")

    def _answer(self, member: Advisor, answer: PostVerifyResult, model: str) -> MemberAnswer:
        _, answered_as = self.answered()
        return MemberAnswer(member, answer, "" if answered_as == model else answered_as)
