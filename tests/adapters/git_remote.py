"""A repository as GitHub serves it to git: bare, with a reference for each pull request; by folder or by http."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.adapters.git_repository import Repo, made_once

from review_advisor.change.pull_request import PullRequest

NAME = "octo/app"
CONFIG = '[github]\nlogin = "advisor[bot]"\n'


@dataclass
class Served:
    """``octo/app`` below ``root``; its owner works in ``work``."""

    root: Path
    work: Repo

    @property
    def bare(self) -> Path:
        return self.root / f"{NAME}.git"

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def push(self, *references: str) -> None:
        """Show what was committed: ``HEAD:refs/pull/7/head``."""
        self.work.git("push", "--quiet", "--force", str(self.bare), *references)

    def opens(self, number: int, branch: str = "topic") -> PullRequest:
        """A pull request from ``branch`` into ``main``, as the API tells of it."""
        self.push("main:refs/heads/main", f"{branch}:refs/pull/{number}/head")
        return PullRequest(
            repository=NAME,
            number=number,
            title="Add two",
            body="It adds two.",
            author="mona",
            base_ref="main",
            base_sha=self.work.rev("main"),
            head_ref=branch,
            head_sha=self.work.rev(branch),
            head_repository=NAME,
        )

    def clone(self, place: Path, *options: str) -> Path:
        """What a workflow checks out: the base branch."""
        self.work.git("clone", "--quiet", "--branch=main", *options, self.url, str(place))
        return place


def served(folder: Path) -> Served:
    """The repository with two commits on ``main`` and one on ``topic``."""
    made_once(folder, _serve)
    return Served(folder / "served", Repo(folder / "work"))


def _serve(folder: Path) -> None:
    work = Repo(folder / "work")
    made = Served(folder / "served", work)
    work.git("init", "--quiet", "--bare", str(made.bare))
    work.write("app.py", "one = 1\n")
    work.write(".review-advisor.toml", CONFIG)
    work.commit("Begin")
    work.write("app.py", "one = 1\nzero = 0\n")
    work.commit("Add zero")
    work.git("checkout", "--quiet", "-b", "topic")
    work.write("app.py", "one = 1\nzero = 0\ntwo = 2\n")
    work.commit("Add two")
    made.push("main:refs/heads/main")


@dataclass
class Door:
    """The same by http: ``authorizations`` are what each request came with."""

    port: int = 0
    authorizations: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def git_by_http(root: Path, credential: str | None = None, redirect_to: str = "") -> Iterator[Door]:
    """Serve the repositories below ``root``; with a ``credential``, to those only who send it.

    With ``redirect_to``, every request is sent on to that address instead.
    """
    door = Door()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            sent = self.headers.get("Authorization")
            door.authorizations.append(sent)
            if redirect_to:
                self.send_response(301)
                self.send_header("Location", redirect_to + self.path)
                self.end_headers()
            elif credential is not None and sent != credential:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
            else:
                self.pass_on()

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            head, _, answer = _backend(root, self.command, self.path, dict(self.headers.items()), body)
            self.send_response(200)
            for line in head.split(b"\r\n"):
                name, _, value = line.decode().partition(": ")
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    door.port = server.server_port
    thread = Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _backend(
    root: Path, verb: str, address: str, headers: Mapping[str, str], body: bytes
) -> tuple[bytes, bytes, bytes]:
    """What git itself answers: headers, a blank line, the rest."""
    path, _, query = address.partition("?")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": verb,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
    }
    done = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True, check=True)
    return done.stdout.partition(b"\r\n\r\n")
