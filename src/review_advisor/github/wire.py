"""Requests to GitHub over PyGithub: each sent once, reads tried again, answers read, failures told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from github import Auth, Github
from github.Requester import HTTPSRequestsConnectionClass, RequestsResponse
from pydantic import TypeAdapter, ValidationError

from review_advisor.github.forge import (
    ForgeDenied,
    ForgeError,
    ForgeMissing,
    ForgeRejected,
    ForgeUnavailable,
    ReviewPending,
)
from review_advisor.github.responses import (
    ApiAddress,
    BranchAnswer,
    GraphAnswer,
    GraphProblem,
    RefusalBody,
    RepositoryAnswer,
    Root,
)
from review_advisor.review.ports import Clock
from review_advisor.safety.secrets import REDACTED
from review_advisor.safety.terminal import one_line

ONE_PENDING = "only have one pending review"
"""How GitHub tells that the account has a pending review on the pull request."""

_MOST_REASON = 200

_SECONDARY_SECONDS = 60
"""GitHub: where a secondary limit tells no time, wait at least a minute."""

_MULTIPLE_CHOICES, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TIMEOUT, _GONE = 300, 401, 403, 404, 408, 410
_TOO_MANY, _SERVER_ERROR = 429, 500
_LIMIT_PHRASES = ("rate limit", "abuse detection")


@dataclass(frozen=True, slots=True)
class Response:
    """One answer of GitHub's, unread. Names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


class Unanswered(ForgeUnavailable):
    """A read may be tried again."""


def failure(doing: str, answer: Response, now: datetime) -> ForgeError | None:
    """What an answer's status says against it; None if it says nothing."""
    status = answer.status
    if status < _MULTIPLE_CHOICES:
        return None
    try:
        refusal = RefusalBody.model_validate_json(answer.text)
    except ValidationError:
        refusal = RefusalBody()
    if _is_limit(answer, refusal.message):
        wait = _wait_of(answer.headers, now)
        return Unanswered(
            f"GitHub did not {doing}: its rate limit is reached, try again in {wait:.0f} seconds.", max(wait, 0)
        )
    if status == _TIMEOUT or status >= _SERVER_ERROR:
        return Unanswered(f"GitHub did not {doing}: it answered with status {status}.")
    if status in {_UNAUTHORIZED, _FORBIDDEN}:
        return ForgeDenied(f"The token may not {doing}: GitHub answers {_reason(refusal)!r}.")
    if status in {_NOT_FOUND, _GONE}:
        return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({_reason(refusal)}).")
    kind = ReviewPending if ONE_PENDING in _reason(refusal) else ForgeRejected
    return kind(f"GitHub refused to {doing}: {_reason(refusal)}.")


def graph_failure(doing: str, problems: tuple[GraphProblem, ...]) -> ForgeError:
    """What GraphQL's errors come to; the first one decides."""
    first = problems[0]
    reason = _short(first.message)
    match first.type:
        case "NOT_FOUND":
            return ForgeMissing(f"GitHub could not {doing}: it is not there, or not for this token ({reason}).")
        case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
            return ForgeDenied(f"The token may not {doing}: GitHub answers {reason!r}.")
        case "RATE_LIMITED":
            return Unanswered(f"GitHub did not {doing}: its rate limit is reached.", _SECONDARY_SECONDS)
        case None if not first.extensions:
            return Unanswered(f"GitHub did not {doing}: {reason}.")
        case _:
            return ForgeRejected(f"GitHub refused to {doing}: {reason}.")


def unreadable(doing: str, error: ValidationError, *, of_graph: bool = False) -> ForgeUnavailable:
    """An answer that is no JSON, or that lacks what GitHub documents.

    Worth another try is the first, and in GraphQL a null: it stands for what GitHub fails to show this time.
    """
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return Unanswered(f"GitHub did not {doing} in a way that can be read: its answer is no JSON.")
    where = ".".join(map(str, first["loc"]))
    kind = Unanswered if of_graph and first["input"] is None else ForgeUnavailable
    return kind(f"GitHub's answer to a request to {doing} cannot be used: {_short(where)} is missing or wrong.")


def _is_limit(answer: Response, message: str) -> bool:
    if answer.status == _TOO_MANY:
        return True
    return answer.status == _FORBIDDEN and (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or any(phrase in message.lower() for phrase in _LIMIT_PHRASES)
    )


def _wait_of(headers: Mapping[str, str], now: datetime) -> float:
    retry_after = _seconds(headers.get("retry-after", ""))
    if retry_after is not None:
        return retry_after
    reset = _seconds(headers.get("x-ratelimit-reset", ""))
    if reset is not None and headers.get("x-ratelimit-remaining") == "0":
        return max(reset - now.timestamp(), 0) + 1
    return _SECONDARY_SECONDS


def _seconds(value: str) -> float | None:
    digits = value.partition(".")[0]
    return float(digits) if digits.isdecimal() and len(digits) <= len("9999999999") else None


def _reason(refusal: RefusalBody) -> str:
    details = [each if isinstance(each, str) else each.words() for each in refusal.errors]
    return _short("; ".join(filter(None, [refusal.message, *details]))) or "no reason given"


def _short(text: str) -> str:
    line = one_line(text).rstrip(".")
    return line if len(line) <= _MOST_REASON else f"{line[:_MOST_REASON]}..."


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
        """The answer of GraphQL, whose address PyGithub derives: GitHub Enterprise has it at ``/api/graphql``."""
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


Value = TypeVar("Value")
Node = TypeVar("Node")
_PER_PAGE = 100
_MOST_PAGES = 300

_PAUSES = (1.0, 2.0, 4.0)
"""Seconds before each further try of a read."""

_MOST_WAITED = 90.0
"""Seconds that one read may wait in all, limits included: those that end within a minute are waited for."""


class Wire:
    """GitHub's REST and GraphQL, for one token.

    ``doing`` tells the user what was tried: a verb with its object. Every method raises ``ForgeError``. Writes keep
    ``between_writes`` seconds between them, as GitHub asks.
    """

    def __init__(self, exchange: Exchange, clock: Clock, *, between_writes: float) -> None:
        self._exchange = exchange
        self._clock = clock
        self._between_writes = between_writes
        self._last_write: float | None = None

    def get(self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str] | None = None) -> Value:
        """What stands at a path of the API."""
        return self._patiently(lambda: _read(doing, self._rest(doing, "GET", path, parameters or {}), shape))

    def pages(
        self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str] | None = None
    ) -> list[Value]:
        """Every page of a list, in order.

        Pages are counted, and of ``Link`` only counts whether there is a next one: its address is not followed.
        """
        found: list[Value] = []
        for number in range(1, _MOST_PAGES + 1):
            page, link = self._page(doing, path, shape, {**(parameters or {}), "page": str(number)})
            found.append(page)
            if 'rel="next"' not in link:
                return found
        raise _endless(doing)

    def newest(
        self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str], most: int
    ) -> tuple[list[Value], bool]:
        """The first pages of a list that is paged by cursors, ``most`` of them, and whether they are all of it.

        Of ``Link`` only the cursor counts: its address is not followed.
        """
        found: list[Value] = []
        cursor: str | None = ""
        for _ in range(most):
            page, link = self._page(doing, path, shape, {**parameters, **({"after": cursor} if cursor else {})})
            cursor = _next_cursor(link)
            found.append(page)
            if not cursor:
                break
        return found, cursor is None

    def _page(self, doing: str, path: str, shape: type[Value], parameters: Mapping[str, str]) -> tuple[Value, str]:
        """One page, and the ``Link`` that came with it."""

        def ask() -> tuple[Value, str]:
            answer = self._rest(doing, "GET", path, {**parameters, "per_page": str(_PER_PAGE)})
            return _read(doing, answer, shape), answer.headers.get("link", "")

        return self._patiently(ask)

    def stored(self, doing: str, path: str, fetch: Callable[[str], Value]) -> Value:
        """What a path stands for, from where GitHub stores it.

        ``fetch`` gets an address that GitHub signed, so no token belongs to it; each try gets a fresh one.
        """

        def ask() -> Value:
            answer = self._exchange.location(doing, path)
            if isinstance(answer, str):
                return fetch(answer)
            self._accepted(doing, answer)
            raise ForgeUnavailable(f"GitHub did not {doing}: it did not say where it is stored.")

        return self._patiently(ask)

    def graph_nodes(
        self, doing: str, query: str, variables: Mapping[str, Any], shape: type[Root[Node]], *, partly: bool = False
    ) -> Iterator[Node]:
        """Every node of a paged query; a page is asked for when its first node is wanted.

        ``partly``: what the token may not see is left out. Otherwise it is an error. If GitHub leaves it out without
        saying so, the page is asked for again first.
        """
        parts = self.graph_parts(doing, query, variables, shape, partly=partly, whole=not partly)
        return (node for node in parts if node is not None)

    def graph_parts(
        self,
        doing: str,
        query: str,
        variables: Mapping[str, Any],
        shape: type[Root[Node]],
        *,
        partly: bool = False,
        whole: bool = False,
    ) -> Iterator[Node | None]:
        """Every node of a paged query, None for each that GitHub does not show; ``whole``: one of those is an error."""
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page_variables = {**variables, "after": cursor}

            def ask(variables: dict[str, Any] = page_variables) -> Root[Node]:
                found = _read(doing, self._graph(doing, query, variables, partly=partly), shape)
                if whole and None in found.page.nodes:
                    raise Unanswered(f"GitHub did not {doing}: it leaves out a part of the list.")
                return found

            page = self._patiently(ask).page
            yield from page.nodes
            cursor = page.cursor
            if not page.more:
                return
        raise _endless(doing)

    def make(self, doing: str, path: str, body: Mapping[str, Any], shape: type[Value]) -> Value:
        """POST, once, and read what was made."""
        self._pace()
        return _read(doing, self._rest(doing, "POST", path, {}, body), shape)

    def write(self, doing: str, verb: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        """POST, PATCH or DELETE, once; what the answer says does not matter."""
        self._pace()
        self._rest(doing, verb, path, {}, body)

    def mutate(self, doing: str, mutation: str, variables: Mapping[str, Any]) -> None:
        """A GraphQL mutation, sent once."""
        self._pace()
        self._graph(doing, mutation, variables, partly=False)

    def _rest(self, doing: str, verb: str, path: str, parameters: Mapping[str, str], body: object = None) -> Response:
        return self._accepted(doing, self._exchange.rest(doing, verb, path, parameters, body))

    def _graph(self, doing: str, query: str, variables: Mapping[str, Any], *, partly: bool) -> dict[str, Any]:
        envelope = _read(doing, self._accepted(doing, self._exchange.graph(doing, query, variables)), GraphAnswer)
        unseen = partly and envelope.data is not None and all(each.type == "FORBIDDEN" for each in envelope.errors)
        if envelope.errors and not unseen:
            raise graph_failure(doing, envelope.errors)
        return envelope.data or {}

    def _accepted(self, doing: str, answer: Response) -> Response:
        found = failure(doing, answer, self._clock.now())
        if found is not None:
            raise found
        return answer

    def _patiently(self, ask: Callable[[], Value]) -> Value:
        waited = 0.0
        for pause in _PAUSES:
            try:
                return ask()
            except Unanswered as error:
                wait = max(pause, error.wait)
                if waited + wait > _MOST_WAITED:
                    raise
            self._clock.sleep(wait)
            waited += wait
        return ask()

    def _pace(self) -> None:
        now = self._clock.monotonic()
        if self._last_write is not None and now - self._last_write < self._between_writes:
            self._clock.sleep(self._between_writes - (now - self._last_write))
        self._last_write = self._clock.monotonic()


def _read(doing: str, answer: Response | dict[str, Any], shape: type[Value]) -> Value:
    """An answer, or the data in one, as what it has to be. Raises ``ForgeError``."""
    reader = TypeAdapter(shape)
    try:
        return reader.validate_json(answer.text) if isinstance(answer, Response) else reader.validate_python(answer)
    except ValidationError as error:
        raise unreadable(doing, error, of_graph=not isinstance(answer, Response)) from None


def _next_cursor(link: str) -> str | None:
    """The cursor of the next page; None after the last one, and nothing where the next one has no cursor."""
    for part in link.split(","):
        address, _, relation = part.partition(";")
        if 'rel="next"' in relation:
            return (parse_qs(urlsplit(address.strip(" <>")).query).get("after") or [""])[0]
    return None


def _endless(doing: str) -> ForgeError:
    return ForgeError(f"GitHub could not {doing}: the list does not end after {_MOST_PAGES} pages.")


class RepositoryReader:
    """What all that is about one repository has to ask. Every method raises ``ForgeError``."""

    def __init__(self, repository: str, wire: Wire) -> None:
        self._root = f"/repos/{repository}"
        self._wire = wire

    def _read_repository(self) -> RepositoryAnswer:
        return self._wire.get("read the repository", self._root, RepositoryAnswer)

    def _has_rules(self, path: str) -> bool:
        """Whether branch protection or a ruleset guards the branch. Raises ``ForgeMissing`` if it is not there."""
        if self._wire.get("read the branch", f"{self._root}/branches/{path}", BranchAnswer).protected:
            return True
        return any(self._wire.pages("read the branch's rules", f"{self._root}/rules/branches/{path}", list[Any]))
