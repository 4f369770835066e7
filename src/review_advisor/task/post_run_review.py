"""A review of a run after its end: one question to the advisor, and one more if nobody can read the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from review_advisor.core.metrics.prices import Price
from review_advisor.core.policy.budgets import Budgets
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.retro.proposals import (
    REQUIRED_TARGETS,
    ImprovementProposals,
    ProposalsError,
    checked_proposals,
    unchanged,
)
from review_advisor.core.retro.retro_files import PostRunReview
from review_advisor.core.retro.retro_packet import RETRO_SYSTEM, SeenRun, repair_of, retro_packet, retro_version
from review_advisor.core.roles.calls import AgentCall, Answered, Lost
from review_advisor.core.safety.redaction import Redactor
from review_advisor.core.task.blocks import BlockTag, block_form, scan
from review_advisor.core.task.task_events import TaskBegun, TaskCalled, TaskEnded, TaskEvent, TaskLimits
from review_advisor.core.task.task_status import RunStatus
from review_advisor.ports.review import Agents, Clock, Consults
from review_advisor.task.asking import Asking, Halted, Question, Told
from review_advisor.task.brief_votes import ModelFreeAgents, free_answer

NO_EXECUTOR = "none"
"""What the ledger calls the executor of a review after the end: nobody executes anything."""
_BLOCK = (BlockTag.IMPROVEMENTS,)


@dataclass(frozen=True, slots=True)
class RetroRequest:
    """What is asked. ``retro_id`` and ``nonce`` are this review's own, never those of the run."""

    retro_id: str
    nonce: str
    run: SeenRun
    backend: str
    model: str
    limits: TaskLimits
    redactor: Redactor


@dataclass(frozen=True, slots=True)
class RetroPorts:
    """Everything that it may touch. ``record`` takes each event as it happens: it is a task of the advisor alone."""

    advisor: Agents
    clock: Clock
    record: Callable[[TaskEvent], None]
    prices: tuple[Price, ...] = ()


def review_after_the_end(request: RetroRequest, ports: RetroPorts) -> PostRunReview:
    """Ask about one run. Whatever is answered, nothing is changed by it. Raises ``ReviewInterrupted``."""
    packet = retro_packet(request.run, request.nonce)
    calls: list[TaskCalled] = []
    prompts: list[str] = []

    def record(call: TaskCalled) -> None:
        calls.append(call)
        ports.record(call)

    limits, now = request.limits, ports.clock.now
    ports.record(
        TaskBegun(
            at=now(),
            run_id=request.retro_id,
            task=f"Review of {request.run.run_id} after its end",
            executor_backend=NO_EXECUTOR,
            advisor_backend=request.backend,
            limits=limits,
            prompts=retro_version(),
        )
    )
    asking = Asking(
        Budgets(limits.max_usd, limits.call_seconds, limits.run_seconds),
        ports.clock,
        request.redactor,
        record,
        lambda _speaker, _number, prompt: prompts.append(prompt),
        prices=ports.prices,
    )
    question = Question(
        speaker="advisor",
        agents=ports.advisor,
        turn=1,
        model=request.model,
        system_prompt=RETRO_SYSTEM,
        blocks=packet.blocks,
        advisor=Role.RETRO.advisor,
        role=Role.RETRO,
    )
    heard = _heard(asking.ask(question), request)
    if heard.repair:
        heard = _heard(asking.ask(question.with_more(repair_of(heard.reason, request.nonce))), request)
    ended = TaskEnded(at=now(), turn=1, status=heard.status, reason=heard.reason)
    ports.record(ended)
    return PostRunReview(
        request.retro_id,
        request.run.run_id,
        request.backend,
        heard.status,
        heard.reason,
        prompts[0] if prompts else "",
        heard.message,
        heard.proposals,
        tuple(calls),
        packet.not_seen,
        ended.at,
    )


@dataclass(frozen=True, slots=True)
class _Heard:
    """What an answer comes to. ``repair``: nobody could read it, and another one may be asked for."""

    status: RunStatus
    reason: str
    proposals: ImprovementProposals
    message: str = ""
    repair: bool = False


def _heard(said: Told | Lost | Halted, request: RetroRequest) -> _Heard:
    match said:
        case Told():
            return _read(said, request)
        case Lost():
            return _nothing(
                "advisor_failed", f"The advisor did not answer: {said.detail or said.reason.value}", request
            )
        case Halted():
            return _nothing(said.status, said.detail, request)


def _read(said: Told, request: RetroRequest) -> _Heard:
    found = [block for message in said.messages for block in scan(message, request.nonce, _BLOCK).of(_BLOCK[0])]
    if len(found) != 1:
        problem = "It has no readable block" if not found else "It has more than one block"
        return _unreadable(f"{problem} {_BLOCK[0]}.", said, request)
    try:
        proposals = checked_proposals(found[0].body, request.run.run_id)
    except ProposalsError as refused:
        return _unreadable(str(refused), said, request)
    reason = "" if proposals.valid else f"The proposals are refused: {proposals.errors[0]}"
    return _Heard("completed" if proposals.valid else "malformed_block", reason, proposals, said.whole)


def _unreadable(problem: str, said: Told, request: RetroRequest) -> _Heard:
    nothing = ImprovementProposals(request.run.run_id, "", (), (f"The answer cannot be read: {problem}",))
    return _Heard("malformed_block", problem, nothing, said.whole, repair=True)


def _nothing(status: RunStatus, reason: str, request: RetroRequest) -> _Heard:
    return _Heard(status, reason, ImprovementProposals(request.run.run_id, "", (), (reason,)))


class FakeRetroAgents(ModelFreeAgents):
    """An advisor without a model: it always says that nothing need change, and costs nothing."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:  # noqa: ARG002 (the port's)
        """The same whatever is asked."""
        proposals = [
            unchanged(target, "The fake advisor has no opinion.", "None was looked at.").model_dump()
            for target in REQUIRED_TARGETS
        ]
        body = json.dumps({"summary": "The fake advisor judges nothing.", "proposals": proposals})
        block = block_form(BlockTag.IMPROVEMENTS, body, self._nonce)
        message = f"The fake advisor looked at nothing, and found nothing.\n\n{block}"
        return free_answer({"message": message})
