"""The declared advisors of one run: they speak before it, watch its turns, and vote on its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from review_advisor.core.answers.opinion import Opinion, own_fields, with_own_fields
from review_advisor.core.answers.tolerant import Notes, complaints
from review_advisor.core.council.voices import SYSTEM, Voice, voice_of, vote_form
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.replies import REPAIRABLE
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.task.council_prompts import (
    OPINION_SYSTEM,
    council_section,
    opinion_question,
    vote_question,
    vote_words,
    votes_said,
)
from review_advisor.core.task.task_council import after_a_turn, at_the_end
from review_advisor.core.task.task_events import CouncilVoted, OpinionHeard, TaskEvent, TaskVote
from review_advisor.ports.review import Agents
from review_advisor.task.asking import Asking, Halted, Question, Told
from review_advisor.task.task_request import TaskRequest


class Advising:
    """Asks them, and records what they say. ``unheard``: a vote is missing that somebody could have given."""

    def __init__(
        self,
        request: TaskRequest,
        agents: Agents,
        asking: Asking,
        record: Callable[[TaskEvent], None],
        now: Callable[[], datetime],
    ) -> None:
        self._request = request
        self._council = request.council
        self._agents = agents
        self._asking = asking
        self._record = record
        self._now = now
        self._opinions: list[OpinionHeard] = []
        self._told: list[str] = []
        self.unheard = False

    @property
    def section(self) -> str:
        """What every call of the executor is told of them."""
        return council_section(self._council, self._opinions, self._request.nonce)

    def opens(self) -> Halted | None:
        """Ask those who speak before the first turn. A lost opinion is none."""
        who = self._council.opening
        task, nonce, evidence = self._request.task, self._request.nonce, self._request.evidence
        told = self._asking.ask_all(
            [
                self._question(
                    each,
                    0,
                    (OPINION_SYSTEM, *opinion_question(task, each, nonce, evidence)),
                    Role.PRE_FLIGHT,
                    with_own_fields(Opinion, each.answer),
                )
                for each in who
            ]
        )
        if isinstance(told, Halted):
            return told
        for advisor, said in zip(who, told, strict=True):
            heard = self._opinion(advisor, said)
            self._opinions.append(heard)
            self._record(heard)
        return None

    def watches(self, turn: int, transcript: Sequence[str]) -> Halted | str | None:
        """The votes of those who watch, after a turn that goes on: why the run ends, or what the executor is told."""
        voted = self._vote("turn", turn, transcript, None)
        if not isinstance(voted, CouncilVoted):
            return voted
        over = after_a_turn(voted)
        self._told.append(votes_said(voted, self._request.nonce))
        return self._told[-1] if over is None else Halted(*over)

    def decides(self, turn: int, transcript: Sequence[str], patch: str, claimed: str = "") -> Halted | None:
        """The vote on the end of a run that its executor has completed: what it makes of that; None if it stands.

        ``claimed`` is the action that its report is for.
        """
        voted = self._vote("finish", turn, transcript, patch, claimed)
        if not isinstance(voted, CouncilVoted):
            return voted
        over = at_the_end(voted)
        return None if over is None else Halted(*over)

    def _vote(
        self,
        moment: Literal["turn", "finish"],
        turn: int,
        transcript: Sequence[str],
        patch: str | None,
        claimed: str = "",
    ) -> CouncilVoted | Halted | None:
        council, task, nonce = self._council, self._request.task, self._request.nonce
        evidence = self._request.evidence
        who = council.watching if moment == "turn" else council.voting
        if not who:
            return None
        seen = [entry for entry in transcript if entry not in self._told]  # each votes alone
        questions = [
            self._question(
                each,
                turn,
                (SYSTEM, *vote_question(task, seen, council.actions, each, nonce, patch=patch, evidence=evidence)),
                Role.POST_VERIFY,
                vote_form(each),
            )
            for each in who
        ]
        voices = self._voices(who, questions)
        if isinstance(voices, Halted):
            return voices
        votes = tuple(map(_cast, voices))
        self.unheard = self.unheard or any(each.lost for each in votes)
        voted = CouncilVoted(
            at=self._now(), turn=turn, moment=moment, actions=council.actions, votes=votes, claimed=claimed
        )
        self._record(voted)
        return voted

    def _voices(self, who: Sequence[Advisor], questions: Sequence[Question]) -> list[Voice] | Halted:
        """What each of them votes. A vote that nobody can read is asked for once more."""
        told = self._asking.ask_all(questions)
        if isinstance(told, Halted):
            return told
        voices = [self._voice(*each) for each in zip(who, told, strict=True)]
        unread = [at for at, said in enumerate(told) if voices[at].lost and _may_be_repeated(said)]
        again = self._asking.ask_all([questions[at].with_more(vote_words(voices[at].lost)) for at in unread])
        if isinstance(again, Halted):
            return again
        for at, said in zip(unread, again, strict=True):
            voices[at] = self._voice(who[at], said)
        return voices

    def _voice(self, advisor: Advisor, said: Told | Lost) -> Voice:
        if isinstance(said, Lost):
            return Voice(advisor, lost=said.detail or said.reason.value, cause=said.cause)
        return voice_of(advisor, said.value, self._council.actions)

    def _opinion(self, advisor: Advisor, said: Told | Lost) -> OpinionHeard:
        at = self._now()
        if isinstance(said, Lost):
            return OpinionHeard(at=at, advisor=advisor.id, lost=said.detail or said.reason.value)
        try:
            answer = with_own_fields(Opinion, advisor.answer).model_validate(said.value, context=Notes())
        except ValidationError as error:
            return OpinionHeard(at=at, advisor=advisor.id, lost=complaints(error))
        return OpinionHeard(
            at=at,
            advisor=advisor.id,
            opinion=answer.opinion,
            concerns=answer.concerns,
            own=own_fields(answer, Opinion),
        )

    def _question(
        self, advisor: Advisor, turn: int, texts: tuple[str, str, str], role: Role, form: type[Opinion] | type
    ) -> Question:
        system, same, varying = texts
        return Question(
            "advisor",
            self._agents,
            turn,
            advisor.model or self._request.advisor_model,
            system,
            (same, varying),
            advisor=advisor.id,
            role=role,
            form=form,
        )


def _may_be_repeated(said: Told | Lost) -> bool:
    return isinstance(said, Told) or said.reason in REPAIRABLE


def _cast(voice: Voice) -> TaskVote:
    who = voice.advisor
    return TaskVote(who.id, who.weight, who.veto, voice.calls, voice.votes, voice.own, voice.lost, voice.cause)
