"""A number of an option that bounds money or time."""

from __future__ import annotations

import math
from typing import Any

import click


class BoundedNumber(click.FloatRange):
    """A finite number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Fails as click does."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number: give one such as 30 or 0.5.", param, ctx)
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
