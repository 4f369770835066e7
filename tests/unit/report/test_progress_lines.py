"""Progress on stderr: in a terminal, elsewhere, and where nobody listens; and what stdout does when it cannot."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from typing import NoReturn

import pytest
from rich.console import Console

from review_advisor.app.progress import LiveProgress, PlainProgress, progress
from review_advisor.app.terminal import ExitWithCode, note, put
from review_advisor.mockworld.agents import approve, confirm, credit_gone, plan, veto
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import CallStarted, Event
from review_advisor.review.report import progress_line

STRANGE = "claude 3 is [bold]new[/bold] \x1b[31m\n::error::x"


@pytest.fixture
def events() -> tuple[Event, ...]:
    """A plan, a consult in square brackets, a veto, a second attempt, and the end of the credit."""
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan())
    world.agents.script(Role.EXECUTOR, approve().after_asking("is [red]this[/red] so?"), credit_gone())
    world.agents.script(Role.POST_VERIFY, veto())
    return world.review().events


def told(events: tuple[Event, ...]) -> list[str]:
    return [line for event in events if (line := progress_line(event)) is not None]


def test_elsewhere_each_line_is_told_as_it_is(events: tuple[Event, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as show:
        assert isinstance(show, PlainProgress)
        for event in events:
            show.event(event)
        show.warning(STRANGE)
    printed = capsys.readouterr()
    warning = "warning: claude 3 is [bold]new[/bold] <U+001B>[31m\n: :error::x"
    assert (printed.out, printed.err) == ("", "\n".join([*told(events), warning, ""]))
    assert len(told(events)) == 13


def test_the_embedded_agent_is_named_where_no_model_is_asked(events: tuple[Event, ...]) -> None:
    starts = [event for event in events if isinstance(event, CallStarted)]
    assert [PlainProgress().line(event) for event in starts[:2]] == [
        "pr_review: pre_flight (opus) ...",
        "pr_review: executor (sonnet) ...",
    ]
    assert [PlainProgress(embedded=True).line(event) for event in starts[:2]] == [
        "pr_review: pre_flight (embedded agent) ...",
        "pr_review: executor (embedded agent) ...",
    ]


def test_in_a_terminal_running_calls_are_the_live_line(events: tuple[Event, ...]) -> None:
    shown = io.StringIO()
    live = LiveProgress(Console(file=shown, width=40, no_color=True))
    for event in events:
        live.event(event)
        if isinstance(event, CallStarted):
            # Model names and questions are words, not rich's markup.
            assert live.status.status == progress_line(event)
    live.warning(STRANGE)
    starts = told(tuple(event for event in events if isinstance(event, CallStarted)))
    kept = [line for line in told(events) if line not in starts]
    assert shown.getvalue().splitlines()[: len(kept)] == kept
    assert "[bold]new[/bold]" in shown.getvalue()
    assert "\x1b" not in shown.getvalue()


def test_a_real_terminal_gets_the_live_line() -> None:
    code = (
        "from review_advisor.app.progress import progress, LiveProgress\n"
        "with progress() as show:\n    assert isinstance(show, LiveProgress)\n    show.warning('seen')\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    try:
        subprocess.run([sys.executable, "-c", code], stderr=theirs, env=environment, check=True, timeout=60)
        assert b"seen" in os.read(ours, 65_536)
    finally:
        os.close(ours)
        os.close(theirs)


class Gone(io.StringIO):
    """A stream whose other end has been closed."""

    def write(self, text: str) -> NoReturn:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_does_not_end_a_review(events: tuple[Event, ...]) -> None:
    live = LiveProgress(Console(file=Gone()))
    for event in events:
        live.event(event)
    live.warning("nobody hears it")


def test_a_stderr_that_is_full_is_given_up() -> None:
    code = "from review_advisor.app.terminal import note, put\n"
    code += "note('lost'); note('lost as well'); put('a result')\n"
    with open("/dev/full", "wb") as full:  # noqa: PTH123 (it is a device)
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=full, check=False)
    assert (done.returncode, done.stdout) == (0, b"a result")


def test_results_and_notes_go_where_they_belong(capsys: pytest.CaptureFixture[str]) -> None:
    put("a result\n")
    note("a note")
    assert capsys.readouterr() == ("a result\n", "a note\n")


def test_a_result_that_cannot_be_printed_ends_the_command_with_the_given_code() -> None:
    code = (
        "from review_advisor.app.terminal import put\n"
        "from review_advisor.app.terminal import ExitWithCode\n"
        "try:\n    put('x', otherwise=12)\nexcept ExitWithCode as end:\n    raise SystemExit(end.code)\n"
    )
    with open("/dev/full", "wb") as full:  # noqa: PTH123 (it is a device)
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (12, b"")
    assert ExitWithCode("why", 12).format_message() == "why"


def test_a_review_that_goes_well_is_told_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    world = MockWorld()
    world.agents.script(Role.PRE_FLIGHT, plan())
    world.agents.script(Role.EXECUTOR, approve())
    world.agents.script(Role.POST_VERIFY, confirm())
    with progress() as show:
        for event in world.review().events:
            show.event(event)
    assert capsys.readouterr().err.splitlines()[-1] == "pr_review: approved"
