"""``review-advisor release-readiness``: whether a release may go out, by evidence, with an advisor who may say no."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from review_advisor.cli.tasks.shared_options import shared_options, show_event, task_options
from review_advisor.cli.terminal.options import PATH
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.tasks.judge_release import JudgedRelease


@click.command(name="release-readiness", short_help="Judge whether a release may go out; exit 0 only for go.")
@click.option("--evidence", type=PATH, metavar="FILE", help="Judge by this text.")
@click.option("--sample", is_flag=True, help="Judge the shipped sample.")
@click.option(
    "--since",
    default="",
    metavar="COMMIT",
    help="Judge by what was merged since, and its reviews in the ledger. [default: a version's last annotated tag]",
)
@shared_options("release_readiness", questions=(1, 2))
@click.option("--json", "as_json", is_flag=True, help="Print the evaluation.")
@click.pass_context
def release_readiness(
    context: click.Context, /, evidence: Path | None, sample: bool, since: str, as_json: bool, **asked: Any
) -> None:
    """Judge whether a release is ready: go, conditional_go or hold.

    Without --evidence and --sample, the evidence is the pull requests merged since the last annotated version tag.
    Exit codes: 0 go, 10 conditional_go or hold, 11 a rule is broken and a person decides, 12 the run could not go
    on, 2 usage or setup error.
    """
    with clear_refusals():
        from review_advisor.app.tasks.judge_release import ReleaseChoice, judge_release
        from review_advisor.core.readiness.readiness_evaluation import evaluation_json

        if (evidence is not None) + sample + bool(since) > 1:
            raise ExitWithCode(
                "Use one of --evidence, --sample and --since: a release has one evidence.", NOTHING_ASKED
            )
        choice = ReleaseChoice(evidence, sample, since)
        judged = judge_release(choice, task_options(context, asked), os.environ, note, show_event)
    put(evaluation_json(judged.evaluation) if as_json else "".join(f"{each}\n" for each in _lines(judged)))
    if judged.ran.interrupted_by:
        note("Interrupted: the release is not judged.")
        context.exit(128 + judged.ran.interrupted_by)
    context.exit(judged.evaluation.exit_code)


def _lines(judged: JudgedRelease) -> Iterator[str]:
    from review_advisor.core.report.wording import printable_line

    evaluation = judged.evaluation
    yield f"run_id: {judged.ran.outcome['run_id']}"
    yield f"run_dir: {judged.ran.folder}"
    yield f"status: {evaluation.status}"
    yield f"vertical_passed: {str(evaluation.passed).lower()}"
    yield f"verdict: {evaluation.verdict}"
    yield f"evaluation: {judged.path}"
    yield f"evidence: {printable_line(evaluation.evidence)}"
    report = evaluation.report
    yield from (f"failure: {printable_line(each)}" for each in evaluation.failures)
    yield from (f"gap: {printable_line(each)}" for each in evaluation.gaps)
    if report is not None:
        yield from (f"blocker: {printable_line(f'{each.severity}, {each.description}')}" for each in report.blockers)
        yield from (f"required_action: {printable_line(each)}" for each in report.required_actions)
