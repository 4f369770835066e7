"""Golden sets by their path, in whichever form they are."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.making.golden_repository import files_of, make_golden_repository
from review_advisor.adapters.golden.aacr_bench import aacr_folder, read_aacr
from review_advisor.adapters.golden.martian_golden import holds_martian, read_martian
from review_advisor.adapters.golden.own_form import read_case_folder, read_case_lines
from review_advisor.adapters.user_file import required_file
from review_advisor.core.evaluation.golden.changed_lines import misplaced_label
from review_advisor.core.evaluation.golden.golden_case import FilesChange, GoldenSet, GoldenSetError, PatchChange
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

__all__ = ["GoldenSetError", "bounded_text", "checked_golden_set", "read_golden_set"]


def checked_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``, each change of which was made, and held against its labels. Raises ``GoldenSetError``."""
    known = read_golden_set(path)
    for case in known.cases:
        if isinstance(case.change, FilesChange | PatchChange):
            with temporary_folder("golden") as folder:
                try:
                    made = make_golden_repository(case, folder / "repository")
                    files = files_of(made, {label.file for label in case.labels if label.file})
                except SourceError as problem:
                    raise GoldenSetError(f"The case {case.id} cannot be made. {problem}") from None
            wrong = misplaced_label(case.labels, files)
            if wrong is not None:
                raise GoldenSetError(f"The case {case.id} cannot be used: {wrong}.")
    return known


def bounded_text(path: Path, most: int) -> str:
    """The text of a file of ``most`` bytes at most, in UTF-8. Raises ``GoldenSetError``."""
    try:
        return required_file(path, most, GoldenSetError).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise GoldenSetError(f"{path} is not text in UTF-8.") from None


def read_golden_set(path: Path) -> GoldenSet:
    """The set at ``path``. Raises ``GoldenSetError``.

    A file holds JSON lines. A folder is a checkout of Martian's code-review-benchmark or of AACR-Bench, or holds a
    TOML file for each case.
    """
    if not path.is_dir():
        return read_case_lines(path, bounded_text)
    if holds_martian(path):
        return read_martian(path, bounded_text)
    samples = aacr_folder(path)
    if samples is not None:
        return read_aacr(samples, bounded_text)
    return read_case_folder(path, bounded_text)
