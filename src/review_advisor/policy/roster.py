"""The advisors of a repository as values: who speaks when, with which weight and right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Moment = Literal["start", "finish", "request"]
"""When an advisor speaks by itself: in pre-flight, in post-verify, or in both and after each turn of the executor."""


Temperament = Literal["dissenting", "cautious", "pragmatic"]
"""How an advisor looks at a change, whatever its field is."""


MOMENTS: Mapping[Moment | None, str] = {
    "start": "speaks in pre-flight",
    "finish": "votes in post-verify",
    "request": "speaks in pre-flight and votes in post-verify",
    None: "speaks when it is consulted",
}


_LONGEST_FIELD = 160


_TEMPERAMENTS: Mapping[Temperament, str] = {
    "dissenting": "You are here to dissent: look first for reasons against, and give them though all others agree.",
    "cautious": "You are cautious: ask what happens if it fails, and whether it can be taken back.",
    "pragmatic": "You are pragmatic: ask what it gains, and let pass what is good enough.",
}


MOST_WEIGHT = 100.0


@dataclass(frozen=True, slots=True)
class Advisor:
    """One declared advisor.

    ``on`` None: it speaks only when it is consulted by its id. ``scopes`` name what it looks at first; they hide
    nothing from it. ``instanced``: it speaks of each changed file in pre-flight and of each finding with its vote.
    ``weight`` counts in the mean of the panel's votes. ``veto``: its block counts by itself. ``model`` is empty
    for the surface's advisor model. ``answer`` is the JSON schema of its own fields beside its vote, as JSON text, or
    empty. ``source`` says where it is declared, and is empty for the product's own. ``by_label``: a label of the
    pull request has added it. ``by_path``: the repository's map of paths has added it. ``temperament`` says how it
    looks at a change; empty for no way of its own. ``inline``: it speaks in one call with others, and only advises.
    """

    id: str
    persona: str
    on: Moment | None = None
    scopes: tuple[str, ...] = ()
    instanced: bool = False
    weight: float = 1.0
    veto: bool = False
    model: str = ""
    answer: str = ""
    source: str = ""
    by_label: bool = False
    by_path: bool = False
    temperament: Temperament | Literal[""] = ""
    inline: bool = False

    @property
    def is_added(self) -> bool:
        """Whether it is asked about this change alone. The author may have caused that, by a label or a path."""
        return self.by_label or self.by_path

    @property
    def words(self) -> str:
        """When it speaks and with which right, for a person."""
        if self.inline:
            return "advises in post-verify, in one call with others, and has no vote"
        facts = [MOMENTS[self.on], f"weight {self.weight:g}", "veto" if self.veto else "no veto"]
        facts += [f"model {self.model}"] if self.model else []
        facts += [self.temperament] if self.temperament else []
        facts += ["one opinion for each finding or file"] if self.instanced else []
        return ", ".join(facts)


def as_advisor(advisor: Advisor, what: str = "review") -> str:
    """Who it is to be in ``what``, and what it looks at first, in a prompt.

    The words come from the base, so they are instructions and not fenced.
    """
    focus = f" Look first at: {'; '.join(advisor.scopes)}. The rest is yours to see as well." if advisor.scopes else ""
    temperament = f"\n\n{_TEMPERAMENTS[advisor.temperament]}" if advisor.temperament else ""
    return f"In this {what} you are the advisor {advisor.id}.{focus}\n\n{advisor.persona}{temperament}"


def field_of(advisor: Advisor) -> str:
    """What it knows, on one line: its scopes, or the beginning of its persona."""
    return ", ".join(advisor.scopes) or " ".join(advisor.persona.split())[:_LONGEST_FIELD]


ADR_ADVISOR = Advisor(
    id="hydraflow-review-advisor",
    persona="The advisor of ADR-0059: it plans the review, answers the executor's questions and judges its verdict.",
    on="request",
    veto=True,
)
"""The one advisor of the default roster. No roster is without it."""


@dataclass(frozen=True, slots=True)
class MappedPaths:
    """What a repository wants for a change of ``paths``, which are globs: ``lenses``, and ``advisors`` that join."""

    paths: tuple[str, ...]
    lenses: tuple[str, ...] = ()
    advisors: tuple[Advisor, ...] = ()


@dataclass(frozen=True, slots=True)
class Roster:
    """Everybody who may be asked, the ADR's advisor first. ``blind_spots`` name lenses that nobody of them holds.

    ``mapped`` says what changed paths add. It is empty in the roster of one change.
    """

    advisors: tuple[Advisor, ...] = field(default=(ADR_ADVISOR,))
    blind_spots: tuple[str, ...] = ()
    mapped: tuple[MappedPaths, ...] = ()

    @property
    def starting(self) -> tuple[Advisor, ...]:
        """Those who speak in pre-flight, beside the plan."""
        return tuple(each for each in self.advisors if each.on in ("start", "request"))

    @property
    def opening(self) -> tuple[Advisor, ...]:
        """The same without the ADR's advisor, whose word there is the plan."""
        return tuple(each for each in self.starting if each.id != ADR_ADVISOR.id)

    @property
    def panel(self) -> tuple[Advisor, ...]:
        """Those who vote in post-verify."""
        return tuple(each for each in self.advisors if each.on in ("finish", "request") and not each.inline)

    @property
    def voices(self) -> tuple[Advisor, ...]:
        """Those who advise in one call beside the panel. They have no part in its count."""
        return tuple(each for each in self.advisors if each.inline)

    @property
    def on_demand(self) -> tuple[Advisor, ...]:
        """Those who are silent until somebody consults them by id."""
        return tuple(each for each in self.advisors if each.on is None)


VOICES = "voices"
"""The id of the one call in which all inline advisors speak. No declared advisor has it."""


DEFAULT_ROSTER = Roster()


_RESERVED_NAMES = (
    "id advisor calls findings verdict reasoning disagreements opinion concerns instances of_each summary"
    " confidence pre_existing suggested_fix_direction"
)


RESERVED = frozenset(_RESERVED_NAMES.split())
"""What every answer of an advisor says anyway, or its reader is told with it. Its own fields have other names."""


_Name = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]{0,39}$")]


_Words = Annotated[str, Field(max_length=500)]


class AnswerField(BaseModel):
    """One field of an advisor's own answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["string", "number", "integer", "boolean", "array"]
    description: _Words = ""
    enum: Annotated[tuple[_Words, ...], Field(max_length=50)] = ()
    minimum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[float, Field(allow_inf_nan=False)] | None = None
    items: AnswerItems | None = None


class AnswerItems(BaseModel):
    """What the items of a list are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["string", "number", "integer", "boolean"]
    description: _Words = ""


class AnswerFields(BaseModel):
    """An advisor's own answer beside its vote: the part of JSON Schema that every model fills in without fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["object"] = "object"
    description: _Words = ""
    properties: Annotated[dict[_Name, AnswerField], Field(min_length=1, max_length=20)]
    required: tuple[str, ...] = ()
    additionalProperties: bool = False  # noqa: N815 (JSON Schema's word)

    @model_validator(mode="after")
    def _names_fit(self) -> AnswerFields:
        taken = sorted(name for name in self.properties if name in RESERVED or hasattr(BaseModel, name))
        if taken:
            raise ValueError(f"the name {taken[0]!r} is taken: choose another")
        lost = sorted(set(self.required) - self.properties.keys())
        if lost:
            raise ValueError(f"{lost[0]!r} is required and not among the properties")
        return self


PresetName = Literal["default", "security", "release"]
