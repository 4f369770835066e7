"""The consult cap: one count for all consults of a review, whoever asks for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace

from review_advisor.core.policy.budgets import Budgets, consults_left
from review_advisor.core.roles.calls import ConsultGrant, ConsultRecord, ConsultReply, Denied, Granted
from review_advisor.core.roles.mid_flight import consult_prompt, question_shown
from review_advisor.core.safety.redaction import Redactor

_KEPT = 100_000
_MARGIN = 10_000
"""More than any secret is long: of one at the cut, the redactor may not know the half."""
_CUT = "\n[cut here: the question goes on, and the rest was not sent]"
_UNFINISHED = "the executor ended before the answer came"


class ReviewConsults:
    """All consults of one review: every surface, part and attempt, and ``earlier`` ones of a run that was killed."""

    def __init__(self, budgets: Budgets, redactor: Redactor, earlier: Iterable[ConsultRecord] = ()) -> None:
        self._budgets = budgets
        self._redactor = redactor
        self._lock = threading.Lock()
        statuses = [record.status for record in earlier]
        self._used = len(statuses) - statuses.count("denied")
        self._failed = statuses.count("failed")

    def of_call(self, grant: ConsultGrant) -> CallConsults:
        """Those of one more call."""
        return CallConsults(self, grant)

    def shown(self, question: str) -> str:
        """The question without secrets, or so much of its beginning as is kept and asked.

        It is cut before the redaction, which would else take longer than the hook waits. What the redactor saw only
        a half of lies within the margin at the end, which is dropped.
        """
        begun = question[: _KEPT + _MARGIN]
        shown = question_shown(begun, self._redactor)
        return shown[:_KEPT] if begun == question else shown[:-_MARGIN][:_KEPT] + _CUT

    def take(self) -> Denied | None:
        """Count one more consult, unless the cap is reached."""
        with self._lock:
            if consults_left(self._budgets, self._used, self._failed) == 0:
                used = f"All {self._budgets.max_consults} consults of this review are used."
                return Denied(f"{used} Decide on your own, and say which question stayed open.")
            self._used += 1
            return None

    def fail(self, number: int) -> None:
        """Count so many of the granted consults as failed."""
        with self._lock:
            self._failed += number


class CallConsults:
    """The consults of one call. A consult is recorded as unfinished when it is granted, until it is settled."""

    def __init__(self, review: ReviewConsults, grant: ConsultGrant) -> None:
        self._review = review
        self._grant = grant
        self._lock = threading.Lock()
        self._records: dict[str, ConsultRecord] = {}
        self._open: set[str] = set()
        self._over = False

    def ask(self, tool_use_id: str, question: str) -> Granted | Denied:
        """Leave for one consult, or the reason why not. An id that was asked before is denied, and not counted."""
        shown = self._review.shown(question)
        if not shown.strip():
            return Denied("A consult needs a question.")
        with self._lock:
            if self._over:
                return Denied("The call is over.")
            if tool_use_id in self._records:
                return Denied("This consult was asked for before.")
            record = ConsultRecord(tool_use_id, shown, "failed", reason=_UNFINISHED)
            denied = self._review.take()
            if denied is not None:
                self._records[tool_use_id] = replace(record, status="denied", reason=denied.reason)
                return denied
            self._records[tool_use_id] = record
            self._open.add(tool_use_id)
        return Granted(consult_prompt(self._grant, shown))

    def settle(self, tool_use_id: str, reply: ConsultReply) -> None:
        """Record what became of a granted consult. Only the first word on it counts."""
        with self._lock:
            if tool_use_id not in self._open:
                return
            self._open.remove(tool_use_id)
            self._records[tool_use_id] = replace(
                self._records[tool_use_id],
                status="answered" if reply.answered else "failed",
                reply=reply.reply[:_KEPT],
                reason=reply.reason[:_KEPT],
                resolved_model=reply.resolved_model,
                tokens=reply.tokens,
                duration_ms=reply.duration_ms,
            )
            self._review.fail(not reply.answered)

    def end(self) -> tuple[ConsultRecord, ...]:
        """All consults of the call, oldest first. What is still open has failed, and no more is granted."""
        with self._lock:
            self._over = True
            self._review.fail(len(self._open))
            self._open.clear()
            return tuple(self._records.values())
