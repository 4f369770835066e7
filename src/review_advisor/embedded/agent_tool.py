"""The Agent tool: one question to a subagent, in the foreground, past the hooks."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review_advisor.embedded.cli_session import CliSession, resolved, tokens
from review_advisor.embedded.command_line import AgentDefinition
from review_advisor.embedded.hooks import HookRun, HookRunner

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
    """Asks ``subagent`` for the main loop, with all events and hooks that the real CLI shows."""

    def __init__(self, session: CliSession, subagent: Subagent) -> None:
        self._session = session
        self._subagent = subagent
        self._hooks = HookRunner(session.options.hooks, session.cwd, self._hook_seen)

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
        session.subagents["spawned"] += 1
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
        session.subagents["completed"] += 1
        stopped = {"agent_type": task.agent.name, "last_assistant_message": reply.text, "agent_transcript_path": ""}
        self._hooks.tell("SubagentStop", {**_without_tool(task.payload), **stopped}, names=(task.agent.name,))
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
        self._notify(task, {"status": "completed"}, reply.text)
        handed_back = _HAND_BACK + "  " + reply.text.replace("\n", "\n  ")
        session.tool_result(task.use, [{"type": "text", "text": handed_back}], details=response)
        return reply

    def _failed(self, task: _Task, reply: Failed) -> Declined:
        session = self._session
        status = "" if reply.status is None else f", HTTP {reply.status}"
        said = f"Agent terminated early due to an API error: {reply.message} (error type {reply.error}{status})"
        if session.options.forward_subagent_text:
            session.api_error(reply.error, reply.status, reply.message, parent=task.use)
        session.subagents["failed"] += 1
        stopped = {"agent_type": task.agent.name, "error": reply.error}
        self._hooks.tell("StopFailure", {**_without_tool(task.payload), **stopped}, names=(reply.error,))
        self._hooks.tell("PostToolUseFailure", {**task.payload, "error": said})
        self._notify(task, {"status": "failed", "error": said}, said)
        return self._refuse(task.use, said)

    def _notify(self, task: _Task, patch: dict[str, Any], summary: str) -> None:
        self._session.write("system", subtype="task_updated", task_id=task.id, patch=patch)
        self._session.write(
            "system",
            subtype="task_notification",
            task_id=task.id,
            tool_use_id=task.use,
            status=patch["status"],
            output_file="",
            summary=summary,
        )

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

    def _hook_seen(self, run: HookRun) -> None:
        if not self._session.options.include_hook_events:
            return
        self._session.write(
            "system",
            subtype="hook_response",
            hook_name=f"{run.hook.event}:Agent",
            hook_event=run.hook.event,
            stdout=run.stdout,
            stderr=run.stderr,
            exit_code=run.exit_code,
        )


def _without_tool(payload: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if not key.startswith("tool_")}
