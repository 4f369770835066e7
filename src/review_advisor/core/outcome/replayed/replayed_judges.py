"""The judges of one part, played again from its events: in which order they are asked, and what they gave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.answers.findings import Finding
from review_advisor.core.council.member_calls import asked_as
from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.outcome.events import MemberReviewed, Verified, Voted
from review_advisor.core.outcome.replayed.steps_in_order import StepsInOrder, require
from review_advisor.core.outcome.steps.voteless_events import Challenged, VoicesHeard
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.roster.advisor import REFUTER, VOICES, Advisor


@dataclass(slots=True)
class ReplayedJudges:
    """The judges of one ``part``, and the refuter. Raises ``Unsound`` where its events do not fit."""

    part: StepsInOrder
    _found: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """The pictures that each member opened when it was asked what it finds in a version."""
    _judged: bool = False

    def alone(self, member: Advisor, model: str) -> tuple[MemberAnswer, Attempt | None]:
        """What a panel of one gave, and its judgement as it was told."""
        self._judged = True
        missing = self.part.asked(Role.POST_VERIFY, advisor=asked_as(member))
        if missing is not None:
            return MemberAnswer(member, missing), None
        told = self.part.take(Verified).judged
        return self._answer(member, told.result, model), told

    def member(self, member: Advisor, model: str, tree: str) -> MemberAnswer:
        """What a member of a council gave: what it found, asked once for each version of the part, then its vote."""
        self._judged = True
        advisor = asked_as(member)
        if (tree, advisor) not in self._found:
            missing = self.part.asked(Role.POST_VERIFY, advisor=advisor)
            if missing is not None:
                return MemberAnswer(member, missing)
            self._is_read_from_its_call(self.part.take(MemberReviewed).number)
            self._found[tree, advisor] = self.part.opened
        missing = self.part.asked(Role.POST_VERIFY, advisor=advisor)
        if missing is not None:
            return MemberAnswer(member, missing)
        told = self.part.take(Voted)
        self._is_read_from_its_call(told.number)
        return self._answer(member, told.vote, member.model or model, self._found[tree, advisor])

    def voices(self, members: Sequence[Advisor]) -> None:
        """What inline members advise once the part is decided, if any judge was asked."""
        if self._judged and members and self.part.asked(Role.POST_VERIFY, advisor=VOICES) is None:
            told = self.part.take(VoicesHeard)
            self._is_read_from_its_call(told.number)
            same = [each.advisor for each in told.voices] == [each.id for each in members]
            require(same, "an inline member is left out, or is not declared")

    def challenges(self, findings: Iterable[Finding]) -> Sequence[Challenged]:
        """What the refuter said of these findings, about each of which it was asked."""
        said = []
        for finding in findings:
            if self.part.asked(Role.POST_VERIFY, advisor=REFUTER) is None:
                told = self.part.take(Challenged)
                same = (told.finding, told.number) == (finding.id, self.part.answered_by)
                require(same, "the refuter answers about another finding, or in another call")
                said.append(told)
        return said

    def _is_read_from_its_call(self, number: int) -> None:
        require(number == self.part.answered_by, "what a member of the council says is read from another call")

    def _answer(
        self, member: Advisor, answer: PostVerifyResult, model: str, opened: tuple[str, ...] = ()
    ) -> MemberAnswer:
        answered_as = self.part.answered_as
        return MemberAnswer(member, answer, "" if answered_as == model else answered_as, opened + self.part.opened)
