"""``Agents`` of a task without a model: what they say is a pure function of a scenario and of the call."""

from __future__ import annotations

from collections import Counter

from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import AgentCall, Answered, Lost
from review_advisor.core.task.fake_speaker import FakeSpeaker
from review_advisor.core.task.task_council import NO_COUNCIL, TaskCouncil
from review_advisor.ports.review import Consults
from review_advisor.task.brief_votes import FakeCouncil, ModelFreeAgents, free_answer


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
