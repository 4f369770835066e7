"""``review-advisor run``: an executor does a task and asks its advisor on the way."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from review_advisor.cli.tasks.shared_options import shared_options, show_event, task_options
from review_advisor.cli.terminal.options import PATH
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals


@click.command(name="run", short_help="Let an executor do a task with an advisor; exit 0 only when it is completed.")
@click.argument("task", nargs=-1, required=True)
@shared_options("pr_review", questions=(0, 3))
@click.option(
    "--advisors",
    type=PATH,
    metavar="PATH",
    help="A file or folder of declared advisors. [default: HEAD's, if there are --actions]",
)
@click.option(
    "--actions", default="", metavar="LIST", help="What they vote over, mildest first: deploy,delay,rollback."
)
@click.option("--edit", is_flag=True, help="Let the executor edit a throw-away copy; the result is executor.patch.")
@click.option("--json", "as_json", is_flag=True, help="Print outcome.json, without the manifest.")
@click.pass_context
def run_task(
    context: click.Context,
    /,
    task: tuple[str, ...],
    advisors: Path | None,
    actions: str,
    edit: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Let an executor do TASK. It reads the files of HEAD, asks its advisor, goes on with the guidance, and ends.

    Exit codes: 0 completed, 10 not completed, 11 a person decides, 12 the run could not go on, 2 usage or setup.
    """
    with clear_refusals():
        from review_advisor.app.tasks.run_task import run_task
        from review_advisor.core.task.task_status import EXIT_CODES

        if edit and asked["executor"] == "fake":
            raise ExitWithCode("The fake executor edits nothing: leave out --edit.", NOTHING_ASKED)
        words = " ".join(task).strip()
        if not words:
            raise ExitWithCode("The task is empty: say what to do.", NOTHING_ASKED)
        options = replace(task_options(context, asked), task=words, edit=edit, advisors=advisors, actions=actions)
        ran = run_task(options, os.environ, note, show_event)
    put(ran.as_json if as_json else _text(ran.folder, ran.outcome, ran.votes))
    if ran.interrupted_by:
        note("Interrupted: the task did not come to its end.")
        context.exit(128 + ran.interrupted_by)
    context.exit(EXIT_CODES[ran.outcome["status"]])


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
