"""What a user is told of a model that cannot be used: its name, and what sets it."""

from __future__ import annotations

import pytest

from review_advisor.agents.calls import CreditExhaustedError, ModelForbiddenError, ModelUnknownError
from review_advisor.policy.roster import Advisor
from review_advisor.tasks.run import model_setting, vote_stop_words

VARIABLES = "HYDRAFLOW_PR_REVIEW_ADVISOR_MODEL or HYDRAFLOW_REVIEW_ADVISOR_MODEL"


@pytest.mark.parametrize(
    "advisor, setting",
    [
        (Advisor("a", "A.", model="m", source="a.md"), "`model` of 'a' in a.md"),
        (Advisor("a", "A.", model="m"), "`model` of 'a' in its declaration"),
        (Advisor("a", "A.", source="a.md"), VARIABLES),
        (None, VARIABLES),
    ],
)
def test_the_setting_is_the_declaration_only_where_that_names_a_model(advisor: Advisor | None, setting: str) -> None:
    assert model_setting(advisor) == setting


@pytest.mark.parametrize("kind", [ModelUnknownError, ModelForbiddenError])
def test_what_may_be_the_model_names_it(kind: type[ModelUnknownError]) -> None:
    assert vote_stop_words(kind("No."), "m", "X") == "No. The model asked for is 'm'; X sets another."


def test_what_is_no_matter_of_the_model_names_none() -> None:
    assert vote_stop_words(CreditExhaustedError("No credit."), "m", "X") == "No credit."
