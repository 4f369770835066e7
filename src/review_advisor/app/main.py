"""The command line: its verbs, in groups."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from importlib import import_module

import click

from review_advisor import __version__
from review_advisor.app.terminal import ExitWithCode, drop, note, prepare

USAGE = 2


VERBS: Mapping[str, str] = {
    "review": "review:review",
    "begin": "ci:begin",
    "publish": "ci:publish",
    "observe": "ci:observe",
    "run": "run:run_task",
    "release-readiness": "release_readiness:release_readiness",
    "memory": "memory:memory",
    "council": "council:vote_on_brief",
    "demo": "demo:demo",
    "simulate": "simulate:simulate",
    "init": "init:init",
    "runs": "runs:runs",
    "rollup": "rollup:rollup",
    "alerts": "rollup:alerts",
    "score": "score:score",
    "eval": "eval:evaluation",
    "calibrate": "calibrate:calibrate",
    "golden": "golden:golden",
    "replay": "replay:replay",
    "retro": "retro:retro",
    "ledger": "ledger:ledger",
    "ui": "ui:ui",
    "doctor": "doctor:doctor",
    "config": "config:config",
}
"""Where each verb is: its module in this folder, and its name there."""


class Verbs(Mapping[str, click.Command]):
    """The verbs by their names. Each is imported when it is asked for, because a command needs none of the others."""

    def __getitem__(self, name: str) -> click.Command:
        module, _, verb = VERBS[name].partition(":")
        found: click.Command = getattr(import_module(f"review_advisor.app.{module}"), verb)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


@click.group(commands=Verbs(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="review-advisor")
def group() -> None:
    """Review a change with three advisor roles around a cheap executor (ADR-0059).

    Exit codes: 0 approved, 10 changes requested, 11 escalated to a human, 12 stopped (the review did not
    run to its end), 2 usage or setup error, 129, 130 and 143 interrupted, 1 a bug.
    """


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
    from review_advisor.safety import leftovers as owner_file

    owner_file.sign_in(os.environ, note)
