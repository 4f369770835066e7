"""The report on a release, as a checked value without any extra key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from review_advisor.core.answers.answers import Answer, Confidence, NonBlank, Severity, Short
from review_advisor.core.answers.tolerant import Notes, complaints
from review_advisor.core.task.messages import ReadReport

ReleaseVerdict = Literal["go", "conditional_go", "hold"]
RELEASE_VERDICTS: tuple[ReleaseVerdict, ...] = get_args(ReleaseVerdict)
"""The mildest first."""
MOST_BLOCKERS = 50
_MOST_KEPT = 60_000
"""Characters of a report that cannot be used."""
_IN_ANY_CASE = BeforeValidator(lambda said: said.strip().lower() if isinstance(said, str) else said)
_Severity = Annotated[Severity, _IN_ANY_CASE]
_Count = Annotated[int, Field(ge=0)]


class _Strict(Answer):
    model_config = ConfigDict(extra="forbid")


class ReleaseBlocker(_Strict):
    """What must not go out so. ``evidence`` quotes the evidence verbatim."""

    id: Short
    severity: _Severity
    description: NonBlank
    evidence: NonBlank


class ReleaseRisk(_Strict):
    """What may go wrong, and is still open."""

    id: Short
    severity: _Severity
    description: NonBlank
    mitigation: NonBlank


class MeasuredOutputs(_Strict):
    """How many of each the report says that it lists."""

    blocker_count: _Count
    risk_count: _Count
    required_action_count: _Count


class ReleaseReport(_Strict):
    """What an executor says of a release."""

    verdict: Annotated[ReleaseVerdict, _IN_ANY_CASE]
    summary: NonBlank
    blockers: Annotated[tuple[ReleaseBlocker, ...], Field(max_length=MOST_BLOCKERS)]
    risks: Annotated[tuple[ReleaseRisk, ...], Field(max_length=MOST_BLOCKERS)]
    required_actions: Annotated[tuple[Short, ...], Field(max_length=MOST_BLOCKERS)]
    advisor_consulted: bool
    confidence: Confidence
    measurable_outputs: MeasuredOutputs


def read_release_report(body: Mapping[str, Any]) -> ReadReport:
    """What a block says. Of one that cannot be used its verdict still counts, where it has one."""
    try:
        report = ReleaseReport.model_validate(body, context=Notes())
    except ValidationError as error:
        said = str(body.get("verdict", "")).strip().lower()
        kept = json.dumps(dict(body), ensure_ascii=False)[:_MOST_KEPT]
        return ReadReport(kept, said if said in RELEASE_VERDICTS else "", complaints(error))
    return ReadReport(report.model_dump_json(), report.verdict)


def report_schema() -> str:
    """The JSON schema of the report, for its file."""
    return json.dumps(ReleaseReport.model_json_schema(), indent=2) + "\n"
