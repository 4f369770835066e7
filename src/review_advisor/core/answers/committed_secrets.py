"""Secrets that a change commits: each is a fact of the review, and a finding of the harness's own.

Everybody is shown them masked, so what is masked has to be named. A model that looks away changes nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from review_advisor.core.answers.answers import GRAVE, SEVERITIES, ReportedFinding, ReviewReport, Severity
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding, finding_id, merged
from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.files.kinds import Kind, kind_of
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.safety.secret_shapes import LIKELY, holds_mark
from review_advisor.core.safety.shown_change import AddedSecret, added_secrets

CATEGORY = "secret"
_MOST_NAMED = 5
_BODY = (
    "The harness found this itself, in the text of the file: no model said it. The secret stands in the history of the"
    " repository from now on: revoke it, and take it out. If it is none, dismiss the finding, or let `secret_samples`"
    " of the configuration name the file."
)
_LIKELY_BODY = (
    "The harness found this itself, in the text of the file: no model said it. Name or place of the value tells that it"
    " is likely a secret; everybody is shown it masked."
)
_WORDS = re.compile(
    r"secret|credential|passwor|passphrase|\btokens?\b|(?:private|access|api|signing|encryption)[ _-]?key",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CommittedSecret:
    """A secret on added lines, as a fact: ``line`` to ``end_line`` of the new side. A private key has several lines.

    ``finding`` is the id of the harness's finding on it, and ``severity`` that of the finding. ``settled`` is why it is
    no finding: the base's configuration names the file as one that holds samples, or a person has dismissed it.
    """

    path: str
    line: int
    end_line: int
    kind: str
    severity: Severity
    finding: str
    settled: Literal["", "sample", "dismissed"] = ""


@dataclass(frozen=True, slots=True)
class OwnFinding:
    """A fact, and what the harness says of it."""

    fact: CommittedSecret
    finding: Finding


class Checks(Protocol):
    """What holds a report against the change."""

    def check(self, report: ReviewReport, open_disagreements: Collection[str] = ()) -> CheckedReport:
        """Keep, correct or refuse each finding."""


def severity_of_secret(kind: str, where: Kind) -> Severity:
    """How grave a committed secret of this kind is in a file of the kind ``where``."""
    if kind in LIKELY:
        return "low"
    return "medium" if where in (Kind.TESTS, Kind.DOCS) else "high"


def committed_secrets(
    files: Iterable[FileChange],
    shown: Checks,
    is_sample: Callable[[str], bool],
    dismissed: Collection[str],
) -> tuple[OwnFinding, ...]:
    """Every mask on an added line of these files, in order, with its finding.

    ``shown`` is the whole change. ``dismissed`` are the ids of the findings that people have dismissed.
    """
    return tuple(
        _own_finding(mask, severity_of_secret(mask.kind, kind_of(file)), shown, is_sample, dismissed)
        for file in files
        for mask in added_secrets(file)
    )


def _own_finding(
    mask: AddedSecret,
    severity: Severity,
    shown: Checks,
    is_sample: Callable[[str], bool],
    dismissed: Collection[str],
) -> OwnFinding:
    finding = _finding(mask, severity, shown)
    settled: Literal["", "sample", "dismissed"] = "dismissed" if finding.id in dismissed else ""
    if is_sample(mask.path):
        settled = "sample"
    fact = CommittedSecret(mask.path, mask.line, mask.end_line, mask.kind, severity, finding.id, settled)
    return OwnFinding(fact, finding)


def _finding(mask: AddedSecret, severity: Severity, shown: Checks) -> Finding:
    """The finding, held against the change like an executor's: so the id is the one that its quote of the line has."""
    said = {
        "path": shown_path(mask.path),
        "line": mask.line,
        "severity": severity,
        "category": CATEGORY,
        "title": _title(mask),
        "body": _LIKELY_BODY if mask.kind in LIKELY else _BODY,
        "confidence": 0.8 if mask.kind in LIKELY else 1.0,
        "evidence": mask.shown,
    }
    reported = ReportedFinding.model_validate(said)
    checked = shown.check(ReviewReport(verdict="reject", summary=CATEGORY, confidence=1.0, findings=(reported,)))
    if checked.findings:
        return replace(checked.findings[0], harness=True)
    return Finding(  # two files that are shown under one name, or a line that says nothing but the mark
        id=finding_id(mask.path, CATEGORY, mask.shown),
        path=mask.path,
        line=mask.line,
        end_line=mask.line,
        removed=False,
        severity=severity,
        category=CATEGORY,
        title=reported.title,
        body=reported.body,
        suggestion=None,
        confidence=reported.confidence,
        evidence=mask.shown,
        harness=True,
    )


def _title(mask: AddedSecret) -> str:
    return f"{'What is likely a secret' if mask.kind in LIKELY else 'A secret'} is committed: {mask.kind}"


def with_own_findings(report: CheckedReport, own: Sequence[OwnFinding]) -> CheckedReport:
    """The report with every finding of ``own`` that the executor does not report itself."""
    due = [each for each in own if not each.fact.settled]
    joined = [each.finding for each in due if not any(reports(said, each.fact) for said in report.findings)]
    return replace(report, findings=merged((*report.findings, *joined))) if joined else report


def reports(finding: Finding, fact: CommittedSecret, *, moved: bool = False) -> bool:
    """Whether a finding tells of this secret, and is as grave. ``moved``: its lines may have other numbers by now."""
    if finding.path != fact.path or finding.removed or finding.pre_existing or not is_about_a_secret(finding):
        return False
    slack = int(fact.end_line > fact.line)  # the line above a key's body says that one begins
    meets = finding.line <= fact.end_line + slack and fact.line - slack <= max(finding.line, finding.end_line)
    return (meets or moved) and SEVERITIES.index(finding.severity) <= SEVERITIES.index(fact.severity)


def is_about_a_secret(finding: Finding) -> bool:
    """Whether a finding is about a secret: by its category, its title, or the mark in the lines that it quotes."""
    return _WORDS.search(f"{finding.category} {finding.title}") is not None or holds_mark(finding.evidence)


def secrets_in_the_way(report: CheckedReport) -> tuple[Finding, ...]:
    """The findings for which no approval stands: a grave one on a secret that the change brings."""
    found = (each for each in report.findings if each.severity in GRAVE and not each.pre_existing)
    return tuple(each for each in found if is_about_a_secret(each))


def named(findings: Sequence[Finding]) -> str:
    """The places of these findings in words; of many the first ones, and how many more there are."""
    places = ", ".join(f"{shown_path(each.path)}:{each.line}" for each in findings[:_MOST_NAMED])
    more = f" and {len(findings) - _MOST_NAMED} more" if len(findings) > _MOST_NAMED else ""
    return f"{places}{more}"


def lines_of(facts: Sequence[CommittedSecret], most: int) -> Iterator[str]:
    """One line for each secret: file, line, kind, and why it is no finding if so; then how many are left out."""
    for each in facts[:most]:
        lines = f"{each.line}-{each.end_line}" if each.end_line > each.line else f"{each.line}"
        why = {"": "", "sample": ", a sample by configuration", "dismissed": ", dismissed"}[each.settled]
        yield f"{shown_path(each.path)}:{lines} {each.kind}{why}"
    if len(facts) > most:
        yield f"and {len(facts) - most:,} more; outcome.json has them all"
