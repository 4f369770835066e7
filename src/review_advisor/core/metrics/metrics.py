"""The nine metrics of ADR-0059, read from a review's document and from nothing else.

Names and attributes are the ADR's. The attribute ``role`` names an advisor: ``pre_flight``, ``mid_flight`` or
``post_verify``; what the executor does is no advisor call. A call that was not made is not counted as one: refused by
a cap of ours, denied as a consult, or answered by what an earlier run of this review had kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.answers import ReviewPlan
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Consulted, Event, PartEnded, Ruled, Verified
from review_advisor.core.outcome.questions import ends_of_calls
from review_advisor.core.outcome.rulings import Move
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.core.roles.replies import REPAIRABLE

SECONDS_BUCKETS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0, 600.0, 900.0)
"""Upper bounds of the histogram's buckets: a model call takes seconds to some minutes, and ten by default at most."""

SHORTEST_SIGNAL = 10
"""An escalation signal with fewer characters than this validates nothing (ADR-0059's own measure)."""

_CALL_OUTCOMES = {"answered": "success", "failed": "error"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric as backends know it. ``unit`` is UCUM's; one in braces is a word for people."""

    name: str
    unit: str
    attributes: tuple[str, ...]
    description: str
    kind: Literal["counter", "histogram"] = "counter"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One addition to a counter, or one observation of a histogram."""

    metric: Metric
    attributes: Mapping[str, str]
    value: float = 1


CALLS = Metric(
    "review_advisor_calls_total",
    "{call}",
    ("surface", "role", "outcome"),
    "Advisor calls that were made; outcome: success, error or parse_error.",
)
CALL_DURATION = Metric(
    "review_advisor_call_duration_seconds",
    "s",
    ("surface", "role"),
    "Wall clock of an advisor call, with any result; of a consult, if the CLI reports it.",
    kind="histogram",
)
VERDICTS = Metric(
    "review_advisor_post_verify_verdict_total",
    "{verdict}",
    ("surface", "verdict"),
    "Verdicts of post-verify; a veto on an advisory surface counts as an approval.",
)
DEGRADED = Metric(
    "review_advisor_post_verify_degraded_total",
    "{judgement}",
    ("surface",),
    "Judgements that were due but are missing. They are not verdicts.",
)
DISAGREEMENTS = Metric(
    "review_advisor_disagreement_total",
    "{disagreement}",
    ("surface", "role", "severity"),
    "Points in which post-verify contradicted the executor.",
)
VALIDATED = Metric(
    "review_advisor_disagreement_validated_total",
    "{disagreement}",
    ("surface", "role"),
    "Provisional: disagreements that repeat an escalation signal of the advisor's own plan.",
)
RETRIES = Metric(
    "review_advisor_veto_retries_total",
    "{retry}",
    ("surface", "attempt"),
    "Vetoes returned to the executor, by number of the retry, or exhausted.",
)
RECOVERED = Metric(
    "review_advisor_veto_recovered_total",
    "{part}",
    ("surface",),
    "Parts that post-verify approved after it had vetoed them.",
)
EXHAUSTED = Metric(
    "review_advisor_veto_exhausted_total",
    "{part}",
    ("surface",),
    "Parts that were vetoed with no retry left: a human decides.",
)
METRICS = (
    CALLS,
    CALL_DURATION,
    VERDICTS,
    DEGRADED,
    DISAGREEMENTS,
    VALIDATED,
    RETRIES,
    RECOVERED,
    EXHAUSTED,
)
"""All nine, in the ADR's order."""


def measurements(document: OutcomeDocument) -> tuple[Measurement, ...]:
    """Everything that one review adds to the metrics, in the order of its events."""
    plans = _plans(document)
    return tuple(found for event in _made_here(document.events) for found in _of(event, plans))


def _made_here(events: Sequence[Event]) -> Iterator[Event]:
    """The events without the calls, and the consults within them, that an earlier run of this review made."""
    ends = ends_of_calls(events)
    for index, event in enumerate(events):
        call = events[ends[index]] if index in ends else None
        kept = isinstance(call, CallEnded) and call.kept
        if not (kept and isinstance(event, CallEnded | Consulted)):
            yield event


def _of(event: Event, plans: Mapping[Surface, ReviewPlan | None]) -> Iterator[Measurement]:
    match event:
        case CallEnded():
            yield from _of_call(event)
        case Consulted() if event.asked_by == "executor":  # the harness's own are calls, and counted as such
            yield from _of_consult(event)
        case Verified():
            yield from _of_verdict(event, plans[event.surface])
        case Ruled():
            yield from _of_ruling(event)
        case PartEnded():
            if event.recovered:
                yield _counted(RECOVERED, event.surface)
            if event.exhausted:
                yield _counted(EXHAUSTED, event.surface)


def _counted(metric: Metric, surface: Surface, **attributes: str) -> Measurement:
    return Measurement(metric, {"surface": surface.value, **attributes})


def _of_call(call: CallEnded) -> Iterator[Measurement]:
    if call.role is Role.EXECUTOR or call.ended == "refused":
        return
    unusable = call.reason in REPAIRABLE
    outcome = _CALL_OUTCOMES.get(call.ended, "parse_error" if unusable else "error")
    attributes = {"surface": call.surface.value, "role": call.role.value}
    yield Measurement(CALLS, {**attributes, "outcome": outcome})
    yield Measurement(CALL_DURATION, attributes, call.duration_seconds)


def _of_consult(consulted: Consulted) -> Iterator[Measurement]:
    note, role = consulted.note, Role.MID_FLIGHT.value
    if note.asked:
        yield _counted(CALLS, consulted.surface, role=role, outcome=_CALL_OUTCOMES[note.status])
        if note.duration_ms is not None:
            attributes = {"surface": consulted.surface.value, "role": role}
            yield Measurement(CALL_DURATION, attributes, note.duration_ms / 1_000)


def _of_verdict(verified: Verified, plan: ReviewPlan | None) -> Iterator[Measurement]:
    """Both sides of the calibration carry the role of the advisor that disagreed: they can be divided."""
    role = Role.POST_VERIFY.value
    for _, each in verified.judged.disagreements:
        yield _counted(DISAGREEMENTS, verified.surface, role=role, severity=each.severity)
        if plan is not None and _was_signalled(each.advisor_assessment, plan):
            yield _counted(VALIDATED, verified.surface, role=role)


def _was_signalled(assessment: str, plan: ReviewPlan) -> bool:
    """ADR-0059's own measure: the assessment contains, word for word, what the plan said to escalate for."""
    signals = (signal.casefold() for signal in plan.escalation_signals if len(signal) >= SHORTEST_SIGNAL)
    return any(signal in assessment.casefold() for signal in signals)


def _of_ruling(ruled: Ruled) -> Iterator[Measurement]:
    ruling = ruled.ruling
    if ruling.verdict is not None:
        yield _counted(VERDICTS, ruled.surface, verdict=ruling.verdict.lower())
    if ruling.degraded:
        yield _counted(DEGRADED, ruled.surface)
    if ruling.move is Move.RETRY:
        yield _counted(RETRIES, ruled.surface, attempt=str(ruled.attempt + 1))
    if ruling.exhausted:
        yield _counted(RETRIES, ruled.surface, attempt="exhausted")


def _plans(document: OutcomeDocument) -> dict[Surface, ReviewPlan | None]:
    """The plan that each surface's reviewers were given."""
    own = {record.surface: record.plan for record in document.surfaces}
    reused = own.get(Surface.PR_REVIEW)
    return {
        surface: reused if SURFACE_DEFAULTS[surface].pre_flight is PreFlightRule.REUSE else plan
        for surface, plan in own.items()
    }
