"""Dispatches `claude -p`: command line, environment, process, and the meaning of its end."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel

from review_advisor.agents import consult_hook
from review_advisor.agents.calls import (
    AgentCall,
    Answered,
    AuthenticationFailedError,
    Cause,
    CliError,
    ConsultReply,
    Consults,
    CreditExhaustedError,
    Denied,
    Granted,
    Lost,
    LostReason,
    ModelForbiddenError,
    ModelUnknownError,
)
from review_advisor.agents.claude_argv import (
    DEFAULT_LIMITS,
    Limits,
    absolute_path_entries,
    argv,
    child_environment,
    hook_settings,
    offered_tools,
    user_message,
)
from review_advisor.agents.claude_stream import (
    ApiFailure,
    ResultEvent,
    StreamReader,
    StreamSummary,
    TaskStarted,
    list_of,
    text_of,
)
from review_advisor.agents.consult_hook import SOCKET
from review_advisor.safety.children import (
    CannotStartError,
    Children,
    EndedBy,
    Exit,
    Launch,
    check_interrupt,
    make_folder,
    remove_folder,
    run,
)
from review_advisor.safety.fence import legible, read_json
from review_advisor.safety.stop import ConsultRecord, Receipt

_AUTHENTICATION_CLASSES = frozenset(
    {
        "authentication_failed",
        "oauth_org_not_allowed",
        "account_on_hold",
        "verification_required",
        "cloud_credential_error",
    }
)


_LOST_BY_CLASS = {
    "rate_limit": LostReason.RATE_LIMITED,
    "max_output_tokens": LostReason.OUTPUT_LIMIT,
    "overloaded": LostReason.SERVER_ERROR,
    "server_error": LostReason.SERVER_ERROR,
}


_LOST_BY_STATUS: dict[int, LostReason] = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: LostReason.TOO_LONG,
    HTTPStatus.TOO_MANY_REQUESTS: LostReason.RATE_LIMITED,
}


_LOST_BY_TERMINAL = {
    "prompt_too_long": LostReason.TOO_LONG,
    "max_turns": LostReason.CALL_BUDGET,
    "budget_exhausted": LostReason.CALL_BUDGET,
    "structured_output_retry_exhausted": LostReason.INVALID_ANSWER,
}


_LOST_BY_SUBTYPE = {
    "error_max_turns": LostReason.CALL_BUDGET,
    "error_max_budget_usd": LostReason.CALL_BUDGET,
    "error_max_structured_output_retries": LostReason.INVALID_ANSWER,
}


_LIMIT_LIFTS_AT = re.compile(r"limit reached\s*\|\s*(\d{10})\b", re.IGNORECASE)


_SENTENCE = 300


_SILENT = (LostReason.SILENT, "The call's time was over, and nothing had been heard for long.")


_UNREADABLE = "a line of the CLI's output could not be read, so nobody knows what was said in it"


_ENDINGS = {
    EndedBy.DEADLINE: (LostReason.TIMEOUT, "The call did not finish within its time."),
    EndedBy.OBSERVER: (LostReason.UNGUARDED_CONSULT, "A consult started that the consult hook had not let through."),
    EndedBy.OVERFLOW: (LostReason.OUTPUT_LIMIT, "The CLI wrote more output than one call may."),
    EndedBy.REQUEST: (LostReason.CRASH, "The call was ended because the review could not go on."),
}


def meaning(
    summary: StreamSummary,
    exit_: Exit,
    consults: tuple[ConsultRecord, ...] = (),
    offered: Collection[str] | None = None,
    *,
    quiet: bool = False,
) -> Answered | Lost:
    """The one reading of a finished call. ``offered`` are the tools it was given: no answer counts that had others.

    ``quiet``: nothing had come from the model or its tools for long when the call ended. Whatever structured answers
    the call gave are handed on with the result, also if it is lost.

    Raises ``CreditExhaustedError``, ``AuthenticationFailedError`` or ``ModelUnknownError`` when account or model cannot
    be used, also if it was only a consulted advisor that found out (the CLI reports success then).
    """
    receipt = _receipt(summary, exit_, consults)
    _stop_if_unusable(summary, receipt)
    outcome = _outcome(summary, exit_, offered, receipt, quiet=quiet)
    if isinstance(outcome, Lost):
        outcome = _of_content(outcome, summary)
    return replace(outcome, said=summary.answers)


def _of_content(lost: Lost, summary: StreamSummary) -> Lost:
    """The loss, unless it looks like an outage and the change may have caused it all the same."""
    if lost.cause is not Cause.CONTENT and summary.unreadable:
        return replace(lost, reason=LostReason.INVALID_ANSWER, detail=_UNREADABLE)
    if summary.tool_open and lost.reason in (LostReason.CRASH, LostReason.TRUNCATED):
        return replace(lost, reason=LostReason.CRASHED_AT_WORK)
    return lost


def _outcome(
    summary: StreamSummary, exit_: Exit, offered: Collection[str] | None, receipt: Receipt, *, quiet: bool
) -> Answered | Lost:
    if exit_.ended_by is not None:
        silent = exit_.ended_by is EndedBy.DEADLINE and quiet and not summary.busy
        reason, detail = _SILENT if silent else _ENDINGS[exit_.ended_by]
        return Lost(reason, detail, receipt)
    if offered is not None and not set(summary.tools) <= set(offered):
        extra = ", ".join(sorted(set(summary.tools) - set(offered)))
        return Lost(
            LostReason.UNEXPECTED_TOOLS, f"The CLI gave the model tools that were not asked for: {extra}.", receipt
        )
    if summary.result is None:
        return _without_result(exit_, receipt)
    if summary.result.is_error:
        return _lost(summary, summary.result, receipt)
    return _answered(summary, summary.result, receipt)


def _answered(summary: StreamSummary, result: ResultEvent, receipt: Receipt) -> Answered | Lost:
    if summary.model_swapped:
        return Lost(LostReason.MODEL_REFUSED, "Another model answered than the one that was asked.", receipt)
    if summary.impossible_usage:
        return Lost(LostReason.IMPOSSIBLE_USAGE, "The CLI says that the call used what no call can use.", receipt)
    if result.structured_output is None:
        return Lost(LostReason.NO_STRUCTURED_OUTPUT, "The reply carried no structured answer.", receipt)
    return Answered(result.structured_output, receipt)


def _receipt(summary: StreamSummary, exit_: Exit, consults: tuple[ConsultRecord, ...]) -> Receipt:
    return Receipt(
        usage=summary.usage,
        by_model=summary.by_model,
        own=summary.own_usage,
        session_id=summary.session_id,
        resolved_model=summary.resolved_model,
        duration_seconds=exit_.seconds,
        consults=consults,
        tool_failures=summary.tool_failures,
        opened=summary.opened,
        turns=summary.turns,
        failures_unadvised=summary.failures_unadvised,
        readings_unadvised=summary.readings_unadvised,
    )


def _stop_if_unusable(summary: StreamSummary, receipt: Receipt) -> None:
    for failure in summary.consult_failures:
        _stop_on(failure, receipt, in_consult=True)
    result = summary.result
    if result is None or not result.is_error:
        return
    failure = _main_failure(summary, result)
    _stop_on(failure, receipt)
    if _is_logged_out(failure, result):
        raise AuthenticationFailedError(_said("The model credential was refused.", failure), receipt)


def _stop_on(failure: ApiFailure, receipt: Receipt, *, in_consult: bool = False) -> None:
    """Raise the Stop that a failure is, if it is one: account, credential or model cannot be used."""
    where = " during a consult" if in_consult else ""
    if _is_billing(failure):
        said = _said(f"The account has no credit{where}.", failure)
        raise CreditExhaustedError(said, receipt, _lifts_at(failure.text))
    if failure.status == HTTPStatus.FORBIDDEN or failure.error_type == "permission_error":
        said = _said(f"The model credential was refused{where}, or may not use this model.", failure)
        raise ModelForbiddenError(said, receipt, in_consult=in_consult)
    if failure.error_class in _AUTHENTICATION_CLASSES or failure.status == HTTPStatus.UNAUTHORIZED:
        raise AuthenticationFailedError(_said(f"The model credential was refused{where}.", failure), receipt)
    if failure.error_class == "model_not_found" or failure.status == HTTPStatus.NOT_FOUND:
        said = _said(f"The model does not exist, or not for this credential{where}.", failure)
        raise ModelUnknownError(said, receipt, in_consult=in_consult)
    if _is_rate_limit(failure) and (not failure.retried or _lifts_at(failure.text)):
        said = _said(f"The account's limit will not lift soon{where}.", failure)
        raise CreditExhaustedError(said, receipt, _lifts_at(failure.text))


def _said(what: str, failure: ApiFailure) -> str:
    said = _sentence(failure.text)
    return f"{what} The CLI said: {said}" if said else what


def _main_failure(summary: StreamSummary, result: ResultEvent) -> ApiFailure:
    seen = summary.failure or ApiFailure("")
    # A limit of a long window refuses the request at once; one that ends a message that had begun is short.
    retried = summary.retries_since_answer > 0 or summary.begun_since_answer
    return replace(seen, status=result.api_error_status or seen.status, retried=retried, text=result.text)


def _is_billing(failure: ApiFailure) -> bool:
    # A 402 is classed "unknown" by the CLI; only its status and the API's own type tell.
    return "billing_error" in (failure.error_class, failure.error_type) or failure.status == HTTPStatus.PAYMENT_REQUIRED


def _is_rate_limit(failure: ApiFailure) -> bool:
    return failure.error_class == "rate_limit" or failure.status == HTTPStatus.TOO_MANY_REQUESTS


def _is_logged_out(failure: ApiFailure, result: ResultEvent) -> bool:
    return not failure.error_class and failure.status is None and result.text.startswith("Not logged in")


def _lifts_at(text: str) -> datetime | None:
    found = _LIMIT_LIFTS_AT.search(text)
    return datetime.fromtimestamp(int(found.group(1)), UTC) if found else None


def _without_result(exit_: Exit, receipt: Receipt) -> Lost:
    if exit_.code == 0:
        return Lost(LostReason.TRUNCATED, "The CLI's output ended without a result.", receipt)
    said = _sentence(exit_.stderr_tail.strip().rpartition("\n")[2])
    how = f"was killed by signal {-exit_.code}" if exit_.code < 0 else f"ended with exit code {exit_.code}"
    return Lost(LostReason.CRASH, f"The CLI {how} before its result" + (f": {said}" if said else "."), receipt)


def _lost(summary: StreamSummary, result: ResultEvent, receipt: Receipt) -> Lost:
    failure = _main_failure(summary, result)
    said = _sentence(result.text) or result.subtype or "an error without words"
    reason = (
        _LOST_BY_TERMINAL.get(result.terminal_reason)
        or _LOST_BY_SUBTYPE.get(result.subtype)
        or (LostReason.MODEL_REFUSED if result.stop_reason == "refusal" or summary.model_swapped else None)
        or _LOST_BY_STATUS.get(failure.status or 0)
        or _LOST_BY_CLASS.get(failure.error_class)
        or _by_status(failure)
    )
    if reason is LostReason.INVALID_ANSWER:  # it is asked once more: what is said of it must not hold a model's words
        return Lost(reason, "the CLI got no answer that fits the schema", receipt)
    return Lost(reason, f"The CLI said: {said}", receipt)


def _by_status(failure: ApiFailure) -> LostReason:
    """A failure without a class that tells: the other side's, the request's, or none that anybody named."""
    if failure.status is None and not failure.error_class:
        return LostReason.CRASH
    server = failure.status is not None and failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return LostReason.SERVER_ERROR if server else LostReason.BAD_REQUEST


def _sentence(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SENTENCE else words[: _SENTENCE - 1] + "…"


_LARGEST = 10**12


@dataclass(frozen=True, slots=True)
class ConsultAsked:
    """An executor is about to use the Agent tool. ``wanted`` is the subagent that it asks for."""

    tool_use_id: str
    question: str
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class ConsultOver:
    """A use of the Agent tool has come back."""

    tool_use_id: str
    reply: ConsultReply


class _Event(BaseModel):
    hook_event_name: Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"]
    tool_use_id: str
    tool_input: dict[str, Any] = {}
    tool_response: Any = None
    error: Any = None


def read_event(said: bytes) -> ConsultAsked | ConsultOver:
    """What the hook was handed. Raises ``ValueError`` for anything that is no event of a consult."""
    event = _Event.model_validate(legible(read_json(said)))
    match event.hook_event_name:
        case "PreToolUse":
            asked = event.tool_input
            return ConsultAsked(event.tool_use_id, str(asked.get("prompt", "")), str(asked.get("subagent_type", "")))
        case "PostToolUse":
            return ConsultOver(event.tool_use_id, _reply(event.tool_response))
        case "PostToolUseFailure":
            return ConsultOver(event.tool_use_id, ConsultReply(False, reason=str(event.error or "the consult failed")))


def _reply(response: object) -> ConsultReply:
    answer = response if isinstance(response, dict) else {}
    reply = _event_text(answer)
    answered = answer.get("status") == "completed" and bool(reply.strip())
    return ConsultReply(
        answered,
        reply,
        reason="" if answered else f"the advisor gave no answer ({answer.get('status', 'no status')})",
        resolved_model=text_of(answer, "resolvedModel"),
        tokens=_tokens(answer),
        duration_ms=whole_number(answer.get("totalDurationMs")),
    )


def _event_text(answer: dict[str, Any]) -> str:
    """The advisor's own words. The CLI sets notes of its own before and after them, and says how many."""
    every = list_of(answer, "content")
    before, after = (whole_number(answer.get(name)) or 0 for name in ("harnessNoteCount", "harnessTailCount"))
    its_own = every[before : max(before, len(every) - after)]
    return "\n".join(str(block["text"]) for block in its_own if isinstance(block, dict) and "text" in block)


def _tokens(answer: dict[str, Any]) -> int | None:
    """What the advisor used, if it used no tool: otherwise the CLI counts the last of its requests alone."""
    return whole_number(answer.get("totalTokens")) if whole_number(answer.get("totalToolUseCount")) == 0 else None


def whole_number(value: object) -> int | None:
    """A count that can be one: None for anything that is no whole number, below zero, or beyond all measure."""
    return value if type(value) is int and 0 <= value <= _LARGEST else None


_LONGEST_ADDRESS = 103
"""Bytes of a path that every system takes: macOS has room for 104, the one at the end included."""


_CHUNK = 65_536


_PAUSE_SECONDS = 0.05
"""Between two tries while the process is short of descriptors or threads."""


_UNHEARD = ConsultReply(False, reason="the consult hook had given up before it was answered")


_CREDENTIALS = struct.Struct("3i")
"""Process, user and group."""


class ConsultServer:
    """Answers the hooks of one call while its block lasts: ``consults`` decides, this rewrites the granted call.

    An event that is no event, and a peer that is another user's, get no answer, which the hook takes for a no.
    """

    def __init__(self, folder: Path, consults: Consults, limits: Limits, user: int | None = None) -> None:
        self._folder = folder
        self._consults = consults
        self._limits = limits
        self._user = os.getuid() if user is None else user
        self._granted: dict[str, Granted] = {}
        self._over = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._ending, self._ended = socket.socketpair()
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        try:
            _bind(self._listener, self._folder)
            self._listener.listen(128)
            self._listener.setblocking(False)
        except OSError:
            self._close()
            raise
        self._accepting.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._ending.close()  # wakes the thread that accepts, which closing the listener does not
        self._accepting.join()
        self._close()

    def _close(self) -> None:
        for end in (self._listener, self._ending, self._ended):
            end.close()

    def has_granted(self, started: TaskStarted) -> bool:
        """Whether a subagent that started is a granted consult, and runs as it was granted.

        A grant is good for one start. Hooks fail open: a subagent may start without an answer of ours, or with the
        words that the executor chose.
        """
        granted = self._granted.pop(started.tool_use_id, None)
        return (
            granted is not None
            and started.subagent_type == granted.advisor
            and not started.is_backgrounded
            and started.prompt == granted.prompt
        )

    def _accept(self) -> None:
        """Serve until the block is over: a shortage of descriptors or threads costs time or one answer at most."""
        something = select.poll()
        something.register(self._listener, select.POLLIN)
        something.register(self._ended, select.POLLIN)
        while something.poll() and not self._over.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                self._over.wait(_PAUSE_SECONDS)
                continue
            try:
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()
            except RuntimeError:
                connection.close()
                self._over.wait(_PAUSE_SECONDS)

    def _converse(self, connection: socket.socket) -> None:
        with connection, suppress(OSError, ValueError):
            connection.settimeout(self._limits.hook_patience_seconds)
            if _is_users(connection, self._user):
                self._reply(connection, read_event(self._received(connection)))

    def _received(self, connection: socket.socket) -> bytes:
        said = bytearray()
        while chunk := connection.recv(_CHUNK):
            said += chunk
            if len(said) > self._limits.max_line_bytes:
                raise ValueError("no event is so long")
        return bytes(said)

    def _reply(self, connection: socket.socket, event: ConsultAsked | ConsultOver) -> None:
        if isinstance(event, ConsultOver):
            self._consults.settle(event.tool_use_id, event.reply)
            _send(connection, {})
            return
        decided = self._consults.ask(event.tool_use_id, event.question, event.wanted)
        if isinstance(decided, Denied):
            _send(connection, _decision("deny", permissionDecisionReason=decided.reason))
            return
        # Rewritten from nothing: whatever else the executor asked for (model, effort, isolation) is dropped,
        # so that the agent's own definition decides.
        rewritten = {
            "description": "a question of the executor",
            "prompt": decided.prompt,
            "subagent_type": decided.advisor,
            "run_in_background": False,
        }
        self._granted[event.tool_use_id] = decided
        try:
            _send(connection, _decision("allow", updatedInput=rewritten))
        except OSError:
            self._granted.pop(event.tool_use_id, None)
            self._consults.settle(event.tool_use_id, _UNHEARD)
            raise


def _send(connection: socket.socket, answer: dict[str, Any]) -> None:
    connection.sendall(json.dumps(answer).encode())


def _bind(listener: socket.socket, folder: Path) -> None:
    """A path that is longer than an address can be is reached through the descriptor of its folder, which Linux has."""
    path = folder / SOCKET
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        listener.bind(str(path))
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{SOCKET}")
    finally:
        os.close(descriptor)


def _is_users(connection: socket.socket, user: int) -> bool:
    """Whether a process of that user is at the other end. Where no kernel tells, the folder keeps others out."""
    if sys.platform != "linux":
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(credentials)[1] == user)


def _decision(decision: str, **more: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}}


_HOOK_SCRIPT = Path(consult_hook.__file__).resolve()


class _Place(NamedTuple):
    """One call's private folders; the last one is empty."""

    root: Path
    home: Path
    config: Path
    tmp: Path
    cwd: Path


class ClaudeAgents:
    """Answers the calls of one review by running ``command``, one process per call, from any thread.

    A context manager: leaving it ends what still runs and removes every file it made. ``hear`` gets each line that the
    command writes, as it is.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        environ: Mapping[str, str],
        limits: Limits = DEFAULT_LIMITS,
        hear: Callable[[AgentCall, bytes], None] | None = None,
    ) -> None:
        self._command = command
        self._environ = dict(environ)
        self._limits = limits
        self._hear = hear
        self._children = Children(limits)
        self._root: Path | None = None
        self._calls = 0
        self._numbering = threading.Lock()

    def __enter__(self) -> Self:
        self._root = make_folder("calls")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._children.end_running()
        if self._root is not None:
            remove_folder(self._root)
            self._root = None

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """Make the call and wait. Raises a ``Stop``: spent credit, refused credential, or an interrupt."""
        if (call.consults is None) != (consults is None):
            raise ValueError("a call may consult exactly when its consults are counted")
        check_interrupt()
        prompt = user_message(call.blocks)
        if len(prompt) > self._limits.max_prompt_bytes:
            return Lost(LostReason.TOO_LONG, "The prompt is larger than the CLI takes.")
        try:
            with self._place() as place:
                return self._run_in(place, call, consults, prompt)
        except CannotStartError as problem:
            return Lost(LostReason.CRASH, str(problem))

    def check_interrupt(self) -> None:
        """Raise ``ReviewInterrupted`` once this process was told to end. Then every call ends and none starts."""
        check_interrupt()

    def end_running(self) -> None:
        """End every call in flight and let no later one start: it is lost, unasked. Does not wait for them."""
        self._children.end_running()

    @contextmanager
    def _place(self) -> Iterator[_Place]:
        if self._root is None:
            raise RuntimeError("ClaudeAgents is used outside its with block")
        with self._numbering:
            self._calls += 1
            root = self._root / str(self._calls)
        place = _Place(root, *(root / name for name in ("home", "config", "tmp", "empty")))
        try:
            for folder in place:
                _make_private(folder)
            yield place
        finally:
            remove_folder(place.root)

    def _run_in(self, place: _Place, call: AgentCall, consults: Consults | None, prompt: bytes) -> Answered | Lost:
        reader = StreamReader()
        cached = len(call.blocks) > 1 or call.tree is not None
        environment = child_environment(self._environ, place.home, place.config, place.tmp, self._limits, cached=cached)
        hook = hook_settings(self._hook, self._limits) if call.consults is not None else None

        began = heard = time.monotonic()

        launch = Launch(
            argv=argv(self._command, call, hook, self._limits),
            environment=environment.variables,
            secrets=environment.by_descriptor,
            cwd=call.tree or place.cwd,
            stdin=prompt,
            deadline_seconds=call.timeout_seconds,
            marker=f"TMPDIR={place.tmp}\0",
        )
        with self._server(place, call, consults) as server:

            def observe(line: bytes) -> bool:
                nonlocal heard
                if self._hear is not None:
                    self._hear(call, line)
                before = reader.signs_of_work
                started = reader.feed(line)
                heard = heard if reader.signs_of_work == before else time.monotonic()
                return started is None or (server is not None and server.has_granted(started))

            exit_ = self._children.run(launch, observe)
        records = () if consults is None else consults.end()
        quiet = self._limits.is_silence(call.timeout_seconds - (heard - began), call.timeout_seconds)
        outcome = meaning(reader.summary(), exit_, records, offered_tools(call), quiet=quiet)
        check_interrupt(outcome.receipt)
        return outcome

    @property
    def _hook(self) -> tuple[str, ...]:
        return (sys.executable, "-I", str(_HOOK_SCRIPT), str(self._limits.hook_patience_seconds))

    @contextmanager
    def _server(self, place: _Place, call: AgentCall, consults: Consults | None) -> Iterator[ConsultServer | None]:
        if call.consults is None or consults is None:
            yield None
            return
        with ExitStack() as stack:
            try:
                server = stack.enter_context(ConsultServer(place.root, consults, self._limits))
            except OSError as error:
                raise CannotStartError(f"The consult hook's socket cannot be made: {error.strerror}.") from error
            yield server


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise CannotStartError(f"A private folder for the call cannot be made: {error.strerror}.") from error


PINNED_VERSION = "2.1.329"
"""The floor, and the version everything here was measured with."""


_VERSION = re.compile(r"^(\d+)\.(\d+)\.(\d+)\b")


_HOW_TO_INSTALL = (
    f"Install it with `npm install --global @anthropic-ai/claude-code@{PINNED_VERSION}`, or without Node at run "
    f"time `npm install --global @anthropic-ai/claude-code-linux-x64@{PINNED_VERSION}` (name the version: on Node "
    "below 22 npm otherwise picks an old one)."
)


_VERSION_TIMEOUT_SECONDS = 15


@dataclass(frozen=True, slots=True)
class LocatedCli:
    """A usable CLI. ``tested`` is False for a version newer than the one this was measured with."""

    path: Path
    version: str
    tested: bool


def locate(explicit: str, environ: Mapping[str, str], under_review: Path | None) -> LocatedCli:
    """The CLI at ``explicit``, or the first ``claude`` on PATH; never one that lies inside ``under_review``.

    Raises ``CliError`` when there is none, when it does not run, or when it is older than the pinned version.
    """
    path = _find(explicit, environ)
    inside = under_review is not None and any(p.is_relative_to(under_review.resolve()) for p in (path, path.resolve()))
    if inside:
        raise CliError(f"{path} lies inside the repository under review, which must not choose what reviews it.")
    return check_version(path, _ask_version(path))


def search_path(path: str, under_review: Path) -> str:
    """``PATH`` for whatever ``claude`` starts: without relative entries, and without any that leads into a checkout.

    The CLI itself looks for git there. A change may bring a program of that name.
    """
    root = under_review.resolve()
    entries = absolute_path_entries(path).split(os.pathsep)
    places = ((entry, {Path(os.path.normpath(entry)), Path(entry).resolve()}) for entry in entries)
    return os.pathsep.join(entry for entry, its in places if not any(place.is_relative_to(root) for place in its))


def check_version(path: Path, printed: str) -> LocatedCli:
    """Hold what ``--version`` printed against the pinned version."""
    found = _VERSION.match(printed.strip())
    if found is None or "Claude Code" not in printed:
        raise CliError(f"{path} does not say a Claude Code version. {_HOW_TO_INSTALL}")
    version = found.group(0)
    if _parts(version) < _parts(PINNED_VERSION):
        raise CliError(f"{path} is version {version}, older than {PINNED_VERSION}. {_HOW_TO_INSTALL}")
    return LocatedCli(path, version, tested=version == PINNED_VERSION)


def _find(explicit: str, environ: Mapping[str, str]) -> Path:
    if explicit:
        path = Path(explicit).expanduser().absolute()
        if not path.is_file():
            raise CliError(f"There is no claude binary at {path}. {_HOW_TO_INSTALL}")
        return path
    found = shutil.which("claude", path=absolute_path_entries(environ.get("PATH", "")))
    if found is None:
        raise CliError(f"There is no claude on PATH. {_HOW_TO_INSTALL}")
    return Path(found).absolute()


def _ask_version(path: Path) -> str:
    # An empty environment: to say its version it needs nothing, and it gets no credential.
    try:
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "DISABLE_AUTOUPDATER": "1"}
        done = run([str(path), "--version"], environment, Path("/"), seconds=_VERSION_TIMEOUT_SECONDS)
    except OSError as error:
        raise CliError(f"{path} does not run ({type(error).__name__}). {_HOW_TO_INSTALL}") from error
    if done.code != 0:
        raise CliError(f"{path} --version ended with exit code {done.code}. {_HOW_TO_INSTALL}")
    return done.stdout.decode(errors="replace")


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
