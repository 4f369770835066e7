"""The consult cap: one count for all consults of a review, whoever asks for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace

from review_advisor.agents.calls import ConsultGrant, ConsultReply, Denied, Granted
from review_advisor.agents.mid_flight import consult_prompt, nobody_is, question_shown
from review_advisor.change.redaction import Redactor
from review_advisor.policy.budgets import Budgets, consult_estimate, consults_left
from review_advisor.safety.stop import ConsultRecord

_KEPT = 100_000
_MARGIN = 10_000
"""Longer than any secret: the redactor may not know half of one that stands at the cut."""
_CUT = "\n[cut here: the question goes on, and the rest was not sent]"
_ALONE = "Decide on your own, and say which question stayed open."
_UNFINISHED = "the executor ended before the answer came"


class ReviewConsults:
    """All consults of one review: every surface, part and attempt, and ``earlier`` ones of a run that was killed."""

    def __init__(self, budgets: Budgets, redactor: Redactor, earlier: Iterable[ConsultRecord] = ()) -> None:
        self._budgets = budgets
        self._redactor = redactor
        self._lock = threading.Lock()
        records = [record for record in earlier if record.status != "denied"]
        statuses = [record.status for record in records]
        self._used = len(statuses)
        self._tokens = sum(
            consult_estimate(len(each.question)) if each.tokens is None else each.tokens for each in records
        )
        self._failed = statuses.count("failed")
        self._inherits = self._used > 0

    def of_call(self, grant: ConsultGrant) -> CallConsults:
        """Those of one more call."""
        return CallConsults(self, grant)

    def shown(self, question: str) -> str:
        """The question without secrets, or the beginning of it that is kept and asked.

        It is cut before the redaction, which would otherwise take longer than the hook waits. A secret that the cut
        halved lies in the margin at the end, which is dropped.
        """
        begun = question[: _KEPT + _MARGIN]
        shown = question_shown(begun, self._redactor)
        return shown[:_KEPT] if begun == question else shown[:-_MARGIN][:_KEPT] + _CUT

    def take(self, tokens: int) -> Denied | None:
        """Count one more consult of about this many tokens, unless a cap is reached."""
        most = self._budgets.max_consult_tokens
        with self._lock:
            if consults_left(self._budgets, self._used, self._failed) == 0:
                cap = self._budgets.max_consults
                used = "The one consult of this review is" if cap == 1 else f"All {cap} consults of this review are"
                return Denied(f"{used} used. {_ALONE}", at_cap=not self._inherits)
            if most is not None and self._tokens + tokens > most:
                used = f"The consults of this review may use {most:,} tokens, and {self._tokens:,} are used."
                return Denied(f"{used} This one needs about {tokens:,}. {_ALONE}")
            self._used += 1
            self._tokens += tokens
            return None

    def correct(self, tokens: int) -> None:
        """Correct the expected tokens of a consult by this many; a negative number lowers them."""
        with self._lock:
            self._tokens += tokens

    def fail(self, number: int) -> None:
        """Count this many of the granted consults as failed."""
        with self._lock:
            self._failed += number


class CallConsults:
    """The consults of one call. A consult is recorded as unfinished when it is granted, until it is settled."""

    def __init__(self, review: ReviewConsults, grant: ConsultGrant) -> None:
        self._review = review
        self._grant = grant
        self._lock = threading.Lock()
        self._records: dict[str, ConsultRecord] = {}
        self._open: dict[str, int] = {}
        self._over = False

    def ask(self, tool_use_id: str, question: str, wanted: str = "") -> Granted | Denied:
        """Leave for one consult, or the reason why not.

        An id that was asked before is denied, and not counted. A question to an unknown advisor has failed: it counts,
        and is refunded like any other failure.
        """
        advisor = self._grant.named(wanted)
        shown = self._review.shown(question)
        if not shown.strip():
            return Denied("A consult needs a question.")
        with self._lock:
            if self._over:
                return Denied("The call is over.")
            if tool_use_id in self._records:
                return Denied("This consult was asked for before.")
            by_id = "" if advisor is None or advisor == self._grant.subagent_type else advisor
            record = ConsultRecord(tool_use_id, shown, "failed", reason=_UNFINISHED, advisor=by_id)
            tokens = consult_estimate(len(self._grant.advisor_prompt) + len(shown))
            denied = self._review.take(tokens)
            if denied is not None:
                self._records[tool_use_id] = replace(record, status="denied", reason=denied.reason)
                return denied
            if advisor is None:
                reason = nobody_is(self._grant, wanted)
                self._records[tool_use_id] = replace(record, reason=reason)
                self._review.fail(1)
                return Denied(reason)
            self._records[tool_use_id] = record
            self._open[tool_use_id] = tokens
        return Granted(consult_prompt(self._grant, shown), advisor)

    def settle(self, tool_use_id: str, reply: ConsultReply) -> None:
        """Record what became of a granted consult. Only the first word on it counts."""
        with self._lock:
            if tool_use_id not in self._open:
                return
            expected = self._open.pop(tool_use_id)
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
            counted = reply.tokens if reply.counts is None else reply.counts
            if counted is not None:
                self._review.correct(counted - expected)

    def end(self) -> tuple[ConsultRecord, ...]:
        """All consults of the call, oldest first. Those still open have failed, and no more are granted."""
        with self._lock:
            self._over = True
            self._review.fail(len(self._open))
            self._open.clear()
            return tuple(self._records.values())
