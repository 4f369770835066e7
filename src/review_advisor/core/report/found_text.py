"""What a review found, and what it did not read, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from review_advisor.core.answers.answers import GRAVE
from review_advisor.core.answers.committed_secrets import CommittedSecret, lines_of
from review_advisor.core.answers.findings import Finding, merged_into, ordered
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.facts.shards import EXTENT_WORDS
from review_advisor.core.outcome.document import OutcomeDocument, answer_notes
from review_advisor.core.report.wording import counted
from review_advisor.core.roles.picture_prompt import picture_words
from review_advisor.core.safety.terminal import WIDTH, printable, wrapped

_MOST_SUGGESTED = 40
_MOST_SECRETS = 20


def findings_text(findings: tuple[Finding, ...], notes: Mapping[str, str] | None = None) -> str:
    """Every finding, the worst first, each with its quote and its suggestion.

    ``notes`` say of findings, by their ids, what is known of their kind.
    """
    if not findings:
        return "Findings: none"
    others = merged_into(findings)
    lines = [f"Findings: {len(findings)}{f' ({others} more merged into them)' if others else ''}"]
    for each in ordered(findings):
        where = f"{shown_path(each.path)}:{each.line}"
        lines.append(wrapped(f"  {each.severity:<8} {where}  ", each.title))
        lines += [wrapped("           ", body) for body in each.words.split("\n") if body.strip()]
        lines += [f"           > {printable(quote)[:WIDTH]}" for quote in each.evidence.split("\n")[:5] if quote]
        if each.rule:
            lines.append(wrapped("           by the team's rule ", shown_path(each.rule)))
        if each.suggestion:
            lines.append("           suggestion:")
            lines += [
                f"           | {printable(line)[:WIDTH]}" for line in each.suggestion.split("\n")[:_MOST_SUGGESTED]
            ]
        if each.corrected:
            lines.append(wrapped("           ", f"({each.corrected})"))
        facts = f"{each.category}, confidence {each.confidence:.2f}{each.marks}"
        facts += ", found by the harness" if each.harness else ""
        lines.append(wrapped("           ", f"[{each.id}, {facts}]"))
        if notes and each.id in notes:
            lines.append(wrapped("           ", notes[each.id]))
    return "\n".join(lines)


def refused_text(document: OutcomeDocument) -> str:
    """The grave findings of each part's last report that were refused, with the reason; empty without any."""
    last = [report for surface in document.surfaces for part in surface.parts for report in part.reports[-1:]]
    grave = list(dict.fromkeys(each for report in last for each in report.refused if each.severity in GRAVE))
    lines = [f"Not believed, and not disproved: {len(grave)}"]
    for each in grave:
        marks = ", raised by the advisor" if each.raised_by else ""
        lines.append(wrapped(f"  {each.severity:<8} {shown_path(each.path)}  ", f"{each.title} ({each.why}{marks})"))
    return "\n".join(lines) if grave else ""


def secrets_text(facts: Sequence[CommittedSecret]) -> str:
    """The secrets on added lines, which everybody is shown masked; empty without any."""
    lines = [f"Secrets on added lines, shown masked: {len(facts)}"]
    lines += [wrapped("  ", line) for line in lines_of(facts, _MOST_SECRETS)]
    return "\n".join(lines) if facts else ""


def pictures_text(pictures: tuple[PictureDifference, ...]) -> str:
    """What differs between pictures; empty without any."""
    lines = [f"Pictures: {len(pictures)}", *(wrapped("  ", picture_words(picture)) for picture in pictures)]
    return "\n".join(lines) if pictures else ""


def coverage_text(document: OutcomeDocument) -> str:
    """How much was read, and what was not or only in part."""
    gaps = [file for file in document.coverage if file.read != "read"]
    if not document.coverage:
        return ""
    number = len(document.coverage)
    anyway = document.policy.excluded.read_anyway
    read = f"{number - len(gaps)} of {counted(number, 'file')}"
    pictures = sum(file.picture and file.read == "read" for file in document.coverage)
    lines = [f"Read: {read}{f', {pictures} of them as pictures by visual_gate' if pictures else ''}"]
    lines += [wrapped("  ", f"{shown_path(file.path)} was {EXTENT_WORDS[file.read]}: {file.why}") for file in gaps]
    for file in document.policy.excluded.files:
        lines += [wrapped("    ", f"{shown_path(file.path)} changes {entry}") for entry in file.brings.entries]
    lines += [wrapped("  ", f"{each.path} was read although `exclude` matches it: {each.why}") for each in anyway]
    lines += [wrapped("  shortened in the prompts: ", words) for words in document.cut]
    lines += [wrapped("  in an answer: ", words) for words in answer_notes(document)]
    return "\n".join(lines)
