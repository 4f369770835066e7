"""The calls of one run: allowed by its limits, made, and recorded with what they cost."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from review_advisor.core.metrics.prices import Price
from review_advisor.core.metrics.purse import Purse
from review_advisor.core.policy.budgets import Budgets, Refused
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import (
    AgentCall,
    Answered,
    EditGrant,
    Lost,
    LostReason,
    Receipt,
    ReviewInterrupted,
    Stop,
)
from review_advisor.core.roles.replies import cut_short
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


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a speaker, in its turn. All ``blocks`` but the last stay the same for a speaker."""

    speaker: Speaker
    agents: Agents
    turn: int
    model: str
    system_prompt: str
    blocks: tuple[str, ...]
    tree: Path | None = None
    edits: EditGrant | None = None

    def with_more(self, *texts: str) -> Question:
        """The same with ``texts`` at its end."""
        return replace(self, blocks=(*self.blocks[:-1], "\n\n".join((self.blocks[-1], *texts))))


@dataclass(frozen=True, slots=True)
class Told:
    """The final message of a call; several where one call gave several."""

    messages: tuple[str, ...]

    @property
    def whole(self) -> str:
        """All of it."""
        return "\n\n".join(self.messages)


@dataclass(frozen=True, slots=True)
class Halted:
    """No answer came, and the run cannot go on."""

    status: RunStatus
    detail: str


@dataclass(frozen=True, slots=True)
class _How:
    """How a call ended."""

    ended: Literal["answered", "lost", "refused", "stopped"]
    reason: str = ""
    detail: str = ""
    message: str = ""
    exit_code: int | None = None


class Asking:
    """Makes the calls of one run, one after the other. Prompts and replies pass the redactor here."""

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
        question.agents.check_interrupt()
        self._numbers[question.speaker] += 1
        call = self._call(question)
        allowed = self._purse.reserve(call, self._clock.monotonic() - self._began, self._clock.now().date())
        if isinstance(allowed, Refused):
            self._note(question, call, Receipt(), _How("refused", allowed.reason, allowed.detail))
            return Halted("budget_exceeded", allowed.detail)
        call = replace(call, max_usd=allowed.max_usd, timeout_seconds=allowed.timeout_seconds)
        self._keep_prompt(question.speaker, self._numbers[question.speaker], call.prompt)
        receipt = Receipt()
        try:
            reply = self._redactor.everywhere(legible(question.agents.run(call)))
            receipt = reply.receipt
        except Stop as stop:
            detail = self._redactor.redact(legible(stop.detail))
            self._note(question, call, legible(stop.receipt), _How("stopped", type(stop).__name__, detail))
            if isinstance(stop, ReviewInterrupted):
                raise
            return Halted(_FAILED[question.speaker], detail)
        finally:
            self._purse.settle(call, receipt)
        return self._read(question, call, reply)

    def _read(self, question: Question, call: AgentCall, reply: Answered | Lost) -> Told | Lost | Halted:
        messages = tuple(
            said["message"]
            for said in reply.every_answer
            if isinstance(said, dict) and isinstance(said.get("message"), str)
        )
        if isinstance(reply, Answered) and len(messages) == len(reply.every_answer):
            told = Told(messages)
            self._note(question, call, reply.receipt, _How("answered", message=told.whole))
            return told
        lost = reply if isinstance(reply, Lost) else Lost(LostReason.INVALID_ANSWER, "it has no message", reply.receipt)
        refused = cut_short(lost, call, self._budgets.call_seconds)
        reason, detail = (lost.reason.value, lost.detail) if refused is None else (refused.reason, refused.detail)
        self._note(question, call, lost.receipt, _How("lost", reason, detail, exit_code=_exit_code(lost)))
        return lost if refused is None else Halted("budget_exceeded", refused.detail)

    def _call(self, question: Question) -> AgentCall:
        role = _ROLES[question.speaker]
        return AgentCall(
            role=role,
            advisor=role.advisor,
            surface=_NO_SURFACE,
            attempt=question.turn,
            shard=0,
            model=question.model,
            system_prompt=question.system_prompt,
            blocks=tuple(map(self._redactor.redact, question.blocks)),
            answer=TaskMessage,
            tree=question.tree,
            consults=None,
            max_usd=0.0,
            timeout_seconds=0.0,
            edits=question.edits,
            number=sum(self._numbers.values()),
        )

    def _note(self, question: Question, call: AgentCall, receipt: Receipt, how: _How) -> None:
        self._record(
            TaskCalled(
                at=self._clock.now(),
                turn=question.turn,
                speaker=question.speaker,
                number=self._numbers[question.speaker],
                model=call.model,
                ended=how.ended,
                reason=how.reason,
                detail=how.detail,
                message=how.message,
                exit_code=how.exit_code,
                session_id=receipt.session_id,
                resolved_model=receipt.resolved_model,
                usage=receipt.usage,
                duration_seconds=receipt.duration_seconds,
                tool_failures=receipt.tool_failures,
                prompt_characters=len(call.prompt),
                prompt_sha256=hashlib.sha256(call.prompt.encode("utf-8", "replace")).hexdigest(),
            )
        )


def _exit_code(lost: Lost) -> int | None:
    """As shells and ``timeout`` have it; None where nobody knows it."""
    if lost.reason in (LostReason.TIMEOUT, LostReason.SILENT):
        return _OUT_OF_TIME
    started = lost.receipt.duration_seconds or lost.receipt.session_id
    return _NOT_STARTED if lost.reason is LostReason.CRASH and not started else None
