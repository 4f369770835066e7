"""All requests that one token can make about one repository: what both doors are built on."""

from __future__ import annotations

from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Token
from review_advisor.mockworld.github.requests.checks import CheckRequests
from review_advisor.mockworld.github.requests.facts import FactRequests
from review_advisor.mockworld.github.requests.git_objects import GitObjectRequests
from review_advisor.mockworld.github.requests.issues import IssueRequests
from review_advisor.mockworld.github.requests.reviews import ReviewRequests


class Session:
    """One method call is one request: logged, allowed or refused, and met by whatever trouble was planned.

    Raises ``RefusedRequest``, ``Trouble`` or ``Killed``. The repository need not exist.
    """

    def __init__(self, github: GitHub, repository: str, token: Token) -> None:
        access = (github, repository, token)
        self.facts = FactRequests(*access)
        self.checks = CheckRequests(*access)
        self.conversation = IssueRequests(*access)
        self.reviewing = ReviewRequests(*access)
        self.git_data = GitObjectRequests(*access)
