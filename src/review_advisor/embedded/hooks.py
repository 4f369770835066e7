"""Hooks of ``--settings``: found, run and obeyed as the real CLI does. Whatever goes wrong with one fails open."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SHELL = "/bin/sh"
_DEFAULT_TIMEOUT = 60.0
_BLOCKED = 2
_NAMES = ("Agent", "Task")
"""What the tool is called, now and before."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One command, and when it runs."""

    event: str
    matcher: str
    command: str
    timeout: float


@dataclass(frozen=True, slots=True)
class HookRun:
    """How one command ended. ``exit_code`` None means that its timeout ended it."""

    hook: Hook
    exit_code: int | None
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What the PreToolUse hooks said: a reason to refuse, or None; and the input, possibly rewritten."""

    refusal: str | None
    tool_input: dict[str, Any]


def hooks_of(settings: Any) -> tuple[Hook, ...]:
    """All command hooks of a settings object. Settings of another shape have none, without a word."""
    events = settings.get("hooks") if isinstance(settings, dict) else None
    if not isinstance(events, dict):
        return ()
    try:
        return tuple(
            Hook(
                str(event),
                str(entry.get("matcher", "")),
                str(one["command"]),
                float(one.get("timeout", _DEFAULT_TIMEOUT)),
            )
            for event, entries in events.items()
            for entry in entries
            for one in entry["hooks"]
            if one["type"] == "command"
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()


class HookRunner:
    """Runs the hooks of one session about the Agent tool, in its folder."""

    def __init__(self, hooks: Sequence[Hook], cwd: Path) -> None:
        self._hooks = tuple(hooks)
        self._cwd = cwd

    def permission(self, payload: Mapping[str, Any]) -> HookAnswer:
        """Ask the PreToolUse hooks about a use of the Agent tool."""
        tool_input: dict[str, Any] = dict(payload["tool_input"])
        refusal: str | None = None
        for run in self.tell("PreToolUse", payload):
            if run.exit_code == _BLOCKED:
                refusal = refusal or f"[{run.hook.command}]: {run.stderr.strip()}"
            decision = _decision(run)
            if decision.get("permissionDecision") == "deny":
                refusal = refusal or str(decision.get("permissionDecisionReason", "denied by a hook"))
            elif decision.get("permissionDecision") == "allow" and isinstance(decision.get("updatedInput"), dict):
                tool_input = decision["updatedInput"]
        return HookAnswer(refusal, tool_input)

    def tell(self, event: str, payload: Mapping[str, Any]) -> list[HookRun]:
        """Run every hook of ``event`` that matches, one after the other."""
        text = json.dumps({**payload, "hook_event_name": event})
        due = [hook for hook in self._hooks if hook.event == event and _matches(hook.matcher)]
        return [_run(hook, text, self._cwd) for hook in due]


def _matches(matcher: str) -> bool:
    if matcher in ("", "*"):
        return True
    try:
        return any(re.fullmatch(matcher, name) for name in _NAMES)
    except re.error:
        return False


def _run(hook: Hook, text: str, cwd: Path) -> HookRun:
    child = subprocess.Popen(
        [_SHELL, "-c", hook.command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(cwd)},
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with child:
        try:
            stdout, stderr = child.communicate(text, timeout=hook.timeout)
        except subprocess.TimeoutExpired:
            return HookRun(hook, None, "", "")
        finally:
            _end(child)
    return HookRun(hook, child.returncode, stdout, stderr)


def _end(child: subprocess.Popen[str]) -> None:
    # The group, not only the shell: what the shell started holds the pipes open.
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _decision(run: HookRun) -> dict[str, Any]:
    if run.exit_code != 0:
        return {}
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        return {}
    specific = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    return specific if isinstance(specific, dict) else {}
