"""Golden sets by their path, in whichever form they are."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.golden_repository import make_golden_repository
from review_advisor.adapters.golden.aacr_bench import aacr_folder, read_aacr
from review_advisor.adapters.golden.case_folder import read_case_folder
from review_advisor.adapters.golden.case_lines import read_case_lines
from review_advisor.adapters.golden.martian_golden import holds_martian, read_martian
from review_advisor.core.evaluation.golden.golden_case import GoldenSet, GoldenSetError, PatchChange
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

__all__ = ["GoldenSetError", "checked_golden_set", "read_golden_set"]


def checked_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``, each patch of which was applied to its files. Raises ``GoldenSetError``."""
    known = read_golden_set(path)
    for case in known.cases:
        if isinstance(case.change, PatchChange):
            with temporary_folder("golden") as folder:
                try:
                    make_golden_repository(case, folder / "repository")
                except SourceError as problem:
                    raise GoldenSetError(str(problem)) from None
    return known


def read_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``. Raises ``GoldenSetError``.

    A file holds JSON lines. A folder is a checkout of Martian's code-review-benchmark or of AACR-Bench, or holds a
    TOML file for each case.
    """
    if path.is_file():
        return read_case_lines(path)
    if holds_martian(path):
        return read_martian(path)
    if aacr_folder(path) is not None:
        return read_aacr(path)
    return read_case_folder(path)
