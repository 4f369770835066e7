"""The CLI's stream-json, folded line by line into what matters. Pure, and bounded: no line is kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from review_advisor.core.roles.calls import ModelUsage, Usage

_CONSULT_TOOLS = frozenset({"Agent", "Task"})
_NOT_WORK = _CONSULT_TOOLS | {"StructuredOutput"}
_SWAPS = frozenset({"model_refusal_fallback", "model_fallback"})
_SYNTHETIC = "<synthetic>"
_NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A subagent began: which tool use asked for it, and how it really runs."""

    tool_use_id: str
    subagent_type: str
    prompt: str | None
    is_backgrounded: bool


@dataclass(frozen=True, slots=True)
class ApiFailure:
    """An API error as the CLI classed it on its own synthetic message."""

    error_class: str
    error_type: str = ""
    status: int | None = None


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """The last ``result`` event. ``structured_output`` None means: no such key, or not an object."""

    is_error: bool
    subtype: str
    api_error_status: int | None
    terminal_reason: str
    stop_reason: str
    text: str
    structured_output: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """What one call's stream said."""

    result: ResultEvent | None = None
    failure: ApiFailure | None = None
    """The main loop's, if it was the last thing the main loop said."""
    consult_failures: tuple[ApiFailure, ...] = ()
    tools: tuple[str, ...] = ()
    session_id: str = ""
    resolved_model: str = ""
    tool_failures: int = 0
    usage: Usage = _NOTHING_USED
    by_model: tuple[ModelUsage, ...] = ()
    retries_since_answer: int = 0
    model_swapped: str = ""


@dataclass(slots=True)
class StreamReader:
    """Takes lines as they come; ``summary()`` may be asked for at any time."""

    _result: dict[str, Any] | None = None
    _failure: ApiFailure | None = None
    _consult_failures: list[ApiFailure] = field(default_factory=list)
    _tools: tuple[str, ...] = ()
    _session_id: str = ""
    _model: str = ""
    _tool_names: dict[str, str] = field(default_factory=dict)
    _failures_now: int = 0
    _failures_longest: int = 0
    _messages: dict[str, ModelUsage] = field(default_factory=dict)
    _retries_since_answer: int = 0
    _swapped: str = ""

    def feed(self, line: bytes) -> TaskStarted | None:
        """Take one line without its newline. Returns the subagent's start, if the line tells of one."""
        if not line.strip():
            return None
        event = _object(line)
        if event is None:
            return None
        kind, subtype = event.get("type"), event.get("subtype")
        if kind == "system":
            return self._system(str(subtype), event)
        if kind == "assistant":
            self._assistant(event)
        elif kind == "user":
            self._user(event)
        elif kind == "result":
            self._result = event
            self._session_id = _text(event, "session_id") or self._session_id
        return None

    def _system(self, subtype: str, event: dict[str, Any]) -> TaskStarted | None:
        if subtype == "init":
            self._session_id = _text(event, "session_id")
            self._model = self._model or _text(event, "model")
            self._tools = tuple(str(tool) for tool in _list(event, "tools"))
        elif subtype == "api_retry":
            self._retries_since_answer += 1
        elif subtype in _SWAPS:
            self._swapped = subtype
        elif subtype == "task_started":
            prompt = event.get("prompt")
            return TaskStarted(
                tool_use_id=_text(event, "tool_use_id"),
                subagent_type=_text(event, "subagent_type"),
                prompt=prompt if isinstance(prompt, str) else None,
                is_backgrounded=bool(event.get("is_backgrounded")),
            )
        return None

    def _assistant(self, event: dict[str, Any]) -> None:
        message = _dict(event, "message")
        main = event.get("parent_tool_use_id") is None
        failure = _failure(event)
        if failure is None:
            self._count(message)
            self._retries_since_answer = 0 if main else self._retries_since_answer
        elif not main:
            self._consult_failures.append(failure)
        if main:
            self._failure = failure
            model = _text(message, "model")
            self._model = model if model and model != _SYNTHETIC else self._model
            for block in _blocks(message, "tool_use"):
                self._tool_names[_text(block, "id")] = _text(block, "name")

    def _count(self, message: dict[str, Any]) -> None:
        identity, model = _text(message, "id"), _text(message, "model")
        if identity and model and model != _SYNTHETIC:
            used = _dict(message, "usage")
            self._messages[identity] = ModelUsage(model, _usage(used, _MESSAGE_KEYS, None))

    def _user(self, event: dict[str, Any]) -> None:
        if event.get("parent_tool_use_id") is not None:
            return
        for block in _blocks(_dict(event, "message"), "tool_result"):
            if self._tool_names.pop(_text(block, "tool_use_id"), "") in _NOT_WORK:
                continue
            self._failures_now = self._failures_now + 1 if block.get("is_error") is True else 0
            self._failures_longest = max(self._failures_longest, self._failures_now)

    def summary(self) -> StreamSummary:
        """Everything so far. Money and tokens are the result's own; without one, what the messages said."""
        by_model = _reported_usage(self._result) or _seen_usage(self._messages.values())
        return StreamSummary(
            result=_result_event(self._result) if self._result is not None else None,
            failure=self._failure,
            consult_failures=tuple(self._consult_failures),
            tools=self._tools,
            session_id=self._session_id,
            resolved_model=self._model,
            tool_failures=self._failures_longest,
            usage=_total((entry.usage for entry in by_model), _number(self._result or {}, "total_cost_usd")),
            by_model=by_model,
            retries_since_answer=self._retries_since_answer,
            model_swapped=self._swapped,
        )


def decode(lines: Iterable[bytes]) -> StreamSummary:
    """The summary of a whole stream."""
    reader = StreamReader()
    for line in lines:
        reader.feed(line)
    return reader.summary()


_MESSAGE_KEYS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_RESULT_KEYS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _failure(event: dict[str, Any]) -> ApiFailure | None:
    if not isinstance(event.get("error"), str):
        return None
    return ApiFailure(event["error"], _text(event, "api_error_type"), _status(event))


def _result_event(event: dict[str, Any]) -> ResultEvent:
    value = event.get("structured_output")
    text = event.get("result")
    if not isinstance(text, str):
        text = "; ".join(str(error) for error in _list(event, "errors"))
    return ResultEvent(
        is_error=event.get("is_error") is not False,
        subtype=_text(event, "subtype"),
        api_error_status=_status(event),
        terminal_reason=_text(event, "terminal_reason"),
        stop_reason=_text(event, "stop_reason"),
        text=text,
        structured_output=value if isinstance(value, dict) else None,
    )


def _usage(counts: dict[str, Any], keys: tuple[str, str, str, str], cost: float | None) -> Usage:
    read, written, from_cache, to_cache = (_int(counts, key) for key in keys)
    return Usage(read, written, from_cache, to_cache, cost)


def _reported_usage(event: dict[str, Any] | None) -> tuple[ModelUsage, ...]:
    found = []
    for model, entry in _dict(event or {}, "modelUsage").items():
        if isinstance(entry, dict):
            found.append(ModelUsage(str(model), _usage(entry, _RESULT_KEYS, _number(entry, "costUSD"))))
    return tuple(found)


def _seen_usage(messages: Iterable[ModelUsage]) -> tuple[ModelUsage, ...]:
    grouped: dict[str, list[Usage]] = {}
    for entry in messages:
        grouped.setdefault(entry.model, []).append(entry.usage)
    return tuple(ModelUsage(model, _total(usages, None)) for model, usages in grouped.items())


def _total(usages: Iterable[Usage], cost: float | None) -> Usage:
    every = list(usages)
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in every),
        output_tokens=sum(usage.output_tokens for usage in every),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in every),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in every),
        cost_usd=cost,
    )


def _blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in _list(message, "content") if isinstance(block, dict) and block.get("type") == kind]


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _list(event: Mapping[str, Any], key: str) -> list[Any]:
    value = event.get(key)
    return value if isinstance(value, list) else []


def _dict(event: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = event.get(key)
    return value if isinstance(value, dict) else {}


def _int(event: Mapping[str, Any], key: str) -> int:
    value = event.get(key)
    return value if isinstance(value, int) else 0


def _status(event: Mapping[str, Any]) -> int | None:
    value = event.get("api_error_status")
    return value if isinstance(value, int) else None


def _number(event: Mapping[str, Any], key: str) -> float | None:
    value = event.get(key)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable and value is not None else None
