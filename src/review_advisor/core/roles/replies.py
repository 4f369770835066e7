"""A reply held against its schema: a checked answer, or a lost one. One repair ask, then lost."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from review_advisor.core.policy.budgets import Refused
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, LostReason

REPAIRABLE = frozenset({LostReason.NO_STRUCTURED_OUTPUT, LostReason.INVALID_ANSWER})

Checked = TypeVar("Checked", bound=BaseModel)


def checked_answer(model: type[Checked], reply: Answered | Lost) -> Checked | Lost:
    """``reply`` as a ``model``, or lost with the schema's complaints in one sentence."""
    if isinstance(reply, Lost):
        return reply
    try:
        return model.model_validate(reply.value)
    except ValidationError as error:
        return Lost(LostReason.INVALID_ANSWER, _complaints(error), reply.receipt)


def _complaints(error: ValidationError) -> str:
    """Where and what, without echoing the model's own words."""
    lines = []
    for each in error.errors(include_url=False, include_input=False, include_context=False)[:10]:
        where = ".".join(str(step) for step in each["loc"]) or "the object"
        lines.append(f"{where}: {each['msg']}")
    return "; ".join(lines)


def cut_short(lost: Lost, call: AgentCall, call_seconds: float) -> Refused | None:
    """A lost answer that one of our own caps took away in flight, as the refusal it is; None for any other.

    The call's money, turns and size are caps that a change's author can drive it into. So is its time, where
    the review's end made it shorter than ``call_seconds``: otherwise a hang is an outage.
    """
    if lost.reason is LostReason.CALL_BUDGET:
        return Refused("money", f"the call reached its cap: {lost.detail}")
    if lost.reason is LostReason.TOO_LONG:
        return Refused("size", "the prompt is larger than one call takes")
    if lost.reason is LostReason.TIMEOUT and call.timeout_seconds < call_seconds:
        return Refused("wall_clock", "the review's time was over before the answer came")
    return None


def repair_ask(call: AgentCall, lost: Lost) -> AgentCall:
    """The same question once more, saying what was wrong with the reply."""
    note = f"Your previous reply could not be used ({lost.detail}). Answer again, only through the structured output."
    return replace(call, prompt=f"{call.prompt}\n\n{note}")
