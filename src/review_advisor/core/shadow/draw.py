"""The draw: which reviews or pull requests a share of them holds.

It is a digest of what is drawn, so every run draws the same. Whoever knows the configuration can compute it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drawn:
    """The ``place`` of something, from 0 up to 100, and whether a share of ``percent`` holds it."""

    place: float
    percent: float

    @property
    def is_in(self) -> bool:
        """Whether the share holds it. More percent never take anything away."""
        return self.place < self.percent


def drawn(percent: float, *about: str) -> Drawn:
    """The draw of what ``about`` names, exactly as it is written."""
    digest = hashlib.sha256("\0".join(about).encode("utf-8", "replace")).digest()
    return Drawn(int.from_bytes(digest[:8], "big") / 2**64 * 100, percent)
