"""What a declared advisor says before the executor begins, and the form of an advisor's own fields."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, create_model

from review_advisor.core.answers.answers import Answer, NonBlank, Short, Stated, Text
from review_advisor.core.answers.tolerant import at_most, or_left_out
from review_advisor.core.roster.answer_fields import AnswerField, AnswerFields

Form = TypeVar("Form", bound=Answer)
MOST_INSTANCES = 200
_WORD_COUNT = "at most {most} words"


class InstanceOpinion(Answer):
    """What an advisor says of one file or finding, which ``instance`` names."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    instance: Short = Field(alias="_instance")
    opinion: Annotated[Stated, Field(description=_WORD_COUNT.format(most=30))]


class Opinion(Answer):
    """What an advisor sees in a change before the executor has looked at it."""

    opinion: Annotated[Stated, Field(description=_WORD_COUNT.format(most=60))]
    concerns: Annotated[tuple[Annotated[Short, or_left_out()], ...], at_most(20)] = ()


class InstancedOpinion(Opinion):
    """The same with an opinion on each instance."""

    model_config = ConfigDict(title=Opinion.__name__)

    instances: Annotated[tuple[Annotated[InstanceOpinion, or_left_out()], ...], at_most(MOST_INSTANCES)]


def missing_instances(expected: Iterable[str], given: Iterable[InstanceOpinion]) -> tuple[str, ...]:
    """The instances on which there is no opinion, in their order."""
    said = {each.instance for each in given}
    return tuple(each for each in dict.fromkeys(expected) if each not in said)


@cache
def with_own_fields(form: type[Form], answer: str) -> type[Form]:
    """``form`` with an advisor's own fields; ``answer`` is their declared schema as JSON text, empty for none."""
    if not answer:
        return form
    declared = AnswerFields.model_validate_json(answer)
    fields: dict[str, Any] = {
        name: _field(field, required=name in declared.required) for name, field in declared.properties.items()
    }
    made: type[Form] = create_model(form.model_config.get("title") or form.__name__, __base__=form, **fields)
    return made


def own_fields(answer: Answer, form: type[Answer]) -> str:
    """What an answer says in the fields that it has beyond ``form``, as JSON; empty without any.

    No letter is escaped: the redactor would not know a secret that has it.
    """
    names = set(type(answer).model_fields) - set(form.model_fields)
    return json.dumps(answer.model_dump(mode="json", include=names), ensure_ascii=False) if names else ""


def form_of_field(name: str, field: AnswerField) -> type[Answer]:
    """The form of one declared field alone."""
    fields: dict[str, Any] = {name: _field(field, required=True)}
    return create_model("OwnField", __base__=Answer, **fields)


def _field(field: AnswerField, *, required: bool) -> tuple[Any, Any]:
    kind = _kind(field)
    about = Field(description=field.description) if field.description else Field()
    return (Annotated[kind, about], ...) if required else (Annotated[kind | None, about], None)


def _kind(field: AnswerField) -> Any:
    bounds = Field(ge=field.minimum, le=field.maximum)
    match field.type:
        case "string" if field.enum:
            return Literal[field.enum]
        case "string":
            return Text
        case "number":
            return Annotated[float, bounds, Field(allow_inf_nan=False)]
        case "integer":
            return Annotated[int, bounds]
        case "boolean":
            return bool
        case "array":
            kinds: dict[str, Any] = {
                "string": NonBlank,
                "number": Annotated[float, Field(allow_inf_nan=False)],
                "integer": int,
                "boolean": bool,
            }
            item: Any = kinds["string" if field.items is None else field.items.type]
            return Annotated[tuple[item, ...], at_most(100)]
