"""One request and its answer, by PyGithub, with everything switched off that PyGithub would do on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from github import Auth, Github
from github.Requester import HTTPSRequestsConnectionClass, RequestsResponse

from review_advisor.adapters.github.address import ApiAddress
from review_advisor.adapters.github.failures import Response, Unanswered
from review_advisor.core.safety.secret_shapes import REDACTED
from review_advisor.ports.forge import ForgeMissing

_TIMEOUT_SECONDS = 15
_API_VERSION = "2022-11-28"
_HEADERS = {"Accept": "application/vnd.github+json"}
_ACCEPTED = 202
_FOUND = 302
_REDIRECTS = range(300, 400)
_REFUSED = 400
_NO_ANSWER = (OSError, ValueError, OverflowError)
"""requests' errors are OSErrors; what bad headers raise are the others."""


class Exchange:
    """Sends each request exactly once and hands back whatever came.

    PyGithub's retries repeat writes, its waits for limits and for status 202 have no end, and a redirect it follows
    has lost its query. So none of them is used.
    """

    def __init__(self, address: ApiAddress, token: str) -> None:
        self._token = token
        self._connection = _Connection(address)
        self._requester = Github(
            auth=Auth.Token(token),
            base_url=address.url,
            user_agent="review-advisor",
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=_API_VERSION,
        ).requester

    def rest(self, doing: str, verb: str, path: str, parameters: Mapping[str, str], body: object = None) -> Response:
        """The answer of a path below the base URL. Raises ``Unanswered``, and ``ForgeMissing`` for a redirect."""
        return self._send(doing, verb, path, parameters, body)

    def location(self, doing: str, path: str) -> str | Response:
        """Where the answer of a path sends whoever asks, which is not followed; or the answer that sends nobody on.

        Raises as above.
        """
        try:
            return self._ask("GET", path, {}, None)
        except _NotFollowed as error:
            if error.status == _FOUND:
                return error.location
            raise _refused(doing, error) from None
        except _NO_ANSWER as error:
            raise _no_answer(doing, error) from error

    def graph(self, doing: str, query: str, variables: Mapping[str, Any]) -> Response:
        """The same of GraphQL, whose address PyGithub derives: GitHub Enterprise has it at ``/api/graphql``."""
        return self._send(
            doing, "POST", self._requester.graphql_url, {}, {"query": query, "variables": dict(variables)}
        )

    def _send(self, doing: str, verb: str, url: str, parameters: Mapping[str, str], body: object) -> Response:
        try:
            return self._ask(verb, url, parameters, body)
        except _NotFollowed as error:
            raise _refused(doing, error) from None
        except _NO_ANSWER as error:
            raise _no_answer(doing, error) from error

    def _ask(self, verb: str, url: str, parameters: Mapping[str, str], body: object) -> Response:
        status, headers, text = self._requester.requestJson(
            verb, url, dict(parameters), dict(_HEADERS), body, self._connection
        )
        return Response(status, headers, text if status < _REFUSED else text.replace(self._token, REDACTED))


def _refused(doing: str, error: _NotFollowed) -> Unanswered | ForgeMissing:
    if error.status == _ACCEPTED:
        return Unanswered(f"GitHub did not {doing} yet: it only took the request.")
    return ForgeMissing(f"GitHub could not {doing}: it has moved; use the repository's present name.")


def _no_answer(doing: str, error: Exception) -> Unanswered:
    return Unanswered(f"GitHub did not {doing}: no answer came ({type(error).__name__}).")


class _NotFollowed(Exception):  # noqa: N818 (it says what was done)
    def __init__(self, status: int, location: str) -> None:
        super().__init__(status)
        self.status = status
        self.location = location


class _Connection(HTTPSRequestsConnectionClass):
    """PyGithub's connection, which ends where PyGithub would go on: no redirect is followed, no 202 waited for."""

    def __init__(self, address: ApiAddress) -> None:
        port = address.port or (443 if address.scheme == "https" else 80)
        super().__init__(address.host, port, timeout=_TIMEOUT_SECONDS)
        self.protocol = address.scheme
        if address.loopback:
            self.session.trust_env = False  # a proxy would get the token in plain text

    def getresponse(self) -> RequestsResponse:
        response = super().getresponse()
        if response.status == _ACCEPTED or response.status in _REDIRECTS:
            raise _NotFollowed(response.status, str(response.headers.get("location", "")))
        return response
