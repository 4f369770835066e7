"""How large a tree may be that is reviewed: the figures of ADR-0091."""

from __future__ import annotations

from review_advisor.app.settings import Config, make_settings
from review_advisor.core.facts.tree_bounds import DEFAULT_BOUNDS, TreeBounds


def test_the_bounds_are_those_of_the_decision_record() -> None:
    """500,000 files and folders, 4 GB, 100 folders one inside the other, and 100 MB of diff."""
    stated = TreeBounds(paths=500_000, bytes=4_000_000_000, depth=100, diff_bytes=100_000_000)
    assert stated == DEFAULT_BOUNDS


def test_they_hold_unless_the_configuration_says_otherwise() -> None:
    tree = make_settings(Config(), {}, profile=None, config_path=None).rules.tree
    assert (tree.paths, tree.bytes, tree.depth, tree.diff_bytes) == (500_000, 4_000_000_000, 100, 100_000_000)
