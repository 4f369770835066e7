"""A run of a task whose two sides say what a test tells them: messages, losses and stops, one for each call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost
from review_advisor.agents.repair_law import TaskPatch
from review_advisor.change.redaction import Redactor
from review_advisor.ledger.task_events import Speaker, TaskCalled, TaskEnded, TaskEvent, TaskLimits, block_id
from review_advisor.mockworld.world import FakeClock
from review_advisor.policy.prices import Price
from review_advisor.policy.surfaces import Role
from review_advisor.safety.stop import Receipt, Stop, Usage
from review_advisor.tasks.run import TaskPhase, TaskPorts, TaskRequest
from review_advisor.tasks.run_files import Json, task_files, task_outcome

NONCE = "0123456789abcdef"
RUN = "run_20260105T090000Z_0123abcd"
BEGAN = FakeClock().now()
Reply = str | Answered | Lost | Stop
Declared = dict[str, Any] | Reply
"""What a declared advisor says: fields of its form, or a message with blocks where the executor asks it by its id."""
Kind = TypeVar("Kind", bound=TaskEvent)
COST = Usage(input_tokens=100, output_tokens=20, cost_usd=0.05)


def block(tag: str, body: Any) -> str:
    """A block with the run's nonce. A text is its content as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    return f'<{tag} nonce="{NONCE}">\n{text}\n</{tag}>'


def consult(question: str = "Which way?", **more: Any) -> str:
    return block("ADVISOR_CONSULT", {"question": question, **more})


def guidance(action: str = "This way.", *, stop: bool = False) -> str:
    return block("ADVISOR_GUIDANCE", {"guidance": action, "rationale": "It is shorter.", "stop_signal": stop})


def given(number: int) -> str:
    """The id of the run's ``number``-th guidance."""
    return block_id("adv_guidance", RUN, number)


def done(status: str = "completed", *, applied: Sequence[int] = (), **more: Any) -> str:
    used = [{"guidance": given(number), "disposition": "applied"} for number in applied]
    return block("EXECUTOR_DONE", {"status": status, "summary": "Done.", "guidance": used, **more})


def proposal(content: str = "Tests need git.") -> str:
    return block("MEMORY_PROPOSAL", {"content": content})


@dataclass
class Speaking:
    """Both sides, and ``declared`` advisors by id. Each call takes the next reply of whom it asks, and ``seconds``."""

    executor: list[Reply]
    advisor: list[Reply]
    clock: FakeClock
    seconds: float = 1.0
    usage: Usage = COST
    calls: list[AgentCall] = field(default_factory=list)
    declared: dict[str, list[Declared]] = field(default_factory=dict)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        assert consults is None
        self.calls.append(call)
        self.clock.sleep(self.seconds)
        usual = self.executor if call.role is Role.EXECUTOR else self.advisor
        reply: Declared = self.declared.get(call.advisor, usual).pop(0)
        if isinstance(reply, dict):
            return Answered(reply, Receipt(self.usage, duration_seconds=self.seconds))
        if isinstance(reply, Stop):
            raise reply
        if isinstance(reply, str):
            return Answered({"message": reply}, Receipt(self.usage, duration_seconds=self.seconds))
        return reply

    def check_interrupt(self) -> None: ...

    def end_running(self) -> None: ...


@dataclass(frozen=True)
class Played:
    """What a run came to, and what was asked."""

    ended: TaskEnded
    events: list[TaskEvent]
    calls: list[AgentCall]
    prompts: dict[tuple[Speaker, int], str]

    @property
    def outcome(self) -> Json:
        return task_outcome(self.events)

    @property
    def files(self) -> dict[str, str]:
        return task_files(self.events, self.prompts)

    @property
    def counts(self) -> tuple[str, int, int, int]:
        """Status, consults, guidances and malformed blocks, as advisor-harness counts them."""
        told = self.outcome
        keys = ("advisor_consult_count", "advisor_guidance_count", "malformed_block_count")
        return (self.ended.status, *(told[key] for key in keys))

    def of(self, kind: type[Kind]) -> list[Kind]:
        return [event for event in self.events if isinstance(event, kind)]

    def asked_of(self, advisor: str) -> list[AgentCall]:
        """The calls to one declared advisor."""
        return [call for call in self.calls if call.advisor == advisor]

    def asked(self, role: Role) -> list[str]:
        return [call.prompt for call in self.calls if call.role is role]

    @property
    def ends_of_calls(self) -> list[str]:
        return [call.ended for call in self.of(TaskCalled)]


def play(
    executor: Sequence[Reply],
    advisor: Sequence[Reply] = (),
    *,
    task: str = "Do it.",
    seconds: float = 1.0,
    usage: Usage = COST,
    limits: TaskLimits | None = None,
    made: TaskPatch | None = None,
    prices: tuple[Price, ...] = (),
    declared: Mapping[str, Sequence[Declared]] | None = None,
    heard: list[TaskEvent] | None = None,
    **request: Any,
) -> Played:
    """Play a run. Every reply has to be asked for. ``heard`` gets the events of one that is interrupted, too."""
    clock = FakeClock()
    by_id = {id_: list(replies) for id_, replies in (declared or {}).items()}
    speaking = Speaking(list(executor), list(advisor), clock, seconds, usage, declared=by_id)
    events: list[TaskEvent] = [] if heard is None else heard
    prompts: dict[tuple[Speaker, int], str] = {}
    asked = TaskRequest(
        run_id=RUN,
        nonce=NONCE,
        task=task,
        limits=limits or TaskLimits(),
        redactor=Redactor(),
        executor_backend="scripted",
        advisor_backend="scripted",
        executor_model="cheap",
        advisor_model="strong",
    )

    def keep(speaker: Speaker, number: int, prompt: str) -> None:
        prompts[speaker, number] = prompt

    ports = TaskPorts(speaking, speaking, clock, events.append, keep, lambda: made or TaskPatch(), prices)
    ended = TaskPhase(ports).run(replace(asked, **request))
    left = [speaking.executor, speaking.advisor, *by_id.values()]
    assert not any(left), "a reply was not asked for"
    return Played(ended, events, speaking.calls, prompts)
