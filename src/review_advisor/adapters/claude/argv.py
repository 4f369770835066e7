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
EVERY_TOOL = frozenset({*_READING_TOOLS, *_EDITING_TOOLS, "Agent"})
"""What some call may use; which of them a call may use depends on its role."""
_BUILT_IN_AGENTS = ("general-purpose", "Explore", "Plan", "claude", "fork", "statusline-setup")
_CONSULT_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")


def _refusal(why: str) -> str:
    """What a PreToolUse hook says to refuse a use: by JSON, because exit code 2 would show our command line."""
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": why}
    return shlex.quote(json.dumps({"hookSpecificOutput": decision}))


# A hook that crashes, or whose interpreter is missing, would let the tool call through.
_UNREGISTERED = _refusal("The consult could not be registered. Go on without advice.")
_WITHHELD = _refusal("This call has no leave to use this tool. Go on without it.")


def argv(
    command: tuple[str, ...], call: AgentCall, hook_settings: str | None, limits: Limits = DEFAULT_LIMITS
) -> list[str]:
    """The whole command line for ``call``. The prompt is never in it: it goes by stdin.

    ``hook_settings`` is what ``hook_settings()`` made; it is required when the call may consult.
    """
    if (call.consults is None) != (hook_settings is None):
        raise ValueError("a call may consult exactly when the consult hook is given")
    if (call.edits is not None or call.withheld.edits) and call.tree is None:
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
        *(("--effort", call.effort) if call.effort else ()),
        *("--tools", ",".join(_tools(call))),
        *("--disallowedTools", ",".join(_disallowed(call))),
        *("--system-prompt", call.system_prompt),
        *("--max-turns", str(limits.max_turns if _tools(call) else limits.max_turns_without_tools)),
        *("--max-budget-usd", f"{call.max_usd:.4f}"),
        *("--json-schema", answer_schema(call.answer)),
        *("--input-format", "stream-json"),
        *("--output-format", "stream-json"),
        "--verbose",
        "--include-partial-messages",  # tells a model at work from one that nobody hears
    ]
    described = call.consults or call.withheld.consults
    if described is not None:
        words += ["--agents", json.dumps(_agents(call, described, limits))]
        words.append("--forward-subagent-text")
    settings = _settings(call, hook_settings, limits)
    return [*words, "--settings", settings] if settings else words


def _settings(call: AgentCall, hook_settings: str | None, limits: Limits) -> str:
    """The one ``--settings`` of a call (of two the CLI takes the last): the hooks, and what may not be edited."""
    settings: dict[str, Any] = json.loads(hook_settings) if hook_settings is not None else {}
    withheld = _withheld(call)
    if withheld:
        hook = {"type": "command", "command": f"printf '%s' {_WITHHELD}", "timeout": limits.hook_timeout_seconds}
        hooks = settings.setdefault("hooks", {})
        hooks.setdefault("PreToolUse", []).append({"matcher": "|".join(withheld), "hooks": [hook]})
    if call.edits is not None:
        rules = [f"Edit({place})" for glob in call.edits.denied for place in _places(call, glob)]
        settings["permissions"] = {"deny": rules}
    elif call.withheld.edits:
        settings["permissions"] = {"deny": ["Edit(//**)"]}
    return json.dumps(settings) if settings else ""


def _withheld(call: AgentCall) -> tuple[str, ...]:
    """The names of the tools whose every use is refused, as matchers of hooks know them."""
    agents = call.withheld.consults is not None and call.consults is None
    edits = call.withheld.edits and call.edits is None
    return (*(("Task", "Agent") if agents else ()), *(_EDITING_TOOLS if edits else ()))


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
    line = f"out=$({alone}) && printf '%s' \"$out\" || printf '%s' {_UNREGISTERED}"
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
        *(_EDITING_TOOLS if call.edits is not None or call.withheld.edits else ()),
        *(("Agent",) if call.consults is not None or call.withheld.consults is not None else ()),
    )


def _disallowed(call: AgentCall) -> tuple[str, ...]:
    listed = _tools(call)
    never = _NEVER if _EDITING_TOOLS[0] in listed else (*_NEVER, *_EDITING_TOOLS)
    if "Agent" not in listed:
        return (*never, "Agent")
    return (*never, *(f"Agent({name})" for name in _BUILT_IN_AGENTS))


def _agents(call: AgentCall, grant: ConsultGrant, limits: Limits) -> dict[str, Any]:
    def agent(description: str, prompt: str, model: str) -> dict[str, Any]:
        definition = {
            "description": description,
            "prompt": prompt,
            "model": model,
            "tools": list(_READING_TOOLS if call.tree is not None else ()),
            "maxTurns": limits.advisor_max_turns,
        }
        return definition | ({"effort": grant.effort} if grant.effort else {})

    first = "The review advisor. Ask it one question when a decision of the review hangs on it."
    others = {each.id: agent(f"An advisor for: {each.about}", each.prompt, each.model) for each in grant.others}
    return {grant.subagent_type: agent(first, grant.advisor_prompt, grant.advisor_model), **others}
