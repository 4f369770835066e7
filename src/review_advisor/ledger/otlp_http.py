"""OTLP over HTTP: sends one signal and says how it ended: None if it was taken, else a word for it."""

from __future__ import annotations

from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult
from opentelemetry.sdk.trace.export import SpanExportResult

_SIGNALS: dict[str, tuple[Any, object]] = {
    "metrics": (OTLPMetricExporter, MetricExportResult.SUCCESS),
    "traces": (OTLPSpanExporter, SpanExportResult.SUCCESS),
}


def send(signal: str, data: object, compression: str, seconds: float) -> str | None:
    """Send one signal within ``seconds``; the status that the other side answered with, ``nothing`` without one."""
    exporter, success = _SIGNALS[signal]
    with _Session() as session:
        exported = exporter(timeout=seconds, compression=Compression(compression), session=session).export(data)
        return session.word(taken=exported is success)


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
