"""The rows of a run, read from its events."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heapreplace

from review_advisor.agents.calls import tokens, total_usage
from review_advisor.ledger.queries import letters
from review_advisor.ledger.task_events import (
    BlockMalformed,
    ConsultHeard,
    GuidanceHeard,
    ProposalHeard,
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
    error_mode,
)
from review_advisor.policy.policy import Policy
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import (
    OutcomeDocument,
    PartRecord,
    executor_turns,
    most_at_once,
    prompt_tokens,
    question_of,
    role_costs,
    spent,
    unreported,
    used_within,
)
from review_advisor.review.events import CallEnded, Consulted, Event, PolicyFrozen, Reported, SurfaceEnded, Verified
from review_advisor.review.observed import Observed, comment_fate, of_findings, of_pull_request, proved_right
from review_advisor.review.rulings import Outcome

Scalar = str | int | float | None


Row = Mapping[str, Scalar]
"""One row of a table, by column."""


Tables = Mapping[str, tuple[Row, ...]]
"""Rows by their table."""


_LARGEST = 10**15


@dataclass(frozen=True, slots=True)
class Participant:
    """Who took part in a run. ``role`` is empty for a surface in which nobody was asked, ``error`` for an answer."""

    surface: str
    role: str = ""
    model: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """All rows of one run. ``run`` lacks what the ledger numbers itself: repository and casting."""

    repository: str | None
    casting: tuple[Participant, ...]
    run: Row
    tables: Tables


def row(**values: Scalar) -> Row:
    """A row that can be stored."""
    return {name: storable(value) for name, value in values.items()}


def storable(value: Scalar) -> Scalar:
    """What a database takes: no half characters, no NUL, no number without bounds. The events keep it as it was."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, int):
        return max(-_LARGEST, min(int(value), _LARGEST))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def storable_text(text: str) -> str:
    """A text without half characters and NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def casting_of(parts: Iterable[Participant]) -> tuple[Participant, ...]:
    """Each part once, in an order of their own: runs in which the same took part have the same casting."""
    kept = {Participant(*map(storable_text, (p.surface, p.role, p.model, p.error))) for p in parts}
    return tuple(sorted(kept, key=lambda part: (part.surface, part.role, part.model, part.error)))


def event_rows(policy: Policy, number: int, event: Event) -> Tables:
    """The rows of the ``number``-th event of a review under ``policy``, by table; most events have none."""
    match event:
        case CallEnded():
            return {
                "calls": (_call(number, event),),
                "kept": (_kept(number, event),) if event.kept else (),
                "unreported": tuple(_unreported(number, event)),
            }
        case Consulted():
            return {"consults": (_consult(number, event),)}
        case Verified():
            return {"votes": (_vote(policy, number, event),)}
        case Reported():
            return {"dispositions": tuple(_dispositions(number, event))}
        case SurfaceEnded() if event.outcome is Outcome.ESCALATED:
            question = "; ".join(event.because)
            return {"questions": (row(number=number, surface=event.surface.value, question=question),)}
        case _:
            return {}


def rows_of_events(policy: Policy, events: Iterable[Event]) -> Tables:
    """The rows of all events of a review, by table."""
    found: dict[str, list[Row]] = {}
    for number, event in enumerate(events):
        for table, rows in event_rows(policy, number, event).items():
            found.setdefault(table, []).extend(rows)
    return {table: tuple(rows) for table, rows in found.items()}


def duration_ms(call: CallEnded) -> int:
    """How long a call took."""
    return round(call.duration_seconds * 1000)


def _call(number: int, call: CallEnded) -> Row:
    return row(
        number=number,
        call=call.number,
        asks_again=call.asks_again,
        surface=call.surface.value,
        role=call.role.value,
        advisor=call.advisor,
        attempt=call.attempt,
        shard=call.shard,
        ended=call.ended,
        reason=call.reason,
        requested_model=call.requested_model,
        resolved_model=call.resolved_model,
        input_tokens=call.usage.input_tokens,
        output_tokens=call.usage.output_tokens,
        cache_read_tokens=call.usage.cache_read_tokens,
        cache_write_tokens=call.usage.cache_write_tokens,
        cost_usd=call.usage.cost_usd,
        duration_ms=duration_ms(call),
        turns=call.turns,
        prompt_characters=call.prompt_characters,
        prompt_sha256=call.prompt_sha256,
        session_id=call.session_id,
        kept=call.kept,
        reply=call.reply,
    )


def _kept(number: int, call: CallEnded) -> Row:
    given = spent([call])
    return row(
        number=number,
        paid_by=call.paid_by,
        reply=call.reply,
        cost_usd=given.cost_usd if math.isfinite(given.cost_usd) else 0.0,
        executor_tokens=given.executor_tokens,
        advisor_tokens=given.advisor_tokens,
        consult_tokens=given.consult_tokens,
    )


def _unreported(number: int, call: CallEnded) -> Iterator[Row]:
    for each in unreported(call):
        yield row(
            number=number,
            role=each.role.value,
            model=each.model,
            input_tokens=each.usage.input_tokens,
            output_tokens=each.usage.output_tokens,
            cache_read_tokens=each.usage.cache_read_tokens,
            cache_write_tokens=each.usage.cache_write_tokens,
        )


def _consult(number: int, event: Consulted) -> Row:
    note = event.note
    return row(
        number=number,
        surface=event.surface.value,
        attempt=event.attempt,
        shard=event.shard,
        status=note.status,
        urgency=note.consult.urgency,
        question=note.consult.question,
        action=note.guidance.action if note.guidance else "",
        stop_signal=note.guidance is not None and note.guidance.stops,
        confidence=note.guidance.confidence if note.guidance else None,
        reason=note.reason,
        model=note.resolved_model,
        tokens=note.tokens,
        duration_ms=note.duration_ms,
    )


def _vote(policy: Policy, number: int, event: Verified) -> Row:
    authority = {its.surface: its.authority.value for its in policy.surfaces}
    return row(
        number=number,
        surface=event.surface.value,
        attempt=event.attempt,
        shard=event.shard,
        role=Role.POST_VERIFY.value,
        authority=authority[event.surface],
        verdict=event.judged.result.verdict,
        disagreements=len(event.judged.disagreements),
    )


def _dispositions(number: int, event: Reported) -> Iterator[Row]:
    for answer in {answer.disagreement: answer for answer in event.report.answers}.values():
        yield row(
            number=number,
            surface=event.surface.value,
            shard=event.shard,
            disagreement=answer.disagreement,
            disposition=answer.position,
            settled=answer.disagreement in event.report.settled,
            reason=answer.evidence,
        )


UNFINISHED = "unfinished"
"""The status of a run whose end is not recorded: it is under way, or was killed."""


LONGEST_TITLE = 200


_LONGEST_REASON = 100


def readings_so_far(events: Sequence[Event]) -> Readings:
    """The rows of a run that has not ended, as far as its events tell; the first one is the frozen policy.

    Findings, flags and the wall clock are settled by its end.
    """
    first = events[0]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    casting, done = used_so_far(first.policy, events)
    unsettled = dict.fromkeys(("findings", "degraded", "disabled", "recovered", "exhausted", "vetoed"), 0)
    run = row(status=UNFINISHED, pull_request=first.pull_request, wall_ms=None, **unsettled)
    tables = {**_about(first), **_shadow_mode(first, None), **rows_of_events(first.policy, events)}
    return Readings(_name(first), casting, {**run, **done, **_letters(first)}, tables)


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
    return Readings(_name(document), casting, {**run, **done, **_letters(document)}, tables)


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
    first: dict[int, CallEnded] = {}
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
    """A consult by the model that was asked for, and by the one that answered, with the reason that the CLI gives."""
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


def readings_of_task(events: Sequence[TaskEvent]) -> Tables:
    """Its row, by table. The first event is the run's beginning; without its end the status is running."""
    first, last = events[0], events[-1]
    if not isinstance(first, TaskBegun):
        raise TypeError("a task's events begin with TaskBegun")
    calls = [event for event in events if isinstance(event, TaskCalled) and event.ended != "refused"]
    malformed = [event.tag for event in events if isinstance(event, BlockMalformed)]
    costs = [call.usage.cost_usd for call in calls if call.usage.cost_usd is not None]
    status = last.status if isinstance(last, TaskEnded) else "running"
    about = row(
        task=first.task,
        status=status,
        error_mode=error_mode(status, malformed[-1] if malformed else ""),
        executor_backend=first.executor_backend,
        advisor_backend=first.advisor_backend,
        consults=sum(isinstance(event, ConsultHeard) and not event.refused for event in events),
        guidances=sum(isinstance(event, GuidanceHeard) for event in events),
        proposals=sum(isinstance(event, ProposalHeard) for event in events),
        malformed=len(malformed),
        executor_calls=sum(call.speaker == "executor" for call in calls),
        executor_tokens=_tokens(calls, "executor"),
        advisor_tokens=_tokens(calls, "advisor"),
        cost_usd=sum(costs) if costs else None,
        duration_ms=round(sum(call.duration_seconds for call in calls) * 1000),
    )
    return {"tasks": (about,)}


def _tokens(calls: Sequence[TaskCalled], speaker: Speaker) -> int:
    return sum(tokens(call.usage) for call in calls if call.speaker == speaker)


def readings_of_observation(observed: Observed) -> Tables:
    """The rows of an observation, by table."""
    judged = of_pull_request(observed.labels, "judged") is not None
    reverted = of_pull_request(observed.labels, "reverted") if judged else None
    escalation = of_pull_request(observed.labels, "escalation")
    about = row(
        repository=observed.repository,
        pull_request=observed.pull_request,
        head_sha=observed.head_sha,
        reverted=None if reverted is None else reverted == "reverted",
        overridden=None if escalation is None else escalation == "approved",
    )
    labels = {(each.finding, each.name): each for each in observed.labels}.values()
    findings = of_findings(labels)
    right = {finding: proved_right(known, reverted=reverted == "reverted") for finding, known in findings.items()}
    made = {finding: comment_fate(known) for finding, known in findings.items()}
    return {
        "observations": (about,),
        "labels": tuple(
            row(finding=each.finding, label=each.name, value=each.value, source=each.source) for each in labels
        ),
        "proofs": tuple(
            row(finding=finding, proved_right=proof) for finding, proof in right.items() if proof is not None
        ),
        "remarks": tuple(
            row(finding=finding, acted_on=int(each.acted_on), dismissed=int(each.dismissed), thumb=each.thumb)
            for finding, each in made.items()
            if each is not None
        ),
    }


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The first moment that the record knows."""


LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""The last one. Every period that ends later still ends within the calendar."""


def in_the_record(moment: datetime) -> datetime:
    """The moment itself, or the first or last one that the record knows where a wrong clock shows one beyond."""
    return min(max(moment, EPOCH), LATEST)


def microseconds(moment: datetime) -> int:
    """Since 1970, UTC; negative before."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment_of(count: int) -> datetime:
    """The moment so many microseconds after 1970. Raises ``OverflowError`` where no calendar goes."""
    return EPOCH + timedelta(microseconds=count)
