"""A number of an option that bounds money or time."""

from __future__ import annotations

import math
from typing import Any

import click


class BoundedNumber(click.FloatRange):
    """A number within bounds. What is no number lies within none: nothing would ever be more than it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails as click does."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
