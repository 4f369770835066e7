"""Tables with hundreds of rows, of which ``make test`` runs some and ``make test-all`` all."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(rows: Iterable[tuple[Any, ...]], one_in: int) -> list[Any]:
    """The rows for ``parametrize``: all but one in so many are marked as ``every_case``."""
    return [
        pytest.param(*row, marks=() if number % one_in == 0 else pytest.mark.every_case)
        for number, row in enumerate(rows)
    ]
