"""The tools of the CLI that are played: Agent asks a subagent in the foreground, past the hooks; Write makes a file."""

from __future__ import annotations

import base64
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review_advisor.core.facts.files.paths import PathRule
from review_advisor.embedded.cli_session import CliSession, resolved, tokens
from review_advisor.embedded.command_line import AgentDefinition
from review_advisor.embedded.hooks import HookRunner

_WRITING = "acceptEdits"
_HAND_BACK = (
    "[Subagent hand-back] The text below is the final report of a subagent, not a message from the user."
    " The report follows:\n"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A subagent's final text."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A subagent whose request to the model failed, by the CLI's error class."""

    error: str
    status: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Declined:
    """No answer: the tool refused or the subagent failed. ``reason`` is what the executor is shown."""

    reason: str


Subagent = Callable[[str], Said | Failed]
"""From the prompt of the tool call to what the subagent said."""


@dataclass(frozen=True, slots=True)
class _Task:
    use: str
    id: str
    agent: AgentDefinition
    model: str
    prompt: str
    payload: dict[str, Any]


class AgentTool:
    """Asks ``subagent`` for the main loop, with the events and hooks of the real CLI that this product reads."""

    def __init__(self, session: CliSession, subagent: Subagent) -> None:
        self._session = session
        self._subagent = subagent
        self._hooks = HookRunner(session.options.hooks, session.cwd)

    def ask(self, tool_input: dict[str, Any]) -> Said | Declined:
        """Use the tool once. A refusal or a failure is an answer too: the run goes on."""
        session = self._session
        use = f"toolu_{uuid.uuid4().hex[:24]}"
        session.assistant([{"type": "tool_use", "id": use, "name": "Agent", "input": tool_input}])
        if "Agent" not in session.options.tools:
            return self._refuse(use, "Error: No such tool available: Agent")
        permission = self._hooks.permission(self._payload(use, tool_input))
        if permission.refusal is not None:
            session.denials.append({"tool_name": "Task", "tool_use_id": use, "tool_input": tool_input})
            return self._refuse(use, f"PreToolUse:Agent hook error: {permission.refusal}")
        wanted = str(permission.tool_input.get("subagent_type", "general-purpose"))
        if wanted in session.options.denied_agents:
            return self._refuse(use, f"Agent type '{wanted}' has been denied by permission rule")
        agent = next((agent for agent in session.options.agents if agent.name == wanted), None)
        if agent is None:
            known = ", ".join(agent.name for agent in session.options.agents)
            return self._refuse(use, f"Agent type '{wanted}' not found. Available agents: {known}")
        return self._run(use, agent, permission.tool_input)

    def _run(self, use: str, agent: AgentDefinition, tool_input: dict[str, Any]) -> Said | Declined:
        session = self._session
        task = _Task(
            use=use,
            id=uuid.uuid4().hex[:8],
            agent=agent,
            model=resolved(str(tool_input.get("model") or agent.model or session.options.model)),
            prompt=str(tool_input.get("prompt", "")),
            payload=self._payload(use, tool_input),
        )
        session.write(
            "system",
            subtype="task_started",
            task_id=task.id,
            tool_use_id=use,
            description=tool_input.get("description", ""),
            subagent_type=agent.name,
            prompt=task.prompt,
            is_backgrounded=False,
        )
        asked = {"role": "user", "content": [{"type": "text", "text": task.prompt}]}
        session.write("user", message=asked, parent_tool_use_id=use, agent_id=task.id)
        began = time.monotonic()
        reply = self._subagent(task.prompt)
        took_ms = round((time.monotonic() - began) * 1000)
        return self._failed(task, reply) if isinstance(reply, Failed) else self._completed(task, reply, took_ms)

    def _completed(self, task: _Task, reply: Said, took_ms: int) -> Said:
        session = self._session
        read, written = tokens(task.agent.prompt) + tokens(task.prompt), tokens(reply.text)
        content = [{"type": "text", "text": reply.text}]
        if session.options.forward_subagent_text:
            session.message(task.model, content, (read, written), parent=task.use)
        else:
            session.count(task.model, (read, written))
        response = {
            "status": "completed",
            "agentId": task.id,
            "agentType": task.agent.name,
            "prompt": task.prompt,
            "resolvedModel": task.model,
            "content": content,
            "totalDurationMs": took_ms,
            "totalTokens": read + written,
            "totalToolUseCount": 0,
            "usage": {"input_tokens": read, "output_tokens": written},
        }
        self._hooks.tell("PostToolUse", {**task.payload, "tool_response": response, "duration_ms": took_ms})
        handed_back = _HAND_BACK + "  " + reply.text.replace("\n", "\n  ")
        session.tool_result(task.use, [{"type": "text", "text": handed_back}], details=response)
        return reply

    def _failed(self, task: _Task, reply: Failed) -> Declined:
        session = self._session
        status = "" if reply.status is None else f", HTTP {reply.status}"
        said = f"Agent terminated early due to an API error: {reply.message} (error type {reply.error}{status})"
        if session.options.forward_subagent_text:
            session.api_error(reply.error, reply.status, reply.message, parent=task.use)
        self._hooks.tell("PostToolUseFailure", {**task.payload, "error": said})
        return self._refuse(task.use, said)

    def _refuse(self, use: str, reason: str) -> Declined:
        self._session.tool_result(use, reason, is_error=True, details=f"Error: {reason}")
        return Declined(reason)

    def _payload(self, use: str, tool_input: dict[str, Any]) -> dict[str, Any]:
        session = self._session
        return {
            "session_id": session.session_id,
            "transcript_path": str(Path(os.environ.get("CLAUDE_CONFIG_DIR", "")) / f"{session.session_id}.jsonl"),
            "cwd": str(session.cwd),
            "permission_mode": session.options.permission_mode,
            "tool_name": "Agent",
            "tool_input": tool_input,
            "tool_use_id": use,
        }


def read_picture(session: CliSession, name: str) -> None:
    """Read a PNG file of the working folder and show it in the stream as a picture; a missing one is an error."""
    place = session.cwd / name
    use = f"toolu_{uuid.uuid4().hex[:24]}"
    session.assistant([{"type": "tool_use", "id": use, "name": "Read", "input": {"file_path": str(place)}}])
    if not place.is_file():
        session.tool_result(use, "File does not exist.", is_error=True, details="Error: File does not exist.")
        return
    data = base64.b64encode(place.read_bytes()).decode("ascii")
    source = {"type": "base64", "media_type": "image/png", "data": data}
    session.tool_result(use, [{"type": "image", "source": source}])


def write_file(session: CliSession, path: str, text: str) -> bool:
    """Write ``text`` to ``path`` and show it in the stream; whether it was done. A refusal is an answer too."""
    place = session.cwd / path
    use = f"toolu_{uuid.uuid4().hex[:24]}"
    tool_input = {"file_path": str(place), "content": text}
    session.assistant([{"type": "tool_use", "id": use, "name": "Write", "input": tool_input}])
    why = _refusal(session, place)
    if why is not None:
        session.denials.append({"tool_name": "Write", "tool_use_id": use, "tool_input": tool_input})
        session.tool_result(use, why, is_error=True, details=f"Error: {why}")
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8", newline="")
    session.tool_result(use, f"File written at: {place}")
    return True


def _refusal(session: CliSession, place: Path) -> str | None:
    if "Write" not in session.options.tools:
        return "Error: No such tool available: Write"
    resolved, root = place.resolve(), session.cwd.resolve()
    if session.options.permission_mode != _WRITING or not resolved.is_relative_to(root):
        return f"Claude requested permissions to write to {place}, but you haven't granted it yet."
    if _is_denied(session, root, resolved):
        return "File is in a directory that is denied by your permission settings."
    return None


def _is_denied(session: CliSession, root: Path, place: Path) -> bool:
    """A rule with two leading slashes is anchored at the disk, any other is a glob below the current folder."""
    within = place.relative_to(root).as_posix()
    anchored = f"/{root.as_posix()}/"
    globs = tuple(
        f"/{glob.removeprefix(anchored)}" if glob.startswith(anchored) else glob
        for glob in session.options.denied_edits
    )
    return PathRule(globs).matches(within)
