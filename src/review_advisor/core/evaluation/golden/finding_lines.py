"""Findings of any reviewer on golden cases, one JSON object a line: what is held against a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from review_advisor.core.answers.answers import Severity
from review_advisor.core.evaluation.golden.case_file import inner_path, json_object
from review_advisor.core.evaluation.golden.golden_case import GoldenSet, GoldenSetError
from review_advisor.core.evaluation.golden.matching import RaisedFinding
from review_advisor.core.facts.files.value_mistake import value_mistake, value_place
from review_advisor.core.report.wording import printable_line
from review_advisor.core.roster.nearest import nearest_of

_MOST_FINDINGS_OF_A_CASE = 400
FindingLineNumber = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]


def _plain_path(path: str) -> str:
    """A path as labels have it: some tools put ``./`` before it. Empty: the finding names no file."""
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return inner_path(path) if path else ""


class FindingLine(BaseModel):
    """One finding. A line with a case alone says that it was reviewed and nothing was found."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    case: Annotated[str, StringConstraints(max_length=200)]
    text: Annotated[str, StringConstraints(max_length=20_000)] = ""
    file: Annotated[str, AfterValidator(_plain_path)] = ""
    first_line: FindingLineNumber | None = None
    last_line: FindingLineNumber | None = None
    severity: Severity | None = None

    @model_validator(mode="after")
    def _is_a_finding(self) -> Self:
        if not self.text and (self.file or self.first_line or self.last_line or self.severity):
            raise ValueError("text is missing")
        if (self.last_line or self.first_line or 0) < (self.first_line or 0):
            raise ValueError("last_line is before first_line")
        return self

    @property
    def raised(self) -> RaisedFinding:
        """The finding as it is matched."""
        first = self.first_line or 0
        return RaisedFinding(self.text, self.file, first, self.last_line or first, self.severity or "")


def read_finding_lines(lines: Sequence[str], known: GoldenSet, where: str) -> dict[str, list[RaisedFinding]]:
    """The findings on each case that was reviewed. Raises ``GoldenSetError``."""
    ids = {case.id for case in known.cases}
    found: dict[str, list[RaisedFinding]] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            told = _read(line, f"{where}, line {number}")
            if told.case not in ids:
                near = nearest_of(told.case, ids) if ids else ""
                raise GoldenSetError(
                    printable_line(f"{where}, line {number}: the set has no case {told.case!r}; {near}")[:500]
                )
            of_case = found.setdefault(told.case, [])
            of_case += [told.raised] if told.text else []
            if len(of_case) > _MOST_FINDINGS_OF_A_CASE:
                raise GoldenSetError(f"{where} has more than {_MOST_FINDINGS_OF_A_CASE} findings on {told.case}.")
    if not found:
        raise GoldenSetError(f"{where} holds no finding.")
    return found


def _read(line: str, where: str) -> FindingLine:
    told = json_object(line, where)
    try:
        return FindingLine.model_validate(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        at = value_place(first["loc"])
        if first["type"] == "extra_forbidden":
            said = f"unknown key {at!r}; {nearest_of(at, FindingLine.model_fields)}"
        else:
            said = f"{at and f'{at}: '}{value_mistake(first, block='an object')}."
        raise GoldenSetError(printable_line(f"{where}: {said}")) from None
