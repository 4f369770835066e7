"""The ledger's rows of one review, read from its events and from nothing else: they cannot disagree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from heapq import heapreplace

from review_advisor.core.ledger.event_rows import duration_ms, rows_of_events
from review_advisor.core.ledger.row import Participant, Readings, Row, casting_of, row, storable_text
from review_advisor.core.ledger.runs import letters
from review_advisor.core.metrics.spending import spent
from review_advisor.core.outcome.cost import executor_turns, prompt_tokens, role_costs, total_usage, used_within
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Consulted, Event, PolicyFrozen, Verified
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.questions import most_at_once, question_of
from review_advisor.core.outcome.surface_records import PartRecord
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.surfaces import Role, Surface

UNFINISHED = "unfinished"
"""The status of a run whose end is not recorded: it is under way, or was killed."""
LONGEST_TITLE = 200
LONGEST_LOGIN = 100
_LONGEST_REASON = 100


def readings_so_far(events: Sequence[Event]) -> Readings:
    """The rows of a run that has not ended, as far as its events tell; the first one is the frozen policy.

    Findings, flags and the wall clock are settled by its end.
    """
    first = events[0]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    casting, done = used_so_far(first.policy, events)
    run = {**row(status=UNFINISHED, pull_request=first.pull_request), **done, **_letters(first)}
    tables = {**_about(first), **_shadow_mode(first, None), **rows_of_events(first.policy, events)}
    return Readings(_name(first), _author(first), casting, run, tables)


def used_so_far(policy: Policy, events: Iterable[Event]) -> tuple[tuple[Participant, ...], Row]:
    """Who took part by now, and what that came to: the columns of a run's row that grow while it is under way."""
    every = tuple(events)
    calls = [event for event in every if isinstance(event, CallEnded)]
    used, took = spent(calls), executor_turns(calls)
    own = total_usage(call.usage for call in calls if not call.kept)
    done = row(
        cost_usd=total_usage(cost.usage for cost in role_costs(calls)).cost_usd,
        consults=sum(isinstance(event, Consulted) and event.note.asked for event in every),
        vetoes=sum(isinstance(event, Verified) and event.judged.result.verdict == "VETO" for event in every),
        executor_ms=_executor_alone_ms(every, calls),
        given=sum(call.kept for call in calls),
        executor_tokens=used.executor_tokens,
        advisor_tokens=used.advisor_tokens,
        consult_tokens=used.consult_tokens,
        executor_turns=took.turns,
        executor_calls=took.calls,
        prompt_tokens=prompt_tokens(own),
        cached_tokens=own.cache_read_tokens,
    )
    return _casting(policy, every), done


def readings_of(document: OutcomeDocument) -> Readings:
    """The rows of a run that is over."""
    casting, done = used_so_far(document.policy, document.events)
    flags = document.flags
    run = row(
        status=document.outcome.value,
        pull_request=document.pull_request,
        findings=len(document.findings),
        degraded=flags.degraded,
        disabled=bool(flags.advisor_disabled),
        recovered=flags.recovered,
        exhausted=flags.exhausted,
        vetoed=any(_was_to_repair(part) for surface in document.surfaces for part in surface.parts),
        wall_ms=(document.ended_at - document.started_at) // timedelta(milliseconds=1),
    )
    tables = {
        **_about(document),
        **_shadow_mode(document, document.exit_code),
        **rows_of_events(document.policy, document.events),
        "findings": tuple(_findings(document)),
    }
    author = _author(document.events[0])
    return Readings(_name(document), author, casting, {**run, **done, **_letters(document)}, tables)


def _executor_alone_ms(events: Sequence[Event], calls: Iterable[CallEnded]) -> int:
    """How long the executor's first attempts alone would have taken: in their order, as many at a time as calls ran."""
    firsts: dict[Surface, list[int]] = defaultdict(list)
    for call in _first_attempts(calls):
        firsts[call.surface].append(duration_ms(call))
    places = most_at_once(events) if any(len(times) > 1 for times in firsts.values()) else 1
    return sum(_last_end(times, places) for times in firsts.values())


def _last_end(times: Iterable[int], places: int) -> int:
    free = [0] * places
    for each in times:
        heapreplace(free, free[0] + each)
    return max(free)


def _first_attempts(calls: Iterable[CallEnded]) -> Iterable[CallEnded]:
    """The executor's first try at each part: not by the diff alone, and not asked again after an unusable reply."""
    first: dict[Hashable, CallEnded] = {}
    for call in calls:
        if call.role is Role.EXECUTOR and call.attempt == 0 and not call.blind:
            first.setdefault(question_of(call), call)
    return first.values()


def _was_to_repair(part: PartRecord) -> bool:
    """Whether a veto that counts was for the executor to answer with a repair: it did not come to its own rejection."""
    if not any(ruling.verdict == "VETO" for ruling in part.rulings):
        return False
    rejected = bool(part.reports) and part.reports[-1].verdict == "reject"
    return not (rejected and part.ended is not None and part.ended.outcome is Outcome.CHANGES_REQUESTED)


def _name(about: PolicyFrozen | OutcomeDocument) -> str | None:
    return None if about.repository is None else storable_text(about.repository)


def _author(first: Event) -> str | None:
    told = first.author if isinstance(first, PolicyFrozen) else ""
    return storable_text(told[:LONGEST_LOGIN]) or None


def _title(about: PolicyFrozen | OutcomeDocument) -> str:
    return storable_text(about.title[:LONGEST_TITLE])


def _letters(about: PolicyFrozen | OutcomeDocument) -> Row:
    return {"letters": letters(_title(about))}


def _about(about: PolicyFrozen | OutcomeDocument) -> dict[str, tuple[Row, ...]]:
    return {
        "titles": (row(title=_title(about)),),
        "changes": (row(label=about.label, head_sha=about.head_sha),),
    }


def _shadow_mode(about: PolicyFrozen | OutcomeDocument, exit_code: int | None) -> dict[str, tuple[Row, ...]]:
    is_empty = isinstance(about, OutcomeDocument) and about.outcome is Outcome.NOTHING_TO_REVIEW
    return {"shadow_mode": (row(exit_code=exit_code),)} if about.policy.mode == "shadow" and not is_empty else {}


def _casting(policy: Policy, events: Iterable[Event]) -> tuple[Participant, ...]:
    advisors = {its.surface: its.advisor_model for its in policy.surfaces}
    parts = [Participant(surface.value) for surface in advisors]
    for event in events:
        if isinstance(event, CallEnded):
            parts += _parts(event)
        elif isinstance(event, Consulted) and event.note.asked:
            parts += _consulted(event, advisors)
    return casting_of(parts)


def _parts(call: CallEnded) -> Iterator[Participant]:
    """A call by the model that was asked for, and by the one that answered."""
    error = "" if call.ended == "answered" else call.reason or call.ended
    for model in _models(call.requested_model, call.resolved_model):
        yield Participant(call.surface.value, call.role.value, model, error)
    for each in used_within(call):
        if each.role is not call.role:
            yield Participant(call.surface.value, each.role.value, each.model)


def _consulted(event: Consulted, advisors: Mapping[Surface, str]) -> Iterator[Participant]:
    """The same for a consult. Why it failed is told in the CLI's words."""
    note = event.note
    error = "" if note.status == "answered" else (note.reason or note.status)[:_LONGEST_REASON]
    for model in _models(advisors[event.surface], note.resolved_model):
        yield Participant(event.surface.value, Role.MID_FLIGHT.value, model, error)


def _models(requested: str, resolved: str) -> set[str]:
    return {requested, resolved or requested}


def _findings(document: OutcomeDocument) -> Iterator[Row]:
    for found in document.findings:
        yield row(
            finding=found.id,
            path=found.path,
            line=found.line,
            end_line=found.end_line,
            removed=found.removed,
            severity=found.severity,
            category=found.category,
            title=found.title,
            confidence=found.confidence,
        )
