"""The CLI's stream-json, folded line by line."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from review_advisor.agents.calls import total_usage
from review_advisor.safety.fence import read_json
from review_advisor.safety.stop import ModelUsage, Usage


def text_of(event: Mapping[str, Any], key: str) -> str:
    """A text."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def list_of(event: Mapping[str, Any], key: str) -> list[Any]:
    """A list."""
    value = event.get(key)
    return value if isinstance(value, list) else []


def dict_of(event: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object."""
    value = event.get(key)
    return value if isinstance(value, dict) else {}


_MESSAGE_KEYS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


_RESULT_KEYS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


MOST_TOKENS = 10**12


MOST_USD = 1e6
"""More than this no call can use."""


class _ImpossibleError(ValueError):
    """A number that no count of tokens and no sum of money can be."""


@dataclass(frozen=True, slots=True)
class CallUsage:
    """What was used; ``own`` by the main loop alone, None where that is not known.

    ``impossible``: the CLI gave a number that cannot be, so that none of its numbers is taken.
    """

    usage: Usage
    by_model: tuple[ModelUsage, ...]
    own: Usage | None = None
    impossible: bool = False


def account(result: Mapping[str, Any] | None, messages: Iterable[Mapping[str, Any]], *, results: int) -> CallUsage:
    """The result's own numbers; without them, what the messages said, of which some are the ``main`` loop's.

    A result tells what the main loop used since the result before it: of several ``results`` the last is not enough.
    """
    result, every = result or {}, tuple(messages)
    try:
        reported = _reported(result)
        by_model = reported or _seen(every)
        total = replace(total_usage(each.usage for each in by_model), cost_usd=_usd(result, "total_cost_usd"))
        if reported:
            own = _usage(dict_of(result, "usage"), _MESSAGE_KEYS, None) if results == 1 else Usage()
        else:
            main = _seen(message for message in every if message["main"])
            own = total_usage(each.usage for each in main)
        return CallUsage(total, by_model, own if own != Usage() else None)
    except _ImpossibleError:
        return CallUsage(Usage(), (), impossible=True)


def _reported(result: Mapping[str, Any]) -> tuple[ModelUsage, ...]:
    found = []
    for model, entry in dict_of(result, "modelUsage").items():
        if isinstance(entry, dict):
            found.append(ModelUsage(str(model), _usage(entry, _RESULT_KEYS, _usd(entry, "costUSD"))))
    return tuple(found)


def _seen(messages: Iterable[Mapping[str, Any]]) -> tuple[ModelUsage, ...]:
    grouped: dict[str, list[Usage]] = {}
    for message in messages:
        grouped.setdefault(str(message["model"]), []).append(_usage(dict_of(message, "usage"), _MESSAGE_KEYS, None))
    return tuple(ModelUsage(model, total_usage(usages)) for model, usages in grouped.items())


def _usage(counts: Mapping[str, Any], keys: tuple[str, str, str, str], cost: float | None) -> Usage:
    read, written, from_cache, to_cache = (_tokens(counts, key) for key in keys)
    return Usage(read, written, from_cache, to_cache, cost)


def _tokens(counts: Mapping[str, Any], key: str) -> int:
    value = counts.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    if not 0 <= value <= MOST_TOKENS:
        raise _ImpossibleError(key)
    return value


def _usd(counts: Mapping[str, Any], key: str) -> float | None:
    value = counts.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not 0 <= value <= MOST_USD:  # also what is no number at all (NaN)
        raise _ImpossibleError(key)
    return float(value)


_CONSULT_TOOLS = frozenset({"Agent", "Task"})


_ANSWER_TOOL = "StructuredOutput"


_NOT_WORK = _CONSULT_TOOLS | {_ANSWER_TOOL}


_SWAPS = frozenset({"model_refusal_fallback", "model_fallback"})


_SYNTHETIC = "<synthetic>"


_NOTHING_USED = Usage()


_SIGNS_OF_WORK = frozenset({"assistant", "user", "stream_event"})


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A subagent began: which tool use asked for it, and how it really runs."""

    tool_use_id: str
    subagent_type: str
    prompt: str | None
    is_backgrounded: bool


@dataclass(frozen=True, slots=True)
class ApiFailure:
    """An API error as the CLI classed it on its own synthetic message.

    ``retried``: the CLI tried again before it gave up. ``text`` is what it says of the error.
    """

    error_class: str
    error_type: str = ""
    status: int | None = None
    retried: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """The last ``result`` event. ``structured_output`` None means: no such key, or no object."""

    is_error: bool
    subtype: str
    api_error_status: int | None
    terminal_reason: str
    stop_reason: str
    text: str
    structured_output: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class StreamSummary:
    """What one call's stream said.

    ``answers`` are all structured answers of the main loop, in order, of any type and whether the CLI took them or not.
    ``tool_open``: a tool call of the main loop had not come back when the stream ended; ``busy``: that, or a message of
    the model was on its way. ``unreadable``: a line was no event, so nobody knows what was said in it.
    ``impossible_usage``: what the CLI says was used cannot be; ``usage`` and ``by_model`` then hold nothing.
    """

    result: ResultEvent | None = None
    failure: ApiFailure | None = None
    """The main loop's, if it was the last thing the main loop said."""
    consult_failures: tuple[ApiFailure, ...] = ()
    tools: tuple[str, ...] = ()
    session_id: str = ""
    resolved_model: str = ""
    tool_failures: int = 0
    failures_unadvised: int = 0
    """The same since the last consult that was answered."""
    readings_unadvised: int = 0
    """How often one place of a file was read since then."""
    opened: tuple[str, ...] = ()
    """The files that the main loop's Read tool brought back as pictures, relative to the working folder."""
    turns: int = 0
    """The messages of the main loop, each a request of its own. The CLI's ``num_turns`` counts uses of tools instead:
    seven in one message are seven."""
    usage: Usage = _NOTHING_USED
    by_model: tuple[ModelUsage, ...] = ()
    own_usage: Usage | None = None
    """The main loop's tokens without its consults'; None where they are not known."""
    retries_since_answer: int = 0
    begun_since_answer: bool = False
    """The API took a request and began a message that it did not finish."""
    model_swapped: str = ""
    answers: tuple[Any, ...] = ()
    tool_open: bool = False
    busy: bool = False
    unreadable: bool = False
    impossible_usage: bool = False


@dataclass(slots=True)
class _ToolsUsed:
    """What the main loop's tools did since some moment."""

    failures_now: int = 0
    failures_longest: int = 0
    readings: Counter[str] = field(default_factory=Counter)

    def result(self, *, failed: bool) -> None:
        self.failures_now = self.failures_now + 1 if failed else 0
        self.failures_longest = max(self.failures_longest, self.failures_now)

    def used(self, name: str, given: dict[str, Any]) -> None:
        if name == "Read":
            self.readings[f"{given.get('file_path')}:{given.get('offset') or 0}"] += 1


@dataclass(slots=True)
class StreamReader:
    """Takes lines as they come; ``summary()`` may be asked for at any time."""

    _result: dict[str, Any] | None = None
    _results: int = 0
    _failure: ApiFailure | None = None
    _consult_failures: list[ApiFailure] = field(default_factory=list)
    _tools: tuple[str, ...] = ()
    _session_id: str = ""
    _model: str = ""
    _tool_names: dict[str, str] = field(default_factory=dict)
    _cwd: str = "/"
    _reading: dict[str, str] = field(default_factory=dict)
    """The path that each open use of Read names."""
    _opened: set[str] = field(default_factory=set)
    _in_all: _ToolsUsed = field(default_factory=_ToolsUsed)
    _unadvised: _ToolsUsed = field(default_factory=_ToolsUsed)
    """Since the last consult that was answered."""
    _messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    _retries_since_answer: int = 0
    _swapped: str = ""
    _answers: list[Any] = field(default_factory=list)
    _message_on_its_way: bool = False
    _begun_since_answer: bool = False
    _unreadable: bool = False
    _retrying_consults: set[str] = field(default_factory=set)
    signs_of_work: int = 0
    """How many lines so far came from the model or its tools; the CLI's own notes and retries are none."""

    def feed(self, line: bytes) -> TaskStarted | None:
        """Take one line without its newline. Returns the subagent's start, if the line tells of one."""
        if not line.strip():
            return None
        event = _object(line)
        if event is None:
            self._unreadable = True
            return None
        kind, subtype = event.get("type"), event.get("subtype")
        is_ping = text_of(dict_of(event, "event"), "type") == "ping"
        self.signs_of_work += kind in _SIGNS_OF_WORK and not is_ping and not isinstance(event.get("error"), str)
        if kind == "system":
            return self._system(str(subtype), event)
        if kind == "assistant":
            self._assistant(event)
        elif kind == "user":
            self._user(event)
        elif kind == "stream_event":
            self._partial(event)
        elif kind == "tool_progress" and dict_of(event, "subagent_retry"):
            self._retrying_consults.add(text_of(event, "parent_tool_use_id"))
        elif kind == "result":
            self._result = event
            self._results += 1
            self._answers += _answers(event.get("structured_output"))
            self._session_id = text_of(event, "session_id") or self._session_id
        return None

    def _system(self, subtype: str, event: dict[str, Any]) -> TaskStarted | None:
        if subtype == "init":
            self._session_id = text_of(event, "session_id")
            self._model = self._model or text_of(event, "model")
            self._cwd = text_of(event, "cwd") or self._cwd
            self._tools = tuple(str(tool) for tool in list_of(event, "tools"))
        elif subtype == "api_retry":
            self._retries_since_answer += 1
            self._message_on_its_way = False
        elif subtype in _SWAPS:
            self._swapped = subtype
        elif subtype == "task_started":
            prompt = event.get("prompt")
            return TaskStarted(
                tool_use_id=text_of(event, "tool_use_id"),
                subagent_type=text_of(event, "subagent_type"),
                prompt=prompt if isinstance(prompt, str) else None,
                is_backgrounded=bool(event.get("is_backgrounded")),
            )
        return None

    def _partial(self, event: dict[str, Any]) -> None:
        kind = text_of(dict_of(event, "event"), "type")
        if event.get("parent_tool_use_id") is None and kind in ("message_start", "message_stop"):
            self._message_on_its_way = kind == "message_start"
            self._begun_since_answer = self._begun_since_answer or kind == "message_start"

    def _assistant(self, event: dict[str, Any]) -> None:
        message = dict_of(event, "message")
        main = event.get("parent_tool_use_id") is None
        failure = _failure(event, retried=text_of(event, "parent_tool_use_id") in self._retrying_consults)
        if failure is None:
            self._count(message, main=main)
            self._retries_since_answer = 0 if main else self._retries_since_answer
            self._begun_since_answer = self._begun_since_answer and not main
            self._retrying_consults.discard(text_of(event, "parent_tool_use_id"))
        elif not main:
            self._consult_failures.append(failure)
        if main:
            self._failure = failure
            model = text_of(message, "model")
            self._model = model if model and model != _SYNTHETIC else self._model
            for block in _blocks(message, "tool_use"):
                self._tool_names[text_of(block, "id")] = text_of(block, "name")
                self._unadvised.used(text_of(block, "name"), dict_of(block, "input"))
                if text_of(block, "name") == "Read":
                    self._reading[text_of(block, "id")] = text_of(dict_of(block, "input"), "file_path")
                if text_of(block, "name") == _ANSWER_TOOL:
                    self._answers += _answers(block.get("input"))

    def _count(self, message: dict[str, Any], *, main: bool) -> None:
        identity, model = text_of(message, "id"), text_of(message, "model")
        if identity and model and model != _SYNTHETIC:
            self._messages[identity] = {"model": model, "usage": dict_of(message, "usage"), "main": main}

    def _user(self, event: dict[str, Any]) -> None:
        if event.get("parent_tool_use_id") is not None:
            return
        for block in _blocks(dict_of(event, "message"), "tool_result"):
            failed = block.get("is_error") is True
            path = self._reading.pop(text_of(block, "tool_use_id"), "")
            if path and not failed and _blocks(block, "image"):
                self._opened.add(_within(self._cwd, path))
            name = self._tool_names.pop(text_of(block, "tool_use_id"), "")
            if name in _NOT_WORK:
                self._unadvised = _ToolsUsed() if name in _CONSULT_TOOLS and not failed else self._unadvised
                continue
            self._unadvised.result(failed=failed)
            self._in_all.result(failed=failed)

    def summary(self) -> StreamSummary:
        """Everything so far. Money and tokens are the result's own; without one, what the messages said."""
        used = account(self._result, self._messages.values(), results=self._results)
        return StreamSummary(
            result=_result_event(self._result) if self._result is not None else None,
            failure=self._failure,
            consult_failures=tuple(self._consult_failures),
            tools=self._tools,
            session_id=self._session_id,
            resolved_model=self._model,
            tool_failures=self._in_all.failures_longest,
            opened=tuple(sorted(self._opened)),
            turns=sum(bool(message["main"]) for message in self._messages.values()),
            failures_unadvised=self._unadvised.failures_longest,
            readings_unadvised=max(self._unadvised.readings.values(), default=0),
            usage=used.usage,
            by_model=used.by_model,
            own_usage=used.own,
            retries_since_answer=self._retries_since_answer,
            begun_since_answer=self._begun_since_answer,
            model_swapped=self._swapped,
            answers=tuple(self._answers),
            tool_open=bool(self._tool_names),
            busy=self._message_on_its_way or bool(self._tool_names),
            unreadable=self._unreadable,
            impossible_usage=used.impossible,
        )


def decode(lines: Iterable[bytes]) -> StreamSummary:
    """The summary of a whole stream."""
    reader = StreamReader()
    for line in lines:
        reader.feed(line)
    return reader.summary()


def _within(folder: str, path: str) -> str:
    """``path`` in its shortest form: relative to ``folder``, or absolute if it lies elsewhere."""
    whole = posixpath.normpath(posixpath.join(folder, path))
    return whole.removeprefix(posixpath.normpath(folder).rstrip("/") + "/")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = read_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _answers(said: object) -> list[Any]:
    """What was given as a structured answer: one of any type, or none if nothing was said. A JSON string is read."""
    value = _read(said)
    return [] if value in (None, {}, "") else [value]


def _read(said: object) -> Any:
    if not isinstance(said, str):
        return said
    try:
        return read_json(said)
    except ValueError:
        return said


def _failure(event: dict[str, Any], *, retried: bool) -> ApiFailure | None:
    if not isinstance(event.get("error"), str):
        return None
    said = " ".join(text_of(block, "text") for block in _blocks(dict_of(event, "message"), "text"))
    return ApiFailure(event["error"], text_of(event, "api_error_type"), _status(event), retried, said)


def _result_event(event: dict[str, Any]) -> ResultEvent:
    value = _read(event.get("structured_output"))
    text = event.get("result")
    if not isinstance(text, str):
        text = "; ".join(str(error) for error in list_of(event, "errors"))
    return ResultEvent(
        is_error=event.get("is_error") is not False,
        subtype=text_of(event, "subtype"),
        api_error_status=_status(event),
        terminal_reason=text_of(event, "terminal_reason"),
        stop_reason=text_of(event, "stop_reason"),
        text=text,
        structured_output=value if isinstance(value, dict) else None,
    )


def _blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in list_of(message, "content") if isinstance(block, dict) and block.get("type") == kind]


def _status(event: dict[str, Any]) -> int | None:
    value = event.get("api_error_status")
    return value if isinstance(value, int) else None
