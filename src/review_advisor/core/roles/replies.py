"""A reply held against its schema: a checked answer, or a lost one. One repair ask, then lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from review_advisor.core.roles.calls import AgentCall, Answered, Lost, LostReason
from review_advisor.core.roles.fence import redact

REPAIRABLE = frozenset({LostReason.NO_STRUCTURED_OUTPUT, LostReason.INVALID_ANSWER})

Checked = TypeVar("Checked", bound=BaseModel)


def without_secrets(value: Any) -> Any:
    """A JSON value with every string redacted: what a model read in a file must not leave the review through it."""
    match value:
        case str():
            return redact(value)
        case list():
            return [without_secrets(each) for each in value]
        case dict():
            return {redact(str(key)): without_secrets(each) for key, each in value.items()}
        case _:
            return value


def checked_answer(model: type[Checked], reply: Answered | Lost) -> Checked | Lost:
    """``reply`` as a ``model``, or lost with the schema's complaints in one sentence."""
    if isinstance(reply, Lost):
        return reply
    try:
        return model.model_validate(without_secrets(reply.value))
    except ValidationError as error:
        return Lost(LostReason.INVALID_ANSWER, _complaints(error), reply.receipt)


def _complaints(error: ValidationError) -> str:
    """Where and what, without echoing the model's own words."""
    lines = []
    for each in error.errors(include_url=False, include_input=False, include_context=False)[:10]:
        where = ".".join(str(step) for step in each["loc"]) or "the object"
        lines.append(f"{where}: {each['msg']}")
    return "; ".join(lines)


def repair_ask(call: AgentCall, lost: Lost) -> AgentCall:
    """The same question once more, saying what was wrong with the reply."""
    note = f"Your previous reply could not be used ({lost.detail}). Answer again, only through the structured output."
    return replace(call, prompt=f"{call.prompt}\n\n{note}")
