"""``review-advisor publish``: put an outcome on its pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import PATH
from review_advisor.cli.terminal.output import note, plain, put
from review_advisor.cli.terminal.problems import NOT_TO_ITS_END, ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from review_advisor.app.pull_requests.begin_and_publish import PublishedReview
    from review_advisor.core.outcome.document import OutcomeDocument


@click.command(short_help="In CI: publish an outcome on its pull request.")
@click.argument("outcome", type=PATH)
@click.option("--pr", "pull_request", required=True, metavar="OWNER/REPO#N", help="The pull request.")
@click.option("--head", default="", metavar="SHA", help="The commit that was to be reviewed. [default: any]")
@click.option("--asked", is_flag=True, help="A person asked for the review, so it is no automatic round.")
@click.option("--sarif", type=PATH, metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
def publish(outcome: Path, pull_request: str, head: str, asked: bool, sarif: Path | None) -> None:
    """Publish the review in OUTCOME on its pull request.

    It writes the check, the comments on the diff, the summary, labels and requests. Publishing again changes nothing.
    Without a valid outcome the check fails and says that no review ran. Exit code 0 once everything is written,
    whatever the verdict.
    """
    with clear_refusals():
        from review_advisor.app.pull_requests.begin_and_publish import PublishOptions, read_document, run_publish
        from review_advisor.ports.forge import ForgeDenied, ForgeError

        options = PublishOptions(outcome, pull_request, head, asked)
        try:
            done = run_publish(options, os.environ)
        except ForgeDenied as denied:
            _in_the_log(read_document(outcome, os.environ))
            raise ExitWithCode(f"{denied} The findings are in the log only.", NOT_TO_ITS_END) from None
        except ForgeError as problem:
            raise ExitWithCode(f"{problem} The publication may be incomplete: run it again.", NOT_TO_ITS_END) from None
    _leave(done, sarif)
    check = done.published.check
    note(f"{check.name}: {plain(check.title)} ({check.conclusion or 'in progress'})")
    for each in done.published.notes:
        note(f"Note: {plain(each)}")


def _leave(done: PublishedReview, sarif: Path | None) -> None:
    """What is left beside the pull request: the job's summary, and a SARIF file, which shadow mode does not write."""
    document, check = done.document, done.published.check
    if document is None:
        return
    from review_advisor import __version__
    from review_advisor.core.forge_text.job_summary import job_summary
    from review_advisor.core.forge_text.sarif import sarif_json
    from review_advisor.core.policy.mode import is_shadow_name
    from review_advisor.core.safety.markdown import phrase

    is_shadow = is_shadow_name(check.name)
    page = (
        f"## {phrase(check.title)}\n\n{check.summary}\n" if is_shadow else job_summary(document, done.published.notes)
    )
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    try:
        if target:
            with Path(target).open("a", encoding="utf-8", errors="replace") as stream:
                stream.write(page)
        if sarif is not None and not is_shadow:
            sarif.write_text(sarif_json(document, __version__), encoding="utf-8", errors="replace")
    except OSError as error:
        note(f"The outcome is published, but a file cannot be written: {error.strerror}.")


def _in_the_log(document: OutcomeDocument | str) -> None:
    """The findings as workflow commands: the runner shows them on the lines, whatever the token may not do."""
    from review_advisor.core.forge_text.log_lines import log_lines

    if isinstance(document, str):
        put(f"{document}\n")
        return
    for line in log_lines(document):
        put(f"{line}\n")
