"""An attempt under a profile of escalation: the review consults the advisor, the executor goes on with advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from review_advisor.core.answers.answers import ReviewReport
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.escalation.after_advice import after_advice, held_by_advice
from review_advisor.core.escalation.packet import go_on_ask, open_ask
from review_advisor.core.escalation.reasons import (
    Reason,
    ReasonKey,
    Watched,
    left_to_the_advisor,
    no_turn_left,
    reasons_to_consult,
    refused_question,
    refused_request,
    state_digest,
    watched,
)
from review_advisor.core.escalation.recommendations import (
    UNAPPLIED,
    Disposition,
    Merged,
    disposition_of,
    merge_recommendations,
    overridden_in,
    proven_milder,
    same_advice,
    settles,
    with_advice,
)
from review_advisor.core.outcome.ends import missing_words
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.policy.escalation_rules import ReasonKind
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roles.mid_flight import ConsultNote, stop_signal
from review_advisor.core.roles.transcript import disagreement_ids
from review_advisor.review.consulting import HarnessConsult, proven_changes
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.repair_session import Version
from review_advisor.review.turns import AttemptBrief, AttemptSaid


def escalated(dispatch: Dispatch, version: Version, told: AttemptBrief, said: AttemptSaid) -> AttemptSaid:
    """What the executor says after every consult that is due. Raises ``Stop``.

    Without a profile of escalation that is what it said first. A consult that brings no advice does not stop it. One
    that the cap refuses, a conflict that one more question does not settle, advice that stays open, and an executor
    that gives no report after advice send the part to a human, who reads which advice is open.
    """
    paths = [path for file in version.part.shard.files for path in file.paths]
    about = watched(version.briefing.policy, version.row, paths, version.part.of)
    if about is None:
        return said
    return _Escalation(dispatch, version, told, about, said).followed()


@dataclass(slots=True)
class _Advice:
    """One recommendation of an attempt. ``merged`` is with the report that it was given on.

    ``needs_end``: it would change something, so the executor has to say what became of it.
    """

    identity: str
    merged: Merged
    key: str = ""
    needs_end: bool = True
    became: Disposition = "open"


_APPLIED: tuple[Disposition, ...] = ("applied", "applied in part")


def _still_there(report: CheckedReport, put_back: Sequence[str]) -> tuple[str, ...]:
    """Of the findings that were put back those that a proof has not taken away since."""
    there = {each.id for each in report.findings}
    return tuple(each for each in dict.fromkeys(put_back) if each in there)


class _Escalation:
    def __init__(
        self, dispatch: Dispatch, version: Version, told: AttemptBrief, about: Watched, said: AttemptSaid
    ) -> None:
        self._dispatch = dispatch
        self._version = version
        self._told = told
        self._about = about
        self._said = said
        self._consulted: set[ReasonKey] = set()
        self._turns = 1
        self._given: list[_Advice] = []
        self._proven: dict[str, str] = {}
        self._insisted = False

    def followed(self) -> AttemptSaid:
        self._hear(self._said.consults)
        while self._settles():
            reasons = reasons_to_consult(self._about, self._said.turn, self._consulted)
            if not reasons or not self._consults(reasons):
                break
        alone = self._said.advisor_alone or left_to_the_advisor(self._about, self._said.consults)
        self._said = replace(self._said, advisor_alone=alone)
        self._leaves_open()
        return self._said

    # --- a consult ---

    def _consults(self, reasons: Sequence[Reason]) -> bool:
        """Hold a consult, and let the executor go on. False: nobody is asked any more in this attempt."""
        self._consulted.update(reason.key for reason in reasons)
        contested: _Advice | None = None
        while True:
            note, number = self._asked(reasons, contested)
            if note is None:
                return False
            if stop_signal([note]):
                self._hear([note])
                return False
            if note.guidance is None:
                return contested is None or self._halts("the reconciling question brought no answer")
            advice, repeated = self._merged(note, number)
            if repeated:
                return self._halts(f"the same advice was given twice and not applied: {note.guidance.action}")
            if contested is not None and not advice.merged.conflict:
                advice.needs_end = True
                if not settles(contested.merged, advice.merged):
                    return self._halts(
                        "the advisor neither takes back nor repeats what it contradicts the executor in:"
                        f" {contested.merged.conflict}"
                    )
            if not advice.merged.conflict:
                self._turns += 1
                return self._goes_on(go_on_ask, [reason.detail for reason in reasons])
            if contested is not None:
                return self._halts(f"the executor and the advisor contradict one another: {advice.merged.conflict}")
            reasons = [Reason(ReasonKind.RECONCILE, advice.identity, advice.merged.conflict)]
            contested = advice

    def _asked(self, reasons: Sequence[Reason], contested: _Advice | None) -> tuple[ConsultNote | None, int]:
        """The advisor's answer and its call; None where the consult is refused.

        Nobody decides a conflict alone, so a refused question about ``contested`` advice always calls a person.
        """
        consult = HarnessConsult(self._dispatch, self._version, self._told, self._said, reasons)
        refused = no_turn_left(self._about, self._turns) or consult.leave()
        alone = consult.at_cap and self._about.rules.handoff == "advisor_only" and contested is None
        self._record(
            Escalated,
            self._said.number,
            report=self._said.report,
            reasons=tuple(reasons),
            state=state_digest(self._version.tree or "", self._said.report),
            refused=refused,
            advisor_alone=alone,
        )
        if refused:
            halted = None if alone else refused_request(reasons, refused)
            self._said = replace(self._said, halted=halted, advisor_alone=alone)
            return None, 0
        if contested is not None:
            self._dispose(contested, "superseded", "one more question was asked")
        note = consult.advice()
        self._said = replace(self._said, consults=(*self._said.consults, note))
        return note, consult.number

    def _merged(self, note: ConsultNote, number: int) -> tuple[_Advice, bool]:
        if note.guidance is None:
            raise AssertionError("only guidance can be merged")
        proven = proven_changes(self._version, self._said.report, note.guidance)
        brought = self._version.believed(note.guidance.findings, Role.MID_FLIGHT.advisor)
        merged = merge_recommendations(self._said.report, note.guidance, self._about, proven, brought)
        key = same_advice(note.guidance)
        advice = _Advice(f"r{len(self._given) + 1}", merged, key, note.guidance.changes_something)
        self._given.append(advice)
        self._said = replace(self._said, report=with_advice(self._said.report, merged))
        self._proven |= proven_milder(merged, proven)
        repeated = key in (*self._told.unapplied, *self._said.unapplied)
        self._record(
            Recommended, number, recommendation=advice.identity, merged=merged, proven=proven, repeated=repeated
        )
        return advice, repeated

    # --- what becomes of the advice ---

    def _hear(self, notes: Sequence[ConsultNote]) -> None:
        """Take in what the advisor said to questions of the executor's own, of which only its word tells."""
        plain = Merged(self._said.report.verdict, ())
        for note in notes:
            if note.guidance is not None:
                name, changes = f"r{len(self._given) + 1}", note.guidance.changes_something
                self._given.append(_Advice(name, plain, needs_end=changes))

    def _settles(self) -> bool:
        """Whether every recommendation has come to an end; what is open is asked once."""
        if stop_signal(self._said.consults) or refused_question(self._about, self._said.consults):
            return False
        while self._said.halted is None:
            still = [each for each in self._given if each.became == "open"]
            for each in still:
                became, why = disposition_of(each.identity, each.merged, self._said.report, self._said.dispositions)
                if became == "open" and not each.needs_end:
                    became = "not stated"
                if became != "open":
                    self._dispose(each, became, why)
            still = [each for each in still if each.became == "open"]
            if not still:
                return True
            names = tuple(each.identity for each in still)
            if self._insisted:
                return self._halts("the executor does not say what became of the advice")
            self._insisted = True
            self._record(AdviceOpen, self._said.number, report=self._said.report, recommendations=names)
            self._goes_on(open_ask, names)
        return False

    def _dispose(self, advice: _Advice, became: Disposition, why: str) -> None:
        advice.became = became
        self._record(Disposed, self._said.number, recommendation=advice.identity, disposition=became, reason=why)
        if became in UNAPPLIED and advice.key:
            self._said = replace(self._said, unapplied=(*self._said.unapplied, advice.key))

    def _leaves_open(self) -> None:
        """Tell the person whom a halt calls which advice it overtook."""
        left = [each for each in self._given if each.became == "open"]
        if not left:
            return
        for each in left:
            self._dispose(each, "open", "a person decides first")
        why = self._said.halted or self._version.halt(self._said.consults)
        names = ", ".join(each.identity for each in left)
        self._halts(f"{why} (open advice: {names})")

    # --- the executor's next turn ---

    def _goes_on(self, ask: Callable[[AgentCall, Sequence[str], str], AgentCall], words: Sequence[str]) -> bool:
        """A fresh call of the same attempt, with the report and all guidance so far. False: there is no report."""
        said, told, version = self._said, self._told, self._version
        question = replace(told, before=said.report, consults=told.consults + said.consults).ask(version)
        asked = self._dispatch.ask(ask(question, words, version.briefing.nonce), ReviewReport)
        consults = said.consults + asked.consults
        if not isinstance(asked.answer, ReviewReport):
            why = f"the executor gave no report after the advice ({missing_words(asked.answer)})"
            self._said = replace(said, consults=consults)
            self._hear(asked.consults)
            return self._halts(why)
        checked = version.check(asked.answer, disagreement_ids(told.attempts))
        overridden = overridden_in(asked.answer.dispositions)
        holding = (
            each
            for each in self._given
            if each.became in _APPLIED or (each.became == "open" and each.identity not in overridden)
        )
        held = held_by_advice(each.merged for each in holding)
        kept = after_advice(said.report, checked, self._proven, held)
        turned = said.turned or (said.report.verdict, kept.report.verdict) == ("reject", "approve")
        self._said = replace(
            said,
            report=kept.report,
            number=asked.number,
            consults=consults,
            receipt=asked.receipt,
            turned=turned,
            put_back=_still_there(kept.report, (*said.put_back, *kept.put_back)),
            dispositions=asked.answer.dispositions,
        )
        self._hear(asked.consults)
        unfounded = kept.report.unfounded
        if unfounded is not None:
            return self._halts(f"after the advice the executor rejects without a finding: {unfounded}")
        return True

    def _halts(self, why: str) -> bool:
        self._said = replace(self._said, halted=why)
        return False

    def _record(self, event: type[Escalated | Recommended | AdviceOpen | Disposed], number: int, **facts: Any) -> None:
        version, attempt = self._version, len(self._told.attempts)
        self._dispatch.record_step(event, version.row, version.part, attempt, number=number, **facts)
