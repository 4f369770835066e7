"""``/advisor consult``: a person has the review consult the advisor, from the comment to the check."""

from __future__ import annotations

import pytest
from tests.adapters.pull_request_world import MAINTAINER, STRANGER, Actions, WorkflowRun

from review_advisor.mockworld.agents import approve
from review_advisor.mockworld.github_records import Pull

CONFIG = ".review-advisor.toml"
ATTRITION = '[escalation]\nprofile = "attrition"\n'
RIGHT = "value = 31\nvalue = 32\n"


@pytest.fixture
def pull(actions: Actions) -> Pull:
    """A pull request of a repository whose reviews may consult."""
    actions.main_becomes({CONFIG: ATTRITION})
    return actions.opens({"src/app.py": RIGHT})


def questions(ran: WorkflowRun) -> list[str]:
    """What was asked, without the plan."""
    return [each.question for each in ran.asked if each.question != "ReviewPlan"]


@pytest.mark.every_case
def test_the_review_of_this_head_consults_the_advisor_once(actions: Actions, pull: Pull) -> None:
    actions.models.executor_says(approve(), approve().applying("r1"))
    ran = actions.said(pull, "Please be sure.\n\n/advisor consult", by=MAINTAINER)
    assert (ran.told["consult"], ran.told["head-sha"]) == ("true", pull.head_sha)
    assert questions(ran) == ["ReviewReport", "Recommendation", "ReviewReport", "PostVerifyResult"]
    (consult,) = [each for each in ran.asked if each.question == "Recommendation"]
    assert "a person asked for a consult" in consult.prompt
    assert actions.check(pull).conclusion == "success"


@pytest.mark.every_case
def test_another_review_of_it_consults_nobody(actions: Actions, pull: Pull) -> None:
    ran = actions.said(pull, "/advisor review", by=MAINTAINER)
    assert ran.told["consult"] == "false"
    assert questions(ran) == ["ReviewReport", "PostVerifyResult"]


def test_without_a_profile_the_command_is_refused_with_the_reason(actions: Actions) -> None:
    pull = actions.opens({"src/app.py": RIGHT})
    assert not actions.said(pull, "/advisor consult", by=MAINTAINER).began
    (answer,) = actions.answers(pull)
    assert "only under a profile of" in answer


def test_the_profile_is_that_of_the_base_and_not_of_the_pull_request(actions: Actions) -> None:
    pull = actions.opens({"src/app.py": RIGHT, CONFIG: ATTRITION})
    assert not actions.said(pull, "/advisor consult", by=MAINTAINER).began


def test_who_may_not_command_starts_no_consult(actions: Actions) -> None:
    actions.main_becomes({CONFIG: ATTRITION})
    pull = actions.opens({"src/app.py": RIGHT}, by=STRANGER)
    assert not actions.said(pull, "/advisor consult", by=STRANGER).began
    assert actions.models.asked == []
