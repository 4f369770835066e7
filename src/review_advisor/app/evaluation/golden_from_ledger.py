"""Writing the golden cases of a repository's own history into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.artifacts import write_whole
from review_advisor.app.evaluation.calibration_from_ledger import observed_reviews
from review_advisor.core.evaluation.golden.case_file import read_case
from review_advisor.core.evaluation.golden.case_text import case_text
from review_advisor.core.evaluation.golden.from_observations import ObservedCases, cases_from
from review_advisor.core.evaluation.golden.golden_case import GoldenCase, GoldenSetError
from review_advisor.core.ledger.runs import RunFilter
from review_advisor.ports.review import ArtifactError

MOST_GOLDEN_REVIEWS = 2_000


@dataclass(frozen=True, slots=True)
class WrittenCases:
    """``kept`` are the cases that were there already: one is never changed. ``more``: not all reviews were read."""

    found: ObservedCases
    written: tuple[str, ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    more: bool


def write_cases_from(ledger: Path, folder: Path, wanted: RunFilter) -> WrittenCases:
    """Write a TOML file for each case that is not there yet. Raises ``LedgerError`` and ``ArtifactError``."""
    read = observed_reviews(ledger, wanted, lambda document, labels: (document, labels), MOST_GOLDEN_REVIEWS)
    found = cases_from(read.runs)
    left_out, written, kept = list(read.left_out), [], []
    for case in found.cases:
        path = folder / f"{case.id}.toml"
        refusal = _refusal(case)
        if refusal:
            left_out.append(refusal)
        elif path.exists() or path.is_symlink():
            kept.append(case.id)
        else:
            _write(path, case_text(case))
            written.append(case.id)
    return WrittenCases(found, tuple(written), tuple(kept), tuple(left_out), read.more)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"The folder {path.parent} cannot be made: {error.strerror}.") from None
    write_whole(path, text)


def _refusal(case: GoldenCase) -> str:
    """Why a case cannot be written: it would not be read again. A ledger holds what models said."""
    try:
        read_case(case.id, case_text(case), case.id)
    except GoldenSetError as refused:
        return str(refused)
    return ""
