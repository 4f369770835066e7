"""GitHub on loopback, as far as ``doctor`` asks it: one repository, its default branch, and that branch's rules."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ACTIONS_APP = 15_368
"""GitHub Actions on github.com; another server has another number for it."""


@dataclass
class GithubRules:
    """Answers by path; whatever is not there is not found. ``authorizations`` are the tokens that were shown."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    authorizations: set[str] = field(default_factory=set)
    writes: list[str] = field(default_factory=list)

    def repository(self, *, push: bool = True, branch: str = "main") -> None:
        self.answers["/repos/octo/demo"] = {
            "id": 1,
            "default_branch": branch,
            "permissions": {"push": push, "pull": True},
        }
        self.answers["/repos/octo/demo/branches/main"] = {"protection": {"enabled": False}}
        self.answers["/repos/octo/demo/rules/branches/main"] = []
        self.answers["/repos/octo/demo/pulls"] = []
        self.app("github-actions", ACTIONS_APP)

    def pull(self, sha: str, *externals: str | None) -> None:
        """One more pull request, older than those before; its head has checks with these external ids."""
        self.answers["/repos/octo/demo/pulls"].append({"head": {"sha": sha}})
        runs = [{"external_id": each} for each in externals]
        self.answers[f"/repos/octo/demo/commits/{sha}/check-runs"] = {"total_count": len(runs), "check_runs": runs}

    def app(self, slug: str, number: int) -> None:
        self.answers[f"/apps/{slug}"] = {"id": number, "slug": slug}

    def protection(self, *checks: dict[str, Any], strict: bool | None = None) -> None:
        required = {"contexts": [check["context"] for check in checks], "checks": list(checks)}
        self.answers["/repos/octo/demo/branches/main"] = {"protection": {"required_status_checks": required}}
        if strict is not None:
            path = "/repos/octo/demo/branches/main/protection/required_status_checks"
            self.answers[path] = {**required, "strict": strict}

    def ruleset(self, *checks: dict[str, Any], strict: bool = False, queue: bool = False) -> None:
        parameters = {"required_status_checks": list(checks), "strict_required_status_checks_policy": strict}
        rules = [{"type": "required_status_checks", "ruleset_id": 12, "parameters": parameters}, {"type": "deletion"}]
        queued = [{"type": "merge_queue", "ruleset_id": 12, "parameters": {"merge_method": "SQUASH"}}]
        self.answers["/repos/octo/demo/rules/branches/main"] = rules + (queued if queue else [])


@contextmanager
def github_rules() -> Iterator[GithubRules]:
    """It, listening while the context is open."""
    state = GithubRules()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.authorizations.add(self.headers.get("Authorization", ""))
            found = state.answers.get(self.path.partition("?")[0])
            body = json.dumps({"message": "Not Found"} if found is None else found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            state.writes.append(self.path)
            self.send_error(403)

        do_PUT = do_PATCH = do_DELETE = do_POST

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
