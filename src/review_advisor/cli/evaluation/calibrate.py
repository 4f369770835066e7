"""``review-advisor calibrate``: whether what models state as confidence comes true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from review_advisor.cli.terminal.options import AS_JSON, LEDGER, PATH, moment
from review_advisor.cli.terminal.output import note, note_left_out, put
from review_advisor.cli.terminal.problems import NOTHING_ASKED, ExitWithCode, clear_refusals

if TYPE_CHECKING:
    from datetime import datetime

    from review_advisor.app.evaluation.calibration_from_ledger import Calibrated
    from review_advisor.core.evaluation.calibration.confidence_pair import LabelSource


@click.command(short_help="Compare stated confidence with people's decisions.")
@click.option("--since", type=moment, metavar="WHEN", help="Only reviews from then on: a date, or 24h, 7d, 2w ago.")
@click.option("--repository", metavar="OWNER/NAME", help="Only the pull requests of this repository.")
@click.option(
    "--labels",
    "source",
    type=click.Choice(["people", "revert", "golden"]),
    default="people",
    show_default=True,
    help="Whose labels to use.",
)
@click.option(
    "--evaluation",
    "evaluations",
    type=PATH,
    multiple=True,
    metavar="DIR",
    help="With --labels golden: a whole evaluation of golden cases. May be repeated.",
)
@click.option("--propose", "proposes", is_flag=True, help="Write the proposals into .review-advisor/ here.")
@LEDGER
@AS_JSON
def calibrate(
    since: datetime | None,
    repository: str | None,
    source: LabelSource,
    evaluations: tuple[Path, ...],
    proposes: bool,
    ledger_file: Path,
    as_json: bool,
) -> None:
    """Compare the confidence that models stated with people's decisions, which `observe` recorded.

    Each kind of finding has a calibration error, a Brier score and an area under risk by coverage; 0 is best for
    all three. A kind with fewer than 30 labels takes the figures of a wider one. Brackets are 95% intervals over
    whole pull requests. A map needs 200 labels and a gain on held-out pull requests that excludes 0. `--propose`
    writes files for a person to read and commit; no configuration changes. With `--labels golden`, golden cases
    replace people's decisions.
    """
    if (source == "golden") is not bool(evaluations):
        raise ExitWithCode("--labels golden and --evaluation DIR go together: give both, or neither.", NOTHING_ASKED)
    if evaluations and (since or repository):
        raise ExitWithCode("--since and --repository choose reviews, and an evaluation has none.", NOTHING_ASKED)
    with clear_refusals():
        from datetime import UTC, datetime

        from review_advisor.app.evaluation.calibration_from_ledger import (
            MOST_CALIBRATED_REVIEWS,
            calibrate_on_golden,
            propose,
        )
        from review_advisor.app.evaluation.calibration_from_ledger import calibrate as calibrated
        from review_advisor.core.evaluation.calibration.calibration_table import calibration_as_json, calibration_text
        from review_advisor.core.ledger.runs import RunFilter

        done: Calibrated = (
            calibrate_on_golden(evaluations)
            if evaluations
            else calibrated(ledger_file, RunFilter(repository=repository, since=since), source)
        )
        found = done.calibration
        written = propose(found, datetime.now(UTC).date(), Path()) if proposes else ()
    note_left_out(done.left_out, f"{MOST_CALIBRATED_REVIEWS:,} reviews" if done.more else "")
    put(json.dumps(calibration_as_json(found), indent=2) + "\n" if as_json else calibration_text(found))
    for path in written:
        note(f"{path} is written; nothing reads it")
    if proposes and not written:
        note("No map earned its place, and no kind has 30 labels: nothing is proposed.")
