"""What the consult hook asks: a server of one call, on a Unix socket in the call's own folder."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from review_advisor.adapters.claude.consult_events import ConsultAsked, ConsultOver, read_event
from review_advisor.adapters.claude.consult_hook import SOCKET
from review_advisor.adapters.claude.limits import Limits
from review_advisor.adapters.claude.stream import TaskStarted
from review_advisor.core.roles.calls import ConsultReply, Denied, Granted
from review_advisor.ports.review import Consults

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
