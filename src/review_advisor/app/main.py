"""The command line: its verbs, in groups."""

from __future__ import annotations

import io
import os
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

import click

from review_advisor import __version__
from review_advisor.app.help import ALL, take_all
from review_advisor.app.terminal import ExitWithCode, drop, note, prepare

USAGE = 2


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its module in this folder with its name there, and its line in ``--help``, which imports no verb."""

    place: str
    line: str


VERBS: dict[str, dict[str, Verb]] = {
    "Review": {
        "review": Verb("review:review", "Review a change; the verdict is the exit code."),
        "demo": Verb("demo:demo", "Review a sample change with static checks: no model."),
    },
    "Set up": {
        "init": Verb("init:init", "Put the workflow and a commented configuration into a repository."),
        "doctor": Verb("doctor:doctor", "Say what is missing for a review, and how to get it."),
        "config": Verb("config:config", "Show, check or describe the configuration."),
    },
    "Look back": {
        "runs": Verb("runs:runs", "List, show or export the reviews that the ledger holds."),
        "ui": Verb("ui:ui", "Write the dashboard: the reviews as pages for a browser."),
        "rollup": Verb("rollup:rollup", "Show the KPIs of a period with their targets."),
        "alerts": Verb("rollup:alerts", "Check the latest KPIs: exit 3 if an alert is raised, else 0."),
        "ledger": Verb("ledger:ledger", "Verify, merge, export or import the ledger of reviews."),
    },
    "Try it out": {
        "simulate": Verb("simulate:simulate", "Play stories, or seeded worlds: no model, no network."),
        "eval": Verb("eval:evaluation", "Review golden cases by several arms, and decide whether advice pays."),
        "golden": Verb("golden:golden", "List, check, match or gather changes whose faults are known."),
        "calibrate": Verb("calibrate:calibrate", "Compare stated confidence with people's decisions."),
        "replay": Verb("replay:replay", "Decide stored reviews once more under other rules."),
    },
    "Tasks": {
        "run": Verb("run:run_task", "Let an executor do a task with an advisor; exit 0 only when it is completed."),
        "council": Verb("council:vote_on_brief", "Let declared advisors vote on a brief; exit 0 if one voted."),
        "memory": Verb("memory:memory", "List, approve, reject or expire what executors are reminded of."),
        "release-readiness": Verb(
            "release_readiness:release_readiness", "Judge whether a release may go out; exit 0 for go."
        ),
        "retro": Verb("retro:retro", "Learn from a run after its end, or from what people dismissed again and again."),
    },
    "In CI": {
        "begin": Verb("ci:begin", "In CI: decide what an event asks for, and create its check."),
        "publish": Verb("ci:publish", "In CI: publish an outcome on its pull request."),
        "observe": Verb("ci:observe", "Record what happened to the findings on a closed pull request."),
    },
}
"""The verbs by group, in the order of ``--help``."""
ONLY_IN_CI = "In CI"
"""The group that ``--help --all`` alone shows."""


class Verbs(Mapping[str, click.Command]):
    """The verbs by their names. Each is imported when it is asked for, because a command needs none of the others."""

    def __getitem__(self, name: str) -> click.Command:
        module, _, verb = ChainMap(*VERBS.values())[name].place.partition(":")
        found: click.Command = getattr(import_module(f"review_advisor.app.{module}"), verb)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for verbs in VERBS.values() for name in verbs)

    def __len__(self) -> int:
        return sum(map(len, VERBS.values()))


class VerbGroup(click.Group):
    """Shows the verbs in groups; those that only CI uses after ``--help --all``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take ``--all`` beside ``--help``."""
        return super().parse_args(ctx, take_all(ctx, args))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        for group_name, verbs in VERBS.items():
            if group_name != ONLY_IN_CI or ALL in ctx.meta:
                with formatter.section(group_name):
                    formatter.write_dl([(name, verb.line) for name, verb in verbs.items()])
        if ALL not in ctx.meta:
            formatter.write_paragraph()
            formatter.write_text("--help --all also shows the verbs that only CI uses.")


@click.group(
    cls=VerbGroup, commands=Verbs(), context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
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
