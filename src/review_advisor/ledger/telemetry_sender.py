"""The process that sends telemetry."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

from opentelemetry import trace
from opentelemetry.metrics import Counter as CounterInstrument
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader, MetricsData
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

Json = dict[str, Any]


LAST_WORD_SECONDS = 1.0
"""So long after its deadline this process ends itself, should nobody be there any more to end it."""


_KINDS = {"internal": trace.SpanKind.INTERNAL, "client": trace.SpanKind.CLIENT}


def main() -> None:
    """Do the work that stdin brings, and say how each signal ended: null if it was taken, else a word.

    The arguments are the protocols that will be needed. It ends quietly if stdin closes without any work.
    """
    for protocol in sys.argv[1:]:
        _protocol({"protocol": protocol})
    told = sys.stdin.read()
    if not told:
        return
    work: Json = json.loads(told)
    signal.setitimer(signal.ITIMER_REAL, max(_left(work), 0.0) + LAST_WORD_SECONDS)
    print(f"\nsending {max(_left(work), 0.0):.2f}", flush=True)  # noqa: T201 (it tells who is to blame for a silence)
    print("\n" + json.dumps(send(work)))  # noqa: T201 (the last line, whatever a library may have printed)


def send(work: Json) -> dict[str, str | None]:
    """Send every signal that ``work`` names a way for, at the same time; how each ended."""
    logging.getLogger("opentelemetry").propagate = False  # what they log may repeat a header
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    resource = _resource(work["version"])
    with ThreadPoolExecutor(len(_DATA)) as pool:
        running = {name: pool.submit(_send, name, work, resource) for name in work["ways"]}
        return {name: each.result() for name, each in running.items()}


def _send(name: str, work: Json, resource: Resource) -> str | None:
    data, way = _DATA[name](work, resource), work["ways"][name]
    if not data:
        return None
    ended: str | None = _protocol(way).send(name, data, way["compression"], _left(work))
    return ended


def _left(work: Json) -> float:
    """Seconds to the deadline, on the clock that all processes of a machine share."""
    return float(work["deadline"]) - time.monotonic()


def _resource(version: str) -> Resource:
    """Who sends. Without the random instance id, which would make a series of its own of every review."""
    found = dict(Resource.create().attributes)
    found.pop("service.instance.id", None)
    own = {"service.name": "review-advisor", "service.version": version}
    return Resource({**found, **own, **OTELResourceDetector().detect().attributes})


# --- metrics -----------------------------------------------------------------------------------------------------


def _metrics_data(work: Json, resource: Resource) -> MetricsData | None:
    cumulative, delta = AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA
    wanted = cumulative if work["temporality"] == "cumulative" else delta
    reader = InMemoryMetricReader(preferred_temporality={Counter: wanted, Histogram: wanted})
    provider = MeterProvider([reader], resource, shutdown_on_exit=False)
    meter = provider.get_meter("review-advisor", work["version"])
    instruments = {
        each["name"]: meter.create_counter(each["name"], each["unit"], each["description"])
        if each["kind"] == "counter"
        else meter.create_histogram(
            each["name"],
            each["unit"],
            each["description"],
            explicit_bucket_boundaries_advisory=work["buckets"],
        )
        for each in work["metrics"]
    }
    for name, attributes, value in work["measurements"]:
        instrument = instruments[name]
        if isinstance(instrument, CounterInstrument):
            instrument.add(value, attributes)
        else:
            instrument.record(value, attributes)
    return reader.get_metrics_data()


# --- traces ------------------------------------------------------------------------------------------------------


def _spans(work: Json, resource: Resource) -> tuple[ReadableSpan, ...]:
    """All spans that the sampler keeps."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    _record(provider.get_tracer("review-advisor", work["version"]), work["span"], None)
    return kept.get_finished_spans()


def _record(tracer: trace.Tracer, span: Json, parent: trace.Span | None) -> None:
    recorded = tracer.start_span(
        span["name"],
        None if parent is None else trace.set_span_in_context(parent),
        _KINDS[span["kind"]],
        span["attributes"],
        start_time=span["start"],
    )
    if span["failed"]:
        recorded.set_status(trace.StatusCode.ERROR)
    for child in span["children"]:
        _record(tracer, child, recorded)
    recorded.end(span["end"])


_DATA: dict[str, Callable[[Json, Resource], object]] = {"metrics": _metrics_data, "traces": _spans}
"""What there is to send of each signal."""


# --- protocols ---------------------------------------------------------------------------------------------------


def _protocol(way: Json) -> ModuleType:
    """The one that is asked for: each brings a library of its own."""
    if way["protocol"] == "grpc":
        from review_advisor.ledger import otlp_grpc as over_grpc  # noqa: PLC0415 (see above)

        return over_grpc
    from review_advisor.ledger import otlp_http as over_http  # noqa: PLC0415 (see above)

    return over_http


if __name__ == "__main__":
    main()
