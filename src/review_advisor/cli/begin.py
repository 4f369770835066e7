"""``review-advisor begin``: what an event on GitHub begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.output import note, plain, put
from review_advisor.cli.terminal.problems import ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from review_advisor.pull_request.begin import Begun


@click.command(short_help="In CI: decide what an event asks for, and create its check.")
@click.option(
    "--event",
    envvar="GITHUB_EVENT_PATH",
    required=True,
    metavar="FILE",
    help="The event's payload. [default: GITHUB_EVENT_PATH]",
)
def begin(event: str) -> None:
    """Decide what an event on GitHub asks for, and create the check that says so.

    A push begins a review, a comment may give a command, a merge queue asks for the check of a commit. The values for
    the next jobs go to GITHUB_OUTPUT, or to stdout if that is not set: review, pull-request, head-sha, asked, memory,
    settle-seconds, most-usd and consult.
    """
    with clear_refusals():
        from review_advisor.app.pull_requests.begin_and_publish import run_begin

        begun = run_begin(event, os.environ)
    note(f"{'A review begins' if begun.review else 'No review begins'}: {plain(begun.because)}")
    if begun.alert:
        note(f"::warning title=review-advisor::{begun.alert}" if os.environ.get("GITHUB_ACTIONS") else begun.alert)
    text = "".join(f"{name}={value}\n" for name, value in _outputs(begun).items())
    target = os.environ.get("GITHUB_OUTPUT")
    if not target:
        put(text)
        return
    try:
        with Path(target).open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise ExitWithCode(f"GITHUB_OUTPUT cannot be written: {error.strerror}.", 2) from None


def _outputs(begun: Begun) -> dict[str, str]:
    """Words, numbers and object names only: nothing that somebody could have written."""
    pull_request = begun.pull_request
    if not begun.review or pull_request is None:
        return {"review": "false"}
    return {
        "review": "true",
        "pull-request": f"{pull_request.repository}#{pull_request.number}",
        "head-sha": pull_request.head_sha,
        "asked": "true" if begun.asked else "false",
        "memory": begun.memory,
        "settle-seconds": str(begun.settle_seconds),
        "most-usd": "" if begun.most_usd is None else f"{begun.most_usd:.2f}",
        "consult": "true" if begun.consult else "false",
    }
