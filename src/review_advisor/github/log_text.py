"""Job summary and annotations of a workflow run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from review_advisor.agents.findings import Finding, ordered
from review_advisor.github.check_text import annotations_of
from review_advisor.github.findings_text import disputes, listed
from review_advisor.github.sections import (
    Order,
    Section,
    account,
    fitted,
    gaps,
    heading_of,
    judges,
    learned,
    merged_remarks,
    notes_on,
    pictures,
    refused,
    repair,
    secrets,
    title_of,
    whose_rules,
    why,
)
from review_advisor.github.writes import Annotation, Level
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.report import last_vetoes
from review_advisor.safety.markdown import code_block, prose, shortened
from review_advisor.safety.wording import counted, printable_line

MOST_JOB_SUMMARY = 1_000_000
"""GitHub takes 1 MiB from a step, in bytes; the rest of it is for what other words the step may add."""


def job_summary(document: OutcomeDocument, notes: Sequence[str] = ()) -> str:
    """The whole account as Markdown, with a final line feed."""
    found = tuple(_finding(each, document) for each in ordered(document.findings))
    contested, opened = disputes(document)
    sections = (
        Section((f"## {heading_of(document)}",)),
        why(document),
        contested,
        whose_rules(document),
        notes_on(notes),
        Section(found, f"**Findings**: {len(found)}", gives_way=Order.FINDINGS, what="findings", between="\n\n"),
        repair(document),
        opened,
        *judges(document),
        secrets(document),
        pictures(document),
        learned(document),
        refused(document),
        gaps(document),
        Section(account(document), gives_way=Order.HOW, between="\n\n"),
    )
    return fitted(sections, MOST_JOB_SUMMARY) + "\n"


def _finding(finding: Finding, document: OutcomeDocument) -> str:
    suggestion = code_block(finding.suggestion) if finding.suggestion else ""
    blocks = (listed(finding, document).item, prose(finding.body), suggestion, *merged_remarks(finding))
    return "\n\n".join(block for block in blocks if block)


MOST_OF_A_LEVEL = 10
"""GitHub shows ten errors, ten warnings and ten notices of a step."""

MOST_MESSAGE = 4_000
_COMMANDS: dict[Level, str] = {"failure": "error", "warning": "warning", "notice": "notice"}

_LEVELS = tuple(_COMMANDS)
"""The most serious first."""


def log_lines(document: OutcomeDocument) -> Iterator[str]:
    """The verdict, why a veto called a person, a command for each finding that is shown, and how many are not.

    Where a level is full, the worst of its findings that are left take the place of milder ones: what is not shown is
    never worse than what is. In shadow mode there is no command, because GitHub shows those in the diff: each finding
    is a line of text.
    """
    yield f"review-advisor: {title_of(document)}"
    yield from (printable_line(f"review-advisor: {veto}") for veto in last_vetoes(document))
    if document.policy.mode == "shadow":
        found = ordered(document.findings)
        yield from (printable_line(f"- {each.severity} {each.path}:{each.line}: {each.title}") for each in found)
        return
    posted: Counter[str] = Counter()
    missing = sum(each.removed for each in document.findings)
    for each in annotations_of(ordered(document.findings)):
        lower = _LEVELS[_LEVELS.index(each.level) :]
        level = next((level for level in lower if posted[level] < MOST_OF_A_LEVEL), None)
        if level is None:
            missing += 1
        else:
            posted[level] += 1
            yield _command(each, level)
    if missing:
        yield (
            f"review-advisor: {counted(missing, 'more finding')} not shown as annotations (a step has room for ten of"
            " each level, and removed lines take none); outcome.json has them all."
        )


def _command(annotation: Annotation, level: Level) -> str:
    fields = {
        "file": annotation.path,
        "line": str(annotation.start_line),
        "endLine": str(annotation.end_line),
        "title": annotation.title,
    }
    # The rules of the runner's own toolkit: three signs of a message are escaped, and of a property two more.
    properties = (f"{name}={_data(text).replace(':', '%3A').replace(',', '%2C')}" for name, text in fields.items())
    return f"::{_COMMANDS[level]} {','.join(properties)}::{_data(shortened(annotation.message, MOST_MESSAGE))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
