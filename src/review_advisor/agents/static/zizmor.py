"""zizmor: the audits of workflows whose remark is nearly always right, one file at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from review_advisor.agents.answers import Severity
from review_advisor.agents.static.programs import CheckerError, Complaint, RunChecker, cannot_read

_AUDITS: dict[str, Severity] = {
    "hardcoded-container-credentials": "high",
    "template-injection": "high",
    "unsound-condition": "medium",
    "unsound-contains": "medium",
}


_NOTHING_COLLECTED = 3


_EXPRESSION = re.compile(r"\$\{\{(.*?)(?:\}\}|\Z)", re.DOTALL)


_OF_PUSHERS = re.compile(
    r"\s*(?:(?:inputs|github\.event\.inputs|matrix|secrets|vars)\.[\w-]+|github\.event\.(?:pull_request\.)?number"
    r"|github\.event\.pull_request\.(?:base\.(?:label|ref|sha)|head\.sha)"
    r"|github\.event\.release\.(?:html_url|id|tag_name)"
    r"|github\.(?:base_ref|ref_name|repository|repository_owner|run_attempt|run_id|run_number|sha))\s*",
    re.IGNORECASE,
)
"""What only people who can push write. Any other spelling may lead to what an outsider writes."""


class _Point(BaseModel):
    row: int


class _Span(BaseModel):
    start_point: _Point
    end_point: _Point


class _Concrete(BaseModel):
    location: _Span


class _Symbolic(BaseModel):
    kind: str


class _Location(BaseModel):
    symbolic: _Symbolic
    concrete: _Concrete


class _Determinations(BaseModel):
    confidence: str


class _Found(BaseModel):
    ident: str
    desc: str
    determinations: _Determinations
    locations: tuple[_Location, ...]


_ANSWER = TypeAdapter(tuple[_Found, ...])


def copy_name(number: int, _name: str) -> str:
    """A name in a folder where zizmor takes it for a workflow."""
    return f"{number}/.github/workflows/workflow.yml"


def read(folder: Path, copies: Sequence[str], run: RunChecker) -> Iterator[tuple[str, Complaint]]:
    """What zizmor says, without the network. Raises ``CheckerError`` or pydantic's ``ValidationError``."""
    for copy in copies:
        code, written = run(
            ["--offline", "--no-config", "--no-progress", "--quiet", "--no-exit-codes", "--format=json", "--", copy]
        )
        if code == _NOTHING_COLLECTED:
            yield copy, cannot_read("zizmor cannot read it as a workflow")
        elif code:
            raise CheckerError(f"zizmor ended with {code}")
        else:
            lines = (folder / copy).read_text(encoding="utf-8", errors="replace").split("\n")
            yield from ((copy, said) for said in _said(_ANSWER.validate_json(written), lines))


def _said(answer: Sequence[_Found], lines: Sequence[str]) -> Iterator[Complaint]:
    for found in answer:
        severity = _AUDITS.get(found.ident)
        if severity is None or found.determinations.confidence == "Low":
            continue
        spans = [each.concrete.location for each in found.locations if each.symbolic.kind == "Primary"]
        if found.ident == "template-injection":
            spans = [span for span in spans if _is_reachable(span, lines)]
        yield from (
            Complaint(found.ident, found.desc, at.start_point.row + 1, at.end_point.row + 1, "security", severity, 0.8)
            for at in spans
        )


def _is_reachable(span: _Span, lines: Sequence[str]) -> bool:
    """Whether an outsider may write what an expression on these lines stands for. A variable may come from anywhere."""
    expressions = _EXPRESSION.findall("\n".join(lines[span.start_point.row : span.end_point.row + 1]))
    return not expressions or not all(_OF_PUSHERS.fullmatch(each) for each in expressions)
