"""What ends a review early, and what its last call used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal


class Refusal(Exception):
    """The product does not go on, and says so to a person: never a bug, so no traceback.

    ``exit_code`` is the command's. The text is one line unless ``several_lines``.
    """

    exit_code: ClassVar[int] = 2
    several_lines: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one call, subagents included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    """None: not reported."""


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """What one resolved model used within a call."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class ConsultRecord:
    """One consult that an executor asked for."""

    tool_use_id: str
    question: str
    status: Literal["answered", "failed", "denied"]
    """``failed``: allowed, but without an answer. ``denied``: refused by the cap."""
    reply: str = ""
    """The advisor's final text, if it answered."""
    reason: str = ""
    """Why the consult was denied or failed."""
    resolved_model: str = ""
    tokens: int | None = None
    """As the CLI reports them; they pay for nothing. None: not reported."""
    duration_ms: int | None = None
    """As the CLI reports it. None: not reported."""
    advisor: str = ""
    """The id of the declared advisor that was asked; empty for the ADR's."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known about a call however it ended."""

    usage: Usage = Usage()
    by_model: tuple[ModelUsage, ...] = ()
    own: Usage | None = None
    """The call's tokens without its consults'; None where they are not known."""
    session_id: str = ""
    resolved_model: str = ""
    duration_seconds: float = 0.0
    consults: tuple[ConsultRecord, ...] = ()
    tool_failures: int = 0
    """The longest run of consecutive failed tool calls, seen in the CLI's own event stream."""
    opened: tuple[str, ...] = ()
    """The files that the call itself opened as pictures, relative to its tree, seen in the CLI's own event stream."""
    turns: int = 0
    """How many messages the model wrote, consults apart; 0 where nobody knows."""
    failures_unadvised: int = 0
    """The longest run of failed tool calls since the call's last answered consult."""
    readings_unadvised: int = 0
    """How often one place of a file was read since the call's last answered consult."""
    kept: bool = False
    """It is the receipt of an earlier run of the same review, which was killed or has stopped."""
    reply: str = ""
    """What a kept reply is known by among those of the run that paid for it; empty where none is kept."""
    paid_by: str = ""
    """The run that paid for a kept reply."""


class Stop(Exception):
    """The review cannot go on: not a lost answer, not a bug. Caught at the review's boundary only."""

    def __init__(self, detail: str, receipt: Receipt | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.receipt = receipt or Receipt()


class ReviewInterrupted(Stop):
    """The user or the runner asked the process to end. ``signal_number`` is SIGINT's or SIGTERM's."""

    def __init__(self, detail: str, receipt: Receipt | None = None, signal_number: int = 2) -> None:
        super().__init__(detail, receipt)
        self.signal_number = signal_number
