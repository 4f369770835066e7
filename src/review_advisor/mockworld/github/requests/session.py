"""All requests that one token can make about one repository: what both doors are built on."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Token
from review_advisor.mockworld.github.requests.checks import CheckRequests
from review_advisor.mockworld.github.requests.facts import FactRequests
from review_advisor.mockworld.github.requests.git_objects import GitObjectRequests
from review_advisor.mockworld.github.requests.issues import IssueRequests
from review_advisor.mockworld.github.requests.reviews import ReviewRequests


@dataclass(frozen=True, slots=True)
class Session:
    """One method call is one request: logged, allowed or refused, and met by whatever trouble was planned.

    Raises ``RefusedRequest``, ``Trouble`` or ``Killed``.
    """

    facts: FactRequests
    checks: CheckRequests
    conversation: IssueRequests
    reviewing: ReviewRequests
    git_data: GitObjectRequests


def session(github: GitHub, repository: str, token: Token) -> Session:
    """The requests of a token about a repository, which need not exist."""
    access = (github, repository, token)
    return Session(
        FactRequests(*access),
        CheckRequests(*access),
        IssueRequests(*access),
        ReviewRequests(*access),
        GitObjectRequests(*access),
    )
