"""A server on this machine that answers as it is told, also as GitHub never would; and remembers who asked what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from review_advisor.change.pull_request import PullRequest
from review_advisor.github.client import GitHubForge, connect
from review_advisor.mockworld.world import FakeClock

PULL_REQUEST = PullRequest(
    "octo/app", 1, "A change", "", "mona", "main", "b" * 40, "change", "a" * 40, head_repository=None
)

TOKEN = "0123456789abcdef0123456789abcdef01234567"
"""In the shape of an old token, which has no beginning of its own."""


@dataclass(frozen=True)
class Reply:
    """One answer: ``body`` is sent as JSON, a text as it is. Without a status the connection ends instead."""

    status: int | None = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Scripted:
    """The server: ``replies`` in their order, the last one for ever."""

    replies: list[Reply]
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def forge(self, clock: FakeClock | None = None, *, below: str = "") -> GitHubForge:
        """The adapter in front of it; ``below`` is the path of the API's base URL."""
        return connect("octo/app", token=TOKEN, api_url=f"{self.url}{below}", clock=clock or FakeClock())


@contextmanager
def github_answers(*replies: Reply) -> Iterator[Scripted]:
    """A server that answers with these."""
    script = Scripted(list(replies))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    script.port = server.server_port
    thread = Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(script: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.asked.append(Asked(self.command, self.path, headers, json.loads(sent) if sent else None))
            reply = script.next()
            self.close_connection = True
            if reply.status is None:
                return
            content = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content.encode())

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
