"""How a task's run can end, and which exit code that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

HarnessStatus = Literal[
    "completed",
    "executor_stopped_without_done",
    "advisor_call_limit_reached",
    "max_turns_reached",
    "advisor_stop_signal",
    "executor_failed",
    "advisor_failed",
    "malformed_block",
    "running",
]
"""The closed list of advisor-harness. ``running`` is also a run that was killed."""

RunStatus = Literal[HarnessStatus, "voted_down", "conflict_needs_human", "budget_exceeded", "disabled", "degraded"]
"""That list, and five of ours."""

_ENDS: Mapping[RunStatus, tuple[int, str]] = {
    "completed": (0, "the executor ends as completed and accounts for each guidance"),
    "executor_stopped_without_done": (10, "the executor neither asks nor ends"),
    "advisor_call_limit_reached": (10, "the executor asks again after a refusal"),
    "max_turns_reached": (10, "the executor asks after the last turn"),
    "malformed_block": (10, "a block stays unreadable"),
    "voted_down": (10, "the vote is for another action than the mildest"),
    "advisor_stop_signal": (11, "the advisor asks to stop, or a watching one with `veto` blocks"),
    "conflict_needs_human": (
        11,
        (
            "the executor wants a person or passes over a guidance, its patch is refused, or a vote is split, missing"
            " or on parts alone"
        ),
    ),
    "degraded": (11, "completed without an answer of an advisor"),
    "executor_failed": (12, "the executor says failed, or does not answer"),
    "advisor_failed": (12, "the advisor's account or model cannot be used"),
    "budget_exceeded": (12, "over a limit of money, time or prompt size"),
    "disabled": (12, "a switch turns the advisor off"),
    "running": (12, "unfinished or killed"),
}
"""The exit code of each status, and when it holds. 10: not completed. 11: a person decides. 12: it could not go on."""
EXIT_CODES: Mapping[RunStatus, int] = {status: code for status, (code, _) in _ENDS.items()}
"""Only ``completed`` is 0."""
STATUS_WORDS: Mapping[RunStatus, str] = {status: words for status, (_, words) in _ENDS.items()}
"""When each holds; the page on ``run`` prints it."""


def ended_words(status: RunStatus, reason: str, summary: str) -> str:
    """How a run ended, in one line for a person."""
    return f"{status}: {reason or summary or STATUS_WORDS[status]}"


def error_mode(status: RunStatus, malformed: str) -> str:
    """What a list is filtered by: ``none``, the status, or the tag of the block that nobody could read."""
    if status == "completed":
        return "none"
    return f"malformed:{malformed}" if status == "malformed_block" and malformed else status
