"""Colour for a terminal: the verdict, and how grave each finding is. Without a terminal there is none."""

from __future__ import annotations

import os
import re
import sys

import click

from review_advisor.core.outcome.outcomes import Outcome

_VERDICTS = {
    Outcome.NOTHING_TO_REVIEW: "cyan",
    Outcome.APPROVED: "green",
    Outcome.CHANGES_REQUESTED: "red",
    Outcome.ESCALATED: "yellow",
    Outcome.STOPPED: "magenta",
}
_SEVERITIES = {"critical": "bright_red", "high": "red", "medium": "yellow", "low": "cyan"}
_FINDING = re.compile(rf"^  ({'|'.join(_SEVERITIES)})( +)(\S+:\d+)", re.MULTILINE)
_QUOTE = re.compile(r"^ {11}[>|] .*$", re.MULTILINE)


def is_coloured() -> bool:
    """Whether the standard output is a terminal that shows colour (https://no-color.org is heard)."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def coloured(report: str, outcome: Outcome) -> str:
    """The report with its first line, its severities and its quotes in colour; the words stay the same."""
    first, feed, rest = report.partition("\n")
    rest = _FINDING.sub(lambda found: _marked(found[1], found[2], found[3]), rest)
    rest = _QUOTE.sub(lambda found: click.style(found[0], dim=True), rest)
    return click.style(first, fg=_VERDICTS[outcome], bold=True) + feed + rest


def _marked(severity: str, space: str, place: str) -> str:
    return f"  {click.style(severity, fg=_SEVERITIES[severity], bold=True)}{space}{click.style(place, bold=True)}"
