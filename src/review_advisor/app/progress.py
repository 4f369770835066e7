"""A review on a terminal: its lines while it runs, and the colours of its end."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

from review_advisor.app.terminal import note, without_secrets
from review_advisor.review.events import CallEnded, CallStarted, Event
from review_advisor.review.report import progress_line
from review_advisor.review.rulings import Outcome
from review_advisor.safety.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console


class PlainProgress:
    """One line an event. ``embedded``: the embedded agent answers, and no model is asked."""

    def __init__(self, *, embedded: bool = False) -> None:
        self._embedded = embedded

    def line(self, event: Event) -> str | None:
        """The event in words, or None if there is nothing to say."""
        return progress_line(event, embedded=self._embedded)

    def event(self, event: Event) -> None:
        """Show what happens while it happens."""
        line = self.line(event)
        if line is not None:
            self._show(line)

    def warning(self, sentence: str) -> None:
        """Show a sentence that does not stop the review."""
        self._show(f"warning: {printable(sentence)}", "yellow")

    def remark(self, sentence: str) -> None:
        """Show what was chosen for the user."""
        self._show(printable(sentence))

    def _show(self, line: str, style: str | None = None) -> None:  # noqa: ARG002 (plain lines have no style)
        note(line)


class LiveProgress(PlainProgress):
    """As ``PlainProgress``, but what is running stands in a live line."""

    def __init__(self, console: Console, *, embedded: bool = False) -> None:
        super().__init__(embedded=embedded)
        self._console = console
        self.status = console.status("reading the change")

    def event(self, event: Event) -> None:
        """Show one event."""
        from rich.markup import escape

        line = self.line(event)
        if line is None:
            return
        if isinstance(event, CallStarted):
            self.status.update(escape(line))
        else:
            self._show(line, "dim" if isinstance(event, CallEnded) else None)

    def _show(self, line: str, style: str | None = None) -> None:
        with suppress(OSError):  # a terminal that was closed
            self._console.print(without_secrets(line), style=style, markup=False, highlight=False, soft_wrap=True)


class QuietProgress(PlainProgress):
    """Warnings only."""

    def event(self, event: Event) -> None:
        """Show nothing."""

    def remark(self, sentence: str) -> None:
        """Show nothing."""


@contextmanager
def progress(*, quiet: bool = False, embedded: bool = False) -> Iterator[PlainProgress]:
    """Progress while a review runs; ``quiet``: its warnings alone; ``embedded``: no model answers."""
    if quiet:
        yield QuietProgress()
        return
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield PlainProgress(embedded=embedded)
        return
    from rich.console import Console

    live = LiveProgress(Console(stderr=True), embedded=embedded)
    with live.status:
        yield live


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
