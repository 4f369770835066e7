"""The command line that holds against a hostile checkout. Pure: a call in, words out."""

from __future__ import annotations

import json
import shlex
from typing import Any

from review_advisor.adapters.claude.limits import DEFAULT_LIMITS, Limits
from review_advisor.core.roles.calls import AgentCall, ConsultGrant

_READING_TOOLS = ("Read", "Grep", "Glob")
_NEVER = ("Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch")
_BUILT_IN_AGENTS = ("general-purpose", "Explore", "Plan", "claude", "fork", "statusline-setup")
_CONSULT_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")

# A hook that crashes, or whose interpreter is missing, would let the tool call through. This refuses
# it instead, by JSON and not by exit code 2, which would show the executor our command line.
_REFUSAL = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "The consult could not be registered. Go on without advice.",
        }
    }
)


def argv(
    command: tuple[str, ...], call: AgentCall, hook_settings: str | None, limits: Limits = DEFAULT_LIMITS
) -> list[str]:
    """The whole command line for ``call``. The prompt is never in it: it goes by stdin.

    ``hook_settings`` is what ``hook_settings()`` made; it is required when the call may consult.
    """
    if (call.consults is None) != (hook_settings is None):
        raise ValueError("a call may consult exactly when the consult hook is given")
    words = [
        *command,
        "-p",
        "--restricted",
        *("--setting-sources", ""),
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
        *("--permission-mode", "dontAsk"),
        *("--permission-prompts", "none"),
        *("--model", call.model),
        *("--tools", ",".join(_tools(call))),
        *("--disallowedTools", ",".join(_disallowed(call))),
        *("--system-prompt", call.system_prompt),
        *("--max-turns", str(limits.max_turns if _tools(call) else limits.max_turns_without_tools)),
        *("--max-budget-usd", f"{call.max_usd:.4f}"),
        *("--json-schema", json.dumps(call.answer.model_json_schema())),
        *("--output-format", "stream-json"),
        "--verbose",
    ]
    if call.consults is not None and hook_settings is not None:
        words += ["--agents", json.dumps(_agents(call, call.consults, limits))]
        words += ["--settings", hook_settings, "--forward-subagent-text"]
    return words


def hook_settings(hook: tuple[str, ...], limits: Limits = DEFAULT_LIMITS) -> str:
    """Settings that run ``hook`` around every use of the Agent tool, and refuse the use if it fails."""
    line = f"out=$({shlex.join(hook)}) && printf '%s' \"$out\" || printf '%s' {shlex.quote(_REFUSAL)}"
    entry = {
        "matcher": "Task|Agent",
        "hooks": [{"type": "command", "command": line, "timeout": limits.hook_timeout_seconds}],
    }
    return json.dumps({"hooks": {event: [entry] for event in _CONSULT_EVENTS}})


def _tools(call: AgentCall) -> tuple[str, ...]:
    reading = _READING_TOOLS if call.tree is not None else ()
    return (*reading, "Agent") if call.consults is not None else reading


def _disallowed(call: AgentCall) -> tuple[str, ...]:
    if call.consults is None:
        return (*_NEVER, "Agent")
    return (*_NEVER, *(f"Agent({name})" for name in _BUILT_IN_AGENTS))


def _agents(call: AgentCall, grant: ConsultGrant, limits: Limits) -> dict[str, Any]:
    advisor = {
        "description": "The review advisor. Ask it one question when a decision of the review hangs on it.",
        "prompt": grant.advisor_prompt,
        "model": grant.advisor_model,
        "tools": list(_READING_TOOLS if call.tree is not None else ()),
        "maxTurns": limits.advisor_max_turns,
    }
    return {grant.subagent_type: advisor}
