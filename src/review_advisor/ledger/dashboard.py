"""Writes and serves the dashboard's folder."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTP_PORT
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from review_advisor.safety.interruption import INTERRUPTION

STATIC = Path(__file__).with_name("static")


MARKER = "review-advisor-dashboard.txt"
"""Stands in every folder that is ours: nothing is written into a folder that holds other things and not this."""


_MARKED = "This folder is written by `review-advisor ui`, which replaces what is in it.\n"


_IGNORING = ".gitignore"


_DATA = "data"


_OVERVIEW = "overview"


_FOLDERS = (_DATA, f"{_DATA}/lists", f"{_DATA}/runs")


_PAGES = frozenset({MARKER, _IGNORING, *(file.name for file in STATIC.iterdir())})


_OURS_TO_REMOVE = re.compile(
    r"data/(overview|(lists|runs)/[0-9a-f]{32})\.js"
    r"|(.*/)?\.review-advisor-[0-9a-f]{16}",  # what a writer left that was killed
    re.ASCII,
)


class SiteError(Exception):
    """The folder cannot be written. One sentence for the user."""


def literal(value: Any) -> str:
    """A value as JSON that can stand in a script.

    Non-ASCII letters, U+2028 and U+2029 among them, and ``<`` are escaped. Raises ``ValueError`` for NaN and infinity.
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")


def script(name: str, text: str) -> str:
    """A script that hands a literal to the page: a page that was opened as a file may load nothing else."""
    return f'dashboard.receive("{name}",{text});\n'


@contextmanager
def writing(folder: Path) -> Iterator[Site]:
    """One writing of the dashboard into ``folder``, which it makes. Nobody else writes it meanwhile.

    Raises ``SiteError``: also for a folder of somebody else, of which nothing is changed.
    """
    with _sentences(folder):
        _refuse_a_folder_of_somebody_else(folder)
        folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        with _sentences(folder):
            _refuse_what_is_not_ours(folder)
            for below in _FOLDERS:
                (folder / below).mkdir(exist_ok=True)
            ignoring = folder / _IGNORING
            if not ignoring.exists():
                _put(ignoring, b"*\n")  # texts of reviews are never committed by accident
        yield Site(folder)


class Site:
    """What is written into a dashboard's ``folder``, ``finish`` last.

    A file of data is called by its content, and ``finish`` puts the first page there that names them. So an earlier
    dashboard is whole until then, and a page of it that is open never shows anything of the later one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written: set[str] = set()

    def write(self, kind: Literal["lists", "runs"], value: Any) -> str:
        """Hand a value to the pages, under its kind and the digest that this returns. Raises ``SiteError``."""
        text = literal(value)
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
        self._hand_over(f"{kind}/{digest}", text)
        return digest

    def finish(self, overview: Any) -> None:
        """Put the pages and what the first one shows there, and remove what an earlier writing left.

        Raises ``SiteError``.
        """
        with _sentences(self.folder):
            for file in sorted(STATIC.iterdir()):
                if file.name != "index.html":
                    _put(self.folder / file.name, file.read_bytes())
            self._hand_over(_OVERVIEW, literal(overview))
            _put(self.folder / "index.html", (STATIC / "index.html").read_bytes())
            for name, file in _entries(self.folder):
                if _OURS_TO_REMOVE.fullmatch(name) and name not in self._written:
                    file.unlink(missing_ok=True)

    def _hand_over(self, name: str, text: str) -> None:
        path = f"{_DATA}/{name}.js"
        with _sentences(self.folder):
            _put(self.folder / path, script(name, text).encode("ascii"))
        self._written.add(path)


def _entries(site: Path) -> Iterator[tuple[str, Path]]:
    """What lies in a dashboard's folder and in those below it that are ours, by its path from there."""
    for folder in (site, *(site / below for below in _FOLDERS)):
        for path in folder.iterdir() if folder.is_dir() else ():
            yield path.relative_to(site).as_posix(), path


def _refuse_a_folder_of_somebody_else(site: Path) -> None:
    _refuse_link(site)
    _refuse_link(site / MARKER)
    if site.is_dir() and any(site.iterdir()) and not (site / MARKER).is_file():
        raise SiteError(
            f"The folder {site} holds something else than a dashboard ({MARKER} is not there): name another one, or an"
            " empty one."
        )


def _refuse_what_is_not_ours(site: Path) -> None:
    """Nothing is written through what stands where a file or a folder of ours would."""
    for name, path in _entries(site):
        is_folder = name in _FOLDERS
        if is_folder or name in _PAGES or _OURS_TO_REMOVE.fullmatch(name):
            _refuse_link(path)
            if not (path.is_dir() if is_folder else path.is_file()):
                kind = "folder" if is_folder else "plain file"
                raise SiteError(f"{path} is no {kind}, as it is in a dashboard: remove it, or name another place.")


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise SiteError(f"{path} is a symbolic link; a dashboard is only written to real files and folders.")


@contextmanager
def _alone(site: Path) -> Iterator[None]:
    """Hold the marker, so that nobody else writes: they would remove what this writer has just written.

    The system lets go of it when this process ends, however it ends.
    """
    with _sentences(site):
        marker = os.open(site / MARKER, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(marker, "r+", encoding="ascii", errors="replace") as held:
        with _sentences(site):
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SiteError(
                    f"The dashboard in {site} is being written by another command: try again when it has ended."
                ) from None
            if held.read() != _MARKED:
                held.seek(0)
                held.truncate()
                held.write(_MARKED)
                held.flush()
        yield


@contextmanager
def _sentences(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SiteError(f"The dashboard cannot be written to {folder}: {error.strerror}.") from None


def _put(path: Path, content: bytes) -> None:
    """Write the file whole or not at all, unless it is so already: to replace one takes the disk far longer."""
    if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
        return
    temporary = path.with_name(f".review-advisor-{secrets.token_hex(8)}")
    with INTERRUPTION.unfinished(temporary):
        with temporary.open("xb") as file:  # readable by whom the user's umask says
            file.write(content)
        temporary.replace(path)


HOST = "127.0.0.1"


_OUR_FILES = frozenset(f"/{file.name}" for file in STATIC.iterdir())


_SERVED_DATA = re.compile(r"/data/(overview|(lists|runs)/[0-9a-f]{32})\.js", re.ASCII)


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
        is_own = self._is_own_request()
        content = self._content(path) if is_own else None
        missing = HTTPStatus.NOT_FOUND if is_own else HTTPStatus.FORBIDDEN
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
        if path not in _OUR_FILES and not _SERVED_DATA.fullmatch(path):
            return None
        try:
            return (self.server.folder / path[1:]).read_bytes()
        except OSError:
            return None

    def _is_own_request(self) -> bool:
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
