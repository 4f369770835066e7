"""What a repository wants recorded of the calls of its reviews and tasks, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RecordingMode = Literal["none", "answers", "full"]
DAYS = 14


@dataclass(frozen=True, slots=True)
class RecordingRules:
    """``answers`` keeps replies, ``full`` also prompts and the output of the CLI. A recording is kept for ``days``.

    Without ``days`` no configuration was read, and nothing is deleted.
    """

    mode: RecordingMode = "none"
    days: int | None = DAYS
