"""``review-advisor ui``: the ledger as pages for a browser."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click
from click.core import ParameterSource

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, ORGANISATION, PATH, at_the_top, moment
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals


@click.command(short_help="Write the dashboard: the reviews as pages for a browser.")
@click.option(
    "--out",
    "folder",
    type=PATH,
    metavar="FOLDER",
    default=Path("review_logs", "dashboard"),
    callback=at_the_top,
    show_default=True,
    help="Where it is written: a new folder, or that of an earlier dashboard.",
)
@click.option("--since", type=moment, metavar="WHEN", help="Only runs since then: a date, or 24h, 7d, 2w ago.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    help="How many runs have a page, the newest first; KPIs and plots cover all.",
)
@click.option(
    "--evaluations",
    type=PATH,
    metavar="DIR",
    default=Path("review_logs", "evaluations"),
    callback=at_the_top,
    show_default=True,
    help="Evaluations that have a page.",
)
@ORGANISATION
@click.option("--run", "opens", metavar="RUN", help="Open at this run, named by its id or the beginning of it.")
@click.option("--serve", is_flag=True, help="Serve it to this machine until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8_765, show_default=True, help="With --serve; 0: any.")
@LEDGER
@AS_JSON
@click.pass_context
def ui(
    context: click.Context,
    folder: Path,
    since: datetime | None,
    limit: int,
    evaluations: Path,
    organisation: Path | None,
    opens: str | None,
    serve: bool,
    port: int,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Write the dashboard: KPIs with plots, the list of runs, and a page for each run with all that happened in it.

    It is a folder of static files. Open its index.html, upload it as an artifact of CI, or see it with --serve, which
    listens on 127.0.0.1 only and answers /api/advisor/stats, sessions and decisions with JSON.
    """
    with clear_refusals():
        if not serve and context.get_parameter_source("port") is not ParameterSource.DEFAULT:
            raise ExitWithCode("--port is of no use without --serve: add it, or leave out --port.", NOTHING_ASKED)
        from review_advisor.app.dashboard import SiteError, advisor_api, serving, write_dashboard
        from review_advisor.app.organisation.named import read_organisation

        try:
            written = write_dashboard(
                ledger_file,
                folder,
                datetime.now(UTC),
                since=since,
                limit=limit,
                opens=opens,
                evaluations=evaluations,
                organisation=read_organisation(organisation),
            )
            left_out = written.left_out + written.tasks_left_out
            told = {"index": str(folder / "index.html"), "runs": written.runs, "left_out": left_out}
            if not serve:
                put(json.dumps(told) + "\n" if as_json else f"{told['index']}\n")
            note(_sentence(written.runs, written.left_out, written.tasks_left_out))
            if serve:
                with serving(folder, port, advisor_api(ledger_file)) as server:
                    url = f"http://127.0.0.1:{server.server_address[1]}/"
                    put(json.dumps(told | {"url": url}) + "\n" if as_json else f"{url}\n")
                    note("Ctrl-C ends it.")
                    server.serve_forever()
        except SiteError as refusal:
            raise ExitWithCode(str(refusal), NOTHING_ASKED) from None


def _sentence(runs: int, left_out: int, tasks_left_out: int) -> str:
    from review_advisor.core.report.wording import counted

    told = f"{counted(runs, 'run')} written."
    if tasks_left_out:
        told += f" {counted(tasks_left_out, 'task')} without a page."
    if not left_out:
        return told
    more = "1 more has no page: it counts" if left_out == 1 else f"{left_out} more have no page: they count"
    return f"{told} {more} in the KPIs and plots. --since or --limit chooses."
