"""What the files of public benchmarks have in common: lists of pull requests, each with its address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from review_advisor.adapters.golden.text_reader import ReadText
from review_advisor.core.evaluation.golden.golden_case import GoldenSetError
from review_advisor.core.facts.files.value_mistake import value_mistake

_MOST_BYTES = 50_000_000
_PULL = re.compile(r"https://[\w.-]+/([\w.-]{1,100})/([\w.-]{1,100})/(?:pull|commit)/(\w{1,64})/?")

Form = TypeVar("Form")
CommentText = Annotated[str, StringConstraints(max_length=20_000)]
PullUrl = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class PublicPart(BaseModel):
    """A part of such a file; what is not read may be anything."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PullName(NamedTuple):
    """What an address names."""

    repository: str
    number: str


def pull_name(url: str, path: Path) -> PullName:
    """The repository and number in an address. Raises ``GoldenSetError``."""
    found = _PULL.fullmatch(url)
    if found is None or {found[1], found[2]} & {".", ".."}:
        raise GoldenSetError(f"{path} names something that is no address of a pull request: {url[:200]!a}.")
    return PullName(f"{found[1]}/{found[2]}", found[3])


def read_form(path: Path, form: TypeAdapter[Form], read: ReadText) -> Form:
    """A file of this form. Raises ``GoldenSetError``."""
    raw = read(path, _MOST_BYTES)
    try:
        return form.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        said = value_mistake(first, block="an object")
        raise GoldenSetError(
            f"{path} does not have the form of this benchmark{place and f', at {place}'}: {said}."
        ) from None
