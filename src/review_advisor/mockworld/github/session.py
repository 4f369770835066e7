"""All requests that one token can make about one repository: what both doors are built on."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.mockworld.github.checks import Checks
from review_advisor.mockworld.github.conversation import Conversation
from review_advisor.mockworld.github.facts import Facts
from review_advisor.mockworld.github.gate import Gate
from review_advisor.mockworld.github.git_data import GitData
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Token
from review_advisor.mockworld.github.reviewing import Reviewing


@dataclass(frozen=True, slots=True)
class Session:
    """One method call is one request: logged, allowed or refused, and met by whatever trouble was planned.

    Raises ``RefusedRequest``, ``Trouble`` or ``Killed``.
    """

    facts: Facts
    checks: Checks
    conversation: Conversation
    reviewing: Reviewing
    git_data: GitData


def session(github: GitHub, repository: str, token: Token) -> Session:
    """The requests of a token about a repository, which need not exist."""
    gate = Gate(github, repository, token)
    return Session(Facts(gate), Checks(gate), Conversation(gate), Reviewing(gate), GitData(gate))
