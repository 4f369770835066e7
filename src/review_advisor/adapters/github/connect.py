"""How a repository on GitHub is opened."""

from __future__ import annotations

from review_advisor.adapters.github.address import api_address, repository_name, token_value
from review_advisor.adapters.github.exchange import Exchange
from review_advisor.adapters.github.forge import GitHubForge
from review_advisor.adapters.github.wire import Wire
from review_advisor.ports.review import Clock

_BETWEEN_WRITES = 1.0
"""Seconds. GitHub asks for them, or its secondary limits strike."""


def connect(repository: str, *, token: str, api_url: str = "", clock: Clock) -> GitHubForge:
    """The forge of ``owner/name``; nothing is sent yet.

    ``token`` is a workflow's own, a person's, or an app installation's. ``api_url`` is the base of the REST API
    (``GITHUB_API_URL``, such as ``https://ghe.example.com/api/v3``); empty is GitHub's own. Raises ``ForgeError``
    where one of them cannot be used.
    """
    name = repository_name(repository)
    address = api_address(api_url)
    exchange = Exchange(address, token_value(token))
    return GitHubForge(name, Wire(exchange, clock, between_writes=0.0 if address.loopback else _BETWEEN_WRITES))
