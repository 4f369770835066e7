"""OTLP over gRPC. Each function sends one signal and says how it ended: None if it was taken, else a word for it."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from contextvars import ContextVar

from grpc import Compression
from opentelemetry.exporter.otlp.proto.grpc import exporter as grpc_exporter
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

_CODE = re.compile(r"\bStatusCode\.([A-Z_]+)")
_COMPRESSIONS = {"none": Compression.NoCompression, "gzip": Compression.Gzip}
_answered: ContextVar[str] = ContextVar("answered", default="nothing")


def send_metrics(data: MetricsData, compression: str, seconds: float) -> str | None:
    """Send metrics within ``seconds``; the code that the call ended with, ``nothing`` if there was none."""
    _listen()
    exporter = OTLPMetricExporter(timeout=seconds, compression=_COMPRESSIONS[compression])
    taken = exporter.export(data) is MetricExportResult.SUCCESS
    exporter.shutdown()
    return None if taken else _answered.get()


def send_spans(spans: Sequence[ReadableSpan], compression: str, seconds: float) -> str | None:
    """Send spans; otherwise as ``send_metrics``."""
    _listen()
    exporter = OTLPSpanExporter(timeout=seconds, compression=_COMPRESSIONS[compression])
    taken = exporter.export(spans) is SpanExportResult.SUCCESS
    exporter.shutdown()
    return None if taken else _answered.get()


class _Listener(logging.Handler):
    """Hears the code that the exporters only log, in the thread that exports. Nothing else is kept."""

    def emit(self, record: logging.LogRecord) -> None:
        found = _CODE.search(record.getMessage())
        if found is not None:
            _answered.set(found[1])


_LISTENER = _Listener()


def _listen() -> None:
    """Hear everything: their logger would say each thing once for all exporters together."""
    logger = logging.getLogger(grpc_exporter.__name__)
    logger.filters.clear()
    logger.addHandler(_LISTENER)
