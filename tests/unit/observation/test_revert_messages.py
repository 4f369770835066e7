"""Which messages say that a commit reverts a pull request."""

from __future__ import annotations

import pytest

from review_advisor.core.observation.revert_messages import is_revert

MERGE = "c" * 40


@pytest.mark.parametrize(
    "message, found",
    [
        (f'Revert "A change"\n\nThis reverts commit {MERGE}.', True),
        (f"Revert\n\nThis reverts commit {MERGE}, reversing\nchanges made to {'d' * 40}.", True),
        ('Revert "A change" (#8)\n\nReverts octo/app#7', True),
        ("Revert (#8)\n\nReverts Octo/App#7  \r\n", True),
        ("Reverts #7", True),
        ("Reverts octo/other#7", False),
        ("Reverts octo/app#77", False),
        ("Reverts octo/app#7 in part", False),
        ("It never Reverts octo/app#7", False),
        (f"See: This reverts commit {MERGE}.", False),
        (f"This reverts commit {MERGE}0.", False),
        (f"This reverts commit {'d' * 40}.", False),
        ("", False),
    ],
)
def test_a_revert_names_the_merge_or_the_pull_request(message: str, found: bool) -> None:
    assert is_revert(message, "octo/app", 7, MERGE) is found


def test_the_case_of_a_repositorys_name_is_no_difference() -> None:
    assert is_revert("Reverts octo/app#7", "Octo/App", 7, MERGE)
    assert is_revert(f"This reverts commit {'e' * 64}.", "octo/app", 7, "e" * 64)
