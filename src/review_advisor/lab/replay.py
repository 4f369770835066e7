"""Stored reviews decided once more under another configuration."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, TypeVar

from review_advisor.agents.answers import PostVerifyResult
from review_advisor.agents.calls import tokens
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.purse import CallEstimates
from review_advisor.agents.recordings import Unknown, WantedQuestion, WouldAsk
from review_advisor.agents.transcript import Attempt
from review_advisor.change.diff_text import shown_path
from review_advisor.github.beginning import used_up_of
from review_advisor.github.memory import remembered, round_of
from review_advisor.github.state import State
from review_advisor.github.threads import postings
from review_advisor.policy.budgets import consults_left, surface_retry_budget
from review_advisor.policy.escalation_rules import ReasonKind, Threshold
from review_advisor.policy.exclusion import excluding_glob
from review_advisor.policy.lenses import roster_for_paths
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.prices import Price, Unpriced, cost, price_on
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.roster import ADR_ADVISOR, Advisor, Roster
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import (
    OutcomeDocument,
    blocking_findings,
    council_findings,
    counted_money,
    outcome_document,
    spent,
)
from review_advisor.review.ends import Ending, NotRun, join_parts, join_review, why_not_run
from review_advisor.review.escalation import ReasonKey, Turn, reasons_to_consult
from review_advisor.review.events import (
    CallEnded,
    Consulted,
    Escalated,
    Event,
    OfCall,
    PartEnded,
    PolicyFrozen,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    Step,
    SurfaceEnded,
    Verified,
)
from review_advisor.review.rulings import EXIT_CODES, Disabled, Move, Outcome, Ruling, rule, rule_panel, standing
from review_advisor.review.soundness import NOT_ADVISED, CutShort, PartReplay, ReplayedAdvice, Unsound, watched_in
from review_advisor.review.votes import MemberAnswer, asked_as
from review_advisor.safety.stop import ModelUsage, Usage
from review_advisor.safety.wording import counted, printable_line, table


@dataclass(frozen=True, slots=True)
class WantedMoney:
    """How many questions would have to be asked, and what those with a priced model cost at least, in US dollars."""

    questions: int = 0
    least_usd: float = 0.0
    unpriced: int = 0
    unpriced_models: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self) | {"least_usd": round(self.least_usd, 6), "unpriced_models": list(self.unpriced_models)}

    def words(self) -> str:
        """One line for a person."""
        told = f"would have to ask: {counted(self.questions, 'question')}, at least ${self.least_usd:.4f}"
        if not self.unpriced:
            return told
        named = printable_line(", ".join(self.unpriced_models))
        return f"{told}; {self.unpriced} of them have no price ({named})"


def like(events: Iterable[Event], *roles: Role) -> tuple[WantedQuestion, ...]:
    """The questions of these events, as they would be asked once more; of these roles alone, if any is named."""
    calls = (each for each in events if isinstance(each, CallEnded) and not each.asks_again)
    return tuple(
        WantedQuestion(each.role, each.requested_model, each.prompt_characters, each.at.date())
        for each in calls
        if each.role in (roles or tuple(Role))
    )


def wanted_money(questions: Iterable[WantedQuestion], prices: Iterable[Price]) -> WantedMoney:
    """The estimate of a review's purse for each question, added up."""
    estimates = CallEstimates(prices)
    every = tuple(questions)
    usd = [estimates.fresh_usd(each.role, each.model, each.characters, each.day) for each in every]
    unpriced = [each.model for each, known in zip(every, usd, strict=True) if known is None]
    return WantedMoney(len(every), sum((each or 0.0 for each in usd), 0.0), len(unpriced), tuple(sorted(set(unpriced))))


def for_the_past(prices: Iterable[Price]) -> tuple[Price, ...]:
    """A list of prices to come, to be tried on runs of the past: before a model's first day that day's price holds."""
    dated = sorted(prices, key=lambda price: price.since)
    first = {price.model: price for price in reversed(dated)}
    return tuple(replace(each, since=date.min) if first[each.model] is each else each for each in dated)


def at_other_prices(events: Iterable[Event], prices: Sequence[Price]) -> tuple[list[Event], tuple[Unknown, ...]]:
    """The events with each call at these prices, and what has none. What an earlier run paid stays that run's.

    A call that told neither tokens nor money stays without a cost.
    """
    unknown: list[str] = []
    told: list[Event] = []
    for event in events:
        is_paid = isinstance(event, CallEnded) and event.ended != "refused" and not event.kept
        told.append(_recosted(event, prices, unknown) if isinstance(event, CallEnded) and is_paid else event)
    return told, tuple(Unknown(why) for why in dict.fromkeys(unknown))


def _recosted(call: CallEnded, prices: Sequence[Price], unknown: list[str]) -> CallEnded:
    used = call.by_model or (ModelUsage(call.resolved_model or call.requested_model, call.usage),)
    again = tuple(ModelUsage(each.model, _at(each, call.at.date(), prices, unknown)) for each in used)
    if all(each.usage.cost_usd is None for each in again):
        return call
    whole = replace(call.usage, cost_usd=sum(each.usage.cost_usd or 0.0 for each in again))
    return replace(call, usage=whole, by_model=again if call.by_model else ())


def _at(used: ModelUsage, day: date, prices: Sequence[Price], unknown: list[str]) -> Usage:
    usage = used.usage
    if not tokens(usage):
        if usage.cost_usd:
            unknown.append(f"a call of {used.model} told its cost and no tokens")
        return usage
    price = price_on(used.model, day, prices)
    if price is None:
        unknown.append(f"the list has no price of {used.model}")
        return usage
    kinds = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return replace(usage, cost_usd=cost(Unpriced(used.model, day, 1, *kinds), price))


def roster_otherwise(first: PolicyFrozen, other: Roster) -> Roster:
    """Who is asked about this change: the other roster, with what its map adds and what labels had added."""
    found = roster_for_paths(other, (path for file in first.files for path in file.paths))
    known = {each.id for each in found.advisors}
    by_label = tuple(each for each in first.policy.roster.advisors if each.by_label and each.id not in known)
    return replace(found, advisors=(*found.advisors, *by_label))


def asked_by_others(held: Roster, now: Roster, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    """What changes the questions of a whole review: who speaks before the executor, on demand, or inline."""
    if not calls:
        return
    groups = (
        ("speak first", held.opening, now.opening),
        ("be there to consult", held.on_demand, now.on_demand),
        ("speak inline", held.voices, now.voices),
    )
    for says, were, are in groups:
        before, after = {each.id for each in were}, {each.id for each in are}
        yield from (Unknown(f"{name} would {says}", like(calls)) for name in sorted(after - before))
        yield from (Unknown(f"{name} would not {says}", like(calls)) for name in sorted(before - after))
    words = {each.id: _asks(each) for each in held.advisors}
    for each in now.advisors:
        is_only_a_judge = each.on == "finish" and not each.inline
        if not is_only_a_judge and words.get(each.id, _asks(each)) != _asks(each):
            yield Unknown(f"{each.id} would have been asked in other words", like(calls))


def counted_by(members: Sequence[MemberAnswer], now: Roster, asked: Sequence[WantedQuestion]) -> list[MemberAnswer]:
    """The recorded answers of those who vote in the other roster, with the weights and rights that it gives them.

    ``asked`` are the questions to judges in the attempt. Raises ``WouldAsk`` by the name of whoever was not asked, or
    was asked otherwise.
    """
    given = {each.advisor.id: each for each in members}
    asked_anew = [each for each in now.panel if each.id not in given or _asks(given[each.id].advisor) != _asks(each)]
    if not asked_anew and _is_alone(now.panel) is not _is_alone(each.advisor for each in members):
        asked_anew = list(now.panel)
    if asked_anew:
        times = 1 if _is_alone(now.panel) else 2
        models = (each.model for each in asked_anew for _ in range(times))
        wanted = [replace(judge, model=model or judge.model) for model in models for judge in asked[:1]]
        raise WouldAsk(f"{', '.join(each.id for each in asked_anew)} would have been asked to judge", wanted)
    return [replace(given[each.id], advisor=each) for each in now.panel]


def _is_alone(panel: Iterable[Advisor]) -> bool:
    """Whether the ADR's advisor judges alone. A council is asked in another form."""
    return [each.id for each in panel] == [ADR_ADVISOR.id]


def _asks(member: Advisor) -> tuple[object, ...]:
    """What of a member stands in its questions. Weight, veto, and why it is there do not."""
    return member.persona, member.scopes, member.instanced, member.model, member.answer, member.temperament


@dataclass(frozen=True, slots=True)
class OtherRules:
    """What is tried; None stands for what held in the review itself.

    ``retries`` is the table of retries by blast radius, ``max_usd`` the most that one review may spend,
    ``usd_by_blast`` the money of each part, and ``exclude`` the globs of files that nobody reads. ``prices`` are what
    every call costs, ``thresholds`` the confidence that is enough, and ``roster`` who is asked.
    """

    retries: Mapping[BlastRadius, int] | None = None
    fail_as_veto: bool | None = None
    fail_on_degraded: bool | None = None
    max_consults: int | None = None
    max_usd: float | None = None
    usd_by_blast: Mapping[BlastRadius, float] | None = None
    exclude: tuple[str, ...] | None = None
    prices: tuple[Price, ...] | None = None
    thresholds: tuple[Threshold, ...] | None = None
    roster: Roster | None = None

    def row(self, policy: Policy, row: SurfacePolicy) -> SurfacePolicy:
        """The row of a surface: its retries follow from its blast radius and its authority."""
        if self.retries is None:
            return row
        budget = surface_retry_budget(row.surface, policy.blast.radius, row.authority, self.retries)
        return replace(row, retry_budget=budget)

    def policy(self, policy: Policy, first: PolicyFrozen) -> Policy:
        """The whole policy of a review, or of a part after a repair. Money stays what it is given here or was."""
        budgets = policy.budgets
        given = None if self.usd_by_blast is None else self.usd_by_blast.get(policy.blast.radius)
        most = budgets.max_usd if given is None else given * max(1, first.shards)
        most = most if self.max_usd is None else min(most, self.max_usd)
        consults = budgets.max_consults if self.max_consults is None else self.max_consults
        degraded = policy.fail_on_degraded if self.fail_on_degraded is None else self.fail_on_degraded
        thresholds = policy.escalation.thresholds if self.thresholds is None else self.thresholds
        return replace(
            policy,
            escalation=replace(policy.escalation, thresholds=thresholds),
            roster=policy.roster if self.roster is None else roster_otherwise(first, self.roster),
            surfaces=tuple(self.row(policy, row) for row in policy.surfaces),
            budgets=replace(budgets, max_usd=most, max_consults=consults),
            fail_as_veto=policy.fail_as_veto if self.fail_as_veto is None else self.fail_as_veto,
            fail_on_degraded=degraded,
        )


def asked_otherwise(
    first: PolicyFrozen, events: Sequence[Event], other: OtherRules, *, paid_before: float
) -> Iterator[Unknown]:
    """Each question that would not have been asked, or would have been another one: its answer nobody knows.

    ``events`` have the costs that hold under the other rules; as they were recorded, they came to ``paid_before``:
    money as the limits of a review count it.
    """
    calls = [each for each in events if isinstance(each, CallEnded)]
    yield from _excluded(first, other, calls)
    policy = other.policy(first.policy, first)
    yield from asked_by_others(first.policy.roster, policy.roster, calls)
    was, now = first.policy.budgets, policy.budgets
    paid = counted_money(events).usd
    if paid > now.max_usd and (now.max_usd < was.max_usd or paid > paid_before):
        would = "cost" if paid == paid_before else "would have cost"
        yield Unknown(
            f"the review {would} ${paid:.2f}: at ${now.max_usd:.2f} a call would have been refused or cut short"
        )
    cheaper = now.max_usd > was.max_usd or paid < paid_before
    refused = [each for each in calls if each.reason == "money"]
    if cheaper and refused:
        yield Unknown("a call that was refused for its money would have been made", like(refused))
    used = failed = 0
    for each in events:
        if not isinstance(each, Consulted):
            continue
        note, its = each.note, [call for call in calls if call.number == each.number]
        if note.status == "denied" and now.max_consults > was.max_consults:
            yield Unknown("a consult that was refused would have been answered", like(its))
            return
        if note.asked and consults_left(now, used, failed) == 0 and now.max_consults < was.max_consults:
            yield Unknown(f"consult {used + 1} would have been refused", like(its, Role.EXECUTOR))
            return
        used += note.asked
        failed += note.status == "failed"


def _excluded(first: PolicyFrozen, other: OtherRules, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    before = first.policy.excluded
    if other.exclude is None or other.exclude == before.globs:
        return
    unread = {each.path for each in before.files}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    for file in first.files:
        left_out = excluding_glob(other.exclude, file.path) is not None and file.path not in watched
        if left_out and file.shards:
            yield Unknown(f"{shown_path(file.path)} would have been left out", like(calls))
        elif file.path in unread and not left_out:
            yield Unknown(f"{shown_path(file.path)} would have been read", like(calls))


Kind = TypeVar("Kind", bound=Step)


STOPPED_ELSEWHERE = "the review was stopped, and would have gone another way"


class PartOtherwise(PartReplay):
    """Plays one part until its decisions part from what was recorded.

    ``events`` has what still happens, by the identity of the event that it stands for. What is not in it does not.
    """

    def __init__(
        self, first: PolicyFrozen, row: SurfacePolicy, other: OtherRules, steps: Sequence[Step], *, stopped: bool
    ) -> None:
        super().__init__(first, row, steps, stopped=stopped)
        self._other = other
        self._recorded = tuple(steps)
        self._end = next((each for each in steps if isinstance(each, PartEnded)), None)
        self._led_to_consults: dict[int, set[ReasonKey]] = {}
        self.events: dict[int, Step] = {}
        self.changed = False

    def otherwise(self) -> PartEnded | None:
        """How the part ends under the other rules; None where a stop came first.

        Raises ``WouldAsk``, and ``Unsound`` for events that no review of this version has.
        """
        gone = self._gone()
        try:
            ending = self._ending()
        except CutShort:
            if gone:
                raise WouldAsk(STOPPED_ELSEWHERE) from None
            return None
        except Unsound:
            if not self.changed:
                raise
            raise WouldAsk("a refuter or an inline member would have been asked about another result") from None
        end = self._end
        if end is None and self.changed:
            raise WouldAsk(STOPPED_ELSEWHERE)
        if end is None:
            raise Unsound("a part has no end")
        if not self.changed:
            self.events |= {id(each): each for each in self._steps}
        self._leave_out(gone)
        if not self.changed:
            return end
        told = replace(end, attempt=self._attempt, **asdict(ending))
        self.events[id(end)] = told
        return told

    def _gone(self) -> frozenset[int]:
        """The calls of judges that the other roster does not ask."""
        now = {asked_as(each) for each in self._other.policy(self._policy, self._first).roster.panel}
        gone = {asked_as(each) for each in self._policy.roster.panel} - now
        calls = (each for each in self._recorded if isinstance(each, CallEnded) and each.role is Role.POST_VERIFY)
        return frozenset(each.number for each in calls if each.advisor in gone)

    def _leave_out(self, numbers: Collection[int]) -> None:
        for place, each in list(self.events.items()):
            if isinstance(each, OfCall) and each.number in numbers:
                del self.events[place]

    def take(self, kind: type[Kind]) -> Kind:
        """The same, kept among what still happens, if it is consulted alike under the other rules."""
        told = super().take(kind)
        self.events[id(told)] = told
        if isinstance(told, Escalated | Reported):
            self._is_consulted_alike(told)
        return told

    def _is_consulted_alike(self, told: Escalated | Reported) -> None:
        """The other thresholds give the same reasons to consult after this turn. Raises ``WouldAsk``."""
        call, known = self.turn, self._led_to_consults.setdefault(told.attempt, set())
        reasons = told.reasons if isinstance(told, Escalated) else ()
        if any(each.kind is ReasonKind.RECONCILE for each in reasons) or call is None or call.number != told.number:
            return
        turn = Turn(told.number, told.report, call.failures_unadvised, call.readings_unadvised)
        rules = (self._policy, self._other.policy(self._policy, self._first))
        watched = (watched_in(self._first, each, self._row, self._shard) for each in rules)
        was, now = (reasons_to_consult(each, turn, known) if each is not None else () for each in watched)
        known.update(each.key for each in reasons)
        if was == now:
            return
        if not was:
            consult = WantedQuestion(Role.MID_FLIGHT, self._row.advisor_model, 0, call.at.date())
            asked = (consult, *self._asked_like(Role.EXECUTOR))
            raise WouldAsk("a consult would have been due, for a confidence below the threshold", asked)
        if not now:
            why = "a consult would not have been due, and the report was made with its advice"
            raise WouldAsk(why, self._asked_like(Role.POST_VERIFY))
        raise WouldAsk("a consult would have given other reasons", self._asked_like(Role.MID_FLIGHT, Role.EXECUTOR))

    def _ruled(
        self, report: CheckedReport, attempts: tuple[Attempt, ...], advised: ReplayedAdvice = NOT_ADVISED
    ) -> tuple[Ruling, Attempt | None]:
        told, judged = super()._ruled(report, attempts, advised)
        policy = self._other.policy(self._policy, self._first)
        at = standing(policy, self._other.row(policy, self._row), report.verdict, attempts)
        at = replace(at, turned=advised.turned, advisor_alone=advised.alone)
        switch = self._row.roles[Role.POST_VERIFY].disabled_by
        members: list[MemberAnswer] = []
        if switch is not None:
            due, joint = rule(at, Disabled(switch)), None
        else:
            members = counted_by(self._members, policy.roster, self._asked_like(Role.POST_VERIFY))
            due, joint = rule_panel(at, members)
        self._counted = members
        if due.move is Move.RETRY and told.move is not Move.RETRY:
            again = self._asked_like(Role.EXECUTOR, Role.POST_VERIFY)
            raise WouldAsk("a retry would have been asked, and its answer is unknown", again)
        now = self._judged_by(members, joint, judged)
        if due.move is Move.RETRY and now != judged:
            raise WouldAsk("a retry would have been handed another judgement", self._asked_like(Role.EXECUTOR))
        self._tell(told, due, judged, now)
        return due, now

    def _judged_by(
        self, members: Sequence[MemberAnswer], joint: PostVerifyResult | None, judged: Attempt | None
    ) -> Attempt | None:
        """The judgement that the other roster's votes come to, with the replies of those who are asked in it."""
        if judged is None or joint is None:
            return None
        if {each.advisor.id for each in self._members} == {each.advisor.id for each in members}:
            return replace(judged, result=joint)
        return replace(judged, result=joint, raw=_of_members(judged.raw, [each.advisor.id for each in members]))

    def _tell(self, told: Ruling, due: Ruling, judged: Attempt | None, now: Attempt | None) -> None:
        """Put another judgement and ruling in the place of what was recorded."""
        if now != judged:
            place, verified = self._latest(Verified)
            self.changed = True
            if now is None:
                del self.events[place]
            else:
                self.events[place] = replace(verified, judged=now)
        if due != told:
            place, ruled = self._latest(Ruled)
            self.events[place] = replace(ruled, ruling=due)
            self.changed = self.changed or due.move is not told.move or due.degraded is not told.degraded
            self.changed = self.changed or (due.exhausted, due.verdict) != (told.exhausted, told.verdict)

    def _latest(self, kind: type[Kind]) -> tuple[int, Kind]:
        return next((at, each) for at, each in reversed(self.events.items()) if isinstance(each, kind))

    def _asked_like(self, *roles: Role) -> tuple[WantedQuestion, ...]:
        """Questions like those of the present attempt."""
        calls = (each for each in self._recorded if isinstance(each, CallEnded) and each.attempt == self._attempt)
        return like(calls, *roles)


def _of_members(raw: str, ids: Sequence[str]) -> str:
    """Of the replies of a council those of these members, as the council's own judgement tells them."""
    try:
        said = json.loads(raw)
    except ValueError:
        return raw
    return json.dumps({each: said[each] for each in ids if each in said}) if isinstance(said, dict) else raw


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A review under other rules: its document, or None with each thing that its events cannot tell.

    ``questions`` would have to be asked to know it: those of the reason that has the most, as reasons overlap.
    """

    document: OutcomeDocument | None
    unknown: tuple[str, ...] = ()
    questions: tuple[WantedQuestion, ...] = ()


def decided_otherwise(document: OutcomeDocument, other: OtherRules) -> Otherwise:
    """What the answers of a stored review lead to under ``other`` rules. Asks nobody, and never raises for events."""
    first, *inner = document.events
    if not isinstance(first, PolicyFrozen) or not inner:
        return Otherwise(None, ("its events are not those of a review",))
    unknown: list[Unknown] = []
    told: list[Event] = inner
    if other.prices is not None:
        told, unpriced = at_other_prices(inner, other.prices)
        unknown += unpriced
    unknown += asked_otherwise(first, told, other, paid_before=counted_money(inner).usd)
    events: list[Event] = []
    try:
        events = _Review(first, told, other).events()
    except WouldAsk as asked:
        unknown.append(asked.unknown)
    except Unsound as doubt:
        unknown.append(Unknown(f"its events are not those of a review of this version: {doubt}"))
    if unknown:
        reasons = tuple(dict.fromkeys(each.why for each in unknown))
        return Otherwise(None, reasons, max((each.questions for each in unknown), key=len))
    return Otherwise(outcome_document(events))


class _Review:
    def __init__(self, first: PolicyFrozen, inner: Sequence[Event], other: OtherRules) -> None:
        self._first, self._inner, self._other = first, inner, other
        self._stop = next((each for each in inner if isinstance(each, ReviewStopped)), None)
        self._kept: dict[int, Event] = {id(each): each for each in inner if not isinstance(each, Step)}
        self._changed = False

    def events(self) -> list[Event]:
        """The events under the other rules, in their recorded order."""
        ends = self._surfaces()
        if self._stop is not None and self._changed:
            raise WouldAsk(STOPPED_ELSEWHERE)
        stop = None if self._stop is None else self._stop.detail
        due = join_review(ends, self._first.files, self._first.unsent, stop)
        last = self._inner[-1]
        if not isinstance(last, ReviewEnded):
            raise Unsound("a review has no end")
        if self._changed:
            self._kept[id(last)] = replace(last, outcome=due.outcome, because=due.because)
        first = replace(self._first, policy=self._other.policy(self._first.policy, self._first))
        return [first, *(self._kept[id(each)] for each in self._inner if id(each) in self._kept)]

    def _surfaces(self) -> list[Ending]:
        ends: list[Ending] = []
        for row in self._first.policy.surfaces:
            its = [each for each in self._inner if isinstance(each, Step) and each.surface is row.surface]
            so_far = join_review(ends, self._first.files, self._first.unsent, None)
            not_run = why_not_run(row, so_far, guarded=self._first.policy.guard.holds) if ends else None
            if not_run is not None:
                ending = not_run.ending
                self._leave_out(its, not_run)
            elif not its:
                continue
            elif [(each.role if isinstance(each, RoleSkipped) else None) for each in its] == [Role.EXECUTOR]:
                raise WouldAsk(f"{row.surface.value} would have run")
            else:
                ending = self._ran(row, its)
            if ending is None:
                continue
            self._told(row, ending)
            ends.append(ending)
            if ending.outcome is Outcome.STOPPED:
                break
        return ends

    def _ran(self, row: SurfacePolicy, its: Sequence[Step]) -> Ending | None:
        parts: dict[int, list[Step]] = {}
        for step in its:
            parts.setdefault(step.shard, []).append(step)
        ended: list[PartEnded] = []
        for shard in sorted(parts):
            part = PartOtherwise(self._first, row, self._other, parts[shard], stopped=self._stop is not None)
            end = part.otherwise()
            self._changed = self._changed or part.changed
            self._kept |= part.events  # type: ignore[arg-type]
            if end is None:
                self._kept |= {id(each): each for each in parts[shard]}  # type: ignore[misc]
                continue
            ended.append(end)
        return join_parts(ended) if len(ended) == len(parts) else None

    def _leave_out(self, its: Sequence[Step], not_run: NotRun) -> None:
        """One step says that a surface does not run; what it would have said and decided, it does not."""
        if not its:
            return
        if [(each.role if isinstance(each, RoleSkipped) else None) for each in its] == [Role.EXECUTOR]:
            self._kept |= {id(each): each for each in its}  # type: ignore[misc]
            return
        self._changed = True
        skipped = RoleSkipped(
            at=its[0].at,
            surface=its[0].surface,
            role=Role.EXECUTOR,
            because=(not_run.because,),
            disabled_by=not_run.disabled_by,
        )
        self._kept[id(its[0])] = skipped
        if not_run.ending is None:
            for each in self._inner:
                if isinstance(each, SurfaceEnded) and each.surface is its[0].surface:
                    del self._kept[id(each)]

    def _told(self, row: SurfacePolicy, ending: Ending) -> None:
        for each in self._inner:
            if isinstance(each, SurfaceEnded) and each.surface is row.surface and self._changed:
                self._kept[id(each)] = replace(each, outcome=ending.outcome, because=ending.because)


UNKNOWN = "unknown"


NOT_BEGUN = "not begun"


def concluded(document: OutcomeDocument) -> Outcome:
    """What a review concludes, as its exit code says: an approval can call a person, too."""
    return Outcome.ESCALATED if document.exit_code == EXIT_CODES[Outcome.ESCALATED] else document.outcome


@dataclass(frozen=True, slots=True)
class ReviewUnderBoth:
    """One stored review, and what it would have been ``otherwise``.

    ``posted_before`` and ``posted_after`` are the ids of the findings with a new comment; None where that is unknown.
    Where it does not begin, nothing of it is decided, posted or spent.
    """

    before: OutcomeDocument
    otherwise: Otherwise
    posted_before: frozenset[str] | None
    posted_after: frozenset[str] | None
    begins: bool = True

    @property
    def after(self) -> OutcomeDocument | None:
        """The review as it would have been; None where nobody knows it, or there would be none."""
        return self.otherwise.document if self.begins else None

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why nobody knows it."""
        return self.otherwise.unknown if self.begins else ()

    @property
    def is_known(self) -> bool:
        """Whether the result is known, also that there would be none."""
        return self.after is not None or not self.begins

    @property
    def ends(self) -> tuple[str, str]:
        """What the review concludes, as its exit code says, and what it would have."""
        if not self.begins:
            return concluded(self.before).value, NOT_BEGUN
        return concluded(self.before).value, UNKNOWN if self.after is None else concluded(self.after).value

    @property
    def missed(self) -> frozenset[str] | None:
        """The findings that would have lost their comment; None where that is unknown."""
        if self.posted_before is None or self.posted_after is None:
            return None
        return self.posted_before - self.posted_after

    @property
    def passed(self) -> frozenset[str] | None:
        """The findings that blocked and would not block; None where that is unknown."""
        if not self.is_known:
            return None
        return blocking_findings(self.before) - (frozenset() if self.after is None else blocking_findings(self.after))

    @property
    def usd_after(self) -> float | None:
        """US dollars that it would have cost; None where that is unknown."""
        if not self.is_known:
            return None
        return 0.0 if self.after is None else usd_of(self.after)

    def as_json(self, prices: Iterable[Price]) -> dict[str, Any]:
        """Run, conclusions, comments, money and what is unknown; null stands for unknown."""
        before, after = self.ends
        missed, passed = self.missed, self.passed
        return {
            "run_id": self.before.run_id,
            "before": before,
            "after": after if self.is_known else None,
            "posted_before": None if self.posted_before is None else len(self.posted_before),
            "posted_after": None if self.posted_after is None else len(self.posted_after),
            "missed": None if missed is None else sorted(missed),
            "no_longer_blocking": None if passed is None else sorted(passed),
            "usd_before": usd_of(self.before),
            "usd_after": self.usd_after,
            "unknown": list(self.unknown),
            "would_ask": wanted_money(self.otherwise.questions if self.begins else (), prices).as_json(),
        }


def usd_of(document: OutcomeDocument) -> float:
    """US dollars that the calls of a review reported. What an earlier run has paid for is that run's."""
    return round(spent(e for e in document.events if isinstance(e, CallEnded) and not e.kept).cost_usd, 6)


def both_as_json(
    reviews: Sequence[ReviewUnderBoth], left_out: Sequence[str], prices: Sequence[Price]
) -> dict[str, Any]:
    """Every review, the sums over those whose result is known, and what was left out."""
    each_told = [each.as_json(prices) for each in reviews]
    asked = _would_ask(reviews, prices).as_json()
    return {"reviews": each_told, "totals": {**_totals(reviews), "would_ask": asked}, "left_out": list(left_out)}


def _would_ask(reviews: Sequence[ReviewUnderBoth], prices: Iterable[Price]) -> WantedMoney:
    return wanted_money((one for each in reviews if each.begins for one in each.otherwise.questions), prices)


def _totals(reviews: Sequence[ReviewUnderBoth]) -> dict[str, Any]:
    known = [each for each in reviews if each.is_known]
    shown = [each for each in reviews if each.missed is not None]
    kept = [event for each in known if each.after is not None for event in each.after.events]
    return {
        "reviews": len(reviews),
        "unknown": len(reviews) - len(known),
        "usd_before": round(sum(usd_of(each.before) for each in known), 6),
        "usd_after": round(sum(each.usd_after or 0.0 for each in known), 6),
        "posted_known": len(shown),
        "posted_before": sum(len(each.posted_before or ()) for each in shown),
        "posted_after": sum(len(each.posted_after or ()) for each in shown),
        "missed": sum(len(each.missed or ()) for each in shown),
        "no_longer_blocking": sum(len(each.passed or ()) for each in known),
        "answers_kept": sum(isinstance(event, CallEnded) and event.ended == "answered" for event in kept),
    }


def both_text(reviews: Sequence[ReviewUnderBoth], prices: Sequence[Price]) -> str:
    """How many reviews went which way, what they post and cost, and why something is unknown."""
    sums = _totals(reviews)
    ends = Counter(each.ends for each in reviews)
    rows = [("before", "after", "reviews"), *((was, now, str(count)) for (was, now), count in sorted(ends.items()))]
    known = f"of {counted(sums['reviews'] - sums['unknown'], 'review')} whose result is known"
    missed = f"missed: {counted(sums['missed'], 'finding')} would have had no comment"
    shown = f"of {counted(sums['posted_known'], 'review')} whose comments are known"
    told = [
        table(rows),
        f"spent: ${sums['usd_before']:.4f} before, ${sums['usd_after']:.4f} after, {known}\n",
        f"posted: {counted(sums['posted_before'], 'comment')} before, {sums['posted_after']} after, {shown}\n",
        f"{missed}, {sums['no_longer_blocking']} would not have blocked\n",
        f"asked: nobody; {counted(sums['answers_kept'], 'kept answer')} decided\n",
    ]
    reasons = Counter(why for each in reviews for why in each.unknown)
    if reasons:
        told.append(f"unknown: {counted(sums['unknown'], 'review')}\n")
        told += [f"  {count} x {printable_line(why)}\n" for why, count in reasons.most_common()]
        wanted = _would_ask(reviews, prices)
        told += [f"  {wanted.words()}\n"] if wanted.questions else []
    return "".join(told)


def posted_anew(
    documents: Iterable[OutcomeDocument | None], rules: PublicationRules
) -> tuple[frozenset[str] | None, ...]:
    """The ids of the findings that each review gets a new comment for; None from the first unknown review on."""
    before: State | None = None
    said: set[str] = set()
    found: list[frozenset[str] | None] = []
    known = True
    for document in documents:
        known = known and document is not None
        if document is None or not known:
            found.append(None)
            continue
        narrowing = replace(rules.narrowing(round_of(before, document)), few=council_findings(document.events).few)
        decided = postings(document.findings, blocking_findings(document), said, narrowing)
        shown = document.outcome is not Outcome.STOPPED
        fresh = frozenset(each.finding.id for each in decided if each.allowed and shown)
        said |= fresh
        found.append(fresh)
        before = remembered(before, document, asked=False)
    return tuple(found)


def begun_otherwise(
    reviews: Sequence[tuple[OutcomeDocument, OutcomeDocument | None]], was: PublicationRules, now: PublicationRules
) -> tuple[bool | None, ...]:
    """Whether each review would have begun; None once that hangs on one whose result nobody knows.

    Each is told as it was recorded and as it would have been, in their order.
    """
    before: State | None = None
    after: State | None = None
    known = True
    begun: list[bool | None] = []
    for recorded, otherwise in reviews:
        asked = _used_up(before, was)
        begins = asked or not _used_up(after, now)
        begun.append(begins if known or asked else None)
        before = remembered(before, recorded, asked=asked)
        if otherwise is not None:
            after = remembered(after, otherwise, asked=asked)
        known = known and (otherwise is not None or not begins)
    return tuple(begun)


def _used_up(state: State | None, rules: PublicationRules) -> bool:
    return state is not None and used_up_of(state.rounds, state.spent_usd, rules) is not None
