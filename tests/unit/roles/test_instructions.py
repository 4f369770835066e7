"""The system prompt of each role."""

import pytest

from review_advisor.agents.prompts import ADVISOR, Instructions
from review_advisor.policy.surfaces import Role, Surface

TEXTS = Instructions(
    {
        ADVISOR: "---\nname: x\ntools: Read\n---\nAdvise well.\n\n---\nAlways.\n",
        "executor": " Execute. \n",
        "post_verify": "Judge.\n",
        "pr_review": "All of it.\n",
    }
)


@pytest.mark.parametrize("role", [Role.PRE_FLIGHT, Role.MID_FLIGHT, Role.POST_VERIFY])
def test_every_advisor_role_hears_the_advisors_definition_without_its_frontmatter_d9(role: Role) -> None:
    texts = Instructions({**TEXTS.texts, role.value: " Judge.\n"})
    assert texts.system_prompt(role, Surface.PR_REVIEW) == "Advise well.\n\n---\nAlways.\n\nJudge.\n\nAll of it."


def test_the_executor_is_no_advisor() -> None:
    assert TEXTS.system_prompt(Role.EXECUTOR, Surface.PR_REVIEW) == "Execute.\n\nAll of it."


@pytest.mark.parametrize("words", ["Be wise.", "---\nBe wise.", "Be wise.\n---\nAlways."])
def test_a_definition_without_frontmatter_is_taken_whole(words: str) -> None:
    told = Instructions({ADVISOR: f"{words}\n", "mid_flight": "\nAnswer. "})
    assert told.advisor("mid_flight") == f"{words}\n\nAnswer."
