"""The executor by static checks. In the demo its first report leaves the security checks to the advisor's word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from review_advisor.core.answers.answers import Consult, DisagreementAnswer, Guidance, ReviewReport, UncheckedFile
from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.embedded.check_finding import CheckFinding
from review_advisor.embedded.checkers import StaticChecks
from review_advisor.embedded.material import Material, PastDisagreement
from review_advisor.embedded.staged_advisor import RUN, security_question

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
