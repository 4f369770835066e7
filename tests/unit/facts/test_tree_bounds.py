"""How large a tree may be that is reviewed: the figures of ADR-0091."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from review_advisor.change.git_store import DEFAULT_BOUNDS, TreeBounds
from review_advisor.policy.settings import Config, make_settings


def test_the_bounds_are_those_of_the_decision_record() -> None:
    """500,000 files and folders, 4 GB, 100 folders one inside the other, and 100 MB of diff."""
    stated = TreeBounds(paths=500_000, bytes=4_000_000_000, depth=100, diff_bytes=100_000_000)
    assert stated == DEFAULT_BOUNDS


def test_they_hold_unless_the_configuration_says_otherwise() -> None:
    tree = make_settings(Config(), {}, profile=None, config_path=None).rules.tree
    assert (tree.paths, tree.bytes, tree.depth, tree.diff_bytes) == (500_000, 4_000_000_000, 100, 100_000_000)


@pytest.mark.parametrize(
    "key, largest",
    [("paths", 10_000_000), ("bytes", 1_000_000_000_000), ("depth", 1_000), ("diff_bytes", 1_000_000_000)],
)
def test_a_bound_may_be_anything_from_1_to_its_own_limit(key: str, largest: int) -> None:
    for fits in (1, largest):
        assert getattr(TreeBounds.model_validate({key: fits}), key) == fits
    for too_far, said in ((0, "greater than or equal to 1"), (largest + 1, f"less than or equal to {largest}")):
        with pytest.raises(ValidationError, match=said):
            TreeBounds.model_validate({key: too_far})


def test_each_bound_is_described_and_no_other_is_known() -> None:
    assert TreeBounds.model_fields.keys() == {"paths", "bytes", "depth", "diff_bytes"}
    assert all(field.description for field in TreeBounds.model_fields.values())
    with pytest.raises(ValidationError):
        TreeBounds.model_validate({"files": 1})
    with pytest.raises(ValidationError):
        DEFAULT_BOUNDS.paths = 1
