"""The report that a run owes: each that is handed in is recorded, and an end without one that can be used is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from review_advisor.core.task.blocks import Malformed
from review_advisor.core.task.hearing import ExecutorSaid
from review_advisor.core.task.messages import ReadReport
from review_advisor.core.task.task_events import BlockMalformed, ReportHeard, TaskEvent
from review_advisor.core.task.task_prompts import disposition_words, report_words
from review_advisor.task.task_request import TaskRequest


class Owing:
    """Reads reports of one run. ``claimed`` is the action that the latest usable one is for; empty before it."""

    def __init__(self, request: TaskRequest, record: Callable[[TaskEvent], None], now: Callable[[], datetime]) -> None:
        self._owed = request.owed
        self._record = record
        self._now = now
        self.section = "" if self._owed is None else self._owed.section(request.nonce)
        self._error = ""
        self.claimed = ""

    def take(self, said: ExecutorSaid, turn: int) -> None:
        """Record each report of a message, whatever else it says: nothing that was said once gets lost."""
        if self._owed is None:
            return
        read_body = self._owed.read
        reads = [
            ReadReport("", "", each.error) if isinstance(each, Malformed) else read_body(each.body)
            for each in said.reports
        ]
        for read in reads:
            told = ReportHeard(
                at=self._now(),
                turn=turn,
                tag=self._owed.tag,
                report=read.text,
                action=read.action,
                error=read.error,
            )
            self._record(told)
            if not read.error:
                self.claimed = read.action
        missing = "" if reads else "the block is missing"
        self._error = next((read.error for read in reads if read.error), missing)

    def trouble(self, said: ExecutorSaid, turn: int) -> str:
        """Why a completed end with this message, the last one taken, is none; empty if it is one."""
        if self._owed is None or said.done is None or said.done.status != "completed" or not self._error:
            return ""
        tag, error = self._owed.tag, self._error
        self._record(BlockMalformed(at=self._now(), turn=turn, speaker="executor", tag=tag, error=error))
        return error

    def words(self, open_ids: Sequence[str], trouble: str) -> str:
        """What the executor is asked once more because of it, and of guidance about which it is silent."""
        asked = [disposition_words(open_ids)] if open_ids else []
        asked += [report_words(self._owed.tag, trouble)] if trouble and self._owed is not None else []
        return "\n\n".join(asked)
