"""Two publishers at one time on GitHub's own routes: one speaks HTTP, the other one publishes between its requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.adapters.github.door import opened
from tests.scenarios.publishing import REPOSITORY, Desk
from tests.scenarios.test_publishing_is_killed import FINDINGS
from tests.scenarios.test_two_publishers import LINT, left_pending

from review_advisor.change.git_diff import GitPatcher
from review_advisor.github.client import GitHubForge, connect
from review_advisor.github.publish import PublishPhase
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.github_traffic import RequestMoment
from review_advisor.mockworld.world import FakeClock
from review_advisor.review.document import OutcomeDocument


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def forge(desk: Desk) -> Iterator[GitHubForge]:
    """The adapter with the bot's token, in front of the desk's GitHub."""
    token = desk.github.workflow_token()
    with opened(desk.github) as door:
        yield connect(REPOSITORY, token=token.value, api_url=door.url, clock=FakeClock())


def published(desk: Desk, forge: GitHubForge, document: OutcomeDocument) -> None:
    PublishPhase(desk.bot(forge=forge), GitPatcher()).publish(desk.pull.number, document, asked=False)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("operation", ["create review", "submit review", "create comment", "create check run"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_there_is_one_review_and_one_summary(desk: Desk, forge: GitHubForge, operation: str, after: bool) -> None:
    document = desk.reviewed(reject(*FINDINGS))
    desk.github.traffic.meanwhile(lambda: desk.publish(document), RequestMoment(operation=operation, after=after))
    published(desk, forge, document)
    assert [review.state for review in desk.reviews] == ["COMMENTED"]
    assert [thread.comments[0].line for thread in desk.threads] == [3, 7, 11]
    assert len(desk.summaries) == 1
    assert {run.conclusion for run in desk.checks} == {"failure"}
    assert desk.github.traffic.unmet == 0


def test_the_pending_review_of_another_workflow_makes_room(desk: Desk, forge: GitHubForge) -> None:
    document = desk.reviewed(reject(*FINDINGS))
    left_pending(desk)
    published(desk, forge, document)
    assert [(review.state, len(review.threads)) for review in desk.reviews] == [
        ("COMMENTED", len(LINT)),
        ("COMMENTED", len(FINDINGS)),
    ]
