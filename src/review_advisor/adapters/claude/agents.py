"""``Agents`` over a command that speaks the ``claude -p`` contract, for one review."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from review_advisor.adapters.claude import consult_hook
from review_advisor.adapters.claude.argv import argv, hook_settings, offered_tools
from review_advisor.adapters.claude.environment import child_environment
from review_advisor.adapters.claude.limits import DEFAULT_LIMITS, Limits
from review_advisor.adapters.claude.meaning import meaning
from review_advisor.adapters.claude.process import CannotStartError, Children, Launch
from review_advisor.adapters.claude.stream import StreamReader, TaskStarted
from review_advisor.core.roles.calls import (
    AgentCall,
    Answered,
    ConsultGrant,
    ConsultRecord,
    Lost,
    LostReason,
    ReviewInterrupted,
)
from review_advisor.core.roles.mid_flight import QUESTION_OPENING
from review_advisor.core.safety import frame, secret_shapes
from review_advisor.lifetime.belongings import make_folder, remove_folder
from review_advisor.lifetime.interruption import INTERRUPTION

_HOOK_SCRIPT = Path(consult_hook.__file__).resolve()
_SECRET_SHAPES = Path(secret_shapes.__file__).resolve()
_FRAME = Path(frame.__file__).resolve()


@dataclass(frozen=True, slots=True)
class _Place:
    """One call's private folders; ``key`` names the call in the consult state."""

    key: str
    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def tmp(self) -> Path:
        return self.root / "tmp"

    @property
    def cwd(self) -> Path:
        return self.root / "empty"


class ClaudeAgents:
    """Answers the calls of one review by running ``command``, one process per call, from any thread.

    A context manager: leaving it ends what still runs and removes every file it made. The consult cap holds
    across all calls made through one instance.
    """

    def __init__(self, command: tuple[str, ...], environ: Mapping[str, str], limits: Limits = DEFAULT_LIMITS) -> None:
        self._command = command
        self._environ = dict(environ)
        self._limits = limits
        self._children = Children(limits)
        self._root: Path | None = None
        self._calls = 0
        self._numbering = threading.Lock()

    def __enter__(self) -> Self:
        self._root = make_folder("calls")
        self._consults.mkdir(mode=0o700)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._children.end_running()
        if self._root is not None:
            remove_folder(self._root)
            self._root = None

    def run(self, call: AgentCall) -> Answered | Lost:
        """Make the call and wait. Raises a ``Stop``: spent credit, refused credential, or an interrupt."""
        self._raise_if_interrupted()
        prompt = _safe_start(call.prompt).encode("utf-8", errors="replace")
        if len(prompt) > self._limits.max_prompt_bytes:
            return Lost(LostReason.TOO_LONG, "The prompt is larger than the CLI takes; nothing was asked.")
        try:
            with self._place() as place:
                return self._run_in(place, call, prompt)
        except CannotStartError as problem:
            return Lost(LostReason.CRASH, str(problem))

    def check_interrupt(self) -> None:
        """Raise ``ReviewInterrupted`` once this process was told to end. Then every call ends and none starts."""
        self._raise_if_interrupted()

    def end_running(self) -> None:
        """End every call in flight and let no later one start: it is lost, unasked. Does not wait for them."""
        self._children.end_running()

    @property
    def _consults(self) -> Path:
        if self._root is None:
            raise RuntimeError("ClaudeAgents is used outside its with block")
        return self._root / "consults"

    @contextmanager
    def _place(self) -> Iterator[_Place]:
        with self._numbering:
            self._calls += 1
            key = f"call-{self._calls}"
        place = _Place(key, self._consults.parent / key)
        try:
            for folder in (place.root, place.home, place.config, place.tmp, place.cwd):
                _make_private(folder)
            yield place
        finally:
            remove_folder(place.root)

    def _run_in(self, place: _Place, call: AgentCall, prompt: bytes) -> Answered | Lost:
        reader = StreamReader()
        environment = child_environment(self._environ, place.home, place.config, place.tmp, self._limits)
        hook = self._hook(place, call.consults) if call.consults is not None else None

        began = heard = time.monotonic()

        def observe(line: bytes) -> bool:
            nonlocal heard
            before = reader.signs_of_work
            started = reader.feed(line)
            heard = heard if reader.signs_of_work == before else time.monotonic()
            return started is None or self._is_guarded(place, call.consults, started)

        launch = Launch(
            argv=argv(self._command, call, hook, self._limits),
            environment=environment.variables,
            secrets=environment.by_descriptor,
            cwd=call.tree or place.cwd,
            stdin=prompt,
            deadline_seconds=call.timeout_seconds,
            marker=f"TMPDIR={place.tmp}\0",
        )
        try:
            exit_ = self._children.run(launch, observe)
        finally:
            consult_hook.settle_unfinished(self._consults, place.key, "the executor ended before the answer came")
        quiet = self._limits.is_silence(call.timeout_seconds - (heard - began), call.timeout_seconds)
        outcome = meaning(reader.summary(), exit_, self._consults_of(place), offered_tools(call), quiet=quiet)
        self._raise_if_interrupted(outcome)
        return outcome

    def _hook(self, place: _Place, grant: ConsultGrant) -> str:
        try:
            opening = f"{grant.sentinel}\n{QUESTION_OPENING}"
            private = consult_hook.keep_private(place.root, {"opening": opening, "nonce": grant.nonce})
        except OSError as error:
            raise CannotStartError(f"A private file for the call cannot be written: {error.strerror}.") from error
        words = {
            "--state": str(self._consults),
            "--call": place.key,
            "--cap": str(grant.cap),
            "--max-refunds": str(grant.max_refunds),
            "--subagent-type": grant.subagent_type,
            "--private": str(private),
            "--secret-shapes": str(_SECRET_SHAPES),
            "--frame": str(_FRAME),
        }
        options = (f"{name}={value}" for name, value in words.items())
        return hook_settings((sys.executable, "-I", str(_HOOK_SCRIPT), *options), self._limits)

    def _is_guarded(self, place: _Place, grant: ConsultGrant | None, started: TaskStarted) -> bool:
        """Hooks fail open: a subagent that our hook did not let through, or not as it rewrote it, is no consult."""
        if grant is None or started.is_backgrounded or started.subagent_type != grant.subagent_type:
            return False
        if started.prompt is not None and not started.prompt.startswith(grant.sentinel):
            return False
        record = consult_hook.record_of(self._consults, place.key, started.tool_use_id)
        return record is not None and record["status"] != consult_hook.DENIED

    def _consults_of(self, place: _Place) -> tuple[ConsultRecord, ...]:
        return tuple(
            _consult_record(record) for record in consult_hook.records(self._consults) if record["call"] == place.key
        )

    def _raise_if_interrupted(self, outcome: Answered | Lost | None = None) -> None:
        if INTERRUPTION.number:
            receipt = outcome.receipt if outcome is not None else None
            raise ReviewInterrupted("The review was interrupted.", receipt, INTERRUPTION.number)


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise CannotStartError(f"A private folder for the call cannot be made: {error.strerror}.") from error


def _safe_start(prompt: str) -> str:
    """A prompt that begins with "/" would be a command to the CLI, and an empty one an error."""
    return prompt if prompt.strip() and not prompt.lstrip().startswith("/") else f"Request:\n{prompt}"


def _consult_record(record: consult_hook.Record) -> ConsultRecord:
    status: Literal["answered", "failed", "denied"] = "failed"
    if record["status"] == consult_hook.ANSWERED:
        status = "answered"
    elif record["status"] == consult_hook.DENIED:
        status = "denied"
    return ConsultRecord(
        tool_use_id=record["tool_use_id"],
        question=record["question"],
        status=status,
        reply=record["reply"],
        reason=record["reason"],
        resolved_model=record["resolved_model"],
        tokens=int(record["tokens"]) if record["tokens"] else None,
        duration_ms=int(record["duration_ms"]) if record["duration_ms"] else None,
    )
