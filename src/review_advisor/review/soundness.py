"""Whether events are those of one review."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from review_advisor.agents.answers import GRAVE, SEVERITIES, Guidance, PostVerifyResult
from review_advisor.agents.calls import BUSY, LOSSES, Cause, Lost, LostReason
from review_advisor.agents.committed_secrets import CommittedSecret, reports, severity_of_secret
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import FINDING_ID, Finding, MergedRemark, RefusedFinding
from review_advisor.agents.mid_flight import ConsultNote, stop_signal, unanswered_critical
from review_advisor.agents.repair_law import may_repair
from review_advisor.agents.replies import REPAIRABLE, lost_twice
from review_advisor.agents.surface_inputs import SURFACE_INPUTS
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import OBJECT_NAME, RepairState, Status
from review_advisor.change.guidelines import cited
from review_advisor.policy.budgets import Refused, may_be_refused, surface_retry_budget
from review_advisor.policy.escalation_rules import ReasonKind
from review_advisor.policy.outage_rules import NO_SECOND_TRY, OutageRules, fallbacks
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.risk import BlastRadius, blast_radius
from review_advisor.policy.roster import ADR_ADVISOR, DEFAULT_ROSTER, VOICES, Advisor, Roster
from review_advisor.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, Authority, PreFlightRule, Role, Surface
from review_advisor.policy.switches import surface_switch
from review_advisor.review.document import AnswerRead, role_behind, why_unanswered
from review_advisor.review.ends import (
    Ending,
    NotRun,
    PartEnding,
    flipped,
    halted,
    join_parts,
    join_review,
    never_approved,
    nothing_changed,
    ruled,
    settled,
    still_unfounded,
    unopened_pictures,
    unopened_words,
    unread,
    unseen_blind,
    why_not_run,
)
from review_advisor.review.escalation import (
    UNAPPLIED,
    Disposition,
    Merged,
    Reason,
    ReasonKey,
    Turn,
    Watched,
    after_advice,
    held_by_advice,
    is_applied,
    left_to_the_advisor,
    merge_recommendations,
    no_turn_left,
    proven_milder,
    reasons_to_consult,
    refused_question,
    same_advice,
    settles,
    state_digest,
    watched,
    with_advice,
)
from review_advisor.review.events import (
    AdviceOpen,
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Disposed,
    Escalated,
    Event,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Recommended,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    Step,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.rulings import Disabled, Move, Outcome, Ruling, Standing, rule, rule_panel, standing
from review_advisor.review.votes import MemberAnswer, asked_as

Kind = TypeVar("Kind", bound=Step)


OUT_OF_PLACE = "an event is missing, appears twice or is out of place"


class Unsound(Exception):  # noqa: N818 (what the events are)
    """Events that no review of ours leaves. A few words of our own say why."""


class CutShort(Exception):  # noqa: N818 (what happened to the part)
    """The events of the part end here, because a stop ended the review."""


def require(holds: bool, why: str) -> None:  # noqa: FBT001 (it is read as a sentence)
    """Raise ``Unsound`` unless it holds."""
    if not holds:
        raise Unsound(why)


class StepsInOrder:
    """What is left of a part's events. ``stopped``: a stop ended the review, so that they may end anywhere.

    ``answered_by`` and ``answered_as`` are the call that brought the latest answer, and its model. ``consults`` are
    those of the latest question, and ``turn`` is the executor's latest call with an answer. ``opened`` names the files
    that the call ``answered_by`` opened as pictures, and the one whose unusable reply it repairs.
    """

    def __init__(self, steps: Sequence[Step], *, stopped: bool) -> None:
        self._steps = deque(steps)
        self._stopped = stopped
        self._attempt = 0
        self.answered_by, self.answered_as = 0, ""
        self.opened: tuple[str, ...] = ()
        self.consults: list[ConsultNote] = []
        self.turn: CallEnded | None = None

    def _next(self) -> Step | None:
        return self._steps[0] if self._steps else None

    def _next_but(self, kind: type[Step]) -> Step | None:
        """The next event that is not of this kind."""
        return next((each for each in self._steps if not isinstance(each, kind)), None)

    def _is_over(self) -> bool:
        """Whether nobody judges any more: the part ends here, or its inline members speak before it does."""
        told = self._next()
        speaks = isinstance(told, CallStarted | CallEnded) and told.advisor == VOICES
        return speaks or isinstance(told, PartEnded)

    def _may_be_cut_short(self) -> None:
        """Raise ``CutShort`` where a stop ended the review at this place."""
        if self._stopped and not self._steps:
            raise CutShort

    def take(self, kind: type[Kind]) -> Kind:
        """The next event, which has to be of this kind and of the present attempt."""
        self._may_be_cut_short()
        told = self._next()
        if not isinstance(told, kind) or told.attempt != self._attempt:
            raise Unsound(OUT_OF_PLACE)
        self._steps.popleft()
        return told

    def _every(self, kind: type[Kind]) -> list[Kind]:
        found = []
        while isinstance(self._next(), kind):
            found.append(self.take(kind))
        return found

    def asked(
        self, role: Role, *, blind: bool = False, advisor: str = "", after: Sequence[ConsultNote] = ()
    ) -> Lost | Refused | None:
        """All calls that ask this question; why there is no answer, or None for one. ``advisor``: not the usual one."""
        self.consults = list(after)
        question = (role, advisor or role.advisor, blind)
        first = self._call(*question)
        missing = self._came_to(first)
        opened = first.opened if isinstance(missing, Lost) and missing.reason in REPAIRABLE else ()
        while missing is not None and self._is_asked_again(first):
            before, missing = missing, self._came_to(self._call(*question), opened)
            opened = ()
            if isinstance(before, Lost) and isinstance(missing, Lost):
                missing = lost_twice(before, missing)
        return missing

    def _call(self, role: Role, advisor: str, blind: bool) -> CallEnded:  # noqa: FBT001 (one question, as a tuple)
        begun = self.take(CallStarted) if isinstance(self._next(), CallStarted) else None
        told = self.take(CallEnded)
        require((begun is None) is (told.ended == "refused"), "a refused call has a start, or another call has none")
        for each in (begun, told):
            require(
                each is None or (each.role, each.advisor, each.blind) == (role, advisor, blind),
                "a call is of another role or advisor than the one whose turn it is",
            )
        consults = self._every(Consulted)
        require(all(each.number == told.number for each in consults), "a consult does not follow its own call")
        self.consults += [each.note for each in consults]
        return told

    def _came_to(self, call: CallEnded, opened: tuple[str, ...] = ()) -> Lost | Refused | None:
        """Why a call brought no answer; None for one, whose number and model are known from here on.

        ``opened`` are the pictures of the call whose reply it repairs.
        """
        if call.ended == "stopped":
            require(self._stopped, "a call was stopped but the review went on")
            raise CutShort
        if call.ended != "answered":
            missing = why_unanswered(call)
            require(missing is not None or call.ended != "lost", "a call was lost for a reason that does not exist")
            require(missing is not None, "a call was refused for a reason that does not exist")
            return missing
        call = replace(call, opened=opened + call.opened)
        self.answered_by, self.answered_as, self.opened = call.number, call.requested_model, call.opened
        self.turn = call if call.role is Role.EXECUTOR else self.turn
        return None

    def _is_asked_again(self, first: CallEnded | UnfoundedRejection) -> bool:
        told = self._next()
        return isinstance(told, CallStarted | CallEnded) and told.asks_again == first.number


_BUSY = {("lost", reason.value) for reason in BUSY}


_OUTAGES = {("lost", reason.value) for reason, loss in LOSSES.items() if loss.cause is Cause.OUTAGE}


def check_numbers(events: Sequence[Event]) -> None:
    """Raise ``Unsound`` unless each call has a number of its own, and each event fits the call that it names."""
    first = events[0] if events else None
    policy = first.policy if isinstance(first, PolicyFrozen) else None
    roster = DEFAULT_ROSTER if policy is None else policy.roster
    calls = _Calls(NO_SECOND_TRY if policy is None else policy.outage, roster)
    has_council = len(roster.panel) > 1
    for event in events:
        match event:
            case CallStarted():
                calls.begin(event)
            case CallEnded():
                calls.end(event)
            case Consulted():
                call = calls.ended.get(event.number)
                asker = Role.EXECUTOR if event.asked_by == "executor" else Role.MID_FLIGHT
                fits = call is not None and call.role is asker and call.place == event.place
                require(fits, "a consult names a call that it cannot be part of")
                declared = event.advisor in _declared(Role.MID_FLIGHT, roster)
                require(declared, "a consult names an advisor that is not declared")
            case Reported() if event.structural:
                require(event.number == 0, "the bot's own structural check names a call")
            case Verified() if has_council:
                require(event.number == 0, "the judgement of a council names a call")
            case _ if isinstance(event, AnswerRead):
                require(_is_of(event, calls.ended.get(event.number)), "an answer names a call that did not give it")
                if isinstance(event, UnfoundedRejection):
                    calls.unfounded.add(event.number)
            case _:
                pass
    require(calls.begun.keys() == set(range(1, len(calls.begun) + 1)), "the numbers of the calls do not count from 1")


class _Calls:
    def __init__(self, outage: OutageRules, roster: Roster) -> None:
        self._outage = outage
        self._roster = roster
        self.begun: dict[int, CallStarted | CallEnded] = {}
        self.ended: dict[int, CallEnded] = {}
        self.unfounded: set[int] = set()
        self._asked_again: dict[int, list[int]] = {}

    def begin(self, event: CallStarted | CallEnded) -> None:
        """A call that starts, or is refused in the place of that."""
        require(event.number > 0, "a call has no number")
        require(event.number not in self.begun, "a number is given to two calls")
        declared = event.advisor in _declared(event.role, self._roster)
        require(declared, "a call names an advisor that is not declared")
        if event.asks_again:
            first = self.ended.get(event.asks_again)
            before = self._asked_again.setdefault(event.asks_again, [])
            require(
                first is not None
                and (event.asks_again in self.unfounded or (first.ended == "lost" and not first.asks_again))
                and (self._repeats(event, first, before) or self._stands_in(event, first, before)),
                "a call asks a question again that was answered, is another one, or was asked again before",
            )
            before.append(event.number)
        self.begun[event.number] = event

    def _repeats(self, event: CallStarted | CallEnded, first: CallEnded, before: Sequence[int]) -> bool:
        """Whether it is the same question once more, or again while a busy server took all answers to it.

        A judge is waited for once after any outage, so for a judgement the latest answer may be lost to another one.
        """
        earlier = self._ended(first, before)
        *others, latest = earlier
        waits = event.role is Role.POST_VERIFY and self._outage.wait_seconds > 0 and not _is_limited(earlier)
        busy = (
            len(earlier) == len(before) + 1
            and all((each.ended, each.reason) in _BUSY for each in others)
            and ((latest.ended, latest.reason) in _BUSY or (waits and (latest.ended, latest.reason) in _OUTAGES))
        )
        return _about(first) == _about(event) and (not before or (busy and len(before) <= self._outage.busy_tries))

    def _stands_in(self, event: CallStarted | CallEnded, first: CallEnded, before: Sequence[int]) -> bool:
        """Whether a judgement is asked of the next fallback model, after all earlier calls for it were lost."""
        lost = [number in self.ended and self.ended[number].ended == "lost" for number in before]
        limited = _is_limited(self._ended(first, before))
        same = [self.begun[number].requested_model == first.requested_model for number in before]
        models = fallbacks(self._outage, first.requested_model)[same.count(False) :]
        return (
            event.role is Role.POST_VERIFY
            and (event.place, event.advisor, event.blind) == (first.place, first.advisor, first.blind)
            and all(lost)
            and not limited
            and event.requested_model in models[:1]
        )

    def _ended(self, first: CallEnded, before: Sequence[int]) -> list[CallEnded]:
        return [first, *(self.ended[number] for number in before if number in self.ended)]

    def end(self, event: CallEnded) -> None:
        tolerated = event.reason == LostReason.TOLERATED_RATE_LIMIT.value
        require(self._outage.rate_limits == "soft" or not tolerated, "a rate limit is tolerated against the policy")
        if event.ended == "refused":
            self.begin(event)
        begun = self.begun.get(event.number)
        fits = begun is not None and _as_begun(begun) == _as_begun(event)
        require(fits and event.number not in self.ended, "a call ended that had not started, or ended twice")
        self.ended[event.number] = event


def _declared(role: Role, roster: Roster) -> frozenset[str]:
    """The ids under which somebody may be asked in a role: the role's own, and those of the declared advisors."""
    at = {Role.PRE_FLIGHT: roster.starting, Role.MID_FLIGHT: roster.on_demand, Role.POST_VERIFY: roster.panel}
    speaking = at.get(role, ())
    joint = (VOICES,) if role is Role.POST_VERIFY and roster.voices else ()
    return frozenset((role.advisor, *joint, *(each.id for each in speaking if each.id != ADR_ADVISOR.id)))


def _is_limited(calls: Sequence[CallEnded]) -> bool:
    return any(each.reason == LostReason.RATE_LIMITED.value for each in calls)


def _about(event: CallStarted | CallEnded) -> object:
    return event.place, event.role, event.advisor, event.blind, event.requested_model


def _as_begun(event: CallStarted | CallEnded) -> object:
    return _about(event), event.asks_again


def _is_of(event: AnswerRead, call: CallEnded | None) -> bool:
    if call is None or (isinstance(event, Opined | MemberReviewed | Voted) and event.advisor != call.advisor):
        return False
    if isinstance(event, VoicesHeard) is not (call.advisor == VOICES):
        return False
    missing = isinstance(event, BlindJudged) and event.report is None
    about = (event.place, role_behind(event), isinstance(event, BlindJudged), not missing)
    return about == (call.place, call.role, call.blind, call.ended == "answered")


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


@dataclass(slots=True)
class ReplayedJudges:
    """The judges of one ``part``. Raises ``Unsound`` where its events do not fit."""

    part: StepsInOrder
    _found: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """The pictures that each member opened when it was asked what it finds in a version."""
    _judged: bool = False

    def alone(self, member: Advisor, model: str) -> tuple[MemberAnswer, Attempt | None]:
        """What a panel of one gave, and its judgement as it was told."""
        self._judged = True
        missing = self.part.asked(Role.POST_VERIFY, advisor=asked_as(member))
        if missing is not None:
            return MemberAnswer(member, missing), None
        told = self.part.take(Verified).judged
        return self._answer(member, told.result, model), told

    def member(self, member: Advisor, model: str, tree: str) -> MemberAnswer:
        """What a member of a council gave: what it found, asked once for each version of the part, then its vote."""
        self._judged = True
        advisor = asked_as(member)
        if (tree, advisor) not in self._found:
            missing = self.part.asked(Role.POST_VERIFY, advisor=advisor)
            if missing is not None:
                return MemberAnswer(member, missing)
            self._is_read_from_its_call(self.part.take(MemberReviewed).number)
            self._found[tree, advisor] = self.part.opened
        missing = self.part.asked(Role.POST_VERIFY, advisor=advisor)
        if missing is not None:
            return MemberAnswer(member, missing)
        told = self.part.take(Voted)
        self._is_read_from_its_call(told.number)
        return self._answer(member, told.vote, member.model or model, self._found[tree, advisor])

    def voices(self, members: Sequence[Advisor]) -> None:
        """What inline members advise once the part is decided, if any judge was asked."""
        if self._judged and members and self.part.asked(Role.POST_VERIFY, advisor=VOICES) is None:
            told = self.part.take(VoicesHeard)
            self._is_read_from_its_call(told.number)
            same = [each.advisor for each in told.voices] == [each.id for each in members]
            require(same, "an inline member is left out, or is not declared")

    def _is_read_from_its_call(self, number: int) -> None:
        require(number == self.part.answered_by, "what a member of the council says is read from another call")

    def _answer(
        self, member: Advisor, answer: PostVerifyResult, model: str, opened: tuple[str, ...] = ()
    ) -> MemberAnswer:
        answered_as = self.part.answered_as
        return MemberAnswer(member, answer, "" if answered_as == model else answered_as, opened + self.part.opened)


_RADII = tuple(BlastRadius)


def weighed(policy: Policy, row: SurfacePolicy, told: Repaired) -> tuple[Policy, SurfacePolicy]:
    """What holds for the change with the repair in it: nothing that is milder than for the head."""
    if told.blast is None or told.guard is None:
        raise Unsound("an accepted repair has no blast radius or no guard")
    milder = _RADII.index(told.blast.radius) < _RADII.index(policy.blast.radius)
    milder = milder or not set(policy.guard.paths) <= set(told.guard.paths)
    require(not milder, "a repair lowers the blast radius or takes paths out of the guard")
    authority = Authority.VETO if told.guard.holds else row.authority
    budget = surface_retry_budget(row.surface, told.blast.radius, authority)
    return replace(policy, guard=told.guard, blast=told.blast), replace(row, authority=authority, retry_budget=budget)


def left_open(first: PolicyFrozen, policy: Policy, tree: str, consults: Sequence[ConsultNote]) -> str | None:
    """A critical question that the consult cap refused. The events do not name all files of a repaired change."""
    paths = None if tree else (path for file in first.files for path in file.paths)
    return unanswered_critical(consults, policy.critical_touched, paths)


def calls_a_person(
    first: PolicyFrozen, policy: Policy, row: SurfacePolicy, shard: int, tree: str, *, consults: Sequence[ConsultNote]
) -> str | None:
    """Why the consults of an attempt send its report to a human, or None."""
    refused = refused_question(watched_in(first, policy, row, shard), consults)
    return stop_signal(consults) or refused or left_open(first, policy, tree, consults)


_NOT_ASKED_AGAIN = "a rejection without a finding that stands was not asked again"


class PartReplay(StepsInOrder):
    """Plays one part again. ``stopped``: a stop ended the review, so that the events may end anywhere."""

    def __init__(self, first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step], *, stopped: bool) -> None:
        self._first = first
        self._head = (first.policy, row)
        self._policy, self._row = self._head
        self._looks = SURFACE_INPUTS[row.surface]
        super().__init__(steps, stopped=stopped)
        self._shard = steps[0].shard
        self._repair, self._tree = RepairState(), ""
        self._members: list[MemberAnswer] = []
        self._counted: Sequence[MemberAnswer] = ()
        """The members whose answers the latest ruling rests on."""
        self._judges = ReplayedJudges(self)

    def ended(self) -> PartEnded | None:
        """The part's end, which is the one that its events lead to; None where a stop came first.

        Raises ``Unsound``.
        """
        try:
            ending = self._ending()
            told = self.take(PartEnded)
        except CutShort:
            return None
        led_to = asdict(replace(ending, because=told.because))
        said = {name: getattr(told, name) for name in led_to}
        require(said == led_to, "the end of a part does not follow from its events")
        stored = self._every(KnowledgeStored)
        require(len({each.name for each in stored}) == len(stored), "a knowledge entry is stored twice")
        leave = told.outcome is Outcome.APPROVED and self._looks.stores
        require(not stored or leave, "a knowledge entry is stored although the part was not approved")
        require(not self._steps, "a part has events after its end")
        return told

    def _ending(self) -> PartEnding:
        if self._looks.checks_itself and isinstance(self._next(), Reported):
            ending = self._checked()
        else:
            self._planned()
            if not self._row.roles[Role.MID_FLIGHT].runs:
                self._skipped(Role.MID_FLIGHT)
            blind = self._blind()
            ending = self._attempts(blind if isinstance(blind, CheckedReport) else None)
            if isinstance(blind, Lost | Refused):
                ending = unseen_blind(ending, blind, guarded=self._head[0].guard.holds)
        self._judges.voices(self._policy.roster.voices)
        if ending.read and self.turn is not None:
            unopened = unopened_pictures(self._row, self._first.pictures, self.turn.opened, self._counted)
            ending = replace(ending, unopened=unopened)
        return never_approved(ending, self._looks.unread(self._first.pictures) + unopened_words(ending.unopened))

    # --- before the loop ---

    def _checked(self) -> PartEnding:
        """Our own check in the place of an executor. A judge has its say where a ruling follows."""
        told = self.take(Reported)
        require(told.structural and self._shard == 0, "a report has no call that made it")
        if isinstance(self._next(), PartEnded):
            return settled(told.report)
        ruling, judged = self._ruled(told.report, ())
        return ruled(ruling, told.report, (), judged=judged)

    def _planned(self) -> None:
        """The plan for all parts, which is made before the first one."""
        if self._shard != 0 or SURFACE_DEFAULTS[self._row.surface].pre_flight is PreFlightRule.REUSE:
            return
        if not self._row.roles[Role.PRE_FLIGHT].runs:
            self._skipped(Role.PRE_FLIGHT)
            return
        if self.asked(Role.PRE_FLIGHT) is None:
            self.take(Planned)
        for advisor in self._policy.roster.opening:
            if self.asked(Role.PRE_FLIGHT, advisor=advisor.id) is None:
                self.take(Opined)

    def _blind(self) -> CheckedReport | Lost | Refused | None:
        if not self._policy.blind.runs or not self._looks.stands_alone:
            return None
        missing = self.asked(Role.EXECUTOR, blind=True)
        told = self.take(BlindJudged)
        require((told.report is None) is (missing is not None), "the blind judgement does not fit its call's answer")
        return told.report or missing

    # --- the loop ---

    def _attempts(self, alone: CheckedReport | None) -> PartEnding:
        attempts: tuple[Attempt, ...] = ()
        before: CheckedReport | None = None
        unapplied: set[str] = set()
        while True:
            self._attempt = len(attempts)
            missing = self.asked(Role.EXECUTOR)
            if missing is not None:
                return unread(missing)
            tree = self._tree
            self._repaired(attempts)
            insisted = self._asked_for_a_finding()
            self._may_be_cut_short()
            first = self._next_but(Disposed)
            if isinstance(first, Escalated | AdviceOpen | Reported):
                require(insisted is not None or first.report.unfounded is None, _NOT_ASKED_AGAIN)
            still = insisted and self._still_unfounded(*insisted, first)
            about = watched_in(self._first, self._policy, self._row, self._shard)
            advised = ReplayedAdvice(about, self._tree, unapplied)
            advised.halts = bool(still)
            told = self._escalated(advised)
            require(not told.structural, "a model's report is marked as the bot's own structural check")
            if still or advised.halts:
                return halted(still or "")
            self._may_be_cut_short()
            if self._is_over():
                require(self._may_halt(alone, before, told.report, tree), "a report that needs a judgement has none")
                return halted("")
            require(
                not self._must_halt(alone, before, told.report, tree),
                "a report was judged although the review had to stop and call a person",
            )
            ruling, judged = self._ruled(told.report, attempts, advised)
            if ruling.move is not Move.RETRY or judged is None:
                return ruled(ruling, told.report, attempts, self._repair, judged=judged)
            attempts += (judged,)
            before = told.report

    def _asked_for_a_finding(self) -> tuple[UnfoundedRejection, Lost | Refused | None] | None:
        """A rejection without a finding that stands, and why the second question got no report; None for neither."""
        if not isinstance(self._next(), UnfoundedRejection):
            return None
        told = self.take(UnfoundedRejection)
        require(told.report.unfounded is not None, "a report was asked again although nothing was wrong with it")
        self._may_be_cut_short()
        require(self._is_asked_again(told), _NOT_ASKED_AGAIN)
        return told, self.asked(Role.EXECUTOR, after=self.consults)

    def _escalated(self, advised: ReplayedAdvice) -> Reported:
        """The attempt's report, after every consult of the harness that was due before it."""
        while not advised.halts:
            self._disposed(advised)
            if isinstance(self._next(), AdviceOpen):
                advised.is_open(self.take(AdviceOpen))
                advised.goes_on(with_report=self.asked(Role.EXECUTOR, after=self.consults) is None)
            elif not isinstance(self._next(), Escalated) or not self._consulted(advised):
                break
        self._disposed(advised)
        report = self.take(Reported)
        advised.ends(report, self.turn, self.consults)
        return report

    def _disposed(self, advised: ReplayedAdvice) -> None:
        for each in self._every(Disposed):
            advised.disposed(each)

    def _consulted(self, advised: ReplayedAdvice) -> bool:
        """One consult of the harness; False where nobody is asked any more after it."""
        told = self.take(Escalated)
        advised.due(told, self.turn)
        if told.refused:
            return False
        self._disposed(advised)
        self.asked(Role.MID_FLIGHT, after=self.consults)
        self._may_be_cut_short()
        require(bool(self.consults), "a consult of the harness is not recorded")
        note = self.consults[-1]
        if stop_signal([note]):
            advised.stops()
            return False
        if note.guidance is None:
            advised.unanswered()
            return True
        advised.recommended(merged := self.take(Recommended), note.guidance)
        if not (merged.merged.conflict or advised.halts):
            advised.goes_on(with_report=self.asked(Role.EXECUTOR, after=self.consults) is None)
        return True

    def _still_unfounded(
        self, first: UnfoundedRejection, missing: Lost | Refused | None, told: Step | None
    ) -> str | None:
        if not isinstance(told, Escalated | AdviceOpen | Reported):
            raise Unsound(OUT_OF_PLACE)
        due = (self.answered_by, told.report) if missing is None else (first.number, first.report)
        require((told.number, told.report) == due, "a report is not the one that the second question brought")
        return still_unfounded(missing or told.report)

    def _must_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        turned = alone is not None and flipped(alone, report, self._attempt)
        same = nothing_changed(before, report, same_diff=tree == self._tree)
        place = (self._policy, self._row, self._shard)
        told = calls_a_person(self._first, *place, self._tree, consults=self.consults)
        return bool(told or turned or same)

    def _may_halt(
        self, alone: CheckedReport | None, before: CheckedReport | None, report: CheckedReport, tree: str
    ) -> bool:
        """Also for any question that the consult cap refused: which files it is about, the events may not tell."""
        denied = any(each.status == "denied" for each in self.consults)
        return self._must_halt(alone, before, report, tree) or (
            denied and self._policy.blast.radius is BlastRadius.HIGH
        )

    def _repaired(self, attempts: tuple[Attempt, ...]) -> None:
        self._repair = replace(self._repair, refused=())
        if not isinstance(self._next(), Repaired):
            return
        told = self.take(Repaired)
        require(
            may_repair(self._policy, self._row.surface, attempts), "a repair was made that the policy does not allow"
        )
        match told.result:
            case "refused":
                require(bool(told.refused), "a refused repair does not name the paths that it was refused for")
                self._repair = replace(self._repair, refused=told.refused)
            case "withdrawn":
                self._repair, self._tree = RepairState(), ""
                self._policy, self._row = self._head
            case "accepted":
                whole = bool(told.patch and told.tree and told.files)
                require(whole, "an accepted repair has no patch, no tree or no files")
                self._repair, self._tree = RepairState(told.patch), told.tree
                self._policy, self._row = weighed(*self._head, told)

    def _ruled(
        self, report: CheckedReport, attempts: tuple[Attempt, ...], advised: ReplayedAdvice = NOT_ADVISED
    ) -> tuple[Ruling, Attempt | None]:
        """The ruling, which is the one that the answer leads to, and the judgement if there was one."""
        judged = None
        stands = standing(self._policy, self._row, report.verdict, attempts)
        at = replace(stands, turned=advised.turned, advisor_alone=advised.alone)
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        if switch is not None:
            self._skipped(Role.POST_VERIFY)
            due = rule(at, Disabled(switch))
        else:
            due, judged = self._by_the_judges(at, report)
            self._counted = self._members
        told = self.take(Ruled).ruling
        said = (told.move, told.degraded, told.exhausted, told.verdict)
        require(
            said == (due.move, due.degraded, due.exhausted, due.verdict),
            "a ruling does not follow from the answer of the judge",
        )
        return told, judged

    def _by_the_judges(self, at: Standing, report: CheckedReport) -> tuple[Ruling, Attempt | None]:
        """The ruling that the answers of the panel lead to, and their one judgement if there was one."""
        panel, model = self._policy.roster.panel, self._row.advisor_model
        told: Attempt | None = None
        if len(panel) == 1:
            alone, told = self._judges.alone(panel[0], model)
            self._members = [alone]
        else:
            self._members = [self._judges.member(each, model, self._tree) for each in panel]
        due, joint = rule_panel(at, self._members)
        if joint is None:
            return due, None
        judged = told or self.take(Verified).judged
        about = (judged.number, judged.executor_verdict, judged.executor_summary)
        require(
            about == (self._attempt, report.verdict, report.summary),
            "a judgement is about another report than the last one",
        )
        require(judged.result == joint, "the judgement of a council does not follow from its votes")
        return due, judged

    def _skipped(self, role: Role) -> None:
        told, decision = self.take(RoleSkipped), self._row.roles[role]
        said = (told.role, told.because, told.disabled_by)
        require(
            said == (role, decision.because, decision.disabled_by),
            "a role was skipped for another reason than the policy gives",
        )


LARGEST_NUMBER = 10**15
"""Beyond any review's tokens, dollars, seconds and lines; sums of such numbers are still exact."""


MOST_EVENTS = 200_000
"""Beyond any review's: one of 500 parts, each handed back three times, has 15,000."""


RUN_ID = r"[A-Za-z0-9._:-]{1,200}"
"""What a run may be called: files and hidden marks are named after it."""


_ID, _RUN, _COMMIT = re.compile(FINDING_ID), re.compile(RUN_ID), re.compile(OBJECT_NAME)


_ORDER = tuple(Surface)


def unsound(events: Sequence[Event]) -> str | None:
    """Why these are not the events of one whole review of this version, in a few words of our own; None if they are.

    What the words and findings say, nobody can hold against anything. What was decided on them is decided again.
    """
    try:
        first, last = _ends(events)
        _plain_facts(first, events)
        _policy(first)
        check_numbers(events)
        _consults(first, events)
        _secrets(first, events)
        _review(first, events[1:-1], last)
    except Unsound as found:
        return str(found)
    return None


def _ends(events: Sequence[Event]) -> tuple[PolicyFrozen, ReviewEnded]:
    require(0 < len(events) <= MOST_EVENTS, "the record holds no events, or more than any review has")
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen) or not isinstance(last, ReviewEnded):
        raise Unsound("the record does not begin with a policy and end with an outcome")
    inner = events[1:-1]
    require(
        not any(isinstance(each, PolicyFrozen | ReviewEnded) for each in inner),
        "the record holds a second policy or a second outcome",
    )
    return first, last


# --- single values ----------------------------------------------------------------------------------------------------


def _plain_facts(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """What nothing that reads the events could put into a text, a sum or a request."""
    require(all(each.at.utcoffset() is not None for each in events), "an event has a time without a time zone")
    stops = [each.resume_at for each in events if isinstance(each, ReviewStopped) and each.resume_at is not None]
    require(all(each.utcoffset() is not None for each in stops), "an event has a time without a time zone")
    require(
        all(0 <= each <= LARGEST_NUMBER for each in _numbers(events)),
        "the record holds a number that is negative or too large",
    )
    require(_RUN.fullmatch(first.run_id) is not None, "the name of the run is not valid")
    named = (first.base_sha, first.head_sha, first.rules_sha, first.scope.since)
    commits = [each for each in named if each is not None]
    require(all(map(_COMMIT.fullmatch, commits)), "the name of a commit is not valid")
    paths = [path for file in first.files for path in (file.path, file.old_path) if path is not None]
    named_paths = (path for file in first.files for path in file.paths)
    require(not any("\0" in path for path in named_paths), "a path holds a NUL character")
    repaired = (path for each in events if isinstance(each, Repaired) for path in each.files)
    known = {*paths, *repaired, *(picture.name for picture in first.pictures)}
    for report in _reports(events):
        require(0 <= report.confidence <= 1, "a confidence is not between 0 and 1")
        for each in report.findings:
            require(_ID.fullmatch(each.id) is not None, "the id of a finding is not valid")
            require(0 <= each.confidence <= 1, "a confidence is not between 0 and 1")
            cites = not each.rule or cited(each.rule, first.guidelines) is not None
            require(cites, "a finding cites a rule that the review was not given")
            require(each.path in known, "a finding is on a file that is not part of the change")


def _reports(events: Sequence[Event]) -> Iterator[CheckedReport]:
    found = (each.report for each in events if isinstance(each, Reported | Escalated | AdviceOpen | BlindJudged))
    return (each for each in found if each is not None)


def _numbers(value: object) -> Iterator[float]:
    """Every number within a value."""
    waiting = [value]
    while waiting:
        match part := waiting.pop():
            case bool() | str() | None:
                pass
            case int() | float():
                yield part
            case Mapping():
                waiting += part.values()
            case list() | tuple() | frozenset():
                waiting += part
            case BaseModel():
                waiting += vars(part).values()
            case _ if is_dataclass(part):
                waiting += [getattr(part, each.name) for each in fields(part)]


# --- the policy -------------------------------------------------------------------------------------------------------


def _policy(first: PolicyFrozen) -> None:
    policy = first.policy
    surfaces = [row.surface for row in policy.surfaces]
    require(surfaces[:1] == [Surface.PR_REVIEW], "the policy does not begin with the review of the change (pr_review)")
    require(set(surfaces) <= set(REVIEW_SURFACES), "the policy holds a surface that no review has")
    require(
        surfaces == sorted(set(surfaces), key=_ORDER.index),
        "the surfaces of the policy are out of order or listed twice",
    )
    due = blast_radius(policy.critical_touched, policy.guard.paths, policy.code_lines, policy.risky)
    require(
        policy.blast.radius is due.radius,
        "the blast radius does not follow from the touched paths and the changed lines",
    )
    for row in policy.surfaces:
        authority = Authority.VETO if policy.guard.holds else SURFACE_DEFAULTS[row.surface].authority
        budget = surface_retry_budget(row.surface, policy.blast.radius, authority)
        require(
            (row.authority, row.retry_budget) == (authority, budget),
            "a surface has another authority or retry budget than its rules give",
        )
        optional = SURFACE_DEFAULTS[row.surface].optional and row.roles[Role.POST_VERIFY].disabled_by is not None
        require(
            row.left_out_by in ("", surface_switch(row.surface) if optional else ""),
            "a surface is left out that no switch leaves out",
        )
        for decision in row.roles.values():
            require(not (decision.runs and decision.disabled_by), "a role runs although it is switched off")
    names = [each.id for each in policy.roster.panel]
    require(len(set(names)) == len(names), "a member of the council has the name of another")
    require(ADR_ADVISOR.id in names, "the council lacks the advisor of ADR-0059")
    _excluded(first)
    require(first.shards >= 1, "the record says that the change has no parts")
    placed = (part < first.shards for file in first.files for part in file.shards)
    require(all(placed), "a file is assigned to a part that does not exist")


def _consults(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """A profile's cap holds, and the advisor decides alone only once that is reached.

    Any other refusal calls a person, so nobody gains by one that is not true.
    """
    policy = first.policy
    caps, budgets = policy.escalation.caps_of(policy.roster.panel), policy.budgets
    if caps is None:
        return
    require(budgets.max_consults <= caps.consults, "the review may consult more often than its profile allows")
    whole = _counted_calls(events)
    used, failed = whole
    require(used <= budgets.max_consults + min(failed, budgets.max_refunds), "a review consults beyond its cap")
    for place, event in enumerate(events):
        if isinstance(event, Escalated) and event.advisor_alone:
            counted = _counted_calls(events[:place]) if first.shards == 1 else whole
            reached = may_be_refused(budgets, *counted, first.shards)
            require(reached, "a consult was refused although the cap was not reached")


def _counted_calls(events: Sequence[Event]) -> tuple[int, int]:
    """How many consults were asked, and how many of them failed."""
    notes = [each.note for each in events if isinstance(each, Consulted)]
    return sum(each.asked for each in notes), sum(each.status == "failed" for each in notes)


def _excluded(first: PolicyFrozen) -> None:
    """Files that are left unread are of the kind that may be, and nothing else passes as one of them."""
    excluded = first.policy.excluded
    unread = [gap.path for gap in first.unsent if gap.extent == "excluded"]
    require(
        sorted(unread) == sorted(each.path for each in excluded.files),
        "the policy excludes other files than the record leaves unread",
    )
    plain = {file.path for file in first.files if file.status is Status.MODIFIED and not file.binary}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    require(plain.issuperset(unread), "a file is excluded that is not the same regular file on both sides")
    require(watched.isdisjoint(unread), "a critical path, or one that the guard watches, is excluded")


def _secrets(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """Every secret that the record names is in the reports on its file, as grave as its rules make it.

    It is the harness's own finding, or one of the executor's. After a repair its lines may have other numbers.
    """
    files = {file.path: file for file in first.files}
    reported = [
        each
        for each in events
        if isinstance(each, Reported) and SURFACE_INPUTS[each.surface].names_secrets and not each.structural
    ]
    repaired = any(isinstance(each, Repaired) for each in events)
    for fact in first.secrets:
        require(fact.path in files, "a secret is named in a file that is not part of the change")
        require(1 <= fact.line <= fact.end_line, "a secret has no lines")
        due = severity_of_secret(fact.kind, files[fact.path].kind)
        require(fact.severity == due, "a secret is less or more grave than its kind and its file make it")
        its = [each for each in reported if each.shard in files[fact.path].shards]
        for told in () if fact.settled else its:
            tells = (_is_of_secret(each, fact) or reports(each, fact, moved=repaired) for each in told.report.findings)
            require(any(tells), "a secret that the change commits is missing in a report on its file")
    known = {(fact.finding, fact.severity) for fact in first.secrets if not fact.settled}
    own = [finding for each in reported for finding in each.report.findings if finding.harness]
    require(
        repaired or all((each.id, each.severity) in known for each in own),
        "a finding is marked as the harness's, and the record names no such secret",
    )


def _is_of_secret(finding: Finding, fact: CommittedSecret) -> bool:
    return finding.id == fact.finding and SEVERITIES.index(finding.severity) <= SEVERITIES.index(fact.severity)


# --- what happened ----------------------------------------------------------------------------------------------------


def _review(first: PolicyFrozen, inner: Sequence[Event], last: ReviewEnded) -> None:
    stop = inner[-1] if inner and isinstance(inner[-1], ReviewStopped) else None
    steps: dict[Surface, list[Step]] = {row.surface: [] for row in first.policy.surfaces}
    told: list[SurfaceEnded] = []
    for event in inner if stop is None else inner[:-1]:
        if isinstance(event, Step) and event.surface in steps:
            require(all(each.surface is not event.surface for each in told), "a surface has events after its end")
            steps[event.surface].append(event)
        elif isinstance(event, SurfaceEnded):
            told.append(event)
        else:
            raise Unsound("the review goes on after a stop, or has events of a surface that is not in its policy")
    ends = _surfaces(first, steps, told, stopped=stop is not None)
    due = join_review(ends, first.files, first.unsent, None if stop is None else stop.detail)
    require(last.outcome is due.outcome, "the outcome does not follow from how the surfaces ended")


def _surfaces(
    first: PolicyFrozen, steps: Mapping[Surface, Sequence[Step]], told: Sequence[SurfaceEnded], *, stopped: bool
) -> list[Ending]:
    """How the surfaces ended, one after the other, as they have to by their own events."""
    ends: list[Ending] = []
    left = deque(told)
    over = not first.files
    for row in first.policy.surfaces:
        its = steps[row.surface]
        so_far = join_review(ends, first.files, first.unsent, None)
        not_run = why_not_run(row, so_far, guarded=first.policy.guard.holds) if ends else None
        if over:
            require(not its, "a surface ran after the review had ended")
            continue
        if not_run is not None:
            require(
                _is_left_out(its, not_run) or (stopped and not its),
                "a surface ran although it is switched off, or an earlier one had decided the review",
            )
            ending = not_run.ending
        else:
            parts = _parts(first, row, its, stopped=stopped)
            ending = None if parts is None else join_parts(parts)
            over = parts is None
        if ending is None:
            continue
        over = stopped and not left
        if not over:
            said = left.popleft() if left else None
            require(
                said is not None and (said.surface, said.outcome) == (row.surface, ending.outcome),
                "the end of a surface does not follow from how its parts ended",
            )
            ends.append(ending)
            over = ending.outcome is Outcome.STOPPED
    require(not left, "a surface ended without having run")
    return ends


def _is_left_out(steps: Sequence[Step], not_run: NotRun) -> bool:
    """Whether the only step says that the executor does not run, by that switch."""
    told = steps[0] if len(steps) == 1 else None
    return isinstance(told, RoleSkipped) and (told.role, told.disabled_by) == (Role.EXECUTOR, not_run.disabled_by)


def _parts(
    first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step], *, stopped: bool
) -> tuple[PartEnded, ...] | None:
    """How each part of a surface ended; None where a stop came before the last of them did."""
    parts: dict[int, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.shard, []).append(step)
    count = first.shards if SURFACE_INPUTS[row.surface].sees_everything else max(len(parts), 1)
    if stopped:
        require(set(parts) <= set(range(count)), "a part was reviewed that does not exist")
    else:
        require(set(parts) == set(range(count)), "a part was not reviewed, or a part was reviewed that does not exist")
    ends = [PartReplay(first, row, parts[at], stopped=stopped).ended() for at in sorted(parts)]
    known = tuple(each for each in ends if each is not None)
    return known if len(known) == count else None
