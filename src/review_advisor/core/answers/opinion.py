"""What a declared advisor says before the executor begins, and the fields of its own, there and beside its vote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import ConfigDict, Field, ValidationError, create_model

from review_advisor.core.answers.answers import Answer, NonBlank, Short, Stated, Text
from review_advisor.core.answers.tolerant import Notes, at_most, complaints, or_left_out
from review_advisor.core.roster.answer_fields import AnswerField, AnswerFields

Form = TypeVar("Form", bound=Answer)
MOST_INSTANCES = 200
MOST_OWN = 4_000
"""Characters of one advisor's own fields as JSON."""
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
    """What an answer says in the fields that it has beyond ``form``, as JSON; empty without any."""
    names = set(type(answer).model_fields) - set(form.model_fields)
    return _text(answer.model_dump(mode="json", include=names)) if names else ""


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


def read_own(said: object, declared: AnswerFields, notes: Notes) -> str:
    """The ``declared`` fields among what an advisor ``said``, as JSON; empty without any.

    A field that is missing, that its schema does not allow or for which there is no room is left out, and so are fields
    that nobody declares. ``notes`` name each of them.
    """
    if not isinstance(said, Mapping):
        notes.add("own was left out: it is no object")
        return ""
    kept: dict[str, Any] = {}
    for name, field in declared.properties.items():
        if said.get(name) is None:
            if name in declared.required:
                notes.add(f"own.{name} is missing")
            continue
        try:
            alone: Any = {name: _field(field, required=True)}
            read = create_model("OwnField", __base__=Answer, **alone).model_validate({name: said[name]}, context=notes)
        except ValidationError as error:
            notes.add(f"own.{name} was left out: {complaints(error)}")
            continue
        more = kept | read.model_dump(mode="json")
        if len(_text(more)) > MOST_OWN:
            notes.add(f"own.{name} was left out: all fields together have at most {MOST_OWN:,} characters")
        else:
            kept = more
    further = len(said.keys() - declared.properties.keys())
    if further:
        notes.add(f"{further} of the fields in own were left out: they are not declared")
    return _text(kept) if kept else ""


def own_table(own: str) -> dict[str, Any]:
    """The fields by their names; none of a text that is no JSON object."""
    try:
        said = json.loads(own)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def own_words(own: str) -> str:
    """The fields as a person reads them, on one line; the text itself if it is no JSON object."""
    table = own_table(own).items()
    told = ", ".join(f"{name} {value if isinstance(value, str) else _text(value)}" for name, value in table)
    return " ".join((told or own).split())


def _text(value: object) -> str:
    """As it is read again; the redactor does not know a secret whose letters are escaped."""
    return json.dumps(value, ensure_ascii=False)
