"""Metrics and traces of a finished review, sent by OTLP."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import TypeAdapter

from review_advisor import __version__
from review_advisor.agents.answers import Answer, ReviewPlan
from review_advisor.agents.calls import total_usage
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.mid_flight import ConsultNote
from review_advisor.agents.replies import REPAIRABLE
from review_advisor.ledger.rows import microseconds
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, PreFlightRule, Role, Surface
from review_advisor.review.document import OutcomeDocument, ends_of_calls, prompt_tokens, used_within
from review_advisor.review.events import (
    AdviceOpen,
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Escalated,
    Event,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    Reported,
    Ruled,
    UnfoundedRejection,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.rulings import Move
from review_advisor.safety.children import TimeoutExpired, start
from review_advisor.safety.fence import facts_text
from review_advisor.safety.stop import ModelUsage, Usage

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


@dataclass(slots=True)
class MadeCall:
    """One call that was made. ``answer`` is JSON, held against the change; empty where no answer stood."""

    ended: CallEnded
    began: datetime
    consults: list[Consulted] = field(default_factory=list)
    answer: str = ""


def made_calls(events: Iterable[Event]) -> list[MadeCall]:
    """All calls that were made, in the order in which they ended; one that was refused was not made."""
    every = tuple(events)
    calls = {
        index: MadeCall(event, event.at)
        for index, event in enumerate(every)
        if isinstance(event, CallEnded) and event.ended != "refused"
    }
    for index, end in ends_of_calls(every).items():
        if end in calls:
            _add(calls[end], every[index])
    return list(calls.values())


def _add(call: MadeCall, event: Event) -> None:
    match event:
        case CallStarted():
            call.began = event.at
        case Consulted() if event.asked_by == "harness":
            call.answer = event.note.guidance.model_dump_json() if event.note.guidance else ""
        case Consulted():
            call.consults.append(event)
        case Opined() | Planned() | Voted():
            call.answer = _answer_of(event).model_dump_json()
        case Verified():
            call.answer = event.judged.raw
        case VoicesHeard():
            call.answer = facts_text(event.voices)
        case BlindJudged() | UnfoundedRejection() | Escalated() | AdviceOpen() | Reported() | MemberReviewed():
            call.answer = _reports().dump_json(event.report).decode() if event.report else ""


def _answer_of(event: Opined | Planned | Voted) -> Answer:
    match event:
        case Opined():
            return event.opinion
        case Planned():
            return event.plan
        case Voted():
            return event.vote


@cache
def _reports() -> TypeAdapter[CheckedReport]:
    return TypeAdapter(CheckedReport)


Attribute = str | int | float | bool


PROVIDER = "anthropic"
"""Whose CLI every call goes through. Which cloud or gateway is behind it, a review does not know."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span with those that happened within it. ``failed``: no answer came of it."""

    name: str
    kind: Literal["internal", "client"]
    start: datetime
    end: datetime
    attributes: Mapping[str, Attribute]
    failed: bool = False
    children: tuple[Span, ...] = ()


def review_span(document: OutcomeDocument, *, with_content: bool = False) -> Span:
    """The whole review as one span with its calls as children.

    ``with_content`` adds what models answered, and what executors asked the advisor, as the document has it: without
    the harness's secrets. Prompts are no part of a document, so they are never in it.
    """
    run: dict[str, Attribute] = {"review_advisor.run_id": document.run_id}
    calls = tuple(_call_span(call, run, with_content=with_content) for call in made_calls(document.events))
    flags = document.flags
    return Span(
        "invoke_workflow review-advisor",
        "internal",
        document.started_at,
        max(document.started_at, document.ended_at),
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "review-advisor",
            **run,
            "review_advisor.outcome": document.outcome.value,
            "review_advisor.exit_code": document.exit_code,
            "review_advisor.blast_radius": document.policy.blast.radius.value,
            "review_advisor.degraded": flags.degraded,
            "review_advisor.advisor_disabled": bool(flags.advisor_disabled),
            "review_advisor.recovered": flags.recovered,
            "review_advisor.exhausted": flags.exhausted,
            "review_advisor.findings": len(document.findings),
            **_change(document),
        },
        children=calls,
    )


def _change(document: OutcomeDocument) -> dict[str, Attribute]:
    """Which change it was about, as far as it has a name of its own."""
    owner, _, name = (document.repository or "").partition("/")
    told = {
        "vcs.owner.name": owner,
        "vcs.repository.name": name,
        "vcs.change.id": "" if document.pull_request is None else str(document.pull_request),
        "vcs.ref.base.revision": document.base_sha or "",
        "vcs.ref.head.revision": document.head_sha or "",
    }
    return {key: value for key, value in told.items() if value}


def _call_span(call: MadeCall, run: Mapping[str, Attribute], *, with_content: bool) -> Span:
    ended = call.ended
    used = tuple(used_within(ended))
    own = total_usage(each.usage for each in used if each.role is ended.role)
    attributes: dict[str, Attribute] = {
        **_common(ended, ended.role, ended.advisor, run),
        **_numbers(ended),
        "gen_ai.request.model": ended.requested_model,
        **({"gen_ai.response.model": ended.resolved_model} if ended.resolved_model else {}),
        **({"gen_ai.conversation.id": ended.session_id} if ended.session_id else {}),
        **({} if ended.kept else _usage(own)),
        "review_advisor.ended": ended.ended,
        "review_advisor.kept": ended.kept,
        "review_advisor.blind": ended.blind,
        **({"error.type": ended.reason or ended.ended} if ended.ended != "answered" else {}),
    }
    if with_content and call.answer:
        attributes["gen_ai.output.messages"] = _messages("assistant", [call.answer], finish_reason="stop")
    advisor = [ModelUsage(each.model, each.usage) for each in used if each.role is not ended.role]
    return Span(
        _name(ended, ended.role, ended.requested_model),
        "client",
        call.began,
        max(call.began, ended.at),
        attributes,
        failed=ended.ended != "answered",
        children=tuple(_mid_flight(call, advisor, run, with_content=with_content)),
    )


def _operation(call: CallEnded) -> str:
    """A model that uses tools until it has its answer is an agent; one that only answers is a chat."""
    return "invoke_agent" if call.tools else "chat"


def _name(call: CallEnded, role: Role, model: str) -> str:
    """As the conventions name a span: an agent by its name, a chat by its model."""
    return f"{_operation(call)} {role.value if call.tools else model}".rstrip()


def _numbers(call: CallEnded) -> dict[str, Attribute]:
    """Which call of the review it is, and which one it asks again, if it does."""
    again = {"review_advisor.asks_again": call.asks_again} if call.asks_again else {}
    return {"review_advisor.call": call.number, **again}


def _common(call: CallEnded, role: Role, advisor: str, run: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {
        "gen_ai.operation.name": _operation(call),
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.agent.name": advisor or role.value,
        **run,
        "review_advisor.role": role.value,
        "review_advisor.surface": call.surface.value,
        "review_advisor.attempt": call.attempt,
        "review_advisor.shard": call.shard,
    }


def _usage(usage: Usage) -> dict[str, Attribute]:
    """The conventions count what came from a cache, or went into it, as input too.

    A call that was killed reports nothing: what is not known is left out, for 0 would be a figure.
    """
    if usage == Usage():
        return {}
    told: dict[str, Attribute] = {
        "gen_ai.usage.input_tokens": prompt_tokens(usage),
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }
    return told if usage.cost_usd is None else {**told, "gen_ai.usage.cost": usage.cost_usd}


def _mid_flight(
    call: MadeCall, used: list[ModelUsage], run: Mapping[str, Attribute], *, with_content: bool
) -> Iterator[Span]:
    """The consults within a call: one span for each model that answered, as long as the call.

    When each began is not known, and what each used only sometimes: the usage is that of all of them. Of a reply that
    an earlier run of this review had kept, nothing was used in this one.
    """
    notes = [asked.note for asked in call.consults if asked.note.asked]
    models = {each.model: {} if call.ended.kept else _usage(each.usage) for each in used}
    if notes and not models:
        models = {next((note.resolved_model for note in notes if note.resolved_model), ""): {}}
    for model, usage in models.items():
        attributes = {
            **_common(call.ended, Role.MID_FLIGHT, next((each.advisor for each in call.consults), ""), run),
            **({"gen_ai.response.model": model} if model else {}),
            **usage,
            "review_advisor.consults": len(notes),
            **_took(notes),
        }
        if with_content and notes:
            asked = [note.consult.question for note in notes]
            told = [note.guidance.action for note in notes if note.guidance]
            attributes["gen_ai.input.messages"] = _messages("user", asked)
            attributes["gen_ai.output.messages"] = _messages("assistant", told, finish_reason="stop")
        name, ended = _name(call.ended, Role.MID_FLIGHT, model), max(call.began, call.ended.at)
        yield Span(name, "client", call.began, ended, attributes)


def _took(notes: Iterable[ConsultNote]) -> dict[str, Attribute]:
    """How long the consults took together; nothing where the CLI did not say it of each."""
    times = [note.duration_ms for note in notes]
    known = [time for time in times if time is not None]
    return {"review_advisor.consults.duration_ms": sum(known)} if known and len(known) == len(times) else {}


def _messages(role: str, texts: Iterable[str], **more: str) -> str:
    """Messages in the conventions' JSON."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}], **more} for text in texts])


Signal = Literal["metrics", "traces"]


Protocol = Literal["http/protobuf", "grpc"]


SIGNALS: tuple[Signal, ...] = ("metrics", "traces")


CAPTURE_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"


_PROTOCOLS: tuple[Protocol, ...] = ("http/protobuf", "grpc")


_TEMPORALITIES = ("cumulative", "delta", "lowmemory")


_WITH_CONTENT = {
    **dict.fromkeys(("true", "span_only", "span_and_event"), True),
    **dict.fromkeys(("false", "no_content", "event_only"), False),
}


_COMPRESSIONS: Mapping[Protocol, tuple[str, ...]] = {
    "http/protobuf": ("none", "gzip", "deflate"),
    "grpc": ("none", "gzip"),
}


_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+\s*=.*", re.ASCII)


_NETWORK = re.compile(
    r"(https?|grpc|no|no_grpc|all)_proxy|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE"
    r"|GRPC_DEFAULT_SSL_ROOTS_FILE_PATH|LD_LIBRARY_PATH",
    re.IGNORECASE,
)


class TelemetryError(Exception):
    """Telemetry cannot be sent as it is configured. One sentence that names the variable."""


@dataclass(frozen=True, slots=True)
class Way:
    """How one signal is sent; ``compression`` is one of the protocol's."""

    protocol: Protocol
    compression: str


@dataclass(frozen=True, slots=True)
class Destination:
    """What is sent and how. ``with_content``: what models said, too. ``temporality`` is one of the standard's three."""

    ways: Mapping[Signal, Way]
    temporality: str = "delta"
    with_content: bool = False


def destination(environ: Mapping[str, str]) -> Destination | None:
    """What ``environ`` asks for; None if it asks for nothing. Raises ``TelemetryError``.

    A signal is sent if it has an endpoint, its own or the common one, unless its exporter is ``none``.
    """
    if _value(environ, "OTEL_SDK_DISABLED").lower() == "true":
        return None
    ways = {signal: _way(environ, signal) for signal in SIGNALS if _is_sent(environ, signal)}
    if not ways:
        return None
    content = _one_of(environ, CAPTURE_CONTENT, tuple(_WITH_CONTENT), "false")
    return Destination(ways, _one_of(environ, TEMPORALITY, _TEMPORALITIES, "delta"), _WITH_CONTENT[content])


def sender_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the process that sends may know: OpenTelemetry's variables and the way to the network, no other secret.

    Timeouts are left out: how long a review waits for telemetry is not configurable.
    """
    return {
        name: value
        for name, value in environ.items()
        if (name.startswith("OTEL_") and value.strip() and not name.endswith("_TIMEOUT")) or _NETWORK.fullmatch(name)
    }


def _value(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "").strip()


def _either(environ: Mapping[str, str], signal: Signal, last: str) -> tuple[str, str]:
    """The name and value of a signal's own OTLP variable or, without one, of the common one."""
    own, common = f"OTEL_EXPORTER_OTLP_{signal.upper()}_{last}", f"OTEL_EXPORTER_OTLP_{last}"
    name = own if _value(environ, own) else common
    return name, _value(environ, name)


def _one_of(environ: Mapping[str, str], name: str, known: tuple[str, ...], default: str) -> str:
    value = _value(environ, name).lower() or default
    if value not in known:
        raise TelemetryError(f"{name} must be one of {', '.join(known)}.")
    return value


def _is_sent(environ: Mapping[str, str], signal: Signal) -> bool:
    if not _either(environ, signal, "ENDPOINT")[1]:
        return False
    exporter = f"OTEL_{signal.upper()}_EXPORTER"
    return _one_of(environ, exporter, ("otlp", "none"), "otlp") == "otlp"


def _way(environ: Mapping[str, str], signal: Signal) -> Way:
    name, value = _either(environ, signal, "PROTOCOL")
    protocol = next((each for each in _PROTOCOLS if each == (value.lower() or _PROTOCOLS[0])), None)
    if protocol is None:
        raise TelemetryError(f"{name} must be one of {', '.join(_PROTOCOLS)}.")
    _check_endpoint(*_either(environ, signal, "ENDPOINT"), protocol)
    _check_headers(*_either(environ, signal, "HEADERS"))
    for last in ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"):
        name, value = _either(environ, signal, last)
        if value and not _is_file(value):
            raise TelemetryError(f"{name} names no file.")
    name, _ = _either(environ, signal, "COMPRESSION")
    return Way(protocol, _one_of(environ, name, _COMPRESSIONS[protocol], "none"))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a name that is too long: somebody put the certificate itself there
        return False


def _check_endpoint(name: str, value: str, protocol: Protocol) -> None:
    """An address as the exporters take it; gRPC's may be HOST:PORT alone, which means TLS."""
    plain = protocol == "grpc" and "://" not in value
    try:
        parts = urlsplit(f"https://{value}" if plain else value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not value.isascii() or not value.isprintable() or " " in value:
        raise TelemetryError(f"{name} is no address: http://HOST:PORT or https://HOST is wanted.")


def _check_headers(name: str, value: str) -> None:
    """Pairs that HTTP and gRPC can carry; values may be percent-encoded."""
    pairs = [pair.strip() for pair in value.split(",") if pair.strip()]
    decoded = unquote(value)
    if not all(_HEADER.fullmatch(pair) for pair in pairs) or not decoded.isascii() or not decoded.isprintable():
        raise TelemetryError(f"{name} must be NAME=VALUE pairs with commas between them.")


LONGEST_SECONDS = 2.0
"""What telemetry may cost a review, all in all."""


TO_END_SECONDS = 0.1


TO_ANSWER_SECONDS = 0.2


ENOUGH = 0.5
"""The share of its time that the sender needs: with less, an endpoint that does not answer is not to blame."""


_SENDER = (sys.executable, "-I", "-m", "review_advisor.ledger.telemetry_sender")


_ERROR = re.compile(r"^(?:[\w.]*\.)?(\w+)(?::.*)?$")


_BEGAN = re.compile(rb"^sending (\d+\.\d+)$", re.MULTILINE)


_NO_ANSWER = {"nothing", "UNAVAILABLE", "DEADLINE_EXCEEDED"}


@contextmanager
def telemetry(environ: Mapping[str, str], warn: Callable[[str], None]) -> Iterator[Callable[[OutcomeDocument], None]]:
    """Gives the function that sends a review's metrics and spans; without a destination in ``environ`` it does nothing.

    The process that sends starts at once, so that it is ready when the review is over: what it imports takes a second
    or more. Sending takes at most ``LONGEST_SECONDS``. Whatever goes wrong becomes one sentence for ``warn``, which
    repeats no value of a variable.
    """
    with ExitStack() as stack:
        sender: _Sender | None = None
        with _told(warn):
            wanted = destination(environ)
            sender = None if wanted is None else stack.enter_context(_Sender(wanted, sender_environment(environ)))

        def send(document: OutcomeDocument) -> None:
            if sender is not None:
                with _told(warn):
                    sender.send(document)

        yield send


@contextmanager
def _told(warn: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    except TelemetryError as problem:
        warn(f"Telemetry was not sent: {problem}")


class _Sender:
    """The process that sends. It ends with the context, whatever it is doing."""

    def __init__(self, wanted: Destination, environment: Mapping[str, str]) -> None:
        self._wanted = wanted
        protocols = sorted({way.protocol for way in wanted.ways.values()})
        try:
            self._process = start([*_SENDER, *protocols], environment, Path())
        except OSError as error:
            raise TelemetryError(f"its process cannot be started ({error.strerror}).") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def send(self, document: OutcomeDocument) -> None:
        """Send what the review adds. Raises ``TelemetryError``."""
        deadline = time.monotonic() + LONGEST_SECONDS - TO_END_SECONDS
        work = _work(document, self._wanted, deadline - TO_ANSWER_SECONDS)
        try:
            said, complained = self._process.communicate(work, timeout=max(deadline - time.monotonic(), 0))
        except TimeoutExpired:
            self._process.kill()
            said, _ = self._process.communicate()
            raise TelemetryError(f"{_no_answer(said)}.") from None
        check(self._process.returncode, said, complained)


def check(code: int, said: bytes, complained: bytes) -> None:
    """Raise ``TelemetryError`` for what the sender says became of each signal, or for how it broke."""
    if code < 0:
        raise TelemetryError(f"its process was ended by signal {-code}.")
    if code > 0:
        raise TelemetryError(_broken(complained.decode("utf-8", "replace")))
    answers: dict[str, str | None] = json.loads(said.splitlines()[-1])
    problems = {signal: _problem(code, said) for signal, code in answers.items() if code is not None}
    if not problems:
        return
    if len(problems) == len(answers) and len(set(problems.values())) == 1:
        raise TelemetryError(f"{next(iter(problems.values()))}.")
    told = "; ".join(f"{signal}: {problem}" for signal, problem in problems.items())
    raise TelemetryError(f"{told}.")


def _no_answer(said: bytes) -> str:
    """Why no answer came: the sender says with how many seconds left it began to send, if it came that far."""
    began = _BEGAN.search(said)
    if began is None:
        return f"its process was still starting after {LONGEST_SECONDS:g} seconds; this machine is busy"
    if float(began[1]) < ENOUGH * LONGEST_SECONDS:
        return f"its process had only {float(began[1]):.1f} seconds left to send; this machine is busy"
    return f"the endpoint could not be reached within {LONGEST_SECONDS:g} seconds"


def _problem(code: str, said: bytes) -> str:
    return _no_answer(said) if code in _NO_ANSWER else f"the endpoint answered {code}"


def _broken(traceback: str) -> str:
    """Why the sender broke, in its error's name: its text may repeat a variable's value."""
    last = traceback.rstrip().rpartition("\n")[2]
    found = _ERROR.match(last)
    name = found[1] if found else "no reason given"
    if name == "ModuleNotFoundError":
        return "its packages are missing: install review-advisor[telemetry]."
    return f"OpenTelemetry cannot work with the OTEL_ variables ({name})."


def _work(document: OutcomeDocument, wanted: Destination, deadline: float) -> bytes:
    """What the sender needs to know, as JSON. Half characters, which protobuf does not take, become ``?``."""
    found = [(each.metric.name, dict(each.attributes), each.value) for each in measurements(document)]
    work: dict[str, Any] = {
        "deadline": deadline,
        "version": __version__,
        "ways": {signal: asdict(way) for signal, way in wanted.ways.items()},
        "temporality": wanted.temporality,
        "buckets": SECONDS_BUCKETS,
        "metrics": [asdict(metric) for metric in METRICS],
        "measurements": found,
        "span": _as_json(review_span(document, with_content=wanted.with_content)),
    }
    return json.dumps(work, ensure_ascii=False).encode("utf-8", "replace")


def _as_json(span: Span) -> dict[str, Any]:
    return {
        "name": span.name,
        "kind": span.kind,
        "start": _nanoseconds(span.start),
        "end": _nanoseconds(span.end),
        "attributes": dict(span.attributes),
        "failed": span.failed,
        "children": [_as_json(child) for child in span.children],
    }


def _nanoseconds(moment: datetime) -> int:
    return microseconds(moment) * 1000
