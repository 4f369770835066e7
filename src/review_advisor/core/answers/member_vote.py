"""How one member of a council judges: like post-verify, and with a weight for each action on the change."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema

from review_advisor.core.answers.answers import PostVerifyResult
from review_advisor.core.answers.inline_calls import InlineCalls, UnreadableCallsError, inline_calls
from review_advisor.core.answers.opinion import MOST_INSTANCES, InstanceOpinion, read_own
from review_advisor.core.answers.tolerant import Notes, at_most, or_left_out, otherwise
from review_advisor.core.roster.answer_fields import AnswerFields

ACTIONS = ("approve", "request_changes", "block")
"""What a member of the council may vote for, mildest first."""


_Instances = Annotated[tuple[Annotated[InstanceOpinion, or_left_out()], ...], at_most(MOST_INSTANCES)]
_EACH = "one for each finding of the executor's report, with its id as _instance"


class MemberVote(PostVerifyResult):
    """The judgement of one member, and its vote about the change.

    A confirmation is worth nothing without a vote that can be read. A veto without one is still a veto.
    """

    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].append("calls"))

    calls: Annotated[str, otherwise("")] = Field(
        default="",
        description='a JSON text: weights 0 to 100 for "approve", "request_changes" and "block" of the change itself,'
        ' "_tool" for the highest of them and "_reasoningForCall" for why',
    )

    own: SkipJsonSchema[Annotated[str, otherwise("")]] = ""
    """The fields that the advisor declares, as JSON; empty for one that declares none."""
    instances: SkipJsonSchema[Annotated[_Instances, otherwise(())]] = ()
    """What an advisor that is asked about each finding says of it."""

    @property
    def vote(self) -> InlineCalls | None:
        """The weights of ``ACTIONS``; None if they cannot be read."""
        try:
            return inline_calls(self.calls, ACTIONS)
        except UnreadableCallsError:
            return None

    @model_validator(mode="after")
    def _a_confirmation_has_a_vote(self) -> MemberVote:
        if self.verdict == "APPROVE":
            inline_calls(self.calls, ACTIONS)
        return self


@cache
def vote_form(schema: str, *, instanced: bool = False) -> type[MemberVote]:
    """The answer's form for an advisor that declares ``schema`` for fields of its own; empty without any.

    They stand under ``own``, so that no declared name can take the place of one of ours. ``instanced``: it also says
    something of each finding.
    """
    if not schema and not instanced:
        return MemberVote
    declared = AnswerFields.model_validate_json(schema) if schema else None
    first = {"own": json.loads(schema)} if schema else {}

    def told(described: dict[str, Any]) -> None:
        properties = described["properties"]
        leading = {**first, **({"instances": properties.pop("instances")} if instanced else {})}
        described["properties"] = {**leading, **properties}
        described["required"] = [*leading, *described["required"], "calls"]

    def own(said: object, info: ValidationInfo) -> str:
        notes = info.context if isinstance(info.context, Notes) else Notes()
        return read_own(said, declared, notes) if declared is not None else ""

    fields: dict[str, Any] = {
        "own": (SkipJsonSchema[Annotated[str, BeforeValidator(own)]], Field(default={}, validate_default=True))
    }
    if instanced:
        fields["instances"] = (Annotated[_Instances, otherwise(())], Field(default=(), description=_EACH))
    config = ConfigDict(title=MemberVote.__name__, json_schema_extra=told)
    base = type("_Told", (MemberVote,), {"model_config": config})
    form: type[MemberVote] = create_model(MemberVote.__name__, __base__=base, **fields)
    return form


def plain_vote(vote: MemberVote, schema: str, *, instanced: bool) -> MemberVote:
    """The same as a ``MemberVote`` of no advisor's own form. What ``vote_form`` did not ask for is not in it."""
    asked = {"own": vote.own if schema else "", "instances": vote.instances if instanced else ()}
    return MemberVote.model_validate(dict(vote) | asked)
