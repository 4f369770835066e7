"""One review's calls: allowed, made, asked once more if unusable, and recorded."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Generic, TypeVar

from review_advisor.agents.answers import Answer
from review_advisor.agents.calls import BUSY, AgentCall, Answered, ConsultGrant, Consults, Lost, LostReason
from review_advisor.agents.kept_replies import on_asking_again
from review_advisor.agents.mid_flight import ConsultNote, read_consult
from review_advisor.agents.purse import Purse
from review_advisor.agents.replies import REPAIRABLE, checked_reply, cut_short, lost_twice, repair_ask
from review_advisor.agents.roles import Part
from review_advisor.change.redaction import Redactor
from review_advisor.policy.budgets import Allowance, Budgets, Refused
from review_advisor.policy.outage_rules import NO_SECOND_TRY, Brake, OutageRules
from review_advisor.policy.policy import SurfacePolicy
from review_advisor.policy.surfaces import Role
from review_advisor.review.consults import ReviewConsults
from review_advisor.review.ends import stop_words
from review_advisor.review.events import CallEnded, CallStarted, Consulted, Ended, Event, OfCall, RoleSkipped
from review_advisor.review.ports import Ports
from review_advisor.safety.fence import legible
from review_advisor.safety.stop import ConsultRecord, Receipt, Stop


@dataclass(slots=True, eq=False)
class Lane:
    """The events of one of several pieces of work that are done side by side. They wait for all lanes before it.

    ``after`` is the lane that comes next; ``around`` is that of the work which handed these pieces out, if any.
    """

    around: Lane | None
    held: list[Event] = field(default_factory=list)
    is_next: bool = False
    is_over: bool = False
    after: Lane | None = None


class EventStream:
    """Hands each event to ``tell`` once its turn has come. Used from several threads, of which one at a time tells.

    The events of work that is done side by side come out in the order of the work, and the calls are numbered in that
    order, from 1. So the same answers make the same stream, whichever came first.
    """

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell
        self._lock = threading.RLock()
        self._here = threading.local()
        self._numbers: dict[int, int] = {}

    def record(self, event: Event) -> None:
        """Take one event of the work that this thread does."""
        with self._lock:
            self._pass_on(getattr(self._here, "lane", None), event)

    def lanes(self, count: int) -> tuple[Lane, ...]:
        """A lane for each piece of work that this thread hands to others, in the order of their events."""
        around: Lane | None = getattr(self._here, "lane", None)
        made = tuple(Lane(around, is_next=place == 0) for place in range(count))
        for lane, after in pairwise(made):
            lane.after = after
        return made

    @contextmanager
    def within(self, lane: Lane) -> Iterator[None]:
        """While this thread does the work of ``lane``; afterwards the lane is over."""
        outside = getattr(self._here, "lane", None)
        self._here.lane = lane
        try:
            yield
        finally:
            self._here.lane = outside
            with self._lock:
                self._end(lane)

    def _end(self, lane: Lane) -> None:
        lane.is_over = True
        following: Lane | None = lane
        while following is not None and following.is_next and following.is_over:
            following = following.after
            if following is not None:
                following.is_next = True
                held, following.held = following.held, []
                for event in held:
                    self._pass_on(following, event)

    def _pass_on(self, lane: Lane | None, event: Event) -> None:
        if lane is None:
            self._tell(self._numbered(event))
        elif lane.is_next:
            self._pass_on(lane.around, event)
        else:
            lane.held.append(event)

    def _numbered(self, event: Event) -> Event:
        if not isinstance(event, OfCall) or not event.number:
            return event
        number = self._numbers.setdefault(event.number, len(self._numbers) + 1)
        if isinstance(event, CallStarted | CallEnded) and event.asks_again:
            asks_again = self._numbers[event.asks_again]
            if (number, asks_again) != (event.number, event.asks_again):
                return replace(event, number=number, asks_again=asks_again)
            return event
        return event if number == event.number else replace(event, number=number)


Checked = TypeVar("Checked", bound=Answer)


Item = TypeVar("Item")


Done = TypeVar("Done")


StepEvent = TypeVar("StepEvent", bound=Event)


_WAIT_STEP_SECONDS = 1.0


_LOOK_SECONDS = 0.2
"""How often a call that waits for its turn checks whether the process was told to end."""


@dataclass(frozen=True, slots=True)
class CallResult(Generic[Checked]):
    """The result of one question, which may have taken several calls."""

    answer: Checked | Lost | Refused
    """The checked answer, or why there is none."""
    raw: str = ""
    """The answer as the model gave it, as JSON; empty without one."""
    consults: tuple[ConsultNote, ...] = ()
    """Those of all calls."""
    number: int = 0
    """The last call."""
    model: str = ""
    """The model of the last call."""
    first: int = 0
    """The call that asked the question first."""
    receipt: Receipt = field(default_factory=Receipt)


class Dispatch:
    """All calls of one review, at most ``jobs`` of them at a time. Used from several threads.

    A thread holds a place only while its own call runs, so a thread that waits for the calls of others holds none.
    Every prompt, every reply and every event passes the redactor here. What is kept of a reply has passed it, too.
    """

    def __init__(
        self,
        ports: Ports,
        budgets: Budgets,
        jobs: int,
        redactor: Redactor,
        *,
        prompts: str = "",
        threads: Callable[[int], Pool] = ThreadPoolExecutor,
        earlier_consults: Iterable[ConsultRecord] = (),
        outage: OutageRules = NO_SECOND_TRY,
    ) -> None:
        self._ports = ports
        self._budgets = budgets
        self._jobs = jobs
        self._redactor = redactor
        self._prompts = prompts
        self._threads = threads
        self._consults = ReviewConsults(budgets, redactor, earlier_consults)
        self._lock = threading.Lock()
        self._place_free = threading.Condition(self._lock)
        self._started = ports.clock.monotonic()
        self._outage = outage
        self._brake = Brake(most=jobs, places=jobs)
        self._purse = Purse(budgets, ports.prices, jobs)
        self._stopped: Stop | None = None
        self._numbers = 0
        self._events: list[Event] = []
        self._stream = EventStream(self._told)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything recorded so far whose turn has come, in order."""
        return tuple(self._events)

    def now(self) -> datetime:
        """The moment an event happens."""
        return self._ports.clock.now()

    def record(self, event: Event) -> None:
        """Append one event to the review's stream, with the prompts' version if it is a call's, and journal it."""
        if isinstance(event, OfCall) and event.number and event.prompts != self._prompts:
            event = replace(event, prompts=self._prompts)
        redacted = self._redactor.everywhere(event)
        self._stream.record(redacted)

    def _told(self, event: Event) -> None:
        self._events.append(event)
        self._ports.journal.record(event)

    def record_step(
        self, event: Callable[..., StepEvent], row: SurfacePolicy, part: Part, attempt: int = 0, **facts: Any
    ) -> StepEvent:
        """The same for what happened now in one part of a surface. ``facts`` are the event's own fields."""
        happened = event(at=self.now(), surface=row.surface, attempt=attempt, shard=part.shard.index, **facts)
        self.record(happened)
        return happened

    def record_skipped(self, role: Role, row: SurfacePolicy, part: Part) -> None:
        """The same for a role that the policy keeps out of a surface."""
        decision = row.roles[role]
        because, disabled_by = decision.because, decision.disabled_by
        self.record_step(RoleSkipped, row, part, role=role, because=because, disabled_by=disabled_by)

    def together(self, items: Sequence[Item], work: Callable[[Item], Done]) -> list[Done]:
        """Do ``work`` on every item and return the results in the items' order. The first failure ends all calls.

        With one call at a time the items are done one after the other, by the caller. Otherwise ``jobs`` threads of
        this call alone take them from a queue; so ``work`` may itself do its work together. Their events are recorded
        in the items' order, too.
        """
        if self._jobs == 1 or len(items) == 1:
            return [work(item) for item in items]

        def in_lane(lane: Lane, item: Item) -> Done:
            is_done = False
            try:
                with self._stream.within(lane):
                    result = work(item)
                is_done = True
                return result
            finally:
                if not is_done:
                    self.halt(Stop("Another part of this review failed."))

        with self._threads(self._jobs) as threads:
            lanes = self._stream.lanes(len(items))
            futures = [threads.submit(in_lane, lane, item) for lane, item in zip(lanes, items, strict=True)]
            failures = [error for future in futures if (error := future.exception()) is not None]
        for error in sorted(failures, key=lambda error: isinstance(error, Stop)):  # a bug is told before a stop
            raise error
        return [future.result() for future in futures]

    def ask(self, call: AgentCall, answer: type[Checked]) -> CallResult[Checked]:
        """Make ``call`` within the budgets. Raises ``Stop``; after one, no further call starts.

        A call that a rate limit took is made again once all calls have slowed down. An unusable reply is asked for once
        more, and what the first call opened counts for the second. Neither holds for a call that itself asks again.
        """
        first = self._ask_through_rate_limits(call, answer)
        asked_again = first.first != first.number
        if not isinstance(first.answer, Lost) or first.answer.reason not in REPAIRABLE or asked_again:
            return first
        second = self._ask_once(repair_ask(call, first.number, first.answer), answer)
        result = lost_twice(first.answer, second.answer) if isinstance(second.answer, Lost) else second.answer
        receipt = replace(second.receipt, opened=first.receipt.opened + second.receipt.opened)
        return replace(second, answer=result, consults=first.consults + second.consults, receipt=receipt)

    def _ask_through_rate_limits(self, call: AgentCall, answer: type[Checked]) -> CallResult[Checked]:
        result = self._ask_once(call, answer)
        latest = result.answer
        for number in range(1, 1 + (0 if call.asks_again else self._outage.busy_tries)):
            if not isinstance(latest, Lost) or latest.reason not in BUSY:
                break
            lost = result.answer
            further = self._ask_once(replace(call, asks_again=result.first, further_try=number), answer)
            latest = further.answer
            counts = lost_twice(lost, latest) if isinstance(lost, Lost) and isinstance(latest, Lost) else latest
            result = replace(further, answer=counts, consults=result.consults + further.consults)
        return result

    def wait(self, seconds: float) -> bool:
        """Wait this long; return False at once if the review's time would be over by then. Raises ``Stop``."""
        clock = self._ports.clock
        end = clock.monotonic() + seconds
        if end - self._started >= self._budgets.review_seconds:
            return False
        while (left := end - clock.monotonic()) > 0:
            self._ports.agents.check_interrupt()
            if self._stopped is not None:
                raise self._stopped
            clock.sleep(min(left, _WAIT_STEP_SECONDS))
        return True

    def _ask_once(self, call: AgentCall, answer: type[Checked]) -> CallResult[Checked]:
        self._ports.agents.check_interrupt()
        call, allowed = self._reserve(call)
        if isinstance(allowed, Refused):
            self._record_call(call, Receipt(), "refused", allowed.reason, allowed.detail)
            return CallResult(allowed, number=call.number, first=call.asks_again or call.number)
        priced = replace(
            call,
            blocks=tuple(map(self._redactor.in_prompt, call.blocks)),
            max_usd=allowed.max_usd,
            timeout_seconds=allowed.timeout_seconds,
        )
        consults = None if call.consults is None else self.consults(call.consults)
        receipt = Receipt()
        began = self._ports.clock.monotonic()
        try:
            self._record_start(priced)
            reply = self._redactor.everywhere(legible(self._ports.agents.run(priced, consults)))
            receipt = reply.receipt
        except Stop as stop:
            stop.detail = self._redactor.redact(legible(stop_words(stop, priced)))
            stop.receipt = receipt = legible(stop.receipt)
            self._record_call(priced, receipt, "stopped", type(stop).__name__, stop.detail)
            self._record_consults(priced, receipt)
            self.halt(stop)
            raise
        finally:
            if consults is not None:
                consults.end()
            self._settle(priced, receipt)
        self._heed(reply, began)
        checked = self._checked(priced, reply, answer)
        consulted = self._record_consults(priced, receipt)
        first = call.asks_again or call.number
        return replace(checked, consults=consulted, number=call.number, model=call.model, first=first, receipt=receipt)

    def consults(self, grant: ConsultGrant) -> Consults:
        """The consults of one more call, or of the harness itself, under the one cap of the review."""
        return self._consults.of_call(grant)

    def _record_start(self, call: AgentCall) -> None:
        self.record(
            CallStarted(
                at=self.now(),
                surface=call.surface,
                attempt=call.attempt,
                shard=call.shard,
                number=call.number,
                prompts=self._prompts,
                role=call.role,
                advisor=call.advisor,
                asks_again=call.asks_again,
                requested_model=call.model,
                blind=call.blind,
            )
        )

    def _checked(self, call: AgentCall, reply: Answered | Lost, answer: type[Checked]) -> CallResult[Checked]:
        """What the reply is worth, recorded: an answer, a lost one, or one that a cap of ours cut short."""
        reply = on_asking_again(reply, crashed_before=call.crashed_before)
        if isinstance(reply, Lost) and reply.reason is LostReason.RATE_LIMITED and self._outage.rate_limits == "soft":
            reply = replace(reply, reason=LostReason.TOLERATED_RATE_LIMIT)
        form = call.answer if issubclass(call.answer, answer) else answer
        checked = checked_reply(form, reply)
        if not isinstance(checked.answer, Lost):
            self._record_call(call, reply.receipt, "answered", "", "", notes=checked.notes)
            return CallResult(checked.answer, checked.raw)
        refused = cut_short(checked.answer, call, self._budgets.call_seconds)
        if refused is not None:
            self._record_call(call, reply.receipt, "cut_short", refused.reason, refused.detail)
            return CallResult(refused)
        self._record_call(call, reply.receipt, "lost", checked.answer.reason.value, checked.answer.detail)
        return CallResult(checked.answer)

    def _heed(self, reply: Answered | Lost, began: float) -> None:
        """Slow all calls down after a rate limit, and let them go faster again after an answer."""
        busy = isinstance(reply, Lost) and reply.reason in BUSY
        with self._lock:
            now = self._ports.clock.monotonic()
            self._brake = self._brake.pulled(began, now) if busy else self._brake.eased(began)

    def _reserve(self, call: AgentCall) -> tuple[AgentCall, Allowance | Refused]:
        """Wait for a place and for the brake. The call with its number, and what it may use of what is left by then."""
        while True:
            with self._place_free:
                while self._stopped is None and self._has_to_wait(call):
                    self._place_free.wait(_LOOK_SECONDS)
                    self._ports.agents.check_interrupt()
                if self._stopped is not None:
                    raise self._stopped
                now = self._ports.clock.monotonic()
                is_over = now - self._started >= self._budgets.review_seconds
                delay = 0.0 if is_over else self._brake.delay(now, self._purse.running)
                if not delay:
                    return self._take_place(call)
            self._ports.agents.check_interrupt()
            self._ports.clock.sleep(min(delay, _WAIT_STEP_SECONDS))

    def _has_to_wait(self, call: AgentCall) -> bool:
        """Whether there is no place, or so little money that only running calls can give back what the call needs."""
        return self._purse.running >= self._jobs or self._purse.may_come_back(call, self._today())

    def _today(self) -> date:
        return self._ports.clock.now().date()

    def _take_place(self, call: AgentCall) -> tuple[AgentCall, Allowance | Refused]:
        self._numbers += 1
        call = replace(call, number=self._numbers)
        return call, self._purse.reserve(call, self._ports.clock.monotonic() - self._started, self._today())

    def _settle(self, call: AgentCall, receipt: Receipt) -> None:
        with self._place_free:
            self._purse.settle(call, receipt)
            self._place_free.notify_all()

    def halt(self, stop: Stop) -> None:
        """Let no further call start, and end the running ones. The first reason counts."""
        with self._lock:
            first = self._stopped is None
            self._stopped = self._stopped or stop
            self._place_free.notify_all()
        if first:
            self._ports.agents.end_running()

    def _record_consults(self, call: AgentCall, receipt: Receipt) -> tuple[ConsultNote, ...]:
        notes = tuple(read_consult(record) for record in receipt.consults)
        for note, record in zip(notes, receipt.consults, strict=True):
            self.record(
                Consulted(
                    at=self.now(),
                    surface=call.surface,
                    attempt=call.attempt,
                    shard=call.shard,
                    number=call.number,
                    advisor=record.advisor or Role.MID_FLIGHT.advisor,
                    note=note,
                )
            )
        return notes

    def _record_call(
        self, call: AgentCall, receipt: Receipt, ended: Ended, reason: str, detail: str, *, notes: tuple[str, ...] = ()
    ) -> None:
        self.record(
            CallEnded(
                at=self.now(),
                surface=call.surface,
                attempt=call.attempt,
                shard=call.shard,
                number=call.number,
                prompts=self._prompts,
                role=call.role,
                advisor=call.advisor,
                asks_again=call.asks_again,
                ended=ended,
                reason=reason,
                detail=detail,
                notes=notes,
                requested_model=call.model,
                resolved_model=receipt.resolved_model,
                session_id=receipt.session_id,
                usage=receipt.usage,
                by_model=receipt.by_model,
                own=receipt.own,
                consulted=tuple(each.resolved_model for each in receipt.consults if each.status != "denied"),
                duration_seconds=receipt.duration_seconds,
                tool_failures=receipt.tool_failures,
                opened=receipt.opened,
                turns=receipt.turns,
                failures_unadvised=receipt.failures_unadvised,
                readings_unadvised=receipt.readings_unadvised,
                prompt_characters=len(call.prompt),
                prompt_sha256=hashlib.sha256(call.prompt.encode("utf-8", "replace")).hexdigest(),
                blind=call.blind,
                kept=receipt.kept,
                reply=receipt.reply,
                paid_by=receipt.paid_by,
                tools=call.tree is not None,
                estimated_usd=None if ended == "refused" else self._estimated_usd(call, receipt),
            )
        )

    def _estimated_usd(self, call: AgentCall, receipt: Receipt) -> float | None:
        with self._lock:
            return self._purse.estimate(call, receipt)
