"""The advisor that the demo stages: its plan, its guidance and its judgement, by static checks and no model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from pydantic import ValidationError

from review_advisor.core.answers.answers import (
    GRAVE,
    Consult,
    Disagreement,
    FocusArea,
    Guidance,
    PostVerifyResult,
    ReportedFinding,
    ReviewPlan,
    ReviewReport,
    Weight,
)
from review_advisor.core.facts.files.kinds import Kind
from review_advisor.core.facts.files.risky_code import subjects_of
from review_advisor.core.facts.patches.diff_text import ShownLine
from review_advisor.core.report.wording import counted
from review_advisor.embedded.check_finding import CheckFinding
from review_advisor.embedded.checkers import StaticChecks
from review_advisor.embedded.material import FileCount, Material

RUN = "run the security checks on this file too"
SKIP = "leave the security checks to post-verify"
_LONGEST_CONTEXT = 6_000
_MOST_FOCUS_AREAS = 3
_LONGEST_PATH = 500
_MOST_DISAGREEMENTS = 50


# --- the plan ---------------------------------------------------------------------------------------------------------


def plan(material: Material, checkers: str) -> ReviewPlan:
    """The most-changed code files, at most three; other text only if there is no code. Same input, same plan."""
    return ReviewPlan(
        risk_summary=f"Static checks, no model: {checkers}. {_summary(material.files)}",
        focus_areas=tuple(map(_area, _focus(material.files))),
        rubric=(
            "bugs: what ruff calls broken on added lines of Python files",
            "security: shells that lose their arguments on added lines of Python files that are not tests",
            "secrets: shapes of known tokens and private keys on all added lines",
        ),
        escalation_signals=(
            "a focus file starts processes, evaluates text, or handles credentials",
            "a file that no rule can read",
        ),
    )


def _focus(files: tuple[FileCount, ...]) -> list[FileCount]:
    readable = [file for file in files if file.is_text and file.changed and len(file.path) <= _LONGEST_PATH]
    code = [file for file in readable if file.kind is Kind.CODE]
    if code:
        return sorted(code, key=lambda file: (-file.changed, file.path))[:_MOST_FOCUS_AREAS]
    return sorted(readable, key=lambda file: (-file.changed, file.path))[:1]


def _area(file: FileCount) -> FocusArea:
    return FocusArea(
        description=f"{file.path}: +{file.added} -{file.removed}",
        files=(file.path,),
        rationale=f"Among the most-changed {file.kind.value} of this change.",
    )


def _summary(files: tuple[FileCount, ...]) -> str:
    kinds = Counter(file.kind.value for file in files)
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    listed = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return f"Changed files: {len(files)} ({listed}), lines: +{added} -{removed}."


# --- the question and its answer --------------------------------------------------------------------------------------


def security_question(path: str, lines: tuple[ShownLine, ...]) -> Consult:
    """Whether the security checks are worth running on ``path`` now. Its added lines are the context."""
    added = "\n".join(line.text for line in lines if line.added)
    return Consult(
        question=f"Should the security checks be run on the focus file {path} too?"[:1_000],
        context=added[:_LONGEST_CONTEXT],
        options=(RUN, SKIP),
        preferred_option=SKIP,
        urgency="normal",
    )


def guide(question: str) -> Guidance:
    """The advisor persona: by lexical signals in the added lines, no model. A text that is no consult is told so."""
    consult = _consult(question)
    if consult is None:
        return Guidance(
            action="go on by your own judgment",
            rationale="Static checks, no model: only the executor's own kind of question can be answered.",
            confidence=0.5,
        )
    found = subjects_of(consult.context)
    if not found:
        why = "Static checks, no model: no added line looks risky."
        return Guidance(action=SKIP, rationale=why, confidence=0.7)
    quotes = [line.strip() for line in consult.context.split("\n") if subjects_of(line)]
    return Guidance(
        action=RUN,
        rationale=f"Static checks, no model: by its words, an added line {found[0]}.",
        risk_flags=found,
        evidence=tuple(quotes[:3]),
        confidence=0.8,
    )


def _consult(text: str) -> Consult | None:
    # What stands in front (the run's sentinel) is not ours to know.
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, start.start())
            return Consult.model_validate(value)
        except (ValueError, ValidationError):
            continue
    return None


# --- the judgement ----------------------------------------------------------------------------------------------------


def judge(material: Material, checks: StaticChecks, checkers: str) -> PostVerifyResult:
    """Whether the executor's verdict is right. Same material, same result.

    An approval is right when no serious finding was missed. A rejection by static checks has a serious finding, so it
    is right, and what it missed is a concern.
    """
    report = material.report
    if report is None:
        claim = _objection("the change was reviewed", "there is no readable report of the executor")
        return _veto(checkers, [claim], "Give a report that fits its schema.")
    if material.pictures:
        claim = _objection("the pictures were looked at", "no static check sees a picture")
        return _veto(checkers, [claim], "A person, or a model, has to look.")
    missed = [one for one in checks.everything() if one.serious and not _reported(one, report)]
    if missed and report.verdict == "approve":
        direction = "Run the security checks and take over what they find."
        return _veto(checkers, [_missed(one) for one in missed], direction)
    concerns = tuple(_missed(one, "concern") for one in missed[:_MOST_DISAGREEMENTS])
    return PostVerifyResult(
        verdict="APPROVE", reasoning=_confirmation(report, checkers, checks), disagreements=concerns
    )


def _confirmation(report: ReviewReport, checkers: str, checks: StaticChecks) -> str:
    without_tree = "" if checks.has_tree else " ruff: not run: no tree."
    said = "Nothing serious was missed." if report.verdict == "approve" else "The rejection is right."
    return f"Static checks, no model: {checkers}.{without_tree} {said}"


def _reported(found: CheckFinding, report: ReviewReport) -> bool:
    return any(one.path == found.path and _same(found, one) for one in report.findings)


def _same(found: CheckFinding, one: ReportedFinding) -> bool:
    at_line = one.line <= found.line <= (one.end_line or one.line)
    at_quote = " ".join(found.evidence.split()) in " ".join(one.evidence.split())
    same_rule = one.category == f"{found.check}/{found.rule}"
    return (at_line or at_quote) and (same_rule or one.severity in GRAVE)


def _objection(claim: str, assessment: str, severity: Weight = "blocking") -> Disagreement:
    return Disagreement(executor_claim=claim, advisor_assessment=assessment, severity=severity)


def _missed(found: CheckFinding, severity: Weight = "blocking") -> Disagreement:
    return _objection("the report names everything serious", f"missed: {found.place}: {found.message}", severity)


def _veto(checkers: str, objections: Sequence[Disagreement], direction: str) -> PostVerifyResult:
    shown = tuple(objections[:_MOST_DISAGREEMENTS])
    more = len(objections) - len(shown)
    unlisted = f", {more} of them not listed" if more else ""
    said = counted(len(objections), "objection") + (f"{unlisted}; the first" if len(objections) > 1 else "")
    return PostVerifyResult(
        verdict="VETO",
        reasoning=f"Static checks, no model: {checkers}. {said}: {shown[0].advisor_assessment[:1_000]}",
        disagreements=shown,
        suggested_fix_direction=direction,
    )
