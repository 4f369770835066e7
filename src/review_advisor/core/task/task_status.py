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

EXIT_CODES: Mapping[RunStatus, int] = {
    "completed": 0,
    "executor_stopped_without_done": 10,
    "advisor_call_limit_reached": 10,
    "max_turns_reached": 10,
    "malformed_block": 10,
    "voted_down": 10,
    "advisor_stop_signal": 11,
    "conflict_needs_human": 11,
    "degraded": 11,
    "executor_failed": 12,
    "advisor_failed": 12,
    "budget_exceeded": 12,
    "disabled": 12,
    "running": 12,
}
"""10: not completed. 11: a person decides. 12: the run could not go on. Only ``completed`` is 0."""

STATUS_WORDS: Mapping[RunStatus, str] = {
    "completed": "the executor ends as completed and accounts for each guidance",
    "executor_stopped_without_done": "the executor neither asks nor ends",
    "advisor_call_limit_reached": "the executor asks again after a refusal",
    "max_turns_reached": "the executor asks after the last turn",
    "malformed_block": "a block stays unreadable",
    "voted_down": "the vote is for another action than the mildest",
    "advisor_stop_signal": "the advisor asks to stop, or a watching one with `veto` blocks",
    "conflict_needs_human": "the executor wants a person or passes over a guidance, its patch is refused, or a vote is"
    " split, missing or on parts alone",
    "degraded": "completed without an answer of an advisor",
    "executor_failed": "the executor says failed, or does not answer",
    "advisor_failed": "the advisor's account or model cannot be used",
    "budget_exceeded": "over a limit of money, time or prompt size",
    "disabled": "a switch turns the advisor off",
    "running": "unfinished or killed",
}
"""When each holds; the page on ``run`` prints it."""


def ended_words(status: RunStatus, reason: str, summary: str) -> str:
    """How a run ended, in one line for a person."""
    return f"{status}: {reason or summary or STATUS_WORDS[status]}"


def error_mode(status: RunStatus, malformed: str) -> str:
    """What a list is filtered by: ``none``, the status, or the tag of the block that nobody could read."""
    if status == "completed":
        return "none"
    return f"malformed:{malformed}" if status == "malformed_block" and malformed else status
