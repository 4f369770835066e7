"""The calls of one run: allowed by its limits, made, and recorded with what they cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from review_advisor.core.answers.answers import Answer
from review_advisor.core.metrics.prices import Price
from review_advisor.core.metrics.purse import Purse
from review_advisor.core.policy.budgets import Budgets, Refused
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.policy.switches import model_variables
from review_advisor.core.roles.calls import (
    AgentCall,
    Answered,
    EditGrant,
    Lost,
    LostReason,
    ModelError,
    Receipt,
    ReviewInterrupted,
    Stop,
)
from review_advisor.core.roles.replies import cut_short
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.safety.legible import legible
from review_advisor.core.safety.redaction import Redactor
from review_advisor.core.task.messages import TaskMessage
from review_advisor.core.task.task_events import Speaker, TaskCalled
from review_advisor.core.task.task_status import RunStatus
from review_advisor.ports.review import Agents, Clock

_NO_SURFACE = Surface.PR_REVIEW
"""A call of the port needs a surface. A task has none, and no agent looks at it."""
_ROLES: dict[Speaker, Role] = {"executor": Role.EXECUTOR, "advisor": Role.MID_FLIGHT}
_FAILED: dict[Speaker, RunStatus] = {"executor": "executor_failed", "advisor": "advisor_failed"}
_OUT_OF_TIME, _NOT_STARTED = 124, 127
MOST_AT_ONCE = 4
"""Declared advisors that are asked side by side."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a speaker, in its turn. All ``blocks`` but the last stay the same for a speaker.

    ``advisor`` is the id of a declared one; ``role`` is that of the speaker unless it is given. Without a ``form`` the
    answer is a message. ``model_setting`` says what sets the model where that is not the speaker's usual setting.
    """

    speaker: Speaker
    agents: Agents
    turn: int
    model: str
    system_prompt: str
    blocks: tuple[str, ...]
    tree: Path | None = None
    edits: EditGrant | None = None
    advisor: str = ""
    role: Role | None = None
    form: type[Answer] = TaskMessage
    model_setting: str = ""

    def with_more(self, *texts: str) -> Question:
        """The same with ``texts`` at its end."""
        return replace(self, blocks=(*self.blocks[:-1], "\n\n".join((self.blocks[-1], *texts))))


@dataclass(frozen=True, slots=True)
class Told:
    """The final message of a call; several where one call gave several. ``said`` are the answers in their form."""

    messages: tuple[str, ...]
    said: tuple[object, ...] = ()

    @property
    def whole(self) -> str:
        """All of it."""
        return "\n\n".join(self.messages)


@dataclass(frozen=True, slots=True)
class Halted:
    """The run cannot go on: its status, and why."""

    status: RunStatus
    detail: str


CameBack = Told | Lost | Refused | Halted
"""What comes back from a question."""


def over_a_limit(refused: Refused) -> Halted:
    """The end of a run that cannot go on without the call that was refused."""
    return Halted("budget_exceeded", refused.detail)


def halt_of(said: Sequence[CameBack]) -> Halted | None:
    """Why the run ends after these; None if it may go on."""
    return next((each for each in said if isinstance(each, Halted)), None)


def model_setting(advisor: Advisor | None, speaker: Speaker = "advisor") -> str:
    """What sets the model of a declared ``advisor``; None stands for the usual one."""
    if advisor is not None and advisor.model:
        return f"`model` of {advisor.id!r} in {advisor.source or 'its declaration'}"
    return " or ".join(model_variables(Surface.PR_REVIEW, "EXECUTOR" if speaker == "executor" else "ADVISOR"))


def vote_stop_words(stop: Stop, model: str, setting: str) -> str:
    """What the user is told of a call that cannot be made: the ``model``, where it may be that, and its ``setting``."""
    if not isinstance(stop, ModelError):
        return stop.detail
    return f"{stop.detail} The model asked for is {model!r}; {setting} sets another."


@dataclass(frozen=True, slots=True)
class _Allowed:
    """A call that may be made. ``number`` counts those of its speaker."""

    question: Question
    call: AgentCall
    number: int


class Asking:
    """Makes the calls of one run. Prompts and replies pass the redactor here."""

    def __init__(
        self,
        budgets: Budgets,
        clock: Clock,
        redactor: Redactor,
        record: Callable[[TaskCalled], object],
        keep_prompt: Callable[[Speaker, int, str], None],
        *,
        prices: Iterable[Price],
    ) -> None:
        self._budgets = budgets
        self._clock = clock
        self._redactor = redactor
        self._record = record
        self._keep_prompt = keep_prompt
        self._purse = Purse(budgets, prices)
        self._began = clock.monotonic()
        self._numbers: dict[Speaker, int] = {"executor": 0, "advisor": 0}

    def ask(self, question: Question) -> Told | Lost | Halted:
        """Make one call, if the limits allow it. Raises ``ReviewInterrupted``."""
        (said,) = self._batch([question])
        return over_a_limit(said) if isinstance(said, Refused) else said

    def ask_all(self, questions: Sequence[Question]) -> list[CameBack]:
        """The same for several questions, a few of them side by side. Answers are recorded in the questions' order.

        After a call that halts the run no further one is made: those that are missing at the end were not asked.
        """
        told: list[CameBack] = []
        for first in range(0, len(questions), MOST_AT_ONCE):
            told += self._batch(questions[first : first + MOST_AT_ONCE])
            if halt_of(told) is not None:
                break
        return told

    def _batch(self, questions: Sequence[Question]) -> list[CameBack]:
        leave: list[_Allowed | Refused] = []
        for question in questions:
            question.agents.check_interrupt()
            leave.append(self._leave(question, len(questions)))
        allowed = [each for each in leave if isinstance(each, _Allowed)]
        for each in allowed:
            self._keep_prompt(each.question.speaker, each.number, each.call.prompt)
        if len(allowed) <= 1:
            replies = [self._made(each) for each in allowed]
        else:
            with ThreadPoolExecutor(len(allowed)) as pool:
                replies = list(pool.map(self._made, allowed))
        said = iter([self._taken(each, reply) for each, reply in zip(allowed, replies, strict=True)])
        interrupt = next((each for each in replies if isinstance(each, ReviewInterrupted)), None)
        if interrupt is not None:
            raise interrupt
        return [each if isinstance(each, Refused) else next(said) for each in leave]

    def _leave(self, question: Question, jobs: int) -> _Allowed | Refused:
        self._numbers[question.speaker] += 1
        number, call = self._numbers[question.speaker], self._call(question)
        elapsed, today = self._clock.monotonic() - self._began, self._clock.now().date()
        leave = self._purse.reserve(call, elapsed, today, jobs=jobs)
        if isinstance(leave, Refused):
            self._note(_Allowed(question, call, number), Receipt(), "refused", leave.reason, leave.detail)
            return leave
        call = replace(call, max_usd=leave.max_usd, timeout_seconds=leave.timeout_seconds)
        return _Allowed(question, call, number)

    def _made(self, allowed: _Allowed) -> Answered | Lost | Stop:
        try:
            return self._redactor.everywhere(legible(allowed.question.agents.run(allowed.call)))
        except Stop as stop:
            return stop

    def _taken(self, allowed: _Allowed, reply: Answered | Lost | Stop) -> CameBack:
        self._purse.settle(allowed.call, reply.receipt)
        if not isinstance(reply, Stop):
            return self._read(allowed, reply)
        question = allowed.question
        setting = question.model_setting or model_setting(None, question.speaker)
        detail = self._redactor.redact(legible(vote_stop_words(reply, question.model, setting)))
        self._note(allowed, legible(reply.receipt), "stopped", type(reply).__name__, detail)
        return Halted(_FAILED[allowed.question.speaker], detail)

    def _read(self, allowed: _Allowed, reply: Answered | Lost) -> Told | Lost | Refused:
        messages = tuple(each for said in reply.every_answer if (each := _message(said, allowed.call)) is not None)
        if isinstance(reply, Answered) and len(messages) == len(reply.every_answer):
            told = Told(messages, reply.every_answer)
            self._note(allowed, reply.receipt, "answered", message=told.whole)
            return told
        lost = reply
        if isinstance(lost, Answered):
            lost = Lost(LostReason.INVALID_ANSWER, "it has no message", reply.receipt, reply.every_answer)
        refused = cut_short(lost, allowed.call, self._budgets.call_seconds)
        reason, detail = (lost.reason.value, lost.detail) if refused is None else (refused.reason, refused.detail)
        self._note(allowed, lost.receipt, "lost", reason, detail, exit_code=_exit_code(lost))
        return refused or lost

    def _call(self, question: Question) -> AgentCall:
        role = question.role or _ROLES[question.speaker]
        return AgentCall(
            role=role,
            advisor=question.advisor or role.advisor,
            surface=_NO_SURFACE,
            attempt=question.turn,
            shard=0,
            model=question.model,
            system_prompt=question.system_prompt,
            blocks=tuple(map(self._redactor.redact, question.blocks)),
            answer=question.form,
            tree=question.tree,
            edits=question.edits,
            number=sum(self._numbers.values()),
        )

    def _note(
        self,
        allowed: _Allowed,
        receipt: Receipt,
        ended: Literal["answered", "lost", "refused", "stopped"],
        reason: str = "",
        detail: str = "",
        *,
        message: str = "",
        exit_code: int | None = None,
    ) -> None:
        question, call = allowed.question, allowed.call
        self._record(
            TaskCalled(
                at=self._clock.now(),
                turn=question.turn,
                speaker=question.speaker,
                number=allowed.number,
                model=call.model,
                ended=ended,
                reason=reason,
                detail=detail,
                message=message,
                exit_code=exit_code,
                session_id=receipt.session_id,
                resolved_model=receipt.resolved_model,
                usage=receipt.usage,
                duration_seconds=receipt.duration_seconds,
                tool_failures=receipt.tool_failures,
                prompt_characters=len(call.prompt),
                prompt_sha256=hashlib.sha256(call.prompt.encode("utf-8", "replace")).hexdigest(),
                advisor=question.advisor,
            )
        )


def _message(said: object, call: AgentCall) -> str | None:
    """The message of an answer, or the whole of one in another form; None where there is none."""
    if call.answer is not TaskMessage:
        return json.dumps(said, ensure_ascii=False)
    message = said.get("message") if isinstance(said, dict) else None
    return message if isinstance(message, str) else None


def _exit_code(lost: Lost) -> int | None:
    """As shells and ``timeout`` have it; None where nobody knows it."""
    if lost.reason in (LostReason.TIMEOUT, LostReason.SILENT):
        return _OUT_OF_TIME
    started = lost.receipt.duration_seconds or lost.receipt.session_id
    return _NOT_STARTED if lost.reason is LostReason.CRASH and not started else None
