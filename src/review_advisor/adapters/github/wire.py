"""Requests and what they mean: a write is sent once, a read is tried again, a failure is a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import TypeAdapter, ValidationError

from review_advisor.adapters.github.failures import Response, Unanswered, failure, graph_failure, unreadable
from review_advisor.adapters.github.graph_answers import GraphAnswer, Root
from review_advisor.adapters.github.transport import Exchange
from review_advisor.ports.forge import ForgeError, ForgeUnavailable
from review_advisor.ports.review import Clock

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
        """The same, with None for each node that GitHub does not show; ``whole``: one of those is an error."""
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            asked = {**variables, "after": cursor}

            def ask(asked: dict[str, Any] = asked) -> Root[Node]:
                found = _read(doing, self._graph(doing, query, asked, partly=partly), shape)
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
