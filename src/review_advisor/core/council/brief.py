"""The brief of one vote: what a council votes on, and the actions to choose from. The council knows nothing else."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic_core import ErrorDetails

from review_advisor.core.facts.files.value_mistake import value_mistake
from review_advisor.core.roster.declaration_text import DeclarationError, read_table
from review_advisor.core.roster.nearest import nearest_of

LONGEST_BRIEF = 200_000
"""Characters of a brief. A longer one is refused, not cut."""
MODE = "report-only"
"""The one mode of this command: nobody is asked a question."""
VERSION = "1"
_MOST_TOLD = 5
_FEWEST, _MOST = 2, 10
_NUMBER = f"name {_FEWEST} to {_MOST} actions"
_WORDS = {
    "too_short": _NUMBER,
    "too_long": _NUMBER,
    "string_pattern_mismatch": "an action has letters, digits, - and _, a letter first, at most 64",
}


def _plain(text: str) -> str:
    """``text``, if it holds no control character but line feed and tab, and no half of a character."""
    if any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t" for each in text):
        raise ValueError("it holds control characters")
    return text.strip()


_Text = Annotated[str, AfterValidator(_plain)]
_Action = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


def _each_once(actions: tuple[str, ...]) -> tuple[str, ...]:
    if len({each.casefold() for each in actions}) < len(actions):
        raise ValueError("an action stands there twice")
    return actions


_Actions = Annotated[tuple[_Action, ...], Field(min_length=_FEWEST, max_length=_MOST), AfterValidator(_each_once)]
_ACTIONS: TypeAdapter[tuple[str, ...]] = TypeAdapter(_Actions)


class Brief(BaseModel):
    """One matter to vote on. ``actions`` are mildest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: Annotated[_Text, Field(max_length=1_000)]
    actions: _Actions
    context: _Text = ""
    mode: _Text = ""
    brief_version: str | int | float = ""

    @field_validator("subject")
    @classmethod
    def _says_something(cls, subject: str) -> str:
        if not subject:
            raise ValueError("it is empty: say what the council votes on")
        return subject

    @property
    def blind_spots(self) -> tuple[str, ...]:
        """What nobody looks at: another mode than ``report-only`` is not there."""
        if self.mode == MODE:
            return ()
        return (f"the brief does not say mode {MODE}, which is what it gets: nobody is asked a question",)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was assumed of a brief of another version."""
        if str(self.brief_version) == VERSION:
            return ()
        return (f"The brief does not say brief_version {VERSION}; it is read as {VERSION}.",)


class BriefError(ValueError):
    """The brief cannot be used: why, in one sentence."""


def read_brief(text: str) -> Brief:
    """The brief in a text of JSON or YAML. Raises ``BriefError``.

    A missing subject or action is an error, another mode than ``report-only`` a blind spot, another version a warning.
    """
    try:
        return Brief.model_validate(read_table(text, LONGEST_BRIEF))
    except DeclarationError as problem:
        raise BriefError(f"The brief cannot be read: {problem}.") from None
    except ValidationError as error:
        found = error.errors(include_url=False)[:_MOST_TOLD]
        told = "; ".join(map(_complaint, found))
        raise BriefError(f"The brief cannot be used: {told}.") from None


def read_actions(text: str) -> tuple[str, ...]:
    """The actions of a vote, mildest first and with commas between them. Raises ``BriefError``."""
    try:
        return _ACTIONS.validate_python(tuple(each.strip() for each in text.split(",")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"number {int(step) + 1}: " for step in first["loc"])
        raise BriefError(f"The actions cannot be used: {where}{_words(first)}.") from None


def _complaint(error: ErrorDetails) -> str:
    where = ascii(".".join(map(str, error["loc"])))[:80]
    if error["type"] == "extra_forbidden":
        return f"unknown key {where}; {nearest_of(str(error['loc'][0])[:80], Brief.model_fields).rstrip('.')}"
    return f"{where}: {_words(error)}"


def _words(error: ErrorDetails) -> str:
    return _WORDS.get(error["type"]) or value_mistake(error, block="an object")
