"""`runs`."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from review_advisor.app.options import AS_JSON, LEDGER, PATH, artifacts_option, in_order, moment
from review_advisor.app.terminal import clear_refusals, note, put
from review_advisor.change.pull_request import LARGEST_PULL_REQUEST
from review_advisor.policy.surfaces import REVIEW_ROLES, REVIEW_SURFACES

if TYPE_CHECKING:
    from review_advisor.ledger.queries import Between


STATUSES = ("unfinished", "approved", "changes_requested", "escalated", "stopped", "nothing_to_review")


TASK_STATUSES = (
    *("completed", "executor_stopped_without_done", "advisor_call_limit_reached", "max_turns_reached"),
    *("advisor_stop_signal", "executor_failed", "advisor_failed", "malformed_block", "running"),
    *("voted_down", "conflict_needs_human", "budget_exceeded", "disabled", "degraded"),
)


_OF_REVIEWS = ("surface", "role", "model", "cost_usd", "repository", "pull_request")


_OF_BOTH = ("status", "error", "consults", "text", "since", "until", "limit")


Command = TypeVar("Command", bound=Callable[..., Any])


def between(text: str) -> Between:
    """What ``N``, ``A..B``, ``A..`` and ``..B`` say."""
    from review_advisor.ledger.queries import Between

    found = re.fullmatch(r"(?P<low>\d+(\.\d+)?)?(?P<dots>\.\.)?(?P<high>\d+(\.\d+)?)?", text, re.ASCII)
    if found is None or (found["low"] is None and found["high"] is None):
        raise click.BadParameter(f"{text!r} is not a range: give N, A..B, A.. or ..B.")
    low = None if found["low"] is None else float(found["low"])
    high = None if found["high"] is None else float(found["high"])
    if low is not None and high is not None and low > high:
        raise click.BadParameter(f"{text!r} is upside down: give the lower number first.")
    return Between(low, high if found["dots"] else low)


def note_unknown(ledger_file: Path, repository: str | None) -> None:
    """Say of a repository that the ledger has no run of that it has none: its name may be wrong."""
    from review_advisor.ledger.run_queries import knows_repository
    from review_advisor.safety.wording import printable_line

    if repository is not None and not knows_repository(ledger_file, repository):
        note(printable_line(f"The ledger {ledger_file} has no run of {repository}."))


_FILTERS = (
    click.option(
        "--kind",
        type=click.Choice(["review", "task"]),
        default="review",
        show_default=True,
        help="Reviews, or tasks of `run`.",
    ),
    click.option("--status", type=click.Choice((*STATUSES, *TASK_STATUSES)), help="How it ended."),
    click.option("--backend", metavar="NAME", help="A task's executor or advisor."),
    click.option("--surface", type=click.Choice([each.value for each in REVIEW_SURFACES]), help="It had this surface."),
    click.option("--role", type=click.Choice([each.value for each in REVIEW_ROLES]), help="It asked this role."),
    click.option("--model", help="It used this model."),
    click.option(
        "--error",
        metavar="REASON",
        help="An answer did not come, for this reason (timeout, ...) or for any; none: every answer came.",
    ),
    click.option(
        "--cost", "cost_usd", type=between, metavar="A..B", help="What it cost in US dollars, as far as that is known."
    ),
    click.option("--consults", type=between, metavar="A..B", help="How many consults it had."),
    click.option("--repository", metavar="OWNER/NAME", help="The pull request's repository."),
    click.option(
        "--pr",
        "pull_request",
        type=click.IntRange(1, LARGEST_PULL_REQUEST),
        metavar="N",
        help="The pull request's number.",
    ),
    click.option("--text", help="Words in its title."),
    click.option("--since", type=moment, metavar="WHEN", help="It began then or later: a date, or 24h, 7d, 2w ago."),
    click.option("--until", type=moment, metavar="WHEN", help="It began before."),
    click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="How many at most."),
)


def _filters(command: Command) -> Command:
    for option in reversed(_FILTERS):
        command = option(command)
    return command


@click.group()
def runs() -> None:
    """List, show or export the reviews that the ledger holds."""


@runs.command(name="list", short_help="List runs, the newest first.")
@_filters
@LEDGER
@AS_JSON
def list_(ledger_file: Path, as_json: bool, **wanted: Any) -> None:
    """List the runs that match every filter, the newest first.

    --surface, --role, --model and --error must match the same call or consult; --error none matches runs in which every
    answer came. A run that still goes on or was killed is unfinished. With --kind task, --error is the task's error
    mode, --consults the number of its questions, and --text searches its words.
    """
    kind, backend = wanted.pop("kind"), wanted.pop("backend")
    _refuse_foreign(kind, backend, wanted)
    in_order(wanted["since"], wanted["until"])
    if kind == "task":
        _put(_tasks(ledger_file, {"backend": backend, **{name: wanted[name] for name in _OF_BOTH}}, as_json=as_json))
        return
    with clear_refusals():
        from review_advisor.ledger.queries import RunFilter, runs_text
        from review_advisor.ledger.run_queries import list_runs

        found = list_runs(ledger_file, RunFilter(**wanted))
        note_unknown(ledger_file, wanted["repository"])
    _put(json.dumps([run.as_json() for run in found], indent=2) + "\n" if as_json else runs_text(found, *_width()))


def _refuse_foreign(kind: str, backend: str | None, wanted: dict[str, Any]) -> None:
    """Refuse what is asked of the other kind."""
    is_task = kind == "task"
    if not is_task and backend is not None:
        raise click.UsageError("--backend needs --kind task: reviews have none.")
    if wanted["status"] is not None and wanted["status"] not in (TASK_STATUSES if is_task else STATUSES):
        raise click.UsageError(f"No {kind} has the status {wanted['status']}.")
    foreign = [name for name in _OF_REVIEWS if wanted[name] is not None]
    if is_task and foreign:
        raise click.UsageError(f"Tasks have no {foreign[0].removesuffix('_usd').replace('_', ' ')} to filter by.")


def _tasks(ledger_file: Path, wanted: dict[str, Any], *, as_json: bool) -> str:
    with clear_refusals():
        from review_advisor.ledger.queries import TaskFilter, tasks_text
        from review_advisor.ledger.run_queries import list_tasks

        found = list_tasks(ledger_file, TaskFilter(**wanted))
    return json.dumps([each.as_json() for each in found], indent=2) + "\n" if as_json else tasks_text(found, *_width())


@runs.command(short_help="Show one run.")
@click.argument("run")
@LEDGER
@AS_JSON
def show(run: str, ledger_file: Path, as_json: bool) -> None:
    """Show one run, named by its id or by the beginning of it. With --json, every row and every event of it."""
    with clear_refusals():
        from review_advisor.ledger.queries import run_text
        from review_advisor.ledger.run_queries import show_run

        record = show_run(ledger_file, run)
    _put(json.dumps(record.as_json(), indent=2) + "\n" if as_json else run_text(record, *_width()))


@runs.command(short_help="Write the files of one run.")
@click.argument("run")
@click.argument("folder", metavar="DIR", type=PATH)
@LEDGER
@AS_JSON
def export(run: str, folder: Path, ledger_file: Path, as_json: bool) -> None:
    """Write the events of one run to DIR and, if it is over, the files of its review."""
    with clear_refusals():
        from review_advisor.app.ledger import export_run

        names = export_run(ledger_file, run, folder)
    _put(json.dumps(names) + "\n" if as_json else "".join(f"{folder / name}\n" for name in names))


@runs.command(short_help="Print the recorded calls of one run.")
@click.argument("run")
@artifacts_option("Where recordings lie.")
@AS_JSON
@click.pass_context
def recording(context: click.Context, run: str, artifacts: Path, as_json: bool) -> None:
    """Print the recorded calls of one run, named by its id or by the beginning of it. With --json, all of each call.

    Exit code 3 if a line of the recording is incomplete or was changed: such a line is left out.
    """
    with clear_refusals():
        from review_advisor.app.configuration import read_recorded

        told = read_recorded(artifacts, run)
    _put(json.dumps(told.as_json(), indent=2) + "\n" if as_json else told.as_text())
    for problem in told.problems:
        note(f"{problem[0].upper()}{problem[1:]}.")
    context.exit(3 if told.problems else 0)


def _width() -> tuple[int, ...]:
    """How wide the terminal is; a pipe has no end."""
    return (shutil.get_terminal_size().columns,) if sys.stdout.isatty() else ()


def _put(text: str) -> None:
    """What the ledger holds has been redacted before it was recorded."""
    put(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
