"""A receiver of OTLP in this process, over HTTP and over gRPC: the official protobuf messages and gRPC services.

It keeps what it was sent, decoded, and can answer with any code or not at all.
"""

from __future__ import annotations

import gzip
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from review_advisor.ledger.telemetry import Span as ReviewSpan
from review_advisor.ledger.telemetry import measurements
from review_advisor.review.document import OutcomeDocument

PROTOCOLS = ("http/protobuf", "grpc")
Points = dict[str, dict[tuple[str, ...], float]]
"""Each metric's values, by the values of its attributes in the order of their names; of a histogram the sum."""


@dataclass
class Receiver:
    """What was received. ``answer``: the code that every request is answered with, None for its protocol's yes.

    ``silent``: nothing is answered until the receiver closes.
    """

    protocol: str
    answer: int | grpc.StatusCode | None = None
    silent: bool = False
    address: str = ""
    requests: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.address, "OTEL_EXPORTER_OTLP_PROTOCOL": self.protocol}

    def took(self, request: Any, headers: dict[str, str]) -> None:
        """Keep a request, unless nothing is to be answered."""
        if self.silent:
            self.closed.wait(60)
        self.requests.append(request)
        self.headers.append(headers)

    @property
    def metrics(self) -> dict[str, Metric]:
        """Every metric, by name."""
        found = [
            metric
            for request in self.requests
            if isinstance(request, metrics_service_pb2.ExportMetricsServiceRequest)
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]
        assert len({metric.name for metric in found}) == len(found), "a metric was sent twice"
        return {metric.name: metric for metric in found}

    @property
    def points(self) -> Points:
        """What all metrics add up to."""
        read: Points = {}
        for name, metric in self.metrics.items():
            points = metric.histogram.data_points if metric.HasField("histogram") else metric.sum.data_points
            read[name] = {tuple(attributes(each.attributes).values()): _value(each) for each in points}
        return read

    @property
    def temporalities(self) -> set[str]:
        """How the metrics add up, in OTLP's words."""
        kinds = [
            each.histogram.aggregation_temporality if each.HasField("histogram") else each.sum.aggregation_temporality
            for each in self.metrics.values()
        ]
        return {AggregationTemporality.Name(kind) for kind in kinds}

    @property
    def spans(self) -> list[Span]:
        """Every span."""
        return [
            span
            for request in self.requests
            if isinstance(request, trace_service_pb2.ExportTraceServiceRequest)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resources(self) -> list[dict[str, Any]]:
        """Who sent each request."""
        found = []
        for request in self.requests:
            metric = isinstance(request, metrics_service_pb2.ExportMetricsServiceRequest)
            several = request.resource_metrics if metric else request.resource_spans
            found += [attributes(each.resource.attributes) for each in several]
        return found


def points_of(document: OutcomeDocument) -> Points:
    """The document's own points, as a receiver reads them."""
    sums: defaultdict[str, defaultdict[tuple[str, ...], float]] = defaultdict(lambda: defaultdict(float))
    for each in measurements(document):
        values = tuple(value for _, value in sorted(each.attributes.items()))
        sums[each.metric.name][values] += each.value
    return {name: dict(points) for name, points in sums.items()}


def span_names(span: ReviewSpan) -> list[str]:
    """A review's span and those within it."""
    return [span.name, *(name for child in span.children for name in span_names(child))]


def attributes(pairs: Any) -> dict[str, Any]:
    """OTLP's attributes as a dictionary, by name."""
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in _sorted(pairs)}


def _sorted(pairs: Any) -> list[KeyValue]:
    return sorted(pairs, key=lambda pair: str(pair.key))


def _value(point: Any) -> float:
    if hasattr(point, "bucket_counts"):
        return float(point.sum)
    return float(getattr(point, str(point.WhichOneof("value"))))


@contextmanager
def receiver(protocol: str, *, answer: int | grpc.StatusCode | None = None, silent: bool = False) -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    made = Receiver(protocol, answer, silent)
    with _grpc_server(made) if protocol == "grpc" else _http_server(made):
        try:
            yield made
        finally:
            made.closed.set()


_REQUESTS: dict[str, Any] = {
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
}


@contextmanager
def _http_server(receiver: Receiver) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            receiver.took(_REQUESTS[self.path].FromString(body), {k.lower(): v for k, v in self.headers.items()})
            if not receiver.silent:
                self.send_response(int(str(receiver.answer or 200)))
                self.send_header("Content-Length", "0")
                self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _grpc_server(receiver: Receiver) -> Iterator[None]:
    def export(request: Any, context: grpc.ServicerContext, response: Any) -> Any:
        receiver.took(request, {key: str(value) for key, value in context.invocation_metadata()})
        if isinstance(receiver.answer, grpc.StatusCode):
            context.abort(receiver.answer, "as the story wants it")
        return response

    class Metrics(metrics_service_pb2_grpc.MetricsServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 (the service's own name)
            return export(request, context, metrics_service_pb2.ExportMetricsServiceResponse())

    class Traces(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 (as above)
            return export(request, context, trace_service_pb2.ExportTraceServiceResponse())

    server = grpc.server(ThreadPoolExecutor(4))
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)  # type: ignore[no-untyped-call]
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Traces(), server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    receiver.address = f"http://127.0.0.1:{port}"
    server.start()
    try:
        yield
    finally:
        receiver.closed.set()
        server.stop(None).wait()
