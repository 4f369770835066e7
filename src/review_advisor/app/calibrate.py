"""`calibrate`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

import click

from review_advisor.app.options import AS_JSON, LEDGER, PATH, moment
from review_advisor.app.terminal import NOTHING_ASKED, ExitWithCode, clear_refusals, note, note_left_out, put
from review_advisor.lab.calibration import (
    PROPOSED_KINDS,
    PROPOSED_THRESHOLDS,
    Calibration,
    calibration,
    calibration_as_json,
    calibration_text,
    proposed_kinds,
    proposed_thresholds,
)
from review_advisor.lab.evaluation_folder import read_evaluation
from review_advisor.ledger.artifacts import write_whole
from review_advisor.ledger.kind_records import ConfidencePair, LabelSource, observed_pairs, stated_once, stated_run
from review_advisor.ledger.queries import RunFilter
from review_advisor.ledger.run_queries import list_runs, read_reviews
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import ObservedLabel
from review_advisor.review.ports import ArtifactError
from review_advisor.safety.wording import counted


@click.command()
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
    all three. A kind with fewer than 30 labels shows the figures of the next wider kind. Brackets are 95% intervals
    over whole pull requests. A threshold needs 200 labels of a category, and at least 70% right above it.
    `--propose` writes files for a person to read and commit; no configuration changes. With `--labels golden`,
    golden cases replace people's decisions.
    """
    if (source == "golden") is not bool(evaluations):
        raise ExitWithCode("--labels golden and --evaluation DIR go together: give both, or neither.", NOTHING_ASKED)
    if evaluations and (since or repository):
        raise ExitWithCode("--since and --repository choose reviews, and an evaluation has none.", NOTHING_ASKED)
    with clear_refusals():
        done: Calibrated = (
            calibrate_on_golden(evaluations)
            if evaluations
            else calibrate_from_ledger(ledger_file, RunFilter(repository=repository, since=since), source)
        )
        found = done.calibration
        written = propose(found, datetime.now(UTC).date(), Path()) if proposes else ()
    note_left_out(done.left_out, f"{MOST_CALIBRATED_REVIEWS:,} reviews" if done.more else "")
    put(json.dumps(calibration_as_json(found), indent=2) + "\n" if as_json else calibration_text(found))
    for path in written:
        note(f"{path} is written; nothing reads it")
    if proposes and not written:
        note("No category shows a threshold, and no kind has 30 labels: nothing is proposed.")


MOST_CALIBRATED_REVIEWS = 10_000


Kept = TypeVar("Kept")


_SAMPLES = 1_000


_SEED = 2026


@dataclass(frozen=True, slots=True)
class Calibrated:
    """``more``: not all reviews were read. ``left_out`` says which could not be, and why."""

    calibration: Calibration
    left_out: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class ObservedReviews(Generic[Kept]):
    """What is kept of reviews that are over, and of what was seen of them. ``more``: not all were read."""

    runs: tuple[Kept, ...]
    left_out: tuple[str, ...]
    more: bool


def observed_reviews(
    ledger: Path,
    wanted: RunFilter,
    keep: Callable[[OutcomeDocument, tuple[ObservedLabel, ...]], Kept],
    most: int = MOST_CALIBRATED_REVIEWS,
) -> ObservedReviews[Kept]:
    """The newest reviews that are wanted. ``left_out`` says which cannot be read, and why. Raises ``LedgerError``.

    Each is read alone, and what ``keep`` makes of it stays.
    """
    names = [line.run_id for line in list_runs(ledger, replace(wanted, limit=most + 1))]
    left_out: list[str] = []
    runs: list[Kept] = []
    for each in read_reviews(ledger, names[:most]):
        if isinstance(each, str):
            left_out.append(each)
        elif each.document is not None:
            runs.append(keep(each.document, tuple(each.labels)))
            left_out += [each.unlabelled] if each.unlabelled else []
    return ObservedReviews(tuple(runs), tuple(dict.fromkeys(left_out)), len(names) > most)


def calibrate_from_ledger(ledger: Path, wanted: RunFilter, source: LabelSource) -> Calibrated:
    """The calibration of the newest reviews that are wanted; the same ledger gives the same. Raises ``LedgerError``."""
    read = observed_reviews(ledger, wanted, stated_run)
    return Calibrated(_calibrated(observed_pairs(filter(None, read.runs)), source), read.left_out, read.more)


def calibrate_on_golden(folders: Sequence[Path]) -> Calibrated:
    """The calibration of what whole evaluations found on golden cases. Raises ``EvaluationError``.

    What several reviews of a case have in common counts once.
    """
    reviews = [(trial.trial.case, trial.pairs) for folder in folders for trial in read_evaluation(folder)[1]]
    pairs = stated_once(reviews)
    again = sum(len(its) for _, its in reviews) - len(pairs)
    left_out = (f"{counted(again, 'finding')} that other reviews of the same case count for",) if again else ()
    return Calibrated(_calibrated(pairs, "golden"), left_out, more=False)


def _calibrated(pairs: Sequence[ConfidencePair], source: LabelSource) -> Calibration:
    return calibration(pairs, source, _SAMPLES, Random(_SEED).randrange)  # noqa: S311 (samples, not secrets)


def propose(found: Calibration, made: date, root: Path) -> tuple[Path, ...]:
    """Write below ``root`` the thresholds that labels show, and the kinds that people judged often enough.

    Those of the two files that were written are returned. No configuration changes. A symbolic link on the way is
    refused. Raises ``ArtifactError``.
    """
    files = {PROPOSED_THRESHOLDS: proposed_thresholds(found, made), PROPOSED_KINDS: proposed_kinds(found, made)}
    return tuple(_written(root / name, text) for name, text in files.items() if text)


def _written(path: Path, text: str) -> Path:
    if path.parent.is_symlink() or path.is_symlink():
        raise ArtifactError(f"{path} leads through a symbolic link, so nothing is written.")
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None
    write_whole(path, text)
    return path
