"""OTLP over HTTP. Each function sends one signal and says how it ended: None if it was taken, else a word for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult


def send_metrics(data: MetricsData, compression: str, seconds: float) -> str | None:
    """Send metrics within ``seconds``; the status that the other side answered with, ``nothing`` without one."""
    with _Session() as session:
        exporter = OTLPMetricExporter(timeout=seconds, compression=Compression(compression), session=session)
        return session.word(taken=exporter.export(data) is MetricExportResult.SUCCESS)


def send_spans(spans: Sequence[ReadableSpan], compression: str, seconds: float) -> str | None:
    """Send spans; otherwise as ``send_metrics``."""
    with _Session() as session:
        exporter = OTLPSpanExporter(timeout=seconds, compression=Compression(compression), session=session)
        return session.word(taken=exporter.export(spans) is SpanExportResult.SUCCESS)


class _Session(requests.Session):
    """Remembers the status of its last answer, which the exporters only log."""

    def __init__(self) -> None:
        super().__init__()
        self._status = 0
        self.hooks["response"].append(self._note)

    def _note(self, response: requests.Response, **_: Any) -> None:
        self._status = response.status_code

    def word(self, *, taken: bool) -> str | None:
        """None if it was taken. The exporters take a redirection for success, and follow none."""
        redirected = 300 <= self._status < 400  # noqa: PLR2004 (HTTP's own numbers)
        if taken and not redirected:
            return None
        return str(self._status or "nothing")
