"""``Agents`` over a command that speaks the ``claude -p`` contract, for one review."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from review_advisor.adapters.claude import consult_hook
from review_advisor.adapters.claude.argv import argv, hook_settings, offered_tools
from review_advisor.adapters.claude.consult_server import ConsultServer
from review_advisor.adapters.claude.environment import child_environment
from review_advisor.adapters.claude.limits import DEFAULT_LIMITS, Limits
from review_advisor.adapters.claude.meaning import meaning
from review_advisor.adapters.claude.spoken_prompt import user_message
from review_advisor.adapters.claude.stream import StreamReader
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, LostReason
from review_advisor.lifetime.belongings import check_interrupt, make_folder, remove_folder
from review_advisor.lifetime.bounded_children import CannotStartError, Children, Launch
from review_advisor.ports.review import Consults

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
