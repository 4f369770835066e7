"""``review-advisor observe``: record what became of what was said on a closed pull request."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, PATH
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOT_TO_ITS_END, ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.pull_requests.observe import Observation


@click.command(short_help="Record what happened to the findings on a closed pull request.")
@click.option("--pr", metavar="OWNER/REPO#N", help="The pull request: in this form, its address, or its number.")
@click.option("--event", metavar="FILE", help="The payload of the GitHub event that closed it (GITHUB_EVENT_PATH).")
@click.option("--again", is_flag=True, help="Look again at the latest merges in the ledger: was one reverted since?")
@click.option("--repo", type=PATH, default=Path(), metavar="DIR", help="A clone of it.  [default: the current folder]")
@LEDGER
@AS_JSON
def observe(pr: str | None, event: str | None, again: bool, repo: Path, ledger_file: Path, as_json: bool) -> None:
    """Read from GitHub and git what happened to each finding on a closed pull request, and record it in the ledger.

    It looks at the merged lines, threads, thumbs, dismissals, approved escalations and reverts. It asks no model
    and writes nothing on GitHub. It records the same facts once, and gives the reason for each unknown. If it
    cannot read the history of a merge, it records nothing.
    """
    if [pr is not None, event is not None, again].count(True) != 1:
        raise click.UsageError(
            "Name the pull request with --pr, the event that closed it with --event, or say --again."
        )
    with clear_refusals():
        from review_advisor.app.pull_requests.observe import observe_named, observe_of_event

        if again:
            _again(repo, ledger_file, as_json)
        elif pr is not None:
            _tell(observe_named(repo, pr, ledger_file, os.environ), as_json)
        else:
            _tell(observe_of_event(repo, event or "", ledger_file, os.environ), as_json)


def _again(repo: Path, ledger: Path, as_json: bool) -> None:
    from review_advisor.app.pull_requests.observe import NotSeen, observe_again

    unseen = 0
    for each in observe_again(repo, ledger, os.environ):
        if isinstance(each, NotSeen):
            unseen += 1
            note(f"Not observed: {each.sentence}")
        else:
            _tell(each, as_json)
    if unseen:
        raise ExitWithCode(f"Not every pull request could be observed: {unseen} could not.", NOT_TO_ITS_END)


def _tell(seen: Observation, as_json: bool) -> None:
    """One JSON object a line, or the labels for a person; what became of it in the ledger goes to stderr."""
    from review_advisor.core.observation.labels import observed_text
    from review_advisor.core.report.wording import printable_line

    observed = seen.observed
    put(json.dumps(observed.as_json()) + "\n" if as_json else observed_text(observed))
    became = "recorded" if seen.recorded else "nothing new: the ledger holds the same facts already"
    note(f"{printable_line(observed.repository)}#{observed.pull_request}: {became}")
