"""Pull requests that were reviewed, to be closed."""

from __future__ import annotations

import pytest
from tests.adapters.observing.observed import FAULT, FAULTY, ODD
from tests.adapters.pull_request_world import APP, Actions

from review_advisor.mockworld.agents import approve, reject, veto
from review_advisor.mockworld.github_records import Pull


@pytest.fixture
def rejected(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request whose first review asked for changes, on one line."""
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(reject(FAULT))
    actions.happens("opened", pull)
    return actions, pull


@pytest.fixture
def escalated(actions: Actions) -> tuple[Actions, Pull]:
    """A pull request that the executor approves and its judge does not."""
    pull = actions.opens({APP: FAULTY})
    actions.models.executor_says(approve(), approve(ODD))
    actions.models.judge_says(veto("it divides by zero"), veto("it still divides by zero"))
    actions.happens("opened", pull)
    return actions, pull
