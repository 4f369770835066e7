"""Reading the files of a golden set, within bounds."""

from __future__ import annotations

from pathlib import Path

from review_advisor.core.evaluation.golden.golden_case import GoldenSetError


def read_bounded(path: Path, most: int) -> str:
    """The text of a file of ``most`` bytes at most, in UTF-8. Raises ``GoldenSetError``."""
    try:
        if not path.is_file():
            raise GoldenSetError(f"{path} is missing or no file.")
        with path.open("rb") as stream:
            raw = stream.read(most + 1)
    except OSError as error:
        raise GoldenSetError(f"{path} cannot be read: {error.strerror}.") from None
    if len(raw) > most:
        raise GoldenSetError(f"{path} is larger than {most:,} bytes.")
    try:
        return raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise GoldenSetError(f"{path} is not text in UTF-8.") from None
