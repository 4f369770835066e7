"""``review-advisor retro``: what a run, or what people dismissed, teaches; and a branch of one proposal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from review_advisor.cli.terminal.options import CLAUDE_BIN, LEDGER, PATH, BoundedNumber, artifacts_option, moment
from review_advisor.cli.terminal.output import note, note_left_out, put
from review_advisor.cli.terminal.problems import ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from datetime import datetime

    from review_advisor.core.task.task_events import TaskEvent

REPO = click.option("--repo", type=PATH, default=Path(), help="The repository. [default: this one]")
_ONLY_WITH_RUN = ("advisor", "model", "adapter", "timeout", "max_usd", "claude_bin", "repo", "runs")


@click.group(
    name="retro",
    invoke_without_command=True,
    short_help="Learn from a run after its end, or from what people dismissed again and again.",
)
@click.option("--run", metavar="RUN", help="The task's run or the review to look at: its id, or its folder.")
@click.option(
    "--advisor", default="claude", show_default=True, metavar="NAME", help="Who looks: claude, embedded, fake."
)
@click.option("--advisor-model", "model", default="", metavar="NAME", help="[default: the advisor's of pr_review]")
@click.option("--adapter", type=PATH, metavar="FILE", help="TOML that declares the commands of other CLIs.")
@click.option("--timeout", type=BoundedNumber(1, 86_400), default=240, show_default=True, help="Seconds of one call.")
@click.option("--max-usd", type=BoundedNumber(0.01, 1_000), default=3, show_default=True, help="Money of all calls.")
@CLAUDE_BIN
@REPO
@click.option(
    "--runs", type=PATH, default=Path("runs"), show_default=True, metavar="DIR", help="Where the runs' folders are."
)
@artifacts_option("Where reviews write.")
@LEDGER
@click.option("--since", type=moment, metavar="WHEN", help="Without --run: only reviews from then on.")
@click.option("--repository", metavar="OWNER/NAME", help="Without --run: only the pull requests of this repository.")
@click.pass_context
def retro(
    context: click.Context,
    /,
    run: str | None,
    artifacts: Path,
    ledger_file: Path,
    since: datetime | None,
    repository: str | None,
    **asked: Any,
) -> None:
    """Ask an advisor what a run teaches after its end, in one call, and write proposals beside the run.

    Without --run no model is asked: what people dismissed again and again becomes proposals for the rules of the team.
    Nothing is applied. `retro apply` makes a branch of one proposal.

    Exit codes: 0 the proposals are valid, 10 they are not, 12 there was no answer, 2 usage or setup.
    """
    if context.invoked_subcommand is not None:
        return
    if run is None:
        given = [name for name in _ONLY_WITH_RUN if _is_given(context, name)]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for a --run.")
        _learn(artifacts, ledger_file, since, repository)
        return
    if since is not None or repository is not None:
        raise click.UsageError("--since and --repository need no --run: they choose the reviews to learn from.")
    with clear_refusals():
        _look_at(context, run, artifacts, ledger_file, **asked)


def _is_given(context: click.Context, name: str) -> bool:
    from click.core import ParameterSource

    return context.get_parameter_source(name) is not ParameterSource.DEFAULT


def _look_at(
    context: click.Context, run: str, artifacts: Path, ledger: Path, *, timeout: float, max_usd: float, **asked: Any
) -> None:
    from review_advisor.app.retro.run_retro import RetroOptions, run_retro
    from review_advisor.core.retro.retro_files import OUTCOME_FILE, PROPOSALS_FILE, REVIEW_FILE
    from review_advisor.core.roles.calls import ReviewInterrupted
    from review_advisor.core.task.task_events import TaskLimits
    from review_advisor.core.task.task_status import EXIT_CODES

    limits = TaskLimits(max_usd=max_usd, call_seconds=timeout, run_seconds=2 * timeout)
    options = RetroOptions(run, limits=limits, artifacts=artifacts, ledger=ledger, **asked)
    try:
        held = run_retro(options, os.environ, note, _show)
    except ReviewInterrupted as stop:
        raise ExitWithCode("Interrupted: there is no review of the run.", 128 + stop.signal_number) from None
    review = held.review
    rows = {
        "run_id": review.source_run_id,
        "retro_id": review.retro_id,
        "status": review.status,
        "review": held.folder / REVIEW_FILE,
        "proposals": held.folder / PROPOSALS_FILE,
        "outcome": held.folder / OUTCOME_FILE,
        "improvement_proposals_valid": str(review.proposals.valid).lower(),
    }
    put("".join(f"{name}: {value}\n" for name, value in rows.items()))
    context.exit(EXIT_CODES[review.status])


def _show(event: TaskEvent) -> None:
    from review_advisor.core.report.wording import printable_line
    from review_advisor.core.task.task_events import TaskCalled, TaskEnded, told_live

    if isinstance(event, TaskCalled) or (isinstance(event, TaskEnded) and event.reason):
        note(printable_line(told_live(event)))


def _learn(artifacts: Path, ledger: Path, since: datetime | None, repository: str | None) -> None:
    with clear_refusals():
        from review_advisor.app.retro.learn_rules import learn_rules
        from review_advisor.core.ledger.runs import RunFilter
        from review_advisor.core.report.wording import printable_line
        from review_advisor.core.retro.retro_files import PROPOSALS_FILE

        done = learn_rules(ledger, RunFilter(repository=repository, since=since), artifacts)
    note_left_out(done.left_out, "reviews" if done.more else "")
    note(done.proposals.summary)
    learnt = [each for each in done.proposals.proposals if each.changes_something]
    put("".join(f"{each.id}: {printable_line(each.title)}. {printable_line(each.rationale)}\n" for each in learnt))
    put(f"proposals: {done.folder / PROPOSALS_FILE}\n")
    put(f"improvement_proposals_valid: {str(done.proposals.valid).lower()}\n")


@retro.command(short_help="Make a branch of one proposal, if an evaluation shows that it does no harm.")
@click.argument("file", type=PATH)
@click.option("--proposal", "name", required=True, metavar="ID", help="Which one.")
@click.option("--eval", "evaluation", type=PATH, metavar="DIR", help="A whole evaluation by models with both rules.")
@REPO
def apply(file: Path, name: str, evaluation: Path | None, repo: Path) -> None:
    """Make a local branch of the proposal ID in FILE: one commit, one file. Nothing is pushed or checked out.

    Only text for REVIEW.md or .review-advisor/thresholds.toml becomes a branch. Without --eval, today's rules and
    the new ones are written as two arms for `eval run`, and no branch is made.
    """
    with clear_refusals():
        from datetime import UTC, datetime

        from review_advisor.app.retro.apply_proposal import ApplyOptions, apply_proposal

        made = apply_proposal(ApplyOptions(file, name, repo, evaluation), os.environ, datetime.now(UTC))
    put(
        f"branch: {made.name}\ncommit: {made.commit}\nparent: {made.parent}\nfile: {made.path}\nset: {made.evaluated}\n"
    )
    note(
        f"Nothing is pushed. {made.path} is under the guard: the pull request of this branch is judged with veto"
        " authority, and a person has to approve it."
    )
