"""A review's telemetry through a real collector, in over both protocols, read back from what it passes on."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.adapters.command_line import project, script, scripted_review
from tests.adapters.telemetry.otlp import PROTOCOLS, Receiver, attributes, points_of, receiver, span_names

from review_advisor.ledger import telemetry as export
from review_advisor.ledger.telemetry import review_span

VARIABLE = "REVIEW_ADVISOR_E2E_COLLECTOR"


@contextmanager
def collector(folder: Path, behind: Receiver) -> Iterator[dict[str, str]]:
    """A collector that passes everything on to ``behind``: its address for each protocol. Its end empties it."""
    program = Path(os.environ.get(VARIABLE, ""))
    assert program.is_absolute(), f"{VARIABLE} must hold the absolute path of the collector"
    ports = dict(zip(PROTOCOLS, free_ports(), strict=True))
    options = {
        "--otlp-http-endpoint": f"127.0.0.1:{ports['http/protobuf']}",
        "--otlp-grpc-endpoint": f"127.0.0.1:{ports['grpc']}",
        "--exporter": "otlp",
        "--otlp-exporter-protocol": "http",
        "--otlp-exporter-endpoint": behind.address,
        "--pid-file": str(folder / "pid"),
        "--log-file": str(folder / "log"),
    }
    words = [word for option in options.items() for word in option]
    with subprocess.Popen([program, "start", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            for port in ports.values():
                wait_until_open(port, running)
            yield {protocol: f"http://127.0.0.1:{port}" for protocol, port in ports.items()}
        finally:
            running.terminate()
            running.wait(30)


def free_ports() -> list[int]:
    """A port for each protocol that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return [one.getsockname()[1], other.getsockname()[1]]


def wait_until_open(port: int, running: subprocess.Popen[bytes]) -> None:
    """Return once somebody listens. pytest's own limit is the last word."""
    while True:
        assert running.poll() is None, "the collector has ended"
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_review_is_read_back_through_a_collector(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "LONGEST_SECONDS", 60.0)  # this is not about time
    with receiver("http/protobuf") as behind:
        with collector(tmp_path, behind) as addresses:
            environ = {
                "OTEL_EXPORTER_OTLP_ENDPOINT": addresses[protocol],
                "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
            }
            stored = scripted_review(project(tmp_path / "project").path, script(tmp_path), environ=environ)
        document = stored.document
        assert behind.points == points_of(document) != {}
        assert behind.temporalities == {"AGGREGATION_TEMPORALITY_DELTA"}
        assert sorted(span.name for span in behind.spans) == sorted(span_names(review_span(document)))
        assert {attributes(s.attributes)["review_advisor.run_id"] for s in behind.spans} == {document.run_id}
