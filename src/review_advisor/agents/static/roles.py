"""What the embedded agent answers in each role, by static checks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from pydantic import BaseModel, ValidationError

from review_advisor.agents.answers import (
    GRAVE,
    Consult,
    Disagreement,
    DisagreementAnswer,
    FocusArea,
    Guidance,
    PostVerifyResult,
    ReportedFinding,
    ReviewPlan,
    ReviewReport,
    UncheckedFile,
    Weight,
)
from review_advisor.agents.static.agent import AgentTool, CliSession, Declined, Said, UsageError
from review_advisor.agents.static.checks import CheckFinding, StaticChecks, require_extra
from review_advisor.agents.static.material import FileCount, Material, PastDisagreement, material_of
from review_advisor.change.diff_text import ShownLine
from review_advisor.change.kinds import Kind, kind_of_path
from review_advisor.change.risky_code import subjects_of
from review_advisor.safety.wording import counted

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


_RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3}


_MOST_FINDINGS = 200


_MOST_ANSWERS = 100


_NAMED = 5


@dataclass(frozen=True, slots=True)
class NoAdvice:
    """A consult that brought no guidance, and why."""

    reason: str


Ask = Callable[[Consult], Guidance | NoAdvice]


def report(
    material: Material,
    checks: StaticChecks,
    checkers: str,
    ask: Ask | None,
    *,
    may_edit: bool = False,
    allow_unchecked: bool = False,
) -> ReviewReport:
    """The verdict: reject exactly when a finding is critical or high.

    Without an advisor to ask, it reports what all checks say. For the demo, which has one, a first attempt reports bugs
    alone and asks whether security checks are worth running on one focus file; a retry takes over what it had missed,
    and answers each disagreement with a quote.
    """
    notes = [f"Static checks, no model: {checkers}."]
    answers: tuple[DisagreementAnswer, ...] = ()
    found = list(checks.everything())
    if material.disagreements is None and ask is not None:
        with_security = _advised(material, ask, notes)
        found = [one for one in found if one.check == "bug" or one.path == with_security]
    if material.disagreements is not None:
        answers = tuple(_answer(past, found) for past in material.disagreements[-_MOST_ANSWERS:])
        notes.append("All checks were run again, security and secrets included.")
        if may_edit:
            notes.append("Nothing was edited: static checks find, they do not repair.")
    silenced = [one for one in found if one.silenced]
    found = [one for one in found if not one.silenced]
    found.sort(key=lambda one: (_RANK[one.worth.severity], one.path, one.line, one.rule))
    reported = [one.reported() for one in found[:_MOST_FINDINGS]]
    notes.append(_counts(found))
    notes.extend(_silenced(silenced))
    notes.extend(_gaps(checks))
    return ReviewReport(
        verdict="reject" if any(one.serious for one in found) else "approve",
        summary=" ".join(notes),
        confidence=0.85 if checks.has_tree else 0.5,
        findings=tuple(reported),
        answers=answers,
        unchecked=tuple(
            UncheckedFile(path=path, why=why, waived=allow_unchecked and path not in checks.set_aside)
            for path, why in checks.unread.items()
        ),
    )


def focus_of(material: Material) -> str | None:
    """The file to ask about: the plan's first with added text, else the first changed code file."""
    added = tuple(dict.fromkeys(line.path for line in material.lines if line.added and line.text.strip()))
    planned = [path for path in material.planned_files() if path in added]
    code = [path for path in added if kind_of_path(path) is Kind.CODE]
    return next(iter([*planned, *code]), None)


def _advised(material: Material, ask: Ask, notes: list[str]) -> str | None:
    """The focus file, if the advisor wants the security checks on it now."""
    focus = focus_of(material)
    if focus is None:
        return None
    guidance = ask(security_question(focus, material.lines_of(focus)))
    if isinstance(guidance, NoAdvice):
        notes.append(f"The advisor was asked about {focus} and gave no answer ({guidance.reason[:300]});")
        notes.append("the executor went on by its own judgment: bug rules only.")
        return None
    notes.append(f"The advisor was asked about {focus} and said: {guidance.action[:200]}.")
    return focus if guidance.action == RUN else None


def _answer(past: PastDisagreement, found: Sequence[CheckFinding]) -> DisagreementAnswer:
    """What was missed is taken over with its quote; anything else is no matter of checks."""
    adopted = next((one for one in found if one.place in past.assessment), None)
    if adopted is None:
        return DisagreementAnswer(disagreement=past.id, position="contested")
    return DisagreementAnswer(disagreement=past.id, position="accepted", path=adopted.path, evidence=adopted.evidence)


def _counts(found: Sequence[CheckFinding]) -> str:
    if not found:
        return "No finding on the added lines."
    serious = sum(one.serious for one in found)
    left_out = len(found) - _MOST_FINDINGS
    more = f"; {left_out} of the least severe are not listed" if left_out > 0 else ""
    noun = "finding" if len(found) == 1 else "findings"
    return f"{len(found)} {noun} on added lines, {serious} critical or high{more}."


def _silenced(found: Sequence[CheckFinding]) -> list[str]:
    notes = []
    for why in dict.fromkeys(one.silenced for one in found):
        places = [f"{one.rule} at {one.path}:{one.line}" for one in found if one.silenced == why]
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        notes.append(f"Not reported, because {why}: {len(places)} ({', '.join(places[:_NAMED])}{more}).")
    return notes


def _gaps(checks: StaticChecks) -> list[str]:
    if not checks.has_tree:
        return ["ruff: not run: no tree."]
    unread = tuple(checks.unread)
    if not unread:
        return []
    named = ", ".join(unread[:_NAMED])
    more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
    return [f"Not checked: {named}{more}."]


TASK = "TaskMessage"  # by name: its module reads Markdown, which no review needs


_ANSWERED = frozenset({ReviewPlan.__name__, ReviewReport.__name__, PostVerifyResult.__name__, TASK})


_NO_TASK = "These are static checks and no model: they do no task and give no advice."


def answer(session: CliSession, prompt: str) -> int:
    """Answer the session's question from ``prompt``. Returns the exit code; raises ``UsageError`` if it cannot."""
    if session.options.question not in _ANSWERED:
        raise UsageError(f"Error: the static checks have no answer of the kind {session.options.question!r}")
    if session.options.question == TASK:
        session.init()
        session.structured({"message": _NO_TASK})
        return 0
    checkers = require_extra(session.options.checkers)
    material = material_of(prompt)
    session.init()
    session.structured(_work(session, material, checkers).model_dump(mode="json"))
    return 0


def _work(session: CliSession, material: Material, checkers: str) -> BaseModel:
    if session.options.question == ReviewPlan.__name__:
        return plan(material, checkers)
    tree = session.cwd if "Read" in session.options.tools else None
    options = session.options
    checks = StaticChecks(material.lines, tree, options.base_ruff, options.checkers, options.base_allows)
    if session.options.question == ReviewReport.__name__:
        return report(
            material,
            checks,
            checkers,
            _ask(session),
            may_edit="Edit" in options.tools,
            allow_unchecked=options.allow_unchecked,
        )
    return judge(material, checks, checkers)


def _ask(session: CliSession) -> Ask | None:
    if "Agent" not in session.options.tools or not session.options.agents:
        return None
    advisor = session.options.agents[0].name
    agent_tool = AgentTool(session, lambda question: Said(guide(question).model_dump_json()))

    def ask(consult: Consult) -> Guidance | NoAdvice:
        reply = agent_tool.ask(
            {
                "description": "consult the advisor",
                "prompt": json.dumps(consult.model_dump(mode="json")),
                "subagent_type": advisor,
            }
        )
        match reply:
            case Declined(reason):
                return NoAdvice(reason)
            case Said(text):
                return _guidance(text)
            case _:
                assert_never(reply)

    return ask


def _guidance(text: str) -> Guidance | NoAdvice:
    try:
        return Guidance.model_validate_json(text)
    except ValidationError:
        return NoAdvice("its answer was not guidance")
