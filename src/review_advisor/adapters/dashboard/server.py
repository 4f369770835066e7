"""Serving a dashboard's folder on 127.0.0.1: its own files, to who sits here, and to no page from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTP_PORT
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from review_advisor.adapters.dashboard.site import STATIC, SiteError

HOST = "127.0.0.1"
_OUR_FILES = frozenset(f"/{file.name}" for file in STATIC.iterdir())
_DATA = re.compile(r"/data/(overview|(lists|runs)/[0-9a-f]{32})\.js", re.ASCII)
_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    # The data are scripts: without this, a page from anywhere could load them while the server runs.
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_OUR_OWN = ("same-origin", "none")
"""What a browser says of a request (Sec-Fetch-Site) that our own page makes, or a person."""


def own_names(port: int) -> frozenset[str]:
    """What a browser that is sent to this port calls us: it does not name the port that it takes by itself."""
    hosts = {HOST, "localhost"}
    return frozenset({f"{host}:{port}" for host in hosts} | (hosts if port == HTTP_PORT else set()))


Api = Callable[[str], bytes | None]
"""What stands at a path below ``/api/``, as JSON; None where nothing does. It is asked anew each time."""


@contextmanager
def serving(folder: Path, port: int, api: Api = lambda _path: None) -> Iterator[ThreadingHTTPServer]:
    """A server for ``folder``, bound and not yet running; ``port`` 0 takes a free one. Raises ``SiteError``."""
    try:
        server = _Server((HOST, port), _Handler)
    except OSError as error:
        raise SiteError(f"Port {port} of {HOST} cannot be served: {error.strerror}.") from None
    server.folder = folder
    server.api = api
    with server:
        yield server


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a reader who holds on to a connection does not keep the command from its end
    folder: Path
    api: Api


class _Handler(BaseHTTPRequestHandler):
    server_version = "review-advisor"
    sys_version = ""
    timeout = 20
    server: _Server

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        """Nobody needs to know."""

    def _answer(self, *, with_body: bool) -> None:
        path = "/index.html" if self.path == "/" else self.path
        is_heard = self._is_asked_from_here()
        content = self._content(path) if is_heard else None
        missing = HTTPStatus.NOT_FOUND if is_heard else HTTPStatus.FORBIDDEN
        self._head(
            missing if content is None else HTTPStatus.OK,
            "text/plain" if content is None else _TYPES.get(Path(path).suffix, "application/json"),
            len(content or b""),
        )
        if content and with_body:
            self.wfile.write(content)

    def _content(self, path: str) -> bytes | None:
        if path.startswith("/api/"):
            return self.server.api(path)
        if path not in _OUR_FILES and not _DATA.fullmatch(path):
            return None
        try:
            return (self.server.folder / path[1:]).read_bytes()
        except OSError:
            return None

    def _is_asked_from_here(self) -> bool:
        """Whether the browser means this server by its own name, and no foreign page asks."""
        hosts = self.headers.get_all("Host") or []
        asked_by = self.headers.get("Sec-Fetch-Site", "none")
        return len(hosts) == 1 and hosts[0] in own_names(self.server.server_port) and asked_by in _OUR_OWN

    def _head(self, status: HTTPStatus, kind: str, length: int) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
