"""``Agents`` whose calls are recorded as the configuration of the believed base asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from review_advisor.adapters.answers.recording_folder import RecordingFile
from review_advisor.core.ledger.recorded_call import recorded_call, recording_line
from review_advisor.core.roles.calls import AgentCall, Answered, Lost, Stop
from review_advisor.core.roles.reply_cache import RunNames
from review_advisor.core.safety.legible import read_json
from review_advisor.core.safety.redaction import Redactor
from review_advisor.ports.review import Agents, Consults

MOST_STREAM_BYTES = 8_000_000
"""Of one call's output. What is longer is cut, and the recording says so."""


class CliOutput:
    """What the CLI writes in each call under way, without the pieces of messages that it repeats whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[int, list[str]] = {}
        self._room: dict[int, int] = {}

    def hear(self, call: AgentCall, line: bytes) -> None:
        """Take one line of a call. A secret may be cut between two pieces of a message, so no piece is kept."""
        if _is_piece(line):
            return
        with self._lock:
            lines, room = self._lines.setdefault(call.number, []), self._room.get(call.number, MOST_STREAM_BYTES)
            if 0 <= room < len(line):
                lines.append("[the rest is not recorded: the output is too long]")
            elif room >= 0:
                lines.append(line.decode("utf-8", "replace"))
            self._room[call.number] = room - len(line)

    def take(self, number: int) -> tuple[str, ...]:
        """All lines of the call with that number, which is over."""
        with self._lock:
            self._room.pop(number, None)
            return tuple(self._lines.pop(number, ()))


@dataclass(frozen=True, slots=True)
class RecordedAgents:
    """``agents`` whose calls are written to ``file`` once they are over, without secrets, also those that stop a run.

    With ``output`` everything is recorded: prompts, replies, and what the CLI wrote. Otherwise only replies and
    digests of the questions are.
    """

    agents: Agents
    file: RecordingFile
    names: RunNames
    redactor: Redactor
    now: Callable[[], datetime]
    output: CliOutput | None = None

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The reply of the agents. Raises what they raise."""
        try:
            reply = self.agents.run(call, consults)
        except Stop as stop:
            self._record(call, stop)
            raise
        self._record(call, reply)
        return reply

    def check_interrupt(self) -> None:
        """As the agents do."""
        self.agents.check_interrupt()

    def end_running(self) -> None:
        """As the agents do."""
        self.agents.end_running()

    def _record(self, call: AgentCall, reply: Answered | Lost | Stop) -> None:
        stream = None if self.output is None else self.output.take(call.number)
        told = recorded_call(call, reply, self.names, self.redactor, self.now(), stream=stream)
        self.file.add(recording_line(told))


def _is_piece(line: bytes) -> bool:
    try:
        event = read_json(line)
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("type") == "stream_event"
