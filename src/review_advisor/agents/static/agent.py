"""The embedded agent: speaks the `claude -p` contract and holds no model."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, TextIO

from review_advisor.change.checker_settings import RuffSettings
from review_advisor.change.kinds import PathRule

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


VERSION = "2.1.329"


VERSION_LINE = f"{VERSION} (review-advisor embedded agent)"


_SWITCH_NAMES = (
    "--print --version --restricted --strict-mcp-config --disable-slash-commands --no-session-persistence"
    " --verbose --forward-subagent-text --include-partial-messages --allow-unchecked"
)


_SWITCHES = {
    "-p": "--print",
    "-v": "--version",
    **{name: name for name in _SWITCH_NAMES.split()},
}


_VALUED_NAMES = (
    "--script --base-ruff --base-allows --checkers --setting-sources --permission-mode --permission-prompts"
    " --model --effort --tools --disallowedTools --agents --settings --system-prompt --max-turns --max-budget-usd"
    " --json-schema --input-format --output-format"
)


_VALUED = frozenset(_VALUED_NAMES.split())


_RULE = re.compile(r"\w+(?:\([^()]*\))?")


class UsageError(Exception):
    """Nothing can be answered: exit 1, the sentence on stderr, nothing on stdout."""


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """One entry of ``--agents``."""

    name: str
    prompt: str
    model: str


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked on the command line. ``--max-turns`` and ``--max-budget-usd`` are accepted and never reached."""

    model: str
    tools: tuple[str, ...]
    denied_agents: frozenset[str]
    agents: tuple[AgentDefinition, ...]
    hooks: tuple[Hook, ...]
    system_prompt: str
    permission_mode: str
    denied_edits: tuple[str, ...]
    schema: dict[str, Any]
    script: Path | None
    base_ruff: tuple[RuffSettings, ...]
    base_allows: Mapping[str, tuple[str, ...]]
    checkers: Mapping[str, str]
    allow_unchecked: bool
    forward_subagent_text: bool

    @property
    def question(self) -> str:
        """The title of the answer's schema: which question this is."""
        return str(self.schema.get("title", ""))


def parse(words: Sequence[str]) -> Options | None:
    """The options, or None when only the version is asked for. Raises ``UsageError``."""
    given = dict(_pairs(words))
    if "--version" in given:
        return None
    _require_print_mode(given)
    disallowed = _RULE.findall(given.get("--disallowedTools", ""))
    tools = [_tool(name) for name in re.split(r"[,\s]+", given.get("--tools", "")) if name]
    settings = _table("--settings", given.get("--settings", "{}"))
    if "--json-schema" not in given:
        raise UsageError("Error: the embedded agent answers questions with a --json-schema only")
    return Options(
        model=given.get("--model", "opus"),
        tools=tuple(name for name in tools if name not in {_tool(rule) for rule in disallowed}),
        denied_agents=frozenset(rule[6:-1] for rule in disallowed if rule.startswith("Agent(")),
        agents=tuple(starmap(_agent, _table("--agents", given.get("--agents", "{}")).items())),
        hooks=hooks_of(settings),
        system_prompt=given.get("--system-prompt", ""),
        permission_mode=given.get("--permission-mode", "default"),
        denied_edits=tuple(_denied_edits(settings)),
        schema=_table("--json-schema", given["--json-schema"]),
        script=Path(given["--script"]) if "--script" in given else None,
        base_ruff=_base_ruff(given.get("--base-ruff", "[]")),
        base_allows=_table("--base-allows", given.get("--base-allows", "{}")),
        checkers=_table("--checkers", given.get("--checkers", "{}")),
        allow_unchecked="--allow-unchecked" in given,
        forward_subagent_text="--forward-subagent-text" in given,
    )


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _SWITCHES:
            yield _SWITCHES[word], ""
        elif name in _VALUED and equals:
            yield name, value
        elif word in _VALUED:
            following = next(rest, None)
            if following is None:
                raise UsageError(f"error: option '{word} <value>' argument missing")
            yield word, following
        elif word.startswith("-"):
            raise UsageError(f"error: unknown option '{name}'")
        else:
            raise UsageError("error: the embedded agent takes its prompt from stdin only")


def _require_print_mode(given: dict[str, str]) -> None:
    if "--print" not in given:
        raise UsageError("Error: the embedded agent has no interactive mode; use -p")
    for option in ("--input-format", "--output-format"):
        if given.get(option) != "stream-json":
            raise UsageError(f"Error: the embedded agent speaks {option} stream-json only")
    if "--verbose" not in given:
        raise UsageError("Error: When using --print, --output-format=stream-json requires --verbose")


def _base_ruff(value: str) -> tuple[RuffSettings, ...]:
    if value == "[]":
        return ()
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - costs more than most calls' whole command line

    try:
        return TypeAdapter(tuple[RuffSettings, ...]).validate_json(value)
    except ValidationError as error:
        raise UsageError("Error: --base-ruff must be a JSON list of ruff settings") from error


def _tool(name: str) -> str:
    return "Agent" if name == "Task" else name


def _table(flag: str, value: str) -> dict[str, Any]:
    """The JSON object that an option is given, or whose file it names."""
    try:
        text = value if value.lstrip().startswith("{") else Path(value).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"Error: Invalid JSON or missing file in {flag}") from error
    if not isinstance(found, dict):
        raise UsageError(f"Error: {flag} must be a JSON object")
    return found


def _agent(name: str, entry: Any) -> AgentDefinition:
    if not isinstance(entry, dict) or not isinstance(entry.get("prompt"), str):
        raise UsageError(f"Error: --agents: agent '{name}' needs a prompt")
    return AgentDefinition(name, entry["prompt"], str(entry.get("model", "")))


def _denied_edits(settings: Mapping[str, Any]) -> Iterator[str]:
    """The globs of the ``Edit(...)`` rules that the settings deny."""
    for rule in settings.get("permissions", {}).get("deny", []):
        if found := re.fullmatch(r"Edit\((.+)\)", str(rule)):
            yield found[1]


_CHARACTERS_PER_TOKEN = 3.5


_STRUCTURE_ATTEMPTS = 5


def tokens(text: str) -> int:
    """An estimate, not a count: a token is taken to be 3.5 characters."""
    return int(len(text) / _CHARACTERS_PER_TOKEN) + 1


def resolved(model: str) -> str:
    """The name that stands for a model here: ``opus`` becomes ``embedded-opus``. No model is behind it."""
    return f"embedded-{model}"


class CliSession:
    """Writes events to ``out``, one JSON object a line, and ends with exactly one ``result``.

    All token figures are estimates (see ``tokens``); money is always 0.
    """

    def __init__(self, options: Options, prompt: str, cwd: Path, out: TextIO) -> None:
        self.options = options
        self.prompt = prompt
        self.cwd = cwd
        self.session_id = str(uuid.uuid4())
        self.model = resolved(options.model)
        self.denials: list[dict[str, Any]] = []
        self._out = out
        self._started = time.monotonic()
        self._turns = 0
        self._context = tokens(options.system_prompt) + tokens(prompt)
        self._used: dict[str, dict[str, int]] = {}
        self._main = (0, 0)

    def write(self, kind: str, **fields: Any) -> None:
        """One event of this session."""
        event = {"type": kind, **fields, "session_id": self.session_id, "uuid": str(uuid.uuid4())}
        self.write_raw(json.dumps(event))

    def write_raw(self, line: str) -> None:
        """One line as it is."""
        self._out.write(line + "\n")
        self._out.flush()

    def init(self) -> None:
        """The first event. As in the real one, the Agent tool goes by its old name here."""
        options = self.options
        self.write(
            "system",
            subtype="init",
            cwd=str(self.cwd),
            tools=[*("Task" if tool == "Agent" else tool for tool in options.tools), "StructuredOutput"],
            mcp_servers=[],
            plugins=[],
            skills=[],
            slash_commands=[],
            model=self.model,
            permissionMode=options.permission_mode,
            agents=[agent.name for agent in options.agents],
            claude_code_version=VERSION,
            apiKeySource="none",
            output_style="default",
        )

    def assistant(self, content: list[dict[str, Any]]) -> None:
        """A turn of the main loop."""
        self._turns += 1
        used = self._context, tokens(json.dumps(content))
        self.message(self.model, content, used, parent=None)
        self._main = self._main[0] + used[0], self._main[1] + used[1]
        self._context += used[1]

    def message(self, model: str, content: list[dict[str, Any]], used: tuple[int, int], *, parent: str | None) -> None:
        """One assistant message of the main loop (``parent`` None) or of a subagent; its tokens in and out counted."""
        self.count(model, used)
        usage = {"input_tokens": used[0], "output_tokens": used[1]}
        message = {
            "id": f"msg_{uuid.uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "usage": {**usage, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
        }
        self.write("assistant", message=message, parent_tool_use_id=parent)

    def api_error(self, error: str, status: int | None, text: str, parent: str | None) -> None:
        """The synthetic message by which the CLI tells of a failed request."""
        message = {
            "id": str(uuid.uuid4()),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self.write("assistant", message=message, parent_tool_use_id=parent, error=error, api_error_status=status)

    def tool_result(
        self, tool_use_id: str, content: str | list[dict[str, Any]], *, is_error: bool = False, details: Any = None
    ) -> None:
        """What a tool gave back to the main loop."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}
        if is_error:
            block["is_error"] = True
        self._context += tokens(json.dumps(content))
        self.write(
            "user",
            message={"role": "user", "content": [block]},
            parent_tool_use_id=None,
            tool_use_result=details if details is not None else content,
        )

    def count(self, model: str, used: tuple[int, int]) -> None:
        """Add tokens, in and out, to what ``model`` used."""
        entry = self._used.setdefault(model, {"inputTokens": 0, "outputTokens": 0})
        entry["inputTokens"] += used[0]
        entry["outputTokens"] += used[1]

    def structured(self, answer: dict[str, Any]) -> None:
        """Give the answer by the StructuredOutput tool and end well."""
        self._offer(answer, "Structured output provided successfully", is_error=False)
        self.result(result=json.dumps(answer), structured_output=answer, stop_reason="tool_use")

    def refused_structure(self, answer: dict[str, Any], why: str) -> None:
        """Offer an answer that does not fit its schema as often as the CLI allows, and end without one."""
        said = f"Output does not match required schema: {why}"
        for _ in range(_STRUCTURE_ATTEMPTS):
            self._offer(answer, said, is_error=True)
        lost = f"Failed to provide valid structured output after {_STRUCTURE_ATTEMPTS} attempts"
        self.result(
            subtype="error_max_structured_output_retries",
            is_error=True,
            errors=[f"{lost} — last StructuredOutput error: {said}"],
            stop_reason="tool_use",
            terminal_reason="structured_output_retry_exhausted",
        )

    def _offer(self, answer: dict[str, Any], reply: str, *, is_error: bool) -> None:
        use = f"toolu_{uuid.uuid4().hex[:24]}"
        self.assistant([{"type": "tool_use", "id": use, "name": "StructuredOutput", "input": answer}])
        self.tool_result(use, reply, is_error=is_error, details=f"Error: {reply}" if is_error else None)

    def nudge(self) -> None:
        """What the CLI says to a model that answered with text only."""
        said = "[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request."
        message = {"role": "user", "content": [{"type": "text", "text": said}]}
        self.write("user", message=message, parent_tool_use_id=None)

    def result(
        self, *, subtype: str = "success", is_error: bool = False, status: int | None = None, **fields: Any
    ) -> None:
        """The last event. Its ``usage`` is the main loop's alone; ``modelUsage`` has the subagents' as well."""
        duration = int((time.monotonic() - self._started) * 1000)
        self.write(
            "result",
            subtype=subtype,
            is_error=is_error,
            api_error_status=status,
            **{"stop_reason": "end_turn", "terminal_reason": "completed", **fields},
            num_turns=self._turns,
            duration_ms=duration,
            duration_api_ms=duration,
            total_cost_usd=0.0,
            usage={
                "input_tokens": self._main[0],
                "output_tokens": self._main[1],
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 0,
            },
            modelUsage={
                model: {**used, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "costUSD": 0.0}
                for model, used in self._used.items()
            },
            permission_denials=self.denials,
        )


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
