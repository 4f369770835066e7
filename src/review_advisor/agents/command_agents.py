"""Any command that takes a prompt on stdin: behind `run` only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from review_advisor.agents.calls import AgentCall, Answered, Consults, Lost, LostReason
from review_advisor.safety import children as belongings
from review_advisor.safety.children import Bounds, CannotStartError, Children, EndedBy, Launch
from review_advisor.safety.stop import Receipt

LONGEST_MESSAGE = 10_000_000
"""Bytes of a final message."""


MODEL_MARK = "{model}"


_LONGEST_SENTENCE = 300


_BOUNDS = Bounds(max_line_bytes=LONGEST_MESSAGE, max_stream_bytes=LONGEST_MESSAGE)


@dataclass(frozen=True, slots=True)
class CommandAgents:
    """Runs ``argv`` once for each call, without a shell; ``{model}`` in a word becomes the call's model."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    _children: Children = field(default_factory=lambda: Children(_BOUNDS), init=False)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:  # noqa: ARG002 (the port's)
        """Run it and wait. Raises ``ReviewInterrupted``."""
        with belongings.temporary_folder("task") as own:
            return self._run(call, own)

    def check_interrupt(self) -> None:
        """Raise ``ReviewInterrupted`` once this process was told to end."""
        belongings.check_interrupt()

    def end_running(self) -> None:
        """Start no further command, and end the one that runs."""
        self._children.end_running()

    def _run(self, call: AgentCall, own: Path) -> Answered | Lost:
        lines: list[bytes] = []

        def observe(line: bytes) -> bool:
            lines.append(line)
            return True

        launch = Launch(
            argv=[word.replace(MODEL_MARK, call.model) for word in self.argv],
            environment={**self.environment, "TMPDIR": str(own)},
            secrets={},
            cwd=call.tree or own,
            stdin=f"{call.system_prompt}\n\n{call.prompt}".encode("utf-8", "replace"),
            deadline_seconds=call.timeout_seconds,
            marker=f"TMPDIR={own}\0",
        )
        try:
            done = self._children.run(launch, observe)
        except CannotStartError as problem:
            return Lost(LostReason.CRASH, str(problem))
        belongings.check_interrupt()
        receipt = Receipt(duration_seconds=done.seconds)  # tokens and money are not known
        if done.ended_by is EndedBy.DEADLINE:
            return Lost(LostReason.TIMEOUT, "The command did not end within its time.", receipt)
        if done.ended_by is EndedBy.OVERFLOW:
            return Lost(LostReason.OUTPUT_LIMIT, "The command printed more than one call may.", receipt)
        if done.code:
            last = done.stderr_tail.strip().rpartition("\n")[2][:_LONGEST_SENTENCE]
            return Lost(LostReason.CRASH, f"The command ended with exit code {done.code}: {last}", receipt)
        return Answered({"message": b"\n".join(lines).decode("utf-8", "replace")}, receipt)
