"""Calibrating stated confidence by what the ledger knows of people's decisions, or by golden cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from review_advisor.adapters.artifacts import write_whole
from review_advisor.adapters.evaluation_folder import read_evaluation
from review_advisor.adapters.ledger.browsing import read_reviews
from review_advisor.adapters.ledger.run_queries import list_runs
from review_advisor.core.evaluation.calibration.calibration import Calibration, calibration
from review_advisor.core.evaluation.calibration.calibration_table import (
    PROPOSED_KINDS,
    PROPOSED_THRESHOLDS,
    proposed_kinds,
    proposed_thresholds,
)
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, LabelSource, stated_once
from review_advisor.core.evaluation.calibration.observed_pairs import observed_pairs, stated_run
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.core.observation.labels import ObservedLabel
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.report.wording import counted
from review_advisor.ports.review import ArtifactError

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


def calibrate(ledger: Path, wanted: RunFilter, source: LabelSource) -> Calibrated:
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
    """Write below ``root`` the thresholds of the maps that earned it, and the kinds that people judged often enough.

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
