"""One attempt of the executor: what it is told when the attempt begins, and what it has said when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from review_advisor.core.answers.answers import DispositionAnswer, ReviewPlan
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.escalation.reasons import Turn
from review_advisor.core.roles.advisors import EditableTree, Executor
from review_advisor.core.roles.calls import AgentCall, Receipt
from review_advisor.core.roles.mid_flight import ConsultNote
from review_advisor.core.roles.transcript import Attempt
from review_advisor.review.repair_session import Version


@dataclass(frozen=True, slots=True)
class AttemptBrief:
    """What the executor is told beside the change when an attempt begins.

    ``unapplied`` is the advice of earlier attempts that was overridden or refused.
    """

    plan: ReviewPlan | None
    attempts: tuple[Attempt, ...]
    before: CheckedReport | None
    consults: tuple[ConsultNote, ...]
    unapplied: tuple[str, ...] = ()

    def ask(self, version: Version, editable: EditableTree | None = None) -> AgentCall:
        """The executor's question about this version of the change."""
        return Executor(version.briefing).call(
            version.row,
            version.part,
            self.plan,
            self.attempts,
            before=self.before,
            consults=self.consults,
            editable=editable,
        )


@dataclass(frozen=True, slots=True)
class AttemptSaid:
    """What the executor said in one attempt. ``halted``: why its report goes to a human as it is.

    ``receipt`` is that of the call ``number``. ``turned``: after advice it approves what it had rejected.
    ``advisor_alone``: a consult was refused, and the advisor's judgement alone decides. ``put_back`` are the findings
    that stay although the executor left them out after advice. ``dispositions`` is its own word on the advice, and
    ``unapplied`` the advice that was overridden or refused.
    """

    report: CheckedReport
    number: int
    consults: tuple[ConsultNote, ...]
    halted: str | None = None
    receipt: Receipt = field(default_factory=Receipt)
    turned: bool = False
    advisor_alone: bool = False
    put_back: tuple[str, ...] = ()
    dispositions: tuple[DispositionAnswer, ...] = ()
    unapplied: tuple[str, ...] = ()

    @property
    def turn(self) -> Turn:
        """The same as what may be a reason to consult the advisor."""
        return Turn(self.number, self.report, self.receipt.failures_unadvised, self.receipt.readings_unadvised)
