"""The command line that holds against a hostile checkout. Pure: a call in, words out."""

from __future__ import annotations

import json
import shlex
from typing import Any

from review_advisor.adapters.claude.limits import DEFAULT_LIMITS, Limits
from review_advisor.core.answers.answers import answer_schema
from review_advisor.core.roles.calls import AgentCall, ConsultGrant

_READING_TOOLS = ("Read", "Grep", "Glob")
_EDITING_TOOLS = ("Edit", "Write")
_NEVER = ("Bash", "NotebookEdit", "WebFetch", "WebSearch")
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
    if call.edits is not None and call.tree is None:
        raise ValueError("a call may edit only in a tree")
    words = [
        *command,
        "-p",
        "--restricted",
        *("--setting-sources", ""),
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--no-session-persistence",
        *("--permission-mode", "dontAsk" if call.edits is None else "acceptEdits"),
        *("--permission-prompts", "none"),
        *("--model", call.model),
        *("--tools", ",".join(_tools(call))),
        *("--disallowedTools", ",".join(_disallowed(call))),
        *("--system-prompt", call.system_prompt),
        *("--max-turns", str(limits.max_turns if _tools(call) else limits.max_turns_without_tools)),
        *("--max-budget-usd", f"{call.max_usd:.4f}"),
        *("--json-schema", answer_schema(call.answer)),
        *("--output-format", "stream-json"),
        "--verbose",
        "--include-partial-messages",  # tells a model at work from one that nobody hears
    ]
    if call.consults is not None and hook_settings is not None:
        words += ["--agents", json.dumps(_agents(call, call.consults, limits))]
        words.append("--forward-subagent-text")
    settings = _settings(call, hook_settings)
    return [*words, "--settings", settings] if settings else words


def _settings(call: AgentCall, hook_settings: str | None) -> str:
    """The one ``--settings`` of a call (of two the CLI takes the last): our hook, and what may not be edited."""
    if call.edits is None:
        return hook_settings or ""
    settings = json.loads(hook_settings) if hook_settings is not None else {}
    rules = [f"Edit({place})" for glob in call.edits.denied for place in _places(call, glob)]
    return json.dumps({**settings, "permissions": {"deny": rules}})


def _places(call: AgentCall, glob: str) -> tuple[str, str]:
    """A glob as the CLI's rules write it, for a file and for all below a folder.

    A rule with one leading slash would be anchored at the settings, one with two is anchored at the disk.
    """
    anchored = f"/{call.tree}{glob}" if glob.startswith("/") else glob
    return anchored, f"{anchored}/**"


def hook_settings(hook: tuple[str, ...], limits: Limits = DEFAULT_LIMITS) -> str:
    """Settings that run ``hook`` around every use of the Agent tool, and refuse the use if it fails.

    Of the environment it sees one variable, by which a call's processes are found again: no credential.
    """
    alone = f'env -i TMPDIR="$TMPDIR" {shlex.join(hook)}'
    line = f"out=$({alone}) && printf '%s' \"$out\" || printf '%s' {shlex.quote(_REFUSAL)}"
    entry = {
        "matcher": "Task|Agent",
        "hooks": [{"type": "command", "command": line, "timeout": limits.hook_timeout_seconds}],
    }
    return json.dumps({"hooks": {event: [entry] for event in _CONSULT_EVENTS}})


def offered_tools(call: AgentCall) -> frozenset[str]:
    """The tools that the CLI may list for ``call``: those asked for, under both names, and its answer tool."""
    names = {*_tools(call), "StructuredOutput"}
    return frozenset(names | {"Task"} if "Agent" in names else names)


def _tools(call: AgentCall) -> tuple[str, ...]:
    return (
        *(_READING_TOOLS if call.tree is not None else ()),
        *(_EDITING_TOOLS if call.edits is not None else ()),
        *(("Agent",) if call.consults is not None else ()),
    )


def _disallowed(call: AgentCall) -> tuple[str, ...]:
    never = _NEVER if call.edits is not None else (*_NEVER, *_EDITING_TOOLS)
    if call.consults is None:
        return (*never, "Agent")
    return (*never, *(f"Agent({name})" for name in _BUILT_IN_AGENTS))


def _agents(call: AgentCall, grant: ConsultGrant, limits: Limits) -> dict[str, Any]:
    advisor = {
        "description": "The review advisor. Ask it one question when a decision of the review hangs on it.",
        "prompt": grant.advisor_prompt,
        "model": grant.advisor_model,
        "tools": list(_READING_TOOLS if call.tree is not None else ()),
        "maxTurns": limits.advisor_max_turns,
    }
    return {grant.subagent_type: advisor}
