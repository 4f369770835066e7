"""How far a share that is counted in few cases can be from the true one."""

from __future__ import annotations

from math import sqrt

Z = 1.959964
"""Of a normal distribution, 95% lies within so many standard deviations."""


def wilson(part: int, cases: int) -> tuple[float, float] | None:
    """The 95% interval of a share by Wilson's score; None without a case."""
    if not cases:
        return None
    share, z2 = part / cases, Z**2
    middle = share + z2 / (2 * cases)
    spread = Z * sqrt(share * (1 - share) / cases + z2 / (4 * cases**2))
    scale = 1 + z2 / cases
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
