"""How large a tree may be that is reviewed: the figures of ADR-0091."""

from __future__ import annotations

from review_advisor.core.facts.tree_bounds import DEFAULT_BOUNDS, TreeBounds


def test_the_bounds_are_those_of_the_decision_record() -> None:
    """500,000 files and folders, 4 GB, 100 folders one inside the other, and 100 MB of diff."""
    stated = TreeBounds(paths=500_000, bytes=4_000_000_000, depth=100, diff_bytes=100_000_000)
    assert stated == DEFAULT_BOUNDS
