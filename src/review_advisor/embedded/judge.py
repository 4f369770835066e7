"""Post-verify by static checks: runs everything itself and holds the executor's report against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from review_advisor.core.answers.answers import Disagreement, PostVerifyResult, ReportedFinding, ReviewReport, Weight
from review_advisor.core.facts.files.kinds import Kind, kind_of_path
from review_advisor.core.facts.patches.diff_text import ShownLine
from review_advisor.embedded.check_finding import CheckFinding
from review_advisor.embedded.checkers import StaticChecks
from review_advisor.embedded.material import Material

_MOST_DISAGREEMENTS = 50
_LONG_ENOUGH = 8


def judge(material: Material, checks: StaticChecks, checkers: str) -> PostVerifyResult:
    """Whether the executor's verdict is right. Same material, same result.

    An approval is right when no serious finding was missed, and a finding or a quote in the report shows that each
    planned file that is not prose was read. A rejection is right when a serious finding of it quotes a changed line.
    """
    report = material.report
    if report is None:
        claim = _objection("the change was reviewed", "there is no readable report of the executor")
        return _veto(checkers, [claim], "Give a report that fits its schema.")
    if material.pictures:
        claim = _objection("the pictures were looked at", "no static check sees a picture")
        return _veto(checkers, [claim], "A person, or a model, has to look.")
    missed = [one for one in checks.everything() if one.serious and not _reported(one, report)]
    if report.verdict == "reject":
        return _about_rejection(report, missed, material, checkers)
    objections = [*map(_missed, missed), *_unread(material, report)]
    if objections:
        return _veto(checkers, objections, _direction(missed, objections))
    return PostVerifyResult(verdict="APPROVE", reasoning=f"{_words(checkers, checks)} Nothing serious was missed.")


def quotes(evidence: str, lines: Iterable[ShownLine]) -> bool:
    """Whether ``evidence`` is a verbatim quote of changed lines: whole lines, or a telling part of one."""
    shown = [" ".join(line.text.split()) for line in lines]
    wanted = [" ".join(line.split()) for line in evidence.split("\n") if line.strip()]
    return bool(wanted) and all(
        any(quote == text or (len(quote) >= _LONG_ENOUGH and quote in text) for text in shown) for quote in wanted
    )


def _about_rejection(
    report: ReviewReport, missed: Sequence[CheckFinding], material: Material, checkers: str
) -> PostVerifyResult:
    serious = [one for one in report.findings if one.severity in ("critical", "high")]
    standing = [one for one in serious if quotes(one.evidence, material.lines_of(one.path))]
    if not standing and not missed:
        claim = _objection(
            "the change must be rejected", "no critical or high finding of the report quotes a changed line"
        )
        return _veto(checkers, [claim], "Quote the changed line that makes the rejection necessary, or approve.")
    concerns = [_missed(one, "concern") for one in missed][:_MOST_DISAGREEMENTS]
    basis = f"Serious findings whose quotes stand: {len(standing)}; serious and not reported: {len(missed)}."
    reasoning = f"Static checks, no model: {checkers}. The rejection is right. {basis}"
    return PostVerifyResult(verdict="APPROVE", reasoning=reasoning, disagreements=tuple(concerns))


def _reported(found: CheckFinding, report: ReviewReport) -> bool:
    return any(one.path == found.path and _same(found, one) for one in report.findings)


def _same(found: CheckFinding, one: ReportedFinding) -> bool:
    at_line = one.line <= found.line <= (one.end_line or one.line)
    at_quote = " ".join(found.evidence.split()) in " ".join(one.evidence.split())
    same_rule = one.category == f"{found.check}/{found.rule}"
    return (at_line or at_quote) and (same_rule or one.severity in ("critical", "high"))


def _objection(claim: str, assessment: str, severity: Weight = "blocking") -> Disagreement:
    return Disagreement(executor_claim=claim, advisor_assessment=assessment, severity=severity)


def _missed(found: CheckFinding, severity: Weight = "blocking") -> Disagreement:
    return _objection("the report names everything serious", f"missed: {found.place}: {found.message}", severity)


def _unread(material: Material, report: ReviewReport) -> Iterator[Disagreement]:
    # Prose is left out: no check of ours reads it, and on a one-shot surface a veto is final.
    for path in (path for path in material.planned_files() if kind_of_path(path) is not Kind.DOCS):
        lines = material.lines_of(path)
        quoted = [one.evidence for one in report.findings if one.path == path]
        quoted += [one.evidence for one in report.answers if one.path == path]
        if not any(quotes(evidence, lines) for evidence in quoted):
            unread = f"nothing shows that {path} was read: quote the changed line that carries its risk"
            yield _objection(f"the planned review of {path} was done", unread)


def _veto(checkers: str, objections: Sequence[Disagreement], direction: str) -> PostVerifyResult:
    shown = tuple(objections[:_MOST_DISAGREEMENTS])
    more = len(objections) - len(shown)
    noun = "objection" if len(objections) == 1 else "objections"
    said = f"{len(objections)} {noun}" + (f", {more} of them not listed" if more else "")
    return PostVerifyResult(
        verdict="VETO",
        reasoning=f"Static checks, no model: {checkers}. {said}; the first: {shown[0].advisor_assessment[:1_000]}",
        disagreements=shown,
        suggested_fix_direction=direction,
    )


def _direction(missed: Sequence[CheckFinding], objections: Sequence[Disagreement]) -> str:
    parts = []
    if missed:
        parts.append("Run the security checks and take over what they find.")
    if len(objections) > len(missed):
        parts.append("For each planned file, answer with a verbatim quote of a changed line of it.")
    return " ".join(parts)


def _words(checkers: str, checks: StaticChecks) -> str:
    return f"Static checks, no model: {checkers}." + ("" if checks.has_tree else " ruff: not run: no tree.")
