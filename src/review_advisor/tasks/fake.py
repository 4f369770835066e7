"""The `fake` backend of a task."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost
from review_advisor.ledger.task_events import BlockTag, block_form, block_id
from review_advisor.policy.surfaces import Role
from review_advisor.tasks.brief_council import FakeCouncil, ModelFreeAgents, free_answer
from review_advisor.tasks.prompts import NO_COUNCIL, TaskCouncil

Scenario = Literal[
    "autonomous_consult",
    "no_consult_completion",
    "missing_done",
    "malformed_consult",
    "malformed_guidance",
    "advisor_stop",
    "max_turns",
]
"""Those of advisor-harness."""


_UNREADABLE = "{this is no JSON object"


_NO_QUESTION: tuple[Scenario, ...] = ("no_consult_completion", "missing_done", "malformed_consult")


def scenario_of(task: str) -> Scenario:
    """The scenario that a task names, with blanks or underscores; a task that names none has the first one."""
    words = task.lower().replace("_", " ").replace("-", " ")
    return next((each for each in get_args(Scenario) if each.replace("_", " ") in words), "autonomous_consult")


@dataclass(frozen=True, slots=True)
class FakeSpeaker:
    """Plays one side of one run. ``nonce`` and ``run_id`` are the run's. ``report`` is a block that it owes."""

    scenario: Scenario
    nonce: str
    run_id: str
    report: tuple[BlockTag, Mapping[str, Any]] | None = None

    def executor(self, turn: int, repeated: int) -> str:
        """Its message in a turn. ``repeated`` counts how often it was asked again in it: that it cannot mend."""
        match self.scenario:
            case "missing_done":
                return "I stop here and say nothing more."
            case "malformed_consult":
                return "I cannot say it better." if repeated else block_form(BlockTag.CONSULT, _UNREADABLE, self.nonce)
            case _ if turn == 1 and self.scenario not in _NO_QUESTION:
                return self._consult()
            case "max_turns":
                return self._consult()
            case _:
                return self._done(range(1, turn))

    def advisor(self, repeated: int) -> str:
        """Its answer to a question."""
        if self.scenario == "malformed_guidance":
            return "I cannot say it better." if repeated else block_form(BlockTag.GUIDANCE, _UNREADABLE, self.nonce)
        stop = self.scenario == "advisor_stop"
        action = "Stop: a person must decide." if stop else "Go on with the smallest change."
        said = {"guidance": action, "rationale": "It is the fake advisor's only advice.", "stop_signal": stop}
        return self._block(BlockTag.GUIDANCE, said)

    def _consult(self) -> str:
        asked = {
            "question": "Which way is the right one?",
            "context": "The fake executor has looked at nothing.",
            "options": ["the smallest change", "another one"],
            "preferred_option": "the smallest change",
        }
        return self._block(BlockTag.CONSULT, asked)

    def _done(self, given: Iterable[int]) -> str:
        used = [
            {"guidance": block_id("adv_guidance", self.run_id, number), "disposition": "applied"} for number in given
        ]
        done = {"status": "completed", "summary": "The fake executor is done.", "guidance": used}
        ends = self._block(BlockTag.DONE, done)
        return ends if self.report is None else f"{ends}\n\n{self._block(*self.report)}"

    def _block(self, tag: BlockTag, body: Mapping[str, Any]) -> str:
        return block_form(tag, json.dumps(dict(body)), self.nonce)


class FakeTaskAgents(ModelFreeAgents):
    """Both sides of one run, and its declared advisors, who vote as in ``council --agent fake``.

    It counts how often a turn's question is repeated, and remembers nothing else.
    """

    def __init__(self, speaker: FakeSpeaker, council: TaskCouncil = NO_COUNCIL) -> None:
        self._speaker = speaker
        self._council = FakeCouncil(council.advisors, council.actions)
        self._asked: Counter[tuple[Role, int]] = Counter()

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:  # noqa: ARG002 (the port's)
        """What the scenario says. It costs nothing."""
        if call.role in (Role.PRE_FLIGHT, Role.POST_VERIFY):
            return self._council.run(call)
        asked = call.role, call.attempt
        repeated = self._asked[asked]
        self._asked[asked] += 1
        if call.role is Role.EXECUTOR:
            message = self._speaker.executor(call.attempt, repeated)
        else:
            message = self._speaker.advisor(repeated)
        return free_answer({"message": message})
