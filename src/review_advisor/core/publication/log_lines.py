"""Annotations by way of the log, where the token may not write: workflow commands on standard output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from review_advisor.core.outcome.counted import counted
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.publication.check import annotations_of
from review_advisor.core.publication.conclusion import title_of
from review_advisor.core.publication.markdown import shortened
from review_advisor.core.publication.sections import ordered
from review_advisor.core.publication.writes import Annotation

MOST_OF_A_LEVEL = 10
"""GitHub shows ten errors, ten warnings and ten notices of a step."""
MOST_MESSAGE = 4_000
_COMMANDS = {"failure": "error", "warning": "warning", "notice": "notice"}


def log_lines(document: OutcomeDocument) -> Iterator[str]:
    """The verdict, a command for each finding that GitHub will show, and how many it will not."""
    yield f"review-advisor: {title_of(document)}"
    shown: Counter[str] = Counter()
    for each in annotations_of(ordered(document.findings)):
        if shown[each.level] < MOST_OF_A_LEVEL:
            yield _command(each)
        shown[each.level] += 1
    removed = sum(each.removed for each in document.findings)
    missing = removed + sum(max(0, count - MOST_OF_A_LEVEL) for count in shown.values())
    if missing:
        yield (
            f"review-advisor: {counted(missing, 'more finding')} not shown as annotations (a step has room for ten of"
            " each level, and removed lines take none); outcome.json has them all."
        )


def _command(annotation: Annotation) -> str:
    fields = {
        "file": annotation.path,
        "line": str(annotation.start_line),
        "endLine": str(annotation.end_line),
        "title": annotation.title,
    }
    said = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
    return f"::{_COMMANDS[annotation.level]} {said}::{_data(shortened(annotation.message, MOST_MESSAGE))}"


def _data(text: str) -> str:
    """The rules of the runner's own toolkit: these three, and of a property two more."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
