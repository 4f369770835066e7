"""Progress on stderr: a live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from review_advisor.core.outcome.events import CallEnded, CallStarted, Event
from review_advisor.core.outcome.terminal import progress_line


class Progress:
    """Shows each event once; in a terminal, running calls stand in a live line."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = console.status("reading the change") if console.is_terminal else None

    def event(self, event: Event) -> None:
        """Show one event."""
        line = progress_line(event)
        if line is None:
            return
        if self._status is not None and isinstance(event, CallStarted):
            self._status.update(escape(line))
            return
        style = "dim" if isinstance(event, CallStarted | CallEnded) else None
        self._console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)

    def warning(self, sentence: str) -> None:
        """Show a sentence that does not stop the review."""
        self._console.print(f"warning: {sentence}", style="yellow", markup=False, highlight=False, soft_wrap=True)

    def start(self) -> None:
        """Begin the live line."""
        if self._status is not None:
            self._status.start()

    def stop(self) -> None:
        """End the live line."""
        if self._status is not None:
            self._status.stop()


@contextmanager
def progress() -> Iterator[Progress]:
    """Progress while a review runs."""
    shown = Progress(Console(stderr=True))
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()
