"""pr-agent on a diff, where it is installed, against a model that answers at once: a stub on the loopback."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from _figures import Row
from _watched import Watched, watch

VARIABLE = "REVIEW_ADVISOR_BENCH_PR_AGENT"
AS_IT_COMES: dict[str, str] = {}
IN_CHUNKS = {"PR_REVIEWER__ENABLE_LARGE_PR_CHUNKING": "true", "PR_REVIEWER__MAX_NUMBER_OF_CALLS": "200"}
_MODEL = "anthropic/claude-sonnet-4-20250514"
_ANSWER = """\
review:
  estimated_effort_to_review_[1-5]: |
    1
  relevant_tests: |
    No
  key_issues_to_review: []
  security_concerns: |
    No
"""


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One run of pr-agent, and what it asked."""

    run: Watched
    prompts: list[str]
    published: bool


NOT_INSTALLED: Row = ("pr-agent", "-", f"not installed: set {VARIABLE} to its executable (0.49 needs Python 3.12)")
"""What a reader without pr-agent is told."""


def installed() -> Path | None:
    """pr-agent's executable: the one that the environment names, or the one on the path."""
    named = os.environ.get(VARIABLE) or shutil.which("pr-agent")
    return Path(named) if named else None


def version(executable: Path) -> str:
    """The version that is installed beside an executable, or a question mark."""
    found = next(_library(executable).glob("pr_agent-*.dist-info"), None)
    return "?" if found is None else found.name.removeprefix("pr_agent-").removesuffix(".dist-info")


def review_diff(executable: Path, diff: Path, settings: dict[str, str]) -> PeerRun:
    """Let it review a diff file, in the folder that the file lies in."""
    report = diff.with_name("pr-agent.md")
    with _model() as (address, prompts):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(diff.parent),
            "ANTHROPIC__KEY": "none-needed",
            "ANTHROPIC_API_KEY": "none-needed",
            "ANTHROPIC_API_BASE": address,
            "OPENAI__API_BASE": "",
            "CONFIG__MODEL": _MODEL,
            "CONFIG__FALLBACK_MODELS": json.dumps([_MODEL]),
            # Without these two it looks for its prices and its tokenizer on the network.
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "TIKTOKEN_CACHE_DIR": str(_library(executable) / "litellm" / "litellm_core_utils" / "tokenizers"),
            **settings,
        }
        words = [executable, "--diff-file", diff, "--output", report, "review"]
        run = watch(words, diff.parent, environment)
    published = report.exists()
    report.unlink(missing_ok=True)
    return PeerRun(run, prompts, published)


def _library(executable: Path) -> Path:
    return next(executable.absolute().parents[1].glob("lib/python*/site-packages"), executable.parent)


@contextmanager
def _model() -> Iterator[tuple[str, list[str]]]:
    """The stub's address, and the prompts that it is asked, as they come."""
    prompts: list[str] = []

    class Model(BaseHTTPRequestHandler):
        """Answers every question of the Messages API with the same review."""

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompts.append("\n".join(_texts([asked.get("system", []), asked.get("messages", [])])))
            body = json.dumps(_reply(asked.get("model", ""))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Nothing: the figures are what is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", prompts
        server.shutdown()


def _reply(model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": _ANSWER}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _texts(value: object) -> Iterator[str]:
    """Every text of a request, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
