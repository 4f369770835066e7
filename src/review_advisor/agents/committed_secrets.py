"""Secrets on added lines, as findings of the harness."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from review_advisor.agents.answers import GRAVE, SEVERITIES, ReportedFinding, ReviewReport, Severity
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding, finding_id, id_at, merged
from review_advisor.change.change import FileChange
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import Kind, kind_of
from review_advisor.change.redaction import AddedSecret, added_secrets, shown_file, without_line_ends
from review_advisor.safety.secrets import LIKELY, holds_mark

CATEGORY = "secret"


_MOST_NAMED = 5


_MOST_LINES = 20


_MARK = re.compile(r"\[secret: (?P<kind>[^\]\n]{1,60})\]|\[secret removed\]|\[\*\]")


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

    ``finding`` is the id of the harness's finding on it, one for all lines of its value in the file, and ``severity``
    that of the finding. ``settled`` is why it is no finding: the base's configuration names the file as one that holds
    samples, or a person has dismissed it.
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
    """Every mask on an added line of these files, in order, with its finding: one for all lines of one value in a file.

    ``shown`` is the whole change. ``dismissed`` are the ids of the findings that people have dismissed.
    """
    return tuple(own for file in files for own in _of_file(file, shown, is_sample, dismissed))


def _of_file(
    file: FileChange, shown: Checks, is_sample: Callable[[str], bool], dismissed: Collection[str]
) -> Iterator[OwnFinding]:
    masks = added_secrets(file)
    lines = _masked_lines(file) if masks else {}
    values = [(mask.kind, _value(mask, lines)) for mask in masks]
    places: dict[tuple[str, tuple[str, ...]], list[AddedSecret]] = {}
    for mask, value in zip(masks, values, strict=True):
        places.setdefault(value, []).append(mask)
    findings: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for mask, value in zip(masks, values, strict=True):
        severity = severity_of_secret(mask.kind, kind_of(file))
        if value not in findings:
            findings[value] = _finding(places[value], severity, shown, _digest(*value))
        finding = findings[value]
        settled: Literal["", "sample", "dismissed"] = "dismissed" if finding.id in dismissed else ""
        settled = "sample" if is_sample(file.path) else settled
        fact = CommittedSecret(mask.path, mask.line, mask.end_line, mask.kind, severity, finding.id, settled)
        yield OwnFinding(fact, finding)


def _masked_lines(file: FileChange) -> dict[int, tuple[str, str]]:
    """The added lines that are shown masked, by their numbers: as they are, and as they are shown."""
    file = without_line_ends(file)
    found: dict[int, tuple[str, str]] = {}
    for hunk, masked in zip(file.hunks, shown_file(file).hunks, strict=True):
        number = hunk.new_start
        for line, seen in zip(hunk.lines, masked.lines, strict=True):
            if line.startswith("+") and line != seen:
                found[number] = (line[1:], seen[1:])
            number += line[:1] in ("+", " ")
    return found


def _value(mask: AddedSecret, lines: Mapping[int, tuple[str, str]]) -> tuple[str, ...]:
    """What the marks of a mask's kind hide in its lines; all that is hidden there if none names that kind."""
    hidden = [each for number in range(mask.line, mask.end_line + 1) for each in _hidden(*lines[number])]
    of_kind = tuple(run for kind, run in hidden if kind == mask.kind)
    return of_kind or tuple(run for _, run in hidden)


def _hidden(line: str, shown: str) -> Iterator[tuple[str, str]]:
    """What each mark in a line stands for, with the kind of its secret. Two lines that are shown alike differ in it."""
    marks = list(_MARK.finditer(shown))
    at, kind = marks[0].start() if marks else 0, ""
    for number, each in enumerate(marks):
        kind = each["kind"] or kind
        last = number == len(marks) - 1
        between = shown[each.end() : None if last else marks[number + 1].start()]
        end = len(line) - len(between) if last else line.find(between, at + 1)
        end = len(line) if end < 0 else end
        yield kind, line[at:end]
        at = end + len(between)


def _digest(kind: str, value: tuple[str, ...]) -> str:
    """What tells one secret from another of the same masked line: 32 bits of an issued one, 8 of a likely one.

    Ids are public, the review holds no key, and the rest of an id is known. So an id confirms a guess as far as these
    bits go. An issued secret is drawn at random: nobody can list the candidates. A password can be guessed, so its bits
    are too few to single one out of a dictionary, and do not depend on the path: more places tell no more. That one in
    256 new passwords keeps a dismissal is the price. Such a finding is low and never stands in the way.
    """
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[: 2 if kind in LIKELY else 8]


def _finding(places: Sequence[AddedSecret], severity: Severity, shown: Checks, value: str) -> Finding:
    """The finding on the first of the places of one value, held against the change like an executor's."""
    mask = places[0]
    lines = list(dict.fromkeys(each.line for each in places if each.line != mask.line))
    also = f"The same value stands in {_lines_in_words(lines)}, too.\n\n" if lines else ""
    said = {
        "path": shown_path(mask.path),
        "line": mask.line,
        "severity": severity,
        "category": CATEGORY,
        "title": _title(mask),
        "body": also + (_LIKELY_BODY if mask.kind in LIKELY else _BODY),
        "confidence": 0.8 if mask.kind in LIKELY else 1.0,
        "evidence": mask.shown,
    }
    reported = ReportedFinding.model_validate(said)
    checked = shown.check(ReviewReport(verdict="reject", summary=CATEGORY, confidence=1.0, findings=(reported,)))
    if checked.findings:
        found = replace(checked.findings[0], harness=True, value=value)
        return replace(found, id=id_at(found.path, found))
    return Finding(  # two files that are shown under one name, or a line that says nothing but the mark
        id=finding_id(mask.path, CATEGORY, mask.shown, value=value),
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
        value=value,
    )


def _lines_in_words(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - _MOST_LINES} more, which outcome.json names" if len(lines) > _MOST_LINES else ""
    return f"line{'s' if lines[1:] else ''} {', '.join(map(str, lines[:_MOST_LINES]))}{more}"


def _title(mask: AddedSecret) -> str:
    return f"{'What is likely a secret' if mask.kind in LIKELY else 'A secret'} is committed: {mask.kind}"


def with_own_findings(report: CheckedReport, own: Sequence[OwnFinding]) -> CheckedReport:
    """The report with a finding for every secret of ``own``: the executor's if it reports the secret, or the harness's.

    The executor's gets the id of the harness's, which depends on the value: its own is made of a masked line, so that
    a dismissal of it would hold for any other secret there. It stands for one secret. A settled one needs no finding.
    """
    of_one: dict[str, list[OwnFinding]] = {}
    for each in sorted(own, key=lambda one: bool(one.fact.settled)):
        of_one.setdefault(each.fact.finding, []).append(each)
    said, joined = dict(enumerate(report.findings)), list[Finding]()
    free = list(said)
    for facts in of_one.values():
        due = facts[0].finding
        its = next((at for at in free if any(reports(said[at], each.fact) for each in facts)), None)
        if its is not None:
            free.remove(its)
            mine = said[its]
            said[its] = replace(
                mine, id=due.id, value=due.value, occurrence=due.occurrence, occurrences=due.occurrences
            )
        elif not facts[0].fact.settled:
            joined.append(due)
    return replace(report, findings=merged((*said.values(), *joined)))


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
