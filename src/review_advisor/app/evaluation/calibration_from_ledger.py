"""Calibrating stated confidence by what the ledger knows of people's decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random

from review_advisor.adapters.artifacts import write_whole
from review_advisor.adapters.ledger.browsing import read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.core.evaluation.calibration.calibration import Calibration, calibration
from review_advisor.core.evaluation.calibration.calibration_table import PROPOSED_THRESHOLDS, proposed_thresholds
from review_advisor.core.evaluation.calibration.confidence_pair import LabelSource
from review_advisor.core.evaluation.calibration.observed_pairs import observed_pairs
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.observation.memory_uses import ReviewedRun
from review_advisor.ports.review import ArtifactError

MOST_CALIBRATED_REVIEWS = 10_000
_SAMPLES = 1_000
_SEED = 2026


@dataclass(frozen=True, slots=True)
class Calibrated:
    """``more``: not all reviews were read. ``left_out`` says which could not be, and why."""

    calibration: Calibration
    left_out: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class ObservedReviews:
    """Reviews that are over, each with what was seen of its pull request. ``more``: not all were read."""

    runs: tuple[ReviewedRun, ...]
    left_out: tuple[str, ...]
    more: bool


def observed_reviews(ledger: Path, wanted: RunFilter) -> ObservedReviews:
    """The newest reviews that are wanted. ``left_out`` says which cannot be read, and why. Raises ``LedgerError``."""
    names = [line.run_id for line in list_runs(ledger, replace(wanted, limit=MOST_CALIBRATED_REVIEWS + 1))]
    left_out: list[str] = []
    runs: list[ReviewedRun] = []
    for each in read_reviews(ledger, names[:MOST_CALIBRATED_REVIEWS]):
        if isinstance(each, str):
            left_out.append(each)
        elif each.document is not None:
            runs.append((each.document, each.labels))
            left_out += [each.unlabelled] if each.unlabelled else []
    return ObservedReviews(tuple(runs), tuple(dict.fromkeys(left_out)), len(names) > MOST_CALIBRATED_REVIEWS)


def calibrate(ledger: Path, wanted: RunFilter, source: LabelSource) -> Calibrated:
    """The calibration of the newest reviews that are wanted; the same ledger gives the same. Raises ``LedgerError``."""
    read = observed_reviews(ledger, wanted)
    pairs = observed_pairs(read.runs)
    found = calibration(pairs, source, _SAMPLES, Random(_SEED).randrange)  # noqa: S311 (samples, not secrets)
    return Calibrated(found, read.left_out, read.more)


def propose(found: Calibration, made: date, root: Path) -> Path | None:
    """Write the thresholds that the maps propose below ``root``; None, and no file, without a map that earned it.

    No configuration changes. A symbolic link on the way is refused. Raises ``ArtifactError``.
    """
    text = proposed_thresholds(found, made)
    path = root / PROPOSED_THRESHOLDS
    if not text:
        return None
    if path.parent.is_symlink() or path.is_symlink():
        raise ArtifactError(f"{path} leads through a symbolic link, so nothing is written.")
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None
    write_whole(path, text)
    return path
