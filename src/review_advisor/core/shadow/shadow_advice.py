"""What a shadow is asked about the consults of a review, and how its advice compares: by what a program acts on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from review_advisor.core.answers.answers import Consult, Guidance
from review_advisor.core.outcome.events import Consulted, Event
from review_advisor.core.policy.surfaces import Surface


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """One consult that the review itself asked for and that was answered: its packet, and the real advice."""

    surface: Surface
    shard: int
    attempt: int
    packet: str
    real: Guidance


def advice_questions(events: Iterable[Event], surfaces: Iterable[Surface]) -> tuple[AdviceQuestion, ...]:
    """The consults of a review on these surfaces, in order. An executor's own consults belong to its call."""
    wanted = set(surfaces)
    return tuple(
        AdviceQuestion(each.surface, each.shard, each.attempt, _packet(each.note.consult), each.note.guidance)
        for each in events
        if isinstance(each, Consulted) and each.asked_by == "harness" and each.surface in wanted
        if each.note.status == "answered" and each.note.guidance is not None
    )


def _packet(consult: Consult) -> str:
    """The question as JSON, in the words and the order in which it was put to the real advisor."""
    told = consult.model_dump(mode="json")
    return json.dumps({key: told[key] for key in ("question", "context", "answers", "urgency")}, ensure_ascii=False)


def changes_of(guidance: Guidance) -> tuple[str, ...]:
    """What an advice changes in the report, in one form each: wording, order and what is kept do not count."""
    told = {
        " ".join(filter(None, (each.does, each.finding, each.severity, each.verdict)))
        for each in guidance.changes
        if each.does != "keep"
    }
    return tuple(sorted(told))
