"""zizmor: the audits of workflows whose remark is nearly always right, one file at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from review_advisor.core.answers.answers import Severity
from review_advisor.embedded.programs.bounded_run import CheckerError
from review_advisor.embedded.programs.complaint import Complaint, cannot_read

_AUDITS: dict[str, Severity] = {
    "bot-conditions": "medium",
    "dangerous-triggers": "medium",
    "github-env": "high",
    "hardcoded-container-credentials": "high",
    "insecure-commands": "high",
    "template-injection": "high",
    "unredacted-secrets": "medium",
    "unsound-condition": "medium",
    "unsound-contains": "medium",
}
_NOTHING_COLLECTED = 3
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_OF_PUSHERS = re.compile(
    r"\s*(?:(?:inputs|github\.event\.inputs|matrix|secrets|vars)\.[\w-]+|github\.event\.(?:pull_request\.)?number"
    r"|github\.event\.release\.(?:html_url|id|tag_name)"
    r"|github\.(?:base_ref|repository|repository_owner|run_attempt|run_id|run_number|sha))\s*",
    re.IGNORECASE,
)
"""What only people who can push write. Any other spelling may lead to what an outsider writes."""


_CODE_OF_OUTSIDERS = re.compile(
    r"pull_request\s*\.\s*head|head_?(?:ref|sha)|workflow_run\s*\.\s*head|merge_commit"
    r"|refs/pull/|\bpull/[^\n]*/(?:head|merge)|\bgh\s[^\n]*\bcheckout\b"
    r"|\bgithub(?:\s*\.\s*\w+)*\s*\[|\(\s*github(?:\s*\.\s*event)?\s*\)|GITHUB_EVENT_PATH",
    re.IGNORECASE,
)
"""A workflow with a dangerous trigger is dangerous where it fetches what an outsider wrote, or hides what it reads."""


class _Point(BaseModel):
    row: int


class _Span(BaseModel):
    start_point: _Point
    end_point: _Point


class _Concrete(BaseModel):
    location: _Span
    feature: str = ""


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


def read(
    folder: Path, copies: Sequence[str], run: Callable[[Sequence[str]], tuple[int, bytes]]
) -> Iterator[tuple[str, Complaint]]:
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
            text = (folder / copy).read_text(encoding="utf-8", errors="replace")
            is_harmless = _CODE_OF_OUTSIDERS.search(text) is None
            for said in _said(_ANSWER.validate_json(written)):
                if not (said.rule == "dangerous-triggers" and is_harmless):
                    yield copy, said


def _said(answer: Sequence[_Found]) -> Iterator[Complaint]:
    for found in answer:
        severity = _AUDITS.get(found.ident)
        is_sure = found.determinations.confidence != "Low" and _is_reachable(found)
        if severity is None or not is_sure:
            continue
        spans = [each.concrete.location for each in found.locations if each.symbolic.kind == "Primary"]
        yield from (
            Complaint(found.ident, found.desc, at.start_point.row + 1, at.end_point.row + 1, "security", severity, 0.8)
            for at in spans
        )


def _is_reachable(found: _Found) -> bool:
    expressions = [text for each in found.locations for text in _EXPRESSION.findall(each.concrete.feature)]
    is_of_pushers = bool(expressions) and all(_OF_PUSHERS.fullmatch(text) for text in expressions)
    return found.ident != "template-injection" or not is_of_pushers
