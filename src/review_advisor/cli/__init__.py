"""The command line: one file per verb. It parses and prints, and decides nothing."""

from __future__ import annotations

import io
import os

import click

from review_advisor import __version__
from review_advisor.cli.alerts import alerts
from review_advisor.cli.begin import begin
from review_advisor.cli.config import config
from review_advisor.cli.demo import demo
from review_advisor.cli.doctor import doctor
from review_advisor.cli.evaluation.calibrate import calibrate
from review_advisor.cli.evaluation.eval_verbs import evaluation
from review_advisor.cli.evaluation.golden import golden
from review_advisor.cli.evaluation.replay_verb import replay
from review_advisor.cli.evaluation.retro_verbs import retro
from review_advisor.cli.evaluation.score import score
from review_advisor.cli.init import init
from review_advisor.cli.ledger import ledger
from review_advisor.cli.memory_verbs import memory
from review_advisor.cli.observe import observe
from review_advisor.cli.publish import publish
from review_advisor.cli.review import review
from review_advisor.cli.rollup import rollup
from review_advisor.cli.runs import runs
from review_advisor.cli.simulate import simulate
from review_advisor.cli.tasks.release_readiness import release_readiness
from review_advisor.cli.tasks.run_task import run_task
from review_advisor.cli.terminal.output import drop, note, prepare
from review_advisor.cli.terminal.problems import ExitWithCode
from review_advisor.cli.ui import ui
from review_advisor.cli.vote_on_brief import vote_on_brief

USAGE = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="review-advisor")
def group() -> None:
    """Review a change with three advisor roles around a cheap executor (ADR-0059).

    Exit codes: 0 approved, 10 changes requested, 11 escalated to a human, 12 stopped (the review did not
    run to its end), 2 usage or setup error, 129, 130 and 143 interrupted, 1 a bug.
    """


for command in (
    review,
    begin,
    publish,
    observe,
    run_task,
    release_readiness,
    memory,
    vote_on_brief,
    demo,
    simulate,
    init,
    runs,
    rollup,
    alerts,
    score,
    evaluation,
    calibrate,
    golden,
    replay,
    retro,
    ledger,
    ui,
    doctor,
    config,
):
    group.add_command(command)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code. Refusals are one sentence; only bugs show a traceback."""
    prepare()
    try:
        os.getcwd()  # noqa: PTH109 (asked for its error only)
    except OSError as error:
        note(f"Error: The current folder cannot be used: {error.strerror}.")
        return USAGE
    try:
        code = group.main(args=arguments, prog_name="review-advisor", standalone_mode=False)
    except ExitWithCode as ended:
        note(f"Error: {ended.message}")
        return ended.code
    except click.ClickException as problem:
        words = io.StringIO()
        problem.show(words)
        note(words.getvalue().rstrip("\n"))
        return USAGE
    except SystemExit:  # click's own word for a reader of --help who has gone
        drop(1)
        return 0
    return code if isinstance(code, int) else 0


def sign_in() -> None:
    """Sign for what this process is about to make, and clear away what runs have left that were killed."""
    from review_advisor.lifetime import owner_file

    owner_file.sign_in(os.environ, note)
