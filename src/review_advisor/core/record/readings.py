"""The ledger's rows of one review, or of one observation, read from it and from nothing else: they cannot disagree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from review_advisor.core.outcome.cost import total_usage, used_within
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import (
    CallEnded,
    Consulted,
    Event,
    PolicyFrozen,
    Reported,
    SurfaceEnded,
    Verified,
)
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.record.labels import Observed, of_findings, of_pull_request, proved_right
from review_advisor.core.record.runs import letters
from review_advisor.core.record.spending import spent, tokens, unreported

Scalar = str | int | float | None
Row = Mapping[str, Scalar]
"""One row of a table, by column."""

UNFINISHED = "unfinished"
"""The status of a run whose end is not recorded: it is under way, or was killed."""
LONGEST_TITLE = 200
_LARGEST = 10**15


@dataclass(frozen=True, slots=True)
class Part:
    """Who took part in a run. ``role`` is empty for a surface in which nobody was asked, ``error`` for an answer."""

    surface: str
    role: str = ""
    model: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """All rows of one run. ``run`` lacks what the ledger numbers itself: repository and casting."""

    repository: str | None
    casting: tuple[Part, ...]
    run: Row
    tables: Mapping[str, tuple[Row, ...]]


def readings_of_beginning(first: PolicyFrozen) -> Readings:
    """The rows of a run of which only the first event is known."""
    casting = [Part(row.surface.value) for row in first.policy.surfaces]
    run = _row(status=UNFINISHED, pull_request=first.pull_request)
    return Readings(_name(first), _casting(casting), {**run, **_letters(first)}, _about(first))


def readings_of(document: OutcomeDocument) -> Readings:
    """The rows of a run that is over."""
    calls = list(_numbered(document.events, CallEnded))
    casting = [Part(row.surface.value) for row in document.policy.surfaces]
    casting += [part for _, call in calls for part in _parts(call)]
    flags = document.flags
    run = _row(
        status=document.outcome.value,
        pull_request=document.pull_request,
        cost_usd=total_usage(cost.usage for cost in document.cost).cost_usd,
        consults=sum(isinstance(event, Consulted) for event in document.events),
        findings=len(document.findings),
        vetoes=sum(isinstance(e, Verified) and e.judged.result.verdict == "VETO" for e in document.events),
        degraded=flags.degraded,
        disabled=bool(flags.advisor_disabled),
        recovered=flags.recovered,
        exhausted=flags.exhausted,
        wall_ms=(document.ended_at - document.started_at) // timedelta(milliseconds=1),
        executor_ms=sum(_ms(call) for _, call in calls if call.role is Role.EXECUTOR and call.attempt == 0),
        executor_tokens=sum(tokens(cost.usage) for cost in document.cost if cost.role is Role.EXECUTOR),
        advisor_tokens=sum(tokens(cost.usage) for cost in document.cost if cost.role is not Role.EXECUTOR),
    )
    tables = {
        **_about(document),
        "calls": tuple(_call(number, call) for number, call in calls),
        "findings": tuple(_findings(document)),
        "consults": tuple(_consult(number, event) for number, event in _numbered(document.events, Consulted)),
        "votes": tuple(_votes(document)),
        "dispositions": tuple(_dispositions(document)),
        "questions": tuple(_questions(document)),
        "kept": tuple(_kept_calls([call for _, call in calls if call.kept])),
        "unreported": tuple(row for number, call in calls for row in _unreported(number, call)),
    }
    return Readings(_name(document), _casting(casting), {**run, **_letters(document)}, tables)


def readings_of_observation(observed: Observed) -> Mapping[str, tuple[Row, ...]]:
    """The rows of an observation, by table."""
    reverted = of_pull_request(observed.labels, "reverted")
    escalation = of_pull_request(observed.labels, "escalation")
    about = _row(
        repository=observed.repository,
        pull_request=observed.pull_request,
        head_sha=observed.head_sha,
        reverted=None if reverted is None else reverted == "reverted",
        overridden=None if escalation is None else escalation == "approved",
    )
    labels = {(each.finding, each.name): each for each in observed.labels}.values()
    right = {finding: proved_right(known) for finding, known in of_findings(labels).items()}
    return {
        "observations": (about,),
        "labels": tuple(
            _row(finding=each.finding, label=each.name, value=each.value, source=each.source) for each in labels
        ),
        "proofs": tuple(
            _row(finding=finding, proved_right=proof) for finding, proof in right.items() if proof is not None
        ),
    }


Kind = TypeVar("Kind")


def _numbered(events: Iterable[Event], kind: type[Kind]) -> Iterator[tuple[int, Kind]]:
    return ((number, event) for number, event in enumerate(events) if isinstance(event, kind))


def _row(**values: Scalar) -> Row:
    return {name: _kept(value) for name, value in values.items()}


def _kept(value: Scalar) -> Scalar:
    """What a database takes: no half characters, no NUL, no number without bounds. The events keep it as it was."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    if isinstance(value, int):
        return max(-_LARGEST, min(int(value), _LARGEST))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _name(about: PolicyFrozen | OutcomeDocument) -> str | None:
    return None if about.repository is None else str(_kept(about.repository))


def _title(about: PolicyFrozen | OutcomeDocument) -> str:
    return str(_kept(about.title[:LONGEST_TITLE]))


def _letters(about: PolicyFrozen | OutcomeDocument) -> Row:
    return {"letters": letters(_title(about))}


def _about(about: PolicyFrozen | OutcomeDocument) -> dict[str, tuple[Row, ...]]:
    return {
        "titles": (_row(title=_title(about)),),
        "changes": (_row(label=about.label, head_sha=about.head_sha),),
    }


def _casting(parts: Iterable[Part]) -> tuple[Part, ...]:
    kept = {Part(*(str(_kept(word)) for word in (p.surface, p.role, p.model, p.error))) for p in parts}
    return tuple(sorted(kept, key=lambda part: (part.surface, part.role, part.model, part.error)))


def _parts(call: CallEnded) -> Iterator[Part]:
    error = "" if call.ended == "answered" else call.reason or call.ended
    yield Part(call.surface.value, call.role.value, call.resolved_model or call.requested_model, error)
    for role, each in used_within(call):
        if role is not call.role:
            yield Part(call.surface.value, role.value, each.model)


def _ms(call: CallEnded) -> int:
    return round(call.duration_seconds * 1000)


def _call(number: int, call: CallEnded) -> Row:
    return _row(
        number=number,
        surface=call.surface.value,
        role=call.role.value,
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
        duration_ms=_ms(call),
        prompt_characters=call.prompt_characters,
        prompt_sha256=call.prompt_sha256,
        session_id=call.session_id,
        kept=call.kept,
    )


def _findings(document: OutcomeDocument) -> Iterator[Row]:
    for found in document.findings:
        yield _row(
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


def _consult(number: int, event: Consulted) -> Row:
    note = event.note
    return _row(
        number=number,
        surface=event.surface.value,
        attempt=event.attempt,
        shard=event.shard,
        status=note.status,
        urgency=note.consult.urgency,
        question=note.consult.question,
        action=note.guidance.action if note.guidance else "",
        stop_signal=note.guidance is not None and note.guidance.stop_signal,
        confidence=note.guidance.confidence if note.guidance else None,
        reason=note.reason,
        model=note.resolved_model,
        tokens=note.tokens,
        duration_ms=note.duration_ms,
    )


def _votes(document: OutcomeDocument) -> Iterator[Row]:
    authority = {row.surface: row.authority.value for row in document.policy.surfaces}
    for number, event in _numbered(document.events, Verified):
        yield _row(
            number=number,
            surface=event.surface.value,
            attempt=event.attempt,
            shard=event.shard,
            role=Role.POST_VERIFY.value,
            authority=authority[event.surface],
            verdict=event.judged.result.verdict,
            disagreements=len(event.judged.disagreements),
        )


def _dispositions(document: OutcomeDocument) -> Iterator[Row]:
    for number, event in _numbered(document.events, Reported):
        for answer in {answer.disagreement: answer for answer in event.report.answers}.values():
            yield _row(
                number=number,
                surface=event.surface.value,
                shard=event.shard,
                disagreement=answer.disagreement,
                disposition=answer.position,
                settled=answer.disagreement in event.report.settled,
                reason=answer.evidence,
            )


def _questions(document: OutcomeDocument) -> Iterator[Row]:
    for number, event in _numbered(document.events, SurfaceEnded):
        if event.outcome is Outcome.ESCALATED:
            yield _row(number=number, surface=event.surface.value, question="; ".join(event.because))


def _kept_calls(calls: Sequence[CallEnded]) -> Iterator[Row]:
    if calls:
        given = spent(calls)
        yield _row(
            cost_usd=given.cost_usd if math.isfinite(given.cost_usd) else 0.0,
            executor_tokens=given.executor_tokens,
            advisor_tokens=given.advisor_tokens,
        )


def _unreported(number: int, call: CallEnded) -> Iterator[Row]:
    for role, each in unreported(call):
        yield _row(
            number=number,
            role=role.value,
            model=each.model,
            input_tokens=each.usage.input_tokens,
            output_tokens=each.usage.output_tokens,
            cache_read_tokens=each.usage.cache_read_tokens,
            cache_write_tokens=each.usage.cache_write_tokens,
        )
