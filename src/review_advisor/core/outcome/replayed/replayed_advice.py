"""The consults of the harness within one attempt, played again: none may be missing, and none may be there undue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from review_advisor.core.answers.answers import GRAVE, Guidance
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding, MergedRemark, RefusedFinding
from review_advisor.core.escalation.after_advice import after_advice, held_by_advice
from review_advisor.core.escalation.reasons import (
    Reason,
    ReasonKey,
    Turn,
    Watched,
    left_to_the_advisor,
    no_turn_left,
    reasons_to_consult,
    refused_question,
    state_digest,
    watched,
)
from review_advisor.core.escalation.recommendations import (
    UNAPPLIED,
    Disposition,
    Merged,
    is_applied,
    merge_recommendations,
    proven_milder,
    same_advice,
    settles,
    with_advice,
)
from review_advisor.core.outcome.events import CallEnded, PolicyFrozen, Reported
from review_advisor.core.outcome.replayed.steps_in_order import Unsound, require
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Disposed, Escalated, Recommended
from review_advisor.core.policy.escalation_rules import ReasonKind
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.roles.mid_flight import ConsultNote, stop_signal


def watched_in(first: PolicyFrozen, policy: Policy, row: SurfacePolicy, shard: int) -> Watched | None:
    """What was watched in a part, by the record alone."""
    paths = [path for file in first.files if shard in file.shards for path in file.paths]
    return watched(policy, row, paths, first.shards)


class ReplayedAdvice:
    """Follows one attempt. ``halts``: its report goes to a human. ``turned`` and ``alone`` are as in ``Standing``.

    ``unapplied`` is the advice that was overridden or refused: each attempt adds its own.
    """

    def __init__(self, about: Watched | None, tree: str, unapplied: set[str] | None = None) -> None:
        self._about = about
        self._tree = tree
        self._unapplied = set() if unapplied is None else unapplied
        self._consulted: set[ReasonKey] = set()
        self._turns = 1
        self._before: CheckedReport | None = None
        self._last: Escalated | AdviceOpen | None = None
        self._so_far: CheckedReport | None = None
        self._conflict = ""
        self._proven: dict[str, str] = {}
        self._merges: dict[str, Merged] = {}
        self._keys: dict[str, str] = {}
        self._became: dict[str, Disposition] = {}
        self._to_show: list[Merged] = []
        self._owed: set[str] = set()
        """Advice after a conflict, which needs an end whatever it says."""
        self._insisted = False
        self._over = False
        self.halts = False
        self.turned = False
        self.alone = False

    def due(self, told: Escalated, call: CallEnded | None) -> None:
        """A consult: whatever it says of itself has to follow from the executor's call before it."""
        last_turn = "" if self._about is None else no_turn_left(self._about, self._turns)
        handoff = "human" if self._about is None else self._about.rules.handoff
        alone = bool(told.refused) and not last_turn and handoff == "advisor_only" and not self._conflict
        keys = [each.key for each in self._reasons(told.number, told.report, call)]
        if self._conflict:
            keys = [(ReasonKind.RECONCILE, self._conflict)]
        self._follows(told.report)
        require(bool(keys), "a consult was held that was not due")
        same = [each.key for each in told.reasons] == keys
        require(same, "a consult was held for other reasons than those that hold")
        require(told.state == state_digest(self._tree, told.report), "a consult is about another state")
        require(bool(told.refused) or not last_turn, "an executor has more turns than its profile allows")
        require(alone or not told.advisor_alone, "a refused consult is handed to somebody else")
        self._consulted.update(keys)
        self._last, self._so_far, self._over = told, told.report, bool(told.refused)
        self.alone, self.halts = told.advisor_alone, bool(told.refused) and not told.advisor_alone

    def recommended(self, told: Recommended, guidance: Guidance) -> None:
        """The merge of the advice with the report that the consult was about."""
        if self._about is None or self._last is None:
            raise Unsound("a recommendation follows no consult")
        brought = _brought(told.merged, guidance)
        due = merge_recommendations(self._last.report, guidance, self._about, told.proven, brought)
        require(
            _counted(told.merged) == _counted(due),
            "a merge does not follow from the report and the advice",
        )
        key = same_advice(guidance)
        miscounted = told.repeated is not (key in self._unapplied)
        require(not miscounted, "advice is miscounted that was given before and not applied")
        self._merges[told.recommendation], self._keys[told.recommendation] = told.merged, key
        self._proven |= proven_milder(told.merged, told.proven)
        self._so_far = with_advice(self._last.report, told.merged)
        contested = self._merges.get(self._conflict) if self._reconciled else None
        again = contested is not None and (bool(told.merged.conflict) or not settles(contested, told.merged))
        if contested is not None:
            self._owed.add(told.recommendation)
        self._conflict = told.recommendation if told.merged.conflict else ""
        self._over = self.halts = told.repeated or again

    def unanswered(self) -> None:
        """A consult brought no advice. After a conflict that is the end."""
        self._over = self.halts = self._reconciled

    @property
    def _reconciled(self) -> bool:
        """Whether the latest consult was the one question after a conflict, and was asked."""
        last = self._last
        return isinstance(last, Escalated) and not last.refused and last.reasons[0].kind is ReasonKind.RECONCILE

    def disposed(self, told: Disposed) -> None:
        """What became of a recommendation, each of which has one end."""
        require(told.recommendation not in self._became, "a recommendation ends twice")
        require(told.disposition != "overridden" or bool(told.reason.strip()), "advice is overridden without a reason")
        self._became[told.recommendation] = told.disposition
        merged = self._merges.get(told.recommendation)
        if told.disposition in ("applied", "applied in part") and merged is not None:
            self._to_show.append(merged)
        if told.disposition in ("applied", "applied in part"):
            some_refused = merged is not None and bool(merged.refused)
            in_part = told.disposition == "applied in part"
            require(some_refused is in_part, "advice of which a part was refused counts as applied, or the reverse")
            require(not some_refused or _changes(merged), "advice of which all was refused counts as applied")
        if told.disposition == "superseded":
            asked = self._reconciled and told.recommendation == self._conflict
            require(asked, "advice is superseded by a question that nobody asked")
        elif told.disposition != "open":
            require(told.recommendation != self._conflict, "a conflict ends without a question about it")
        if told.disposition == "refused":
            refused = merged is not None and bool(merged.refused) and not _changes(merged)
            require(refused, "advice counts as refused that is not")
        if told.disposition in UNAPPLIED and told.recommendation in self._keys:
            self._unapplied.add(self._keys[told.recommendation])

    def is_open(self, told: AdviceOpen) -> None:
        """The executor is asked once what became of the advice."""
        require(not self._insisted, "the executor was asked twice what became of the advice")
        self._follows(told.report)
        self._insisted, self._last, self._so_far = True, told, told.report

    def goes_on(self, *, with_report: bool) -> None:
        """The executor was asked once more: to go on with advice, or what became of it."""
        self._turns += isinstance(self._last, Escalated)
        if with_report and self._last is not None:
            self._before, self._last = self._so_far, None
        else:
            self._over = self.halts = True

    def stops(self) -> None:
        """The advisor asked to stop: nobody is asked any more."""
        self._over = True

    def ends(self, told: Reported, call: CallEnded | None, notes: Sequence[ConsultNote]) -> None:
        """The report of the attempt, after which no consult may be due. Advice that is open calls a person."""
        self.alone = self.alone or left_to_the_advisor(self._about, notes)
        if self._over and self._last is not None:
            same = (told.number, told.report) == (self._last.number, self._so_far)
            require(same, "a report is not the one that the last consult was about")
            self._leaves_open(notes)
            return
        self._follows(told.report)
        missing = self._reasons(told.number, told.report, call)
        is_advised = self._before is not None
        self.halts = self.halts or (is_advised and told.report.unfounded is not None)
        over = self._leaves_open(notes)
        require(over or not missing, "a consult that was due is missing")
        there = {each.id for each in told.report.findings}
        stays = not told.put_back or (is_advised and set(told.put_back) <= there)
        require(stays, "a finding is put back that is not there")

    def _leaves_open(self, notes: Sequence[ConsultNote]) -> bool:
        """Whether a person is called at the end of the attempt, where every recommendation has an end."""
        given = 0 if self._about is None else sum(note.guidance is not None for note in notes)
        require(set(self._became) == {f"r{place}" for place in range(1, given + 1)}, "some advice has no end")
        silent = [f"r{place}" for place, changes in enumerate(_changing(notes), start=1) if not changes]
        skipped = {name for name, became in self._became.items() if became == "not stated"}
        require(skipped <= set(silent) - self._owed, "advice that changes something has no end")
        over = self.halts or refused_question(self._about, notes) is not None or stop_signal(notes) is not None
        left = "open" in self._became.values()
        require(over or self._insisted or not left, "the executor was not asked what became of the advice")
        self.halts = self.halts or left
        return over or left

    def _reasons(self, number: int, report: CheckedReport, call: CallEnded | None) -> tuple[Reason, ...]:
        if self._about is None or call is None or call.number != number:
            return ()
        turn = Turn(number, report, call.failures_unadvised, call.readings_unadvised)
        return reasons_to_consult(self._about, turn, self._consulted)

    def _follows(self, report: CheckedReport) -> None:
        require(all(is_applied(each, report) for each in self._to_show), "advice counts as applied that is not")
        self._to_show.clear()
        if self._before is None:
            return
        holding = (each for name, each in self._merges.items() if self._became.get(name) in _HOLDING)
        could_be = after_advice(self._before, report, self._proven, held_by_advice(holding))
        stays = not could_be.put_back and could_be.report.verdict == report.verdict
        require(stays, "a grave finding is gone after advice that proves nothing")
        require(could_be.report.refused == report.refused, "a refused finding of the advisor is gone")
        self.turned = self.turned or (self._before.verdict, report.verdict) == ("reject", "approve")


_HOLDING: tuple[Disposition | None, ...] = (None, "applied", "applied in part")


def _changing(notes: Sequence[ConsultNote]) -> tuple[bool, ...]:
    """Of each recommendation whether it changes something."""
    return tuple(note.guidance.changes_something for note in notes if note.guidance is not None)


def _brought(merged: Merged, guidance: Guidance) -> tuple[Finding | RefusedFinding, ...]:
    """The findings of an advice as its record has them: those that stand, and in the place of each other a refusal."""
    told = Counter((each.category, one.severity, one.title) for each in merged.brought for one in _remarks(each))
    said = Counter((each.category, each.severity, each.title) for each in guidance.findings)
    require(told <= said, "a finding is the advisor's that it has not named")
    refused = [
        RefusedFinding("", title, severity, "it does not stand") for _, severity, title in (said - told).elements()
    ]
    grave = Counter((each.severity, each.title) for each in refused if each.severity in GRAVE)
    unproven = Counter((each.severity, each.title) for each in merged.unproven if each.raised_by and each.why)
    require(unproven == grave, "a critical or high finding of the advisor is neither believed nor refused")
    return (*merged.brought, *refused)


def _remarks(finding: Finding) -> tuple[Finding | MergedRemark, ...]:
    return (finding, *finding.also)


NOT_ADVISED = ReplayedAdvice(None, "")
"""For a report of no executor."""


def _changes(merged: Merged | None) -> bool:
    """Whether anything that the advice wants to change counts."""
    return merged is not None and bool(merged.diff)


def _counted(merged: Merged) -> tuple[object, ...]:
    """What of a merge counts, without the words for people."""
    brought = tuple(each.id for each in merged.brought)
    return (merged.verdict, merged.findings, merged.wanted, len(merged.refused), bool(merged.conflict), brought)
