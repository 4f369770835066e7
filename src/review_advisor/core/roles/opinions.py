"""Declared advisors that speak before the executor begins: what each is asked, and what the executor is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from review_advisor.core.answers.opinion import (
    InstancedOpinion,
    InstanceOpinion,
    Opinion,
    missing_instances,
    own_fields,
    own_table,
    with_own_fields,
)
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.roles import prompts
from review_advisor.core.roles.advisors import Briefing, Part, PreFlightAdvisor
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roster.advisor import Advisor, as_advisor
from review_advisor.core.safety.fence import fence_facts

_MOMENT = (
    "You speak once, before the executor reviews the change. Say what you see in your own field and what worries you"
    " there. You do not plan the review and give no verdict."
)


@dataclass(frozen=True, slots=True)
class SpokenOpinion:
    """An opinion with whose it is. ``own`` are its own fields as JSON; ``missing`` what it says nothing of."""

    advisor: str
    opinion: Opinion
    instances: tuple[InstanceOpinion, ...] = ()
    own: str = ""
    missing: tuple[str, ...] = ()


class OpeningAdvisor:
    """Asks one declared advisor what it sees, without tools: it is shown what pre-flight is shown."""

    def __init__(self, briefing: Briefing, advisor: Advisor) -> None:
        self._briefing = briefing
        self._advisor = advisor

    @property
    def form(self) -> type[Opinion]:
        """The form of its answer, with its own fields."""
        return with_own_fields(self._base, self._advisor.answer)

    @property
    def _base(self) -> type[Opinion]:
        return InstancedOpinion if self._advisor.instanced else Opinion

    def call(self, row: SurfacePolicy, part: Part | None) -> AgentCall:
        """The question; ``part`` is None when the change is too large to be shown whole."""
        seen, advisor = self._briefing, self._advisor
        ask = "Say what you see in this change."
        if advisor.instanced:
            ask += " Give one opinion in instances for each changed file, with its path as _instance."
        return replace(
            PreFlightAdvisor(seen).call(row, part, ask),
            advisor=advisor.id,
            model=advisor.model or row.advisor_model,
            system_prompt=seen.instructions.declared(f"{_MOMENT}\n\n{as_advisor(advisor)}", row.surface),
            answer=self.form,
        )

    def spoken(self, answer: Opinion) -> SpokenOpinion:
        """What it said, and which instances it left out."""
        instances = answer.instances if isinstance(answer, InstancedOpinion) else ()
        expected = [file.path for file in self._briefing.change.files] if self._advisor.instanced else []
        said = Opinion(opinion=answer.opinion, concerns=answer.concerns)
        missing = missing_instances(expected, instances)
        return SpokenOpinion(self._advisor.id, said, instances, own_fields(answer, self._base), missing)


def opinions_section(opinions: Sequence[SpokenOpinion], nonce: str) -> str:
    """What the executor is told of the opinions, fenced; empty without any."""
    if not opinions:
        return ""
    facts = [
        {
            "advisor": each.advisor,
            "opinion": each.opinion.opinion,
            "concerns": each.opinion.concerns,
            **({"of_each": {one.instance: one.opinion for one in each.instances}} if each.instances else {}),
            **own_table(each.own),
        }
        for each in opinions
    ]
    return (
        "What other advisors see in this change. They have read no file and decide nothing: look where they point, and"
        f" judge by the evidence:\n{fence_facts(prompts.OPINIONS, facts, nonce)}"
    )
