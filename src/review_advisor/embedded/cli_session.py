"""One session's stream of events, as the CLI writes them, and the estimate of its tokens."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any, TextIO

from review_advisor.embedded.command_line import VERSION, Options

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
