"""The ledger's rows that one event of a review tells by itself: they are there as soon as it has happened."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from review_advisor.core.ledger.row import Row, Tables, row
from review_advisor.core.metrics.spending import spent, unreported
from review_advisor.core.outcome.events import CallEnded, Consulted, Event, Reported, SurfaceEnded, Verified
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.policy import Policy
from review_advisor.core.policy.surfaces import Role


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
    """The same for all events of a review."""
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
