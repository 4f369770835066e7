"""The command line and environment of `claude -p` that hold against a hostile checkout."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review_advisor.agents.answers import answer_schema
from review_advisor.agents.calls import AgentCall, ConsultGrant
from review_advisor.safety.children import Bounds
from review_advisor.safety.fence import whole


@dataclass(frozen=True, slots=True)
class Limits(Bounds):
    """How often the CLI may retry, how long it may be silent, and what is done when it goes on for too long.

    ``silence_seconds``: see ``is_silence``. ``hook_timeout_seconds`` is when the CLI gives up on the consult hook, and
    lets the consult through; ``hook_patience_seconds`` is when the hook itself gives up, and denies it.

    The defaults fit a call of ten minutes: three tries of a request that hangs end before it does.
    """

    api_retries: int = 2
    request_timeout_ms: int = 150_000
    stream_idle_timeout_ms: int = 120_000
    max_turns: int = 60
    max_turns_without_tools: int = 12
    advisor_max_turns: int = 12
    silence_seconds: float = 60.0
    hook_timeout_seconds: int = 20
    hook_patience_seconds: int = 15
    max_prompt_bytes: int = 9_500_000

    def is_silence(self, quiet_seconds: float, call_seconds: float) -> bool:
        """Whether a call whose time is over was silent: nothing was heard for so long, or for half of a short call."""
        return quiet_seconds >= min(self.silence_seconds, call_seconds / 2)


DEFAULT_LIMITS = Limits()


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
        return {
            "description": description,
            "prompt": prompt,
            "model": model,
            "tools": list(_READING_TOOLS if call.tree is not None else ()),
            "maxTurns": limits.advisor_max_turns,
        }

    first = "The review advisor. Ask it one question when a decision of the review hangs on it."
    others = {each.id: agent(f"An advisor for: {each.about}", each.prompt, each.model) for each in grant.others}
    return {grant.subagent_type: agent(first, grant.advisor_prompt, grant.advisor_model), **others}


# Without these the CLI inlines files that a pasted diff mentions, runs consults in the background,
# swaps the model after a refusal, and talks to more than the model's API.
_SWITCHES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_FORK_SUBAGENT": "0",
    "CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",
}


# In the CLI's own order. Of two it would take the first, or send both: a key and a gateway's token. The token has no
# descriptor: the CLI reads it from its environment, and its children, hooks among them, inherit it.
_CREDENTIALS = {
    "ANTHROPIC_AUTH_TOKEN": None,
    "ANTHROPIC_API_KEY": "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_OAUTH_TOKEN": "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
}


_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": (
        "CLAUDE_CODE_USE_BEDROCK",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_BEARER_TOKEN_BEDROCK",
        "AWS_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "ANTHROPIC_BEDROCK_BASE_URL",
    ),
    "CLAUDE_CODE_USE_VERTEX": (
        "CLAUDE_CODE_USE_VERTEX",
        "CLOUD_ML_REGION",
        "ANTHROPIC_VERTEX_PROJECT_ID",
        "ANTHROPIC_VERTEX_BASE_URL",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ),
}


_CLOUD_SECRETS = frozenset({"AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"})


_MODEL_ALIASES = tuple(f"ANTHROPIC_DEFAULT_{family}_MODEL" for family in ("OPUS", "SONNET", "HAIKU", "FABLE"))


_NETWORK = (
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


_FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class ChildEnvironment:
    """``variables`` as they are; ``by_descriptor`` maps a variable to the secret its file descriptor will carry."""

    variables: dict[str, str]
    by_descriptor: dict[str, str]


def child_environment(
    environ: Mapping[str, str],
    home: Path,
    config_dir: Path,
    tmp_dir: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    cached: bool = True,
) -> ChildEnvironment:
    """What the CLI may know: how to run, and the one model credential. No forge token, nothing of a parent CLI.

    Only one way to the model is passed on: a cloud if one is switched on, else a gateway's token, else the API key,
    else the OAuth token. An API key or OAuth token is never among ``variables``, which hooks inherit. Without
    ``cached`` nothing is put into the cache of prompts: writing costs a quarter more, which one turn never earns back.
    """
    variables = {
        **_SWITCHES,
        "PATH": absolute_path_entries(environ.get("PATH", "")) or _FALLBACK_PATH,
        "LANG": environ.get("LANG") or "C.UTF-8",
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(config_dir),
        "CLAUDE_CODE_TMPDIR": str(tmp_dir),
        "TMPDIR": str(tmp_dir),
        "CLAUDE_CODE_MAX_RETRIES": str(limits.api_retries),
        "API_TIMEOUT_MS": str(limits.request_timeout_ms),
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": str(limits.stream_idle_timeout_ms),
    }
    if not cached:
        variables["DISABLE_PROMPT_CACHING"] = "1"
    cloud = _cloud(environ)
    named = (*(cloud or ("ANTHROPIC_BASE_URL",)), *_MODEL_ALIASES, *_NETWORK)
    variables |= {name: environ[name] for name in named if environ.get(name)}
    credential = None if cloud else _credential(environ)
    if credential is None:
        return ChildEnvironment(variables, {})
    secret, descriptor = environ[credential].strip(), _CREDENTIALS[credential]
    if descriptor is None:
        return ChildEnvironment({**variables, credential: secret}, {})
    return ChildEnvironment(variables, {descriptor: secret})


def credential_present(environ: Mapping[str, str]) -> bool:
    """Whether any way to a model is configured. Says nothing about whether it works."""
    return _cloud(environ) is not None or _credential(environ) is not None


def credential_secret(environ: Mapping[str, str]) -> bytes:
    """What only whoever pays for the answers knows; empty where the credential is no secret of this environment.

    That is so with a cloud's profile or role: their secrets lie in files, or come from the machine.
    """
    cloud, credential = _cloud(environ), _credential(environ)
    named = [name for name in cloud if name in _CLOUD_SECRETS] if cloud else [credential] if credential else []
    found = [environ[name] for name in named if environ.get(name)]
    return "\0".join(found).encode("utf-8", "surrogateescape")


def absolute_path_entries(path: str) -> str:
    """``PATH`` without relative and empty entries: those would run the checkout's own ``git``."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())


def _cloud(environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The variables of the one cloud that is used."""
    on = [names for switch, names in _CLOUDS.items() if _on(environ, switch)]
    return on[0] if on else None


def _credential(environ: Mapping[str, str]) -> str | None:
    """The name of the one credential that is used without a cloud."""
    return next((name for name in _CREDENTIALS if environ.get(name, "").strip()), None)


def _on(environ: Mapping[str, str], switch: str) -> bool:
    return environ.get(switch, "").strip().lower() in {"1", "true", "yes", "on"}


def user_message(blocks: Sequence[str]) -> bytes:
    """One line for ``--input-format stream-json``. Behind all blocks but the last stands a mark for the cache.

    The CLI passes the mark through and sets its own behind the last block, so that a later call which begins with the
    same blocks reads them from the cache. In ASCII: other readers of lines than ours end one at U+2028, too.
    """
    first, *rest = blocks
    content: list[dict[str, Any]] = [{"type": "text", "text": whole(text)} for text in (_safe_start(first), *rest)]
    if rest:
        content[-2]["cache_control"] = {"type": "ephemeral"}
    message = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(message).encode("ascii") + b"\n"


def _safe_start(text: str) -> str:
    """A prompt that begins with "/" would be a command to the CLI, and an empty one an error."""
    return text if text.strip() and not text.lstrip().startswith("/") else f"Request:\n{text}"
