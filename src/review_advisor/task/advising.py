"""The declared advisors of one run: they speak before it, watch its turns, and vote on its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Literal

from pydantic import ValidationError

from review_advisor.core.answers.opinion import Opinion, own_fields, with_own_fields
from review_advisor.core.answers.tolerant import Notes, complaints
from review_advisor.core.council.voices import SYSTEM, Voice, voice_of, vote_form
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roles.replies import REPAIRABLE
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.task.council_prompts import (
    OPINION_SYSTEM,
    council_section,
    opinion_question,
    unread_by_voters,
    vote_question,
    vote_words,
    votes_said,
)
from review_advisor.core.task.task_council import after_a_turn, at_the_end
from review_advisor.core.task.task_events import CouncilVoted, OpinionHeard, TaskEvent, TaskVote
from review_advisor.ports.review import Agents
from review_advisor.task.asking import Asking, CameBack, Halted, Question, Told, halt_of, model_setting, over_a_limit
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
        for advisor, said in zip(who, told, strict=False):
            if isinstance(said, Refused):
                return over_a_limit(said)
            if isinstance(said, Halted):
                return said
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

    def decides(self, turn: int, transcript: Sequence[str], patch: str, cut: int, claimed: str = "") -> Halted | None:
        """The vote on the end of a run that its executor has completed: what it makes of that; None if it stands.

        ``cut`` counts the characters of messages that the transcript itself leaves out. ``claimed`` is the action that
        its report is for.
        """
        voted = self._vote("finish", turn, transcript, patch, cut=cut, claimed=claimed)
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
        *,
        cut: int = 0,
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
        told = self._asking.ask_all(questions)
        if told and all(isinstance(each, Refused) for each in told):
            return next(over_a_limit(each) for each in told if isinstance(each, Refused))
        voices = self._voices(who, questions, told)
        votes = tuple(map(_cast, voices))
        self.unheard = self.unheard or any(each.lost for each in votes)
        voted = CouncilVoted(
            at=self._now(),
            turn=turn,
            moment=moment,
            actions=council.actions,
            votes=votes,
            claimed=claimed,
            unread=cut + unread_by_voters(seen, patch),
        )
        self._record(voted)
        return halt_of(told) or voted

    def _voices(self, who: Sequence[Advisor], questions: Sequence[Question], told: list[CameBack]) -> list[Voice]:
        """What each of them votes. A vote that nobody can read is asked for once more; ``told`` gets what comes."""
        voices = [self._voice(*each) for each in zip_longest(who, told)]
        if halt_of(told) is None:
            unread = [at for at, said in enumerate(told) if voices[at].lost and _may_be_repeated(said)]
            again = self._asking.ask_all([questions[at].with_more(vote_words(voices[at].lost)) for at in unread])
            for at, said in zip(unread, again, strict=False):
                second = self._voice(who[at], said)  # of two losses the one that the task may have caused counts
                voices[at] = replace(second, cause=voices[at].cause) if second.lost else second
            told += again
        return voices

    def _voice(self, advisor: Advisor, said: CameBack | None) -> Voice:
        actions = self._council.actions
        match said:
            case Told():
                return voice_of(advisor, said.said, actions)
            case Lost():
                return voice_of(advisor, said.every_answer, actions, said)
            case Refused() | Halted():
                return Voice(advisor, lost=said.detail)
            case None:
                return Voice(advisor, lost="it was not asked: the run cannot go on")

    def _opinion(self, advisor: Advisor, said: Told | Lost) -> OpinionHeard:
        at = self._now()
        if isinstance(said, Lost):
            return OpinionHeard(at=at, advisor=advisor.id, lost=said.detail or said.reason.value)
        try:
            answer = with_own_fields(Opinion, advisor.answer).model_validate(said.said[-1], context=Notes())
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
            model_setting=model_setting(advisor),
        )


def _may_be_repeated(said: CameBack) -> bool:
    return isinstance(said, Told) or (isinstance(said, Lost) and said.reason in REPAIRABLE)


def _cast(voice: Voice) -> TaskVote:
    who = voice.advisor
    return TaskVote(who.id, who.weight, who.veto, voice.calls, voice.votes, voice.own, voice.lost, voice.cause)
