"""``review-advisor calibrate``: whether what models state as confidence comes true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.ledger import AS_JSON, LEDGER
from review_advisor.cli.terminal.output import note, put
from review_advisor.cli.terminal.problems import clear_refusals, ledger_refusals
from review_advisor.cli.terminal.typed_moments import moment

if TYPE_CHECKING:
    from datetime import datetime

    from review_advisor.core.evaluation.calibration.confidence_pair import LabelSource


@click.command(short_help="Hold stated confidence against what people decided.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option(
    "--labels",
    "source",
    type=click.Choice(["people", "revert"]),
    default="people",
    show_default=True,
    help="Whose labels cells and maps are of.",
)
@click.option("--propose", "proposes", is_flag=True, help="Write the proposed thresholds into .review-advisor/ here.")
@LEDGER
@AS_JSON
def calibrate(
    since: datetime | None,
    repository: str | None,
    source: LabelSource,
    proposes: bool,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Hold the confidence that models stated against what `observe` recorded of people's decisions.

    Each kind of finding is told with its calibration error, its Brier score and the area under risk by coverage, all
    better at 0; a kind below 30 labels is told by a wider one. Brackets are 95% intervals over whole pull requests. A
    map needs 200 labels and a gain on held-out pull requests that excludes 0. `--propose` writes a file for a person to
    read and commit; no configuration changes.
    """
    with clear_refusals(), ledger_refusals():
        from datetime import UTC, datetime

        from review_advisor.app.evaluation.calibration_from_ledger import MOST_CALIBRATED_REVIEWS, propose
        from review_advisor.app.evaluation.calibration_from_ledger import calibrate as calibrated
        from review_advisor.core.evaluation.calibration.calibration_table import calibration_as_json, calibration_text
        from review_advisor.core.ledger.runs import RunFilter
        from review_advisor.core.report.wording import printable_line

        done = calibrated(ledger_file, RunFilter(repository=repository, since=since), source)
        found = done.calibration
        written = propose(found, datetime.now(UTC).date(), Path()) if proposes else None
    for each in done.left_out:
        note(printable_line(f"left out: {each}"))
    if done.more:
        note(f"Only the newest {MOST_CALIBRATED_REVIEWS:,} reviews were read.")
    put(json.dumps(calibration_as_json(found), indent=2) + "\n" if as_json else calibration_text(found))
    if proposes:
        note(f"{written} is written; nothing reads it" if written else "No map earned its place: nothing is proposed.")
