"""A review counts only against the base branch that the pull request has now, as far as its name is known."""

import pytest

from review_advisor.core.pull_request.base_branch import names_base, not_against
from review_advisor.core.safety.redaction import redactor

TOKEN = "ghp_" + "q7Zt4mXw2Lk9Vb6Rn1Yc8Hd3Sf5Gj0Pa2Te4"
REDACTS = redactor({"GITHUB_TOKEN": TOKEN})


@pytest.mark.parametrize(
    "kept, base, same",
    [
        ("main", "main", True),
        ("main", "release", False),
        (None, "main", False),
        ("", "", False),
        (REDACTS.redact(f"a/{TOKEN}"), f"a/{TOKEN}", True),
    ],
)
def test_the_name_is_compared_as_the_redactor_leaves_it(kept: str | None, base: str, same: bool) -> None:
    assert names_base(kept, base, REDACTS) is same


def test_without_a_memory_it_is_not_known_and_has_to_be_reviewed_again() -> None:
    said = not_against(None, "main", REDACTS)
    assert said is not None
    assert "has to be reviewed again" in said
