"""Every bound this adapter puts on the CLI, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.lifetime.bounded_children import Bounds


@dataclass(frozen=True, slots=True)
class Limits(Bounds):
    """How often the CLI may retry, how long it may be silent, and what is done when it goes on for too long.

    ``silence_seconds``: see ``is_silence``. ``hook_timeout_seconds`` is when the CLI gives up on the consult hook, and
    lets the consult through; ``hook_patience_seconds`` is when the hook itself gives up, and denies it.

    The defaults fit a call of ten minutes: three tries of a request that hangs end before it does.
    """

    api_retries: int = 2
    request_timeout_ms: int = 150_000
    stream_idle_timeout_ms: int = 120_000
    max_turns: int = 60
    max_turns_without_tools: int = 12
    advisor_max_turns: int = 12
    silence_seconds: float = 60.0
    hook_timeout_seconds: int = 20
    hook_patience_seconds: int = 15
    max_prompt_bytes: int = 9_500_000

    def is_silence(self, quiet_seconds: float, call_seconds: float) -> bool:
        """Whether a call whose time is over was silent: nothing was heard for so long, or for half of a short call."""
        return quiet_seconds >= min(self.silence_seconds, call_seconds / 2)


DEFAULT_LIMITS = Limits()
