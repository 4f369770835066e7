"""MockWorld's GitHub behind HTTP on the loopback interface: any client can be put in front of it.

Every request and answer is held against GitHub's own description; ``opened`` fails the test in which one breaks it.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.adapters.github.actions import GitHubWithActions
from tests.adapters.github.calls import Call, Reply
from tests.adapters.github.description import Exchange
from tests.adapters.github.filled import filled_answer
from tests.adapters.github.graph import Graph
from tests.adapters.github.payloads import Payloads
from tests.adapters.github.reads import STORED
from tests.adapters.github.routes import ROUTES, Route

from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import Token
from review_advisor.mockworld.github_traffic import Limited, NoAnswer, RefusedRequest, Reset, ServerFailure, Trouble

ENTERPRISE = "/api/v3"
"""GitHub Enterprise's prefix; its GraphQL is at ``/api/graphql``."""
_MOVED = 301
_GRAPHS = ("/graphql", "/api/graphql")


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    address: str
    body: bytes


class Door:
    """Where the model answers: ``url`` is the base of its API. ``violations`` of the description gather here.

    ``received`` is every request so far; ``store_answers`` are statuses that the store gives before it works.
    """

    def __init__(self, github: GitHub, server: ThreadingHTTPServer) -> None:
        self.github = github
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.violations: list[str] = []
        self.received: list[Received] = []
        self.store_answers: list[int] = []
        self.closing = threading.Event()
        self.lock = threading.Lock()

    def answer(self, method: str, address: str, authorization: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body. Raises ``Trouble``."""
        self.received.append(Received(method, address, body))
        parts = urlsplit(address)
        path = parts.path.removeprefix(ENTERPRISE)
        if path.startswith(f"/{STORED}/"):
            return self._stored(path, authorization)
        try:
            token = self._token(authorization)
            if parts.path in _GRAPHS:
                return self._graph(token, body)
            return self._rest(token, method, path, dict(parse_qsl(parts.query)), body)
        except RefusedRequest as refused:
            return refused.status, {}, _refusal(refused, detailed=False)
        finally:
            self.github.traffic.settle()

    def _rest(
        self, token: Token, method: str, path: str, query: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        route, parameters = self._route(method, path)
        exchange = Exchange(method, route.steps(parameters), query, body)
        wrong = exchange.request_problems()
        self.violations += wrong
        if wrong:
            raise RefusedRequest(422, "Invalid request.", *wrong)
        call = Call(
            self.github,
            token,
            Payloads(self.github, self.url, self.url),
            parameters,
            query,
            json.loads(body or b"null"),
        )
        headers: dict[str, str] = {}
        try:
            reply = route.answer(call)
            page, headers = self._page(reply, path, query)
            page = filled_answer(method, route.template, reply.status, page)
            headers |= {"Location": f"{self.url}{reply.stored}"} if reply.stored else {}
            status, told = reply.status, b"" if reply.status in (204, 302) else json.dumps(page).encode()
        except RefusedRequest as refused:
            detailed = any(part in route.template for part in ("/issues/", "/git/t", "/git/c", "/git/r"))
            status, told = refused.status, _refusal(refused, detailed=detailed)
        if status != _MOVED:  # any operation may say so, and few are described so
            self.violations += exchange.answer_problems(status, told)
        return status, headers, told

    def _stored(self, path: str, authorization: str) -> tuple[int, dict[str, str], bytes]:
        """An artifact, as the store hands it out: to whoever has its address, and a token is no business of it."""
        if authorization:
            self.violations.append(f"the token was shown to the store: {path}")
        if self.store_answers:
            return self.store_answers.pop(0), {}, b""
        _, _, repository, artifact = path.split("/")
        if not isinstance(self.github, GitHubWithActions):
            raise TypeError("no workflow runs on this GitHub")
        stored = self.github.actions[int(repository)].artifacts[int(artifact)]
        return 200, {"Content-Type": "application/zip"}, stored.archive

    def _graph(self, token: Token, body: bytes) -> tuple[int, dict[str, str], bytes]:
        envelope, wrong = Graph(self.github, token).answer(json.loads(body))
        self.violations += wrong
        return 200, {}, json.dumps(envelope).encode()

    def _token(self, authorization: str) -> Token:
        value = authorization.partition(" ")[2]
        for token in self.github.tokens.values():
            if token.value == value:
                return token
        raise RefusedRequest(401, "Bad credentials")

    def _route(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        for route in ROUTES:
            found = route.parts.fullmatch(path)
            if route.method == method and found:
                return route, {name: unquote(value) for name, value in found.groupdict().items()}
        self.violations.append(f"no such route: {method} {path}")
        raise RefusedRequest(404, "Not Found")

    def _page(self, reply: Reply, path: str, query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        if reply.by_cursor:
            return self._by_cursor(reply, path, query)
        if reply.paged is False:
            return reply.body, {}
        whole = reply.body if reply.paged is True else reply.body[reply.paged]
        size, number = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        page = whole[(number - 1) * size : number * size]
        links = []
        if number * size < len(whole):
            following = urlencode({**query, "page": str(number + 1)})
            last = urlencode({**query, "page": str(-(-len(whole) // size))})
            links = [f'<{self.url}{path}?{following}>; rel="next"', f'<{self.url}{path}?{last}>; rel="last"']
        headers = {"Link": ", ".join(links)} if links else {}
        return (page if reply.paged is True else {**reply.body, reply.paged: page}), headers

    def _by_cursor(self, reply: Reply, path: str, query: dict[str, str]) -> tuple[Any, dict[str, str]]:
        """A page after a cursor, which means nothing to whoever asks."""
        size = min(int(query.get("per_page", 30)), 100)
        begin = int(query.get("after", "c=0").removeprefix("c="))
        if begin + size >= len(reply.body):
            return reply.body[begin:], {}
        following = urlencode({**query, "after": f"c={begin + size}"})
        return reply.body[begin : begin + size], {"Link": f'<{self.url}{path}?{following}>; rel="next"'}


@contextmanager
def opened(github: GitHub) -> Iterator[Door]:
    """The door, open. At its end it is closed, and no request or answer may have broken the description."""

    class Handler(_Handler):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    door = Handler.door = Door(github, server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield door
    finally:
        door.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()
    assert not door.violations, "\n".join(door.violations)


class _Handler(BaseHTTPRequestHandler):
    door: Door

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            with self.door.lock:
                status, headers, told = self.door.answer(
                    self.command, self.path, self.headers.get("Authorization", ""), body
                )
        except ServerFailure as failure:
            status, headers, told = failure.status, {"Content-Type": "text/html"}, b"<html>Unicorn!</html>"
        except Limited as limit:
            status, headers, told = _limited(limit)
        except NoAnswer:
            self.door.closing.wait()
            return self._reset()
        except (Reset, Trouble):
            return self._reset()
        return self._send(status, headers, told)

    do_POST = do_PATCH = do_DELETE = do_PUT = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _send(self, status: int, headers: dict[str, str], told: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json; charset=utf-8", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


def _refusal(refused: RefusedRequest, *, detailed: bool) -> bytes:
    """A refusal's body. Some of GitHub's routes tell reasons as sentences, others as objects."""
    told: dict[str, Any] = {"message": refused.message, "documentation_url": "https://docs.github.com/rest"}
    if refused.errors:
        objects = [{"resource": "Value", "code": "custom", "message": each} for each in refused.errors]
        told["errors"] = objects if detailed else list(refused.errors)
    return json.dumps({**told, "status": str(refused.status)}).encode()


def _limited(limit: Limited) -> tuple[int, dict[str, str], bytes]:
    if limit.secondary:
        told = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
        return 403, {"Retry-After": str(limit.seconds)}, json.dumps(told).encode()
    headers = {
        "X-RateLimit-Limit": "5000",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(int(time.time()) + limit.seconds),
    }
    return 403, headers, json.dumps({"message": "API rate limit exceeded for installation."}).encode()
