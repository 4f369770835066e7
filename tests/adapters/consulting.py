"""The consult hook as the CLI runs it, and the server of the call that it asks."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from review_advisor.agents import consult_hook
from review_advisor.agents.calls import ConsultGrant, Consults
from review_advisor.agents.claude import ConsultServer
from review_advisor.agents.claude_argv import DEFAULT_LIMITS, hook_settings
from review_advisor.change.redaction import NO_SECRETS
from review_advisor.policy.budgets import Budgets
from review_advisor.review.consults import CallConsults, ReviewConsults

NONCE = "n0nce-7f3a"
SENTINEL = '<!-- HYDRAFLOW_MID_FLIGHT it\'s "quoted" -->'
ANSWERED_WITHIN = 10.0
"""Seconds, fewer than the server waits for one hook: an answer after another's wait comes too late."""
GRANT = ConsultGrant("the-advisor", "You advise.", "opus", SENTINEL, NONCE)


def consults_of_a_call(cap: int = 5, grant: ConsultGrant = GRANT) -> CallConsults:
    """Those of a review's only call."""
    return ReviewConsults(Budgets(max_usd=1.0, max_consults=cap), NO_SECRETS).of_call(grant)


def before(identity: str, prompt: str = "Which?", **more: Any) -> dict[str, Any]:
    """What the CLI tells its hook before a consult."""
    asked = {"description": "d", "prompt": prompt, "subagent_type": "general-purpose", **more}
    return {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_use_id": identity, "tool_input": asked}


def after(identity: str, said: str = "It is.") -> dict[str, Any]:
    """What it tells it afterwards."""
    response = {"status": "completed", "content": [{"type": "text", "text": said}]}
    return {"hook_event_name": "PostToolUse", "tool_use_id": identity, "tool_response": response}


@contextmanager
def serving(folder: Path, consults: Consults, user: int | None = None) -> Iterator[ConsultServer]:
    """The server of a call whose private folder is ``folder``."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    with ConsultServer(folder, consults, DEFAULT_LIMITS, user) as server:
        yield server


def said_to(folder: Path, event: bytes) -> bytes:
    """What the server of the call says to anybody who has found its socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(ANSWERED_WITHIN)
        client.connect(str(folder / consult_hook.SOCKET))
        client.sendall(event)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65_536), b""))


def granted(folder: Path, identity: str) -> Any:
    """What the server of the call makes of a consult that it grants; nothing where it denies one."""
    told = json.loads(said_to(folder, json.dumps(before(identity)).encode()))["hookSpecificOutput"]
    return told.get("updatedInput")


def command(script: str = consult_hook.__file__, seconds: int = 15) -> str:
    """The shell line of the hook."""
    settings = json.loads(hook_settings((sys.executable, "-I", script, str(seconds))))
    line: str = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    return line


def ask_hook(
    folder: Path, event: dict[str, Any], line: str | None = None, cwd: Path | None = None, **environ: str
) -> dict[str, Any]:
    """Run the hook's shell line on one event; gives what it answered."""
    done = subprocess.run(
        ["/bin/sh", "-c", line or command()],
        input=json.dumps(event).encode(),
        capture_output=True,
        cwd=cwd or folder,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(folder / "tmp"), **environ},
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    answer: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
    return answer
