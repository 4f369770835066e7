"""``review-advisor run``: an executor does a task and asks its advisor on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from review_advisor.cli.ledger import LEDGER
from review_advisor.cli.terminal.bounded_number import BoundedNumber
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from review_advisor.core.policy.recording_rules import RecordingMode
    from review_advisor.core.task.task_events import TaskEvent

_SECONDS = BoundedNumber(1, 86_400)


@click.command(name="run", short_help="Let an executor do a task with an advisor; exit 0 only when it is completed.")
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--executor",
    default="claude",
    show_default=True,
    metavar="NAME",
    help="Who does the task: claude, embedded or fake.",
)
@click.option("--advisor", default="claude", show_default=True, metavar="NAME", help="Who is asked.")
@click.option("--executor-model", default="", metavar="NAME", help="[default: the executor's of pr_review]")
@click.option("--advisor-model", default="", metavar="NAME", help="[default: the advisor's of pr_review]")
@click.option(
    "--adapter", type=click.Path(path_type=Path), metavar="FILE", help="TOML that declares the commands of other CLIs."
)
@click.option(
    "--advisors",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A file or folder of declared advisors. [default: HEAD's, if there are --actions]",
)
@click.option(
    "--actions", default="", metavar="LIST", help="What they vote over, mildest first: deploy,delay,rollback."
)
@click.option("--timeout", type=_SECONDS, default=240, show_default=True, help="Seconds of one call.")
@click.option("--deadline", type=_SECONDS, default=1800, show_default=True, help="Seconds of the whole run.")
@click.option(
    "--max-turns",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Turns in which the executor may ask; one more may apply the last guidance.",
)
@click.option(
    "--max-advisor-calls", type=click.IntRange(0, 20), default=3, show_default=True, help="Questions of the whole run."
)
@click.option(
    "--max-usd",
    type=BoundedNumber(0.01, 1_000),
    default=3,
    show_default=True,
    help="Money of the whole run. Refused where a command of --adapter has a model without a price.",
)
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), help="The repository. [default: this one]")
@click.option("--claude-bin", default="", metavar="PATH", help="The claude binary. [default: from PATH]")
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    metavar="DIR",
    help="Where the run's folder goes.",
)
@LEDGER
@click.option(
    "--recording",
    type=click.Choice(["none", "answers", "full"]),
    help="Keep replies; with full, prompts and output, too. [default: as HEAD configures]",
)
@click.option("--edit", is_flag=True, help="Let the executor edit a throw-away copy; the result is executor.patch.")
@click.option("--json", "as_json", is_flag=True, help="Print outcome.json, without the manifest.")
@click.pass_context
def run_task(
    context: click.Context,
    task: tuple[str, ...],
    executor: str,
    advisor: str,
    executor_model: str,
    advisor_model: str,
    adapter: Path | None,
    advisors: Path | None,
    actions: str,
    timeout: float,
    deadline: float,
    max_turns: int,
    max_advisor_calls: int,
    max_usd: float,
    repo: Path,
    claude_bin: str,
    runs: Path,
    ledger_file: Path,
    recording: RecordingMode | None,
    edit: bool,
    as_json: bool,
) -> None:
    """Let an executor do TASK. It reads the files of HEAD, asks its advisor, goes on with the guidance, and ends.

    Exit codes: 0 completed, 10 not completed, 11 a person decides, 12 the run could not go on, 2 usage or setup.
    """
    with clear_refusals():
        from review_advisor.app.tasks.run_task import TaskOptions, run_task
        from review_advisor.core.task.task_events import TaskLimits
        from review_advisor.core.task.task_status import EXIT_CODES

        if edit and executor == "fake":
            raise ExitWithCode("The fake executor edits nothing: leave out --edit.", NOTHING_ASKED)
        words = " ".join(task).strip()
        if not words:
            raise ExitWithCode("The task is empty: say what to do.", NOTHING_ASKED)
        options = TaskOptions(
            task=words,
            repo=repo,
            executor=executor,
            advisor=advisor,
            executor_model=executor_model,
            advisor_model=advisor_model,
            claude_bin=claude_bin,
            adapter=adapter,
            limits=TaskLimits(
                max_turns=max_turns,
                max_advisor_calls=max_advisor_calls,
                max_usd=max_usd,
                call_seconds=timeout,
                run_seconds=deadline,
            ),
            runs=runs,
            ledger=ledger_file,
            recording=recording,
            edit=edit,
            advisors=advisors,
            actions=actions,
            money_is_bound=context.get_parameter_source("max_usd") is not ParameterSource.DEFAULT,
        )
        ran = run_task(options, os.environ, note, _show)
    put(ran.as_json if as_json else _text(ran.folder, ran.outcome, ran.votes))
    if ran.interrupted_by:
        note("Interrupted: the task did not come to its end.")
        context.exit(128 + ran.interrupted_by)
    context.exit(EXIT_CODES[ran.outcome["status"]])


def _show(event: TaskEvent) -> None:
    from review_advisor.core.report.wording import printable_line
    from review_advisor.core.task.task_events import told_live

    line = told_live(event)
    if line:
        note(printable_line(line))


def _text(folder: Path, outcome: Any, votes: str) -> str:
    rows = {
        "run_id": outcome["run_id"],
        "run_dir": folder,
        "status": outcome["status"],
        "advisor_consults": outcome["advisor_consult_count"],
        "memory_proposals": outcome["memory_proposal_count"],
    }
    if "council" in outcome and outcome["council"]["actions"]:
        rows["action"] = outcome["council"]["action"] or "none"
    return "".join(f"{name}: {value}\n" for name, value in rows.items()) + (f"\n{votes}\n" if votes else "")
