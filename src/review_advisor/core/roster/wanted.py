"""The labels of a pull request that ask for further advisors."""

from __future__ import annotations

from collections.abc import Iterable

LABEL = "review-advisor:with:"
"""A label of a pull request that begins so asks for the optional advisor whose id follows."""


def wanted_by(labels: Iterable[str]) -> tuple[str, ...]:
    """The ids that the labels of a pull request ask for."""
    prefix = len(LABEL)
    return tuple(label[prefix:].strip() for label in labels if label[:prefix].casefold() == LABEL)
