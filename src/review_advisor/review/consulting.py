"""One consult of the harness: leave of the cap, the question, the advisor's answer, and its merge with the report."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.answers.answers import Guidance, Recommendation
from review_advisor.core.answers.challenge import disproves
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.escalation.packet import consult_call, consult_grant, packet
from review_advisor.core.escalation.reasons import Reason
from review_advisor.core.outcome.cost import tokens
from review_advisor.core.outcome.ends import missing_words
from review_advisor.core.outcome.events import Consulted
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ConsultReply, Denied, Lost, Receipt
from review_advisor.core.roles.mid_flight import ConsultNote, read_consult
from review_advisor.ports.review import Consults
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.repair_session import Version
from review_advisor.review.turns import AttemptBrief, AttemptSaid


class HarnessConsult:
    """One consult after what the executor has said."""

    def __init__(
        self, dispatch: Dispatch, version: Version, told: AttemptBrief, said: AttemptSaid, reasons: Sequence[Reason]
    ) -> None:
        self._dispatch = dispatch
        self._version = version
        self._told = told
        self._said = said
        self._reasons = reasons
        self._consults: Consults | None = None
        self._prompt = ""
        self.number = 0
        self.at_cap = False

    def leave(self) -> str:
        """Why the cap refuses the consult; empty with leave."""
        seen, attempt = self._version.briefing, len(self._told.attempts)
        grant = consult_grant(seen, self._version.row, self._version.part, attempt)
        if grant is None:
            return "mid-flight is off"
        earlier = (*self._told.consults, *self._said.consults)
        question = packet(
            seen, self._version.part, self._said.report, self._reasons, plan=self._told.plan, earlier=earlier
        )
        self._consults = self._dispatch.consults(grant)
        leave = self._consults.ask("harness", question)
        if isinstance(leave, Denied):
            self.at_cap = leave.at_cap
            return leave.reason
        self._prompt = leave.prompt
        return ""

    def advice(self) -> ConsultNote:
        """What the advisor says, recorded. An answer that does not come is a failed consult, and is refunded."""
        if self._consults is None:
            raise AssertionError("a consult needs leave")
        version, attempt = self._version, len(self._told.attempts)
        call = consult_call(version.briefing, version.row, version.part, attempt, self._prompt)
        try:
            asked = self._dispatch.ask(call, Recommendation)
            self._consults.settle("harness", _reply(asked.answer, asked.raw, asked.receipt))
        finally:
            (record,) = self._consults.end()
        note = read_consult(record)
        if isinstance(asked.answer, Recommendation):
            said = Guidance.model_validate(asked.answer.model_dump())
            note = ConsultNote(note.consult, note.status, said, resolved_model=note.resolved_model, notes=note.notes)
        self.number = asked.number
        self._dispatch.record_step(
            Consulted,
            version.row,
            version.part,
            attempt,
            number=asked.number,
            advisor=Role.MID_FLIGHT.advisor,
            note=note,
            asked_by="harness",
            effort=call.effort,
        )
        return note


def proven_changes(version: Version, report: CheckedReport, guidance: Guidance) -> tuple[str, ...]:
    """The ids of the findings of ``report`` whose drop or lower carries a quote that shows that they are wrong."""
    there = {each.id: each for each in report.findings}
    milder = (each for each in guidance.changes if each.does in ("drop", "lower") and each.finding in there)
    change = version.subject.whole
    proven = (each.finding for each in milder if disproves(each.path, each.quote, there[each.finding], change))
    return tuple(dict.fromkeys(proven))


def _reply(answer: Guidance | Lost | Refused, raw: str, receipt: Receipt) -> ConsultReply:
    model, used = receipt.resolved_model, tokens(receipt.usage) or None
    if isinstance(answer, Guidance):
        return ConsultReply(True, raw, resolved_model=model, tokens=used)
    return ConsultReply(False, reason=missing_words(answer), resolved_model=model, tokens=used)
