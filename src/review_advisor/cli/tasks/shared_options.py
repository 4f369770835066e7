"""What the verbs of this folder share: the options of who works, of limits and of places, and what is shown live."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from review_advisor.cli.terminal.options import CLAUDE_BIN, LEDGER, PATH, REPO, BoundedNumber
from review_advisor.cli.terminal.output import note

if TYPE_CHECKING:
    from review_advisor.app.tasks.run_task import TaskOptions
    from review_advisor.core.task.task_events import TaskEvent

Command = TypeVar("Command", bound=Callable[..., Any])
_SECONDS = BoundedNumber(1, 86_400)
_WHO: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--executor",
        default="claude",
        show_default=True,
        metavar="NAME",
        help="Who does the task: claude, fake, or a command of --adapter.",
    ),
    click.option("--advisor", default="claude", show_default=True, metavar="NAME", help="Who is asked."),
    click.option(
        "--adapter",
        type=PATH,
        metavar="FILE",
        help="TOML that declares the commands of other CLIs.",
    ),
)
_BOUNDS: tuple[Callable[[Any], Any], ...] = (
    click.option("--timeout", type=_SECONDS, default=240, show_default=True, help="Seconds of one call."),
    click.option("--deadline", type=_SECONDS, default=1800, show_default=True, help="Seconds of the whole run."),
    click.option(
        "--max-turns",
        type=click.IntRange(1, 20),
        default=3,
        show_default=True,
        help="Turns in which the executor may ask; one more may apply the last guidance.",
    ),
    click.option(
        "--max-usd",
        type=BoundedNumber(0.01, 1_000),
        default=3,
        show_default=True,
        help="Money of the whole run. Refused where a command of --adapter has a model without a price.",
    ),
    REPO,
    CLAUDE_BIN,
    click.option(
        "--runs",
        type=PATH,
        default=Path("runs"),
        show_default=True,
        metavar="DIR",
        help="Where the run's folder goes.",
    ),
    LEDGER,
    click.option(
        "--recording",
        type=click.Choice(["none", "answers", "full"]),
        help="Keep replies; with full, prompts and output, too. [default: as HEAD configures]",
    ),
)


def shared_options(surface: str, *, questions: tuple[int, int]) -> Callable[[Command], Command]:
    """The options themselves. ``questions`` are the least that a user may allow, and as many as are usual."""
    least, usual = questions
    own = (
        *(
            click.option(f"--{who}-model", default="", metavar="NAME", help=f"[default: the {who}'s of {surface}]")
            for who in ("executor", "advisor")
        ),
        click.option(
            "--max-advisor-calls",
            type=click.IntRange(least, 20),
            default=usual,
            show_default=True,
            help="Questions of the whole run.",
        ),
    )

    def added(command: Command) -> Command:
        for option in reversed((*_WHO, *own, *_BOUNDS)):
            command = option(command)
        return command

    return added


def task_options(context: click.Context, asked: Mapping[str, Any]) -> TaskOptions:
    """What they ask for, without a task."""
    from review_advisor.app.tasks.run_task import TaskOptions
    from review_advisor.core.task.task_events import TaskLimits

    same = ("repo", "executor", "advisor", "executor_model", "advisor_model", "claude_bin", "adapter", "runs")
    return TaskOptions(
        task="",
        limits=TaskLimits(
            max_turns=asked["max_turns"],
            max_advisor_calls=asked["max_advisor_calls"],
            max_usd=asked["max_usd"],
            call_seconds=asked["timeout"],
            run_seconds=asked["deadline"],
        ),
        ledger=asked["ledger_file"],
        recording=asked["recording"],
        money_is_bound=context.get_parameter_source("max_usd") is not ParameterSource.DEFAULT,
        **{name: asked[name] for name in same},
    )


def show_event(event: TaskEvent) -> None:
    """A line on stderr, for who waits."""
    from review_advisor.core.report.wording import printable_line
    from review_advisor.core.task.task_events import told_live

    line = told_live(event)
    if line:
        note(printable_line(line))
