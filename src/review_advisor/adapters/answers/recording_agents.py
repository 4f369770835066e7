"""``Agents`` that ask nobody: a recording answers each question that it holds, word for word."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import date

from review_advisor.core.ledger.recorded_call import (
    QuestionDigest,
    RecordedCall,
    Stopped,
    question_digest,
    redacted_call,
)
from review_advisor.core.pull_request.counterfactual.would_ask import WantedQuestion, WouldAsk
from review_advisor.core.roles.calls import AgentCall, Answered, ConsultReply, Granted, Lost
from review_advisor.core.roles.reply_cache import RunNames, renamed
from review_advisor.core.safety.redaction import Redactor
from review_advisor.ports.review import Consults

_Asked = tuple[str, QuestionDigest]


class RecordingAgents:
    """The replies of ``calls``, each for the advisor and the question that it was recorded for; asked again, the next.

    ``names`` are those of the review that asks now. Raises ``WouldAsk`` for any other question.
    """

    def __init__(
        self, calls: Iterable[RecordedCall], names: RunNames, redactor: Redactor, today: Callable[[], date]
    ) -> None:
        self._names = names
        self._redactor = redactor
        self._today = today
        self._kept: dict[_Asked, deque[RecordedCall]] = defaultdict(deque)
        for each in calls:
            if not each.identity.shadow:
                self._kept[each.identity.advisor, each.question].append(each)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        """The recorded reply."""
        question = question_digest(redacted_call(call, self._redactor), self._names)
        kept = self._kept[call.advisor, question]
        if not kept or isinstance(kept[0].reply, Stopped):
            what = f"{call.role.value} of {call.surface.value}"
            raise self._would_ask(call, f"{what} would have been asked what is not recorded")
        reply = renamed(kept.popleft().reply, self._names.put_in)  # type: ignore[arg-type]
        self._count(call, reply, consults)
        return reply

    def check_interrupt(self) -> None:
        """Nothing runs that could be interrupted."""

    def end_running(self) -> None:
        """Nothing runs."""

    def _count(self, call: AgentCall, reply: Answered | Lost, consults: Consults | None) -> None:
        """The consults of the reply, under the cap of this review, which has to allow what was allowed."""
        for each in reply.receipt.consults:
            leave = None if consults is None else consults.ask(each.tool_use_id, each.question, each.advisor)
            if isinstance(leave, Granted) is not (each.status != "denied"):
                raise self._would_ask(call, "another cap of consults would have led to another answer")
            if consults is not None and each.status != "denied":
                told = ConsultReply(
                    each.status == "answered",
                    each.reply,
                    each.reason,
                    each.resolved_model,
                    each.tokens,
                    each.duration_ms,
                )
                consults.settle(each.tool_use_id, told)

    def _would_ask(self, call: AgentCall, why: str) -> WouldAsk:
        characters = len(call.prompt) + len(call.system_prompt)
        return WouldAsk(why, [WantedQuestion(call.role, call.model, characters, self._today())])
