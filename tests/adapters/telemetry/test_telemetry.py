"""Telemetry as a receiver of OTLP gets it, and what a review that cannot send it says and costs: one sentence."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from tests.adapters.command_line import Terminal, project, script, scripted_review, wait_for
from tests.adapters.telemetry.otlp import PROTOCOLS, Receiver, attributes, points_of, receiver, span_names

from review_advisor import __version__
from review_advisor.ledger import telemetry as export
from review_advisor.ledger import telemetry_sender as sending
from review_advisor.ledger.telemetry import (
    METRICS,
    SECONDS_BUCKETS,
    Destination,
    TelemetryError,
    Way,
    destination,
    review_span,
    sender_environment,
    telemetry,
)
from review_advisor.mockworld.agents import approve, confirm, finding, guidance, lost, plan, veto
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, outcome_document
from review_advisor.review.events import CallEnded
from review_advisor.safety import children as belongings

pytestmark = pytest.mark.every_case

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
UNHURRIED = 30.0
SECRET = "hny-4711-secret"
over_both = pytest.mark.parametrize("protocol", PROTOCOLS)


@pytest.fixture(scope="module")
def document() -> OutcomeDocument:
    """A review with something for every metric but one: consults, a veto and its recovery, a lost judgement."""
    world = MockWorld()
    world.change(edited("src/auth/login.py"), edited("docs/adr/0001-x.md"), spec="wish")
    world.agents.script(Role.PRE_FLIGHT, plan(signals=("a short key",)))
    again = approve(finding("src/auth/login.py", 1, "value = 1", "low"))
    world.agents.script(Role.EXECUTOR, approve().after_asking("why?", "how?"), again)
    world.agents.script(Role.MID_FLIGHT, guidance(), lost())
    world.agents.script(Role.POST_VERIFY, veto("that is a short key").taking(95), confirm("a concern"), lost())
    return world.review()


@pytest.fixture(scope="module", params=PROTOCOLS)
def sent(request: pytest.FixtureRequest, document: OutcomeDocument) -> Receiver:
    """Everything that a receiver got of that review."""
    with receiver(request.param) as collector:
        assert told(document, collector.environment) == []
    return collector


def told(document: OutcomeDocument, environ: Mapping[str, str], seconds: float = UNHURRIED) -> list[str]:
    """The warnings of sending it; with time enough, however busy this machine is, unless a story is about time."""
    warnings: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "LONGEST_SECONDS", seconds)
        with telemetry(environ, warnings.append) as send:
            send(document)
    return warnings


def told_here(document: OutcomeDocument, environ: Mapping[str, str]) -> list[str]:
    """The warnings of sending it by the real sender in this process, which imports its libraries once."""
    found = destination(environ)
    assert found is not None
    work = json.loads(export._work(document, found, time.monotonic() + UNHURRIED))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in sender_environment(environ).items():
            patch.setenv(name, value)
        words = sending.send(work)
    try:
        export.check(0, f"sending {UNHURRIED}\n{json.dumps(words)}".encode(), b"")
    except TelemetryError as problem:
        return [f"Telemetry was not sent: {problem}"]
    return []


# --- what arrives ------------------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.one_of_its_kind
def test_a_receiver_reads_the_documents_own_points(sent: Receiver, document: OutcomeDocument) -> None:
    assert sent.points == points_of(document)
    assert set(sent.points) == {metric.name for metric in METRICS} - {"review_advisor_veto_exhausted_total"}
    assert sent.temporalities == {"AGGREGATION_TEMPORALITY_DELTA"}


@pytest.mark.one_of_its_kind
def test_names_kinds_units_and_descriptions_arrive(sent: Receiver) -> None:
    known = {metric.name: metric for metric in METRICS}
    for name, metric in sent.metrics.items():
        assert (metric.unit, metric.description) == (known[name].unit, known[name].description)
        assert metric.HasField("histogram") is (known[name].kind == "histogram")
        assert metric.sum.is_monotonic is (known[name].kind == "counter")


@pytest.mark.one_of_its_kind
def test_the_histogram_has_buckets_for_model_calls(sent: Receiver) -> None:
    histogram = sent.metrics["review_advisor_call_duration_seconds"].histogram
    (judged,) = [
        point
        for point in histogram.data_points
        if attributes(point.attributes) == {"surface": "pr_review", "role": "post_verify"}
    ]
    assert tuple(judged.explicit_bounds) == SECONDS_BUCKETS
    counted = dict(zip((*SECONDS_BUCKETS, float("inf")), judged.bucket_counts, strict=True))
    assert (counted[1.0], counted[120.0], judged.count) == (1, 1, 2), "of 1 and of 95 seconds"


def test_the_spans_are_one_trace(sent: Receiver, document: OutcomeDocument) -> None:
    spans = sent.spans
    assert len({span.trace_id for span in spans}) == 1
    (root,) = [span for span in spans if not span.parent_span_id]
    assert sorted(span.name for span in spans) == sorted(span_names(review_span(document)))
    assert attributes(root.attributes)["review_advisor.run_id"] == document.run_id
    assert root.start_time_unix_nano == int(document.started_at.timestamp()) * 10**9
    assert root.end_time_unix_nano == int(document.ended_at.timestamp()) * 10**9
    by_id = {span.span_id: span for span in spans}
    (consults,) = [s for s in spans if attributes(s.attributes).get("review_advisor.role") == "mid_flight"]
    asking = by_id[consults.parent_span_id]
    assert attributes(asking.attributes)["review_advisor.role"] == "executor"
    assert asking.parent_span_id == root.span_id


def test_a_lost_call_is_an_error_without_a_word_of_its_text(sent: Receiver) -> None:
    (gone,) = [span for span in sent.spans if span.status.code == Status.STATUS_CODE_ERROR]
    assert attributes(gone.attributes)["error.type"] == "crash"
    assert gone.status.message == ""
    assert gone.kind == Span.SPAN_KIND_CLIENT


def test_every_review_of_an_installation_is_the_same_sender(sent: Receiver) -> None:
    """A random instance id would make new series of every review, which nobody could add up."""
    assert {resource["service.name"] for resource in sent.resources} == {"review-advisor"}
    assert {resource["service.version"] for resource in sent.resources} == {__version__}
    assert not any("service.instance.id" in resource for resource in sent.resources)


def test_the_sender_may_have_another_name_and_more_attributes(document: OutcomeDocument) -> None:
    asked = "deployment.environment.name=staging,service.instance.id=runner-3"
    more = {"OTEL_RESOURCE_ATTRIBUTES": asked, "OTEL_SERVICE_NAME": "our-bot"}
    with receiver("http/protobuf") as collector:
        told_here(document, collector.environment | more)
    for resource in collector.resources:
        assert resource["service.name"] == "our-bot"
        assert resource["deployment.environment.name"] == "staging"
        assert resource["service.instance.id"] == "runner-3"


@over_both
@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_headers_and_compression_are_the_standards(protocol: str, compression: str, document: OutcomeDocument) -> None:
    more = {
        "OTEL_EXPORTER_OTLP_HEADERS": f"X-Team={SECRET},authorization=Basic%20YWI=",
        "OTEL_EXPORTER_OTLP_COMPRESSION": compression,
    }
    with receiver(protocol) as collector:
        assert told_here(document, collector.environment | more) == []
    assert {headers["x-team"] for headers in collector.headers} == {SECRET}
    assert {headers["authorization"] for headers in collector.headers} == {"Basic YWI="}
    assert collector.points == points_of(document)


@over_both
def test_whoever_wants_cumulative_sums_gets_them(protocol: str, document: OutcomeDocument) -> None:
    wanted = {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "Cumulative"}
    with receiver(protocol) as collector:
        told_here(document, collector.environment | wanted)
    assert collector.temporalities == {"AGGREGATION_TEMPORALITY_CUMULATIVE"}
    assert collector.points == points_of(document)


def test_each_signal_may_go_its_own_way(document: OutcomeDocument) -> None:
    with receiver("grpc") as metrics, receiver("http/protobuf") as traces:
        ways = {
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": metrics.address,
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{traces.address}/v1/traces",
        }
        assert told_here(document, ways) == []
    assert (bool(metrics.metrics), metrics.spans) == (True, [])
    assert (traces.metrics, bool(traces.spans)) == ({}, True)


@pytest.mark.parametrize(
    "more, metrics, traces",
    [
        ({"OTEL_TRACES_EXPORTER": "none"}, True, False),
        ({"OTEL_METRICS_EXPORTER": "none"}, False, True),
        ({"OTEL_METRICS_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "always_off"}, True, False),
    ],
)
def test_a_signal_may_be_switched_off(
    more: dict[str, str], metrics: bool, traces: bool, document: OutcomeDocument
) -> None:
    with receiver("http/protobuf") as collector:
        assert told_here(document, collector.environment | more) == []
    assert (bool(collector.metrics), bool(collector.spans)) == (metrics, traces)


@pytest.mark.parametrize(
    "asked, sent",
    [("", False), ("no_content", False), ("true", True), ("SPAN_ONLY", True), ("span_and_event", True)],
)
def test_what_was_said_is_sent_only_to_whoever_asks(asked: str, sent: bool, document: OutcomeDocument) -> None:
    with receiver("http/protobuf") as collector:
        told_here(document, collector.environment | {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": asked})
    everything = b"".join(request.SerializeToString() for request in collector.requests)
    assert (b"that is a short key" in everything) is sent
    assert (b"gen_ai.output.messages" in everything) is sent


def test_a_review_in_which_nobody_was_asked_sends_its_span() -> None:
    world = MockWorld()
    world.switch("HYDRAFLOW_REVIEW_ADVISOR_ENABLED", "off")
    with receiver("http/protobuf") as collector:
        assert told_here(world.review(), collector.environment) == []
    assert (collector.metrics, len(collector.spans)) == ({}, 2)


def test_half_characters_do_not_stop_it() -> None:
    half = [
        replace(event, resolved_model="half \udc80 a name") if isinstance(event, CallEnded) else event
        for event in MockWorld().review().events
    ]
    with receiver("http/protobuf") as collector:
        assert told_here(outcome_document(half), collector.environment) == []
    assert b"half ? a name" in b"".join(request.SerializeToString() for request in collector.requests)


# --- what does not -----------------------------------------------------------------------------------------------

OUT_OF_REACH = "Telemetry was not sent: the endpoint could not be reached within 2 seconds."
BUSY = re.compile(r"Telemetry was not sent: its process .*; this machine is busy\.")


def instead_of_the_sender(patch: pytest.MonkeyPatch, started: Path, *lines: str) -> None:
    """A process that reads its work, says these lines and then nothing more."""
    made = f"import sys, time; open({str(started)!r}, 'w').close()"
    says = f"{made}; sys.stdin.read(); print({chr(10).join(lines)!r}, flush=True); time.sleep(600)"
    patch.setattr(export, "_SENDER", (sys.executable, "-I", "-S", "-c", says))


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "lines, sentence",
    [
        (["a library's words", "sending 1.65"], "the endpoint could not be reached within 2 seconds."),
        (["sending 1.00"], "the endpoint could not be reached within 2 seconds."),
        (["sending 0.99"], "its process had only 1.0 seconds left to send; this machine is busy."),
        (["sending 0.00"], "its process had only 0.0 seconds left to send; this machine is busy."),
        (["a library's words"], "its process was still starting after 2 seconds; this machine is busy."),
    ],
)
def test_whoever_is_to_blame_for_a_silence_is_named(
    document: OutcomeDocument, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lines: list[str], sentence: str
) -> None:
    """The process has started before its two seconds begin, so that a busy machine does not change what it says."""
    instead_of_the_sender(monkeypatch, tmp_path / "started", *lines)
    warnings: list[str] = []
    with telemetry({ENDPOINT: "http://127.0.0.1:4318"}, warnings.append) as send:
        wait_for((tmp_path / "started").exists)
        send(document)
    assert warnings == [f"Telemetry was not sent: {sentence}"]


@pytest.mark.parametrize("answer", ["nothing", "UNAVAILABLE", "DEADLINE_EXCEEDED"])
def test_an_answer_that_came_to_nothing_is_judged_by_the_time_there_was(answer: str) -> None:
    for began, sentence in (("1.70", "could not be reached within 2 seconds"), ("0.20", "this machine is busy")):
        with pytest.raises(TelemetryError, match=sentence):
            export.check(0, f'sending {began}\n{{"metrics": "{answer}", "traces": "{answer}"}}'.encode(), b"")


@over_both
def test_an_endpoint_that_refuses_or_never_answers_is_out_of_reach(protocol: str, document: OutcomeDocument) -> None:
    """The real sender, in this process: it was ready long ago."""
    with receiver(protocol) as gone:
        pass
    nowhere = {ENDPOINT: f"http://{'a' * 64}.invalid:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    with receiver(protocol, silent=True) as silent:
        for environ in (gone.environment, silent.environment, nowhere):
            with pytest.MonkeyPatch.context() as patch:
                for name, value in environ.items():
                    patch.setenv(name, value)
                wanted = destination(environ)
                assert wanted is not None
                words = sending.send(json.loads(export._work(document, wanted, time.monotonic() + 0.5)))
            assert set(words) == {"metrics", "traces"}
            assert set(words.values()) <= export._NO_ANSWER


def test_the_sender_is_there_before_the_review_is_over(
    document: OutcomeDocument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it imports takes a second or more: it has the whole review for it, and none of its two seconds is lost."""
    started = tmp_path / "started"
    says = f"open({str(started)!r}, 'w').close(); import sys; sys.stdin.read(); print('{{}}')"
    monkeypatch.setattr(export, "_SENDER", (sys.executable, "-I", "-S", "-c", says))
    monkeypatch.setattr(export, "LONGEST_SECONDS", UNHURRIED)
    warnings: list[str] = []
    with telemetry({ENDPOINT: "http://127.0.0.1:4318"}, warnings.append) as send:
        wait_for(started.exists)
        send(document)
    assert warnings == []


@pytest.mark.parametrize("used", [False, True], ids=["nothing to send", "silent to the end"])
def test_no_sender_outlives_its_review(
    document: OutcomeDocument, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, used: bool
) -> None:
    started: list[belongings.Child] = []

    class Noted(belongings.Child):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(belongings, "Child", Noted)
    instead_of_the_sender(monkeypatch, tmp_path / "started")
    monkeypatch.setattr(export, "LONGEST_SECONDS", 0.2)
    with telemetry({ENDPOINT: "http://127.0.0.1:4318"}, lambda _: None) as send:
        if used:
            send(document)
    (sender,) = started
    assert sender.returncode == -signal.SIGKILL


def test_a_sender_whose_review_is_gone_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["sending", "http/protobuf"])
        patch.setattr(sys, "stdin", io.StringIO(""))
        sending.main()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "protocol, answer, code",
    [
        ("http/protobuf", 401, "401"),
        ("http/protobuf", 404, "404"),
        ("http/protobuf", 302, "302"),
        ("grpc", grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
        ("grpc", grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED"),
    ],
)
def test_an_endpoint_that_says_no(protocol: str, answer: Any, code: str, document: OutcomeDocument) -> None:
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": f"x-team={SECRET}"}
    with receiver(protocol, answer=answer) as collector:
        warnings = told_here(document, collector.environment | headers)
    assert warnings == [f"Telemetry was not sent: the endpoint answered {code}."]


def test_a_backend_for_traces_alone_is_told_apart(document: OutcomeDocument) -> None:
    with receiver("http/protobuf", answer=404) as metrics, receiver("http/protobuf") as traces:
        ways = {
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{metrics.address}/v1/metrics",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{traces.address}/v1/traces",
        }
        assert told_here(document, ways) == ["Telemetry was not sent: metrics: the endpoint answered 404."]
    assert traces.spans


# --- hostile settings --------------------------------------------------------------------------------------------

HOSTILE = [
    (ENDPOINT, "not an address"),
    (ENDPOINT, "ftp://collector:21"),
    (ENDPOINT, "http://:4318"),
    (ENDPOINT, "http://collector:99999"),
    (ENDPOINT, "http://collector:port"),
    (ENDPOINT, "http://[::1"),
    (ENDPOINT, "http://collector\r\nx-injected: 1"),
    ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "collector:4318"),
    ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "carrier pigeon"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "no-value"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a\r\nx-injected: 1"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "x team=a"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%0D%0Ax-injected:1"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=caf%C3%A9"),
    ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "=a"),
    ("OTEL_EXPORTER_OTLP_CERTIFICATE", "missing.pem"),
    ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "missing.key"),
    ("OTEL_EXPORTER_OTLP_CERTIFICATE", "-----BEGIN CERTIFICATE-----" + "MIIB" * 2_000),
    ("OTEL_EXPORTER_OTLP_CERTIFICATE", "half\0name"),
    ("OTEL_EXPORTER_OTLP_COMPRESSION", "brotli"),
    ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "yesterday"),
    ("OTEL_METRICS_EXPORTER", "prometheus"),
    ("OTEL_TRACES_EXPORTER", "console,otlp"),
    ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "perhaps"),
]


@pytest.mark.parametrize("name, value", HOSTILE)
def test_a_value_that_means_nothing_is_refused_by_its_name(name: str, value: str, document: OutcomeDocument) -> None:
    with receiver("http/protobuf") as collector:
        (warning,) = told(document, {**collector.environment, name: value})
    assert warning.startswith(f"Telemetry was not sent: {name} ")
    assert warning.endswith(".")
    assert warning.count("\n") == 0
    assert value not in warning
    assert collector.requests == []


def test_grpc_knows_less_compression_than_http() -> None:
    deflate = {ENDPOINT: "http://collector:4317", "OTEL_EXPORTER_OTLP_COMPRESSION": "deflate"}
    assert destination(deflate)
    with pytest.raises(TelemetryError, match="must be one of none, gzip"):
        destination({**deflate, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})


def test_what_only_opentelemetry_refuses_is_a_sentence_too(document: OutcomeDocument) -> None:
    with receiver("http/protobuf") as collector:
        (warning,) = told(document, {**collector.environment, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "many"})
    assert warning == "Telemetry was not sent: OpenTelemetry cannot work with the OTEL_ variables (ValueError)."


@pytest.mark.parametrize(
    "traceback, sentence",
    [
        (
            "Traceback\nModuleNotFoundError: No module named 'opentelemetry'\n",
            "its packages are missing: install review-advisor[telemetry].",
        ),
        ("", "OpenTelemetry cannot work with the OTEL_ variables (no reason given)."),
        (
            f"Traceback\nurllib3.exceptions.LocationParseError: Failed to parse: {SECRET}\n",
            "OpenTelemetry cannot work with the OTEL_ variables (LocationParseError).",
        ),
    ],
)
def test_a_sender_that_breaks_is_told_by_its_errors_name_alone(traceback: str, sentence: str) -> None:
    assert export._broken(traceback) == sentence


def test_a_sender_that_somebody_ends_is_told_so() -> None:
    with pytest.raises(TelemetryError, match="its process was ended by signal 9"):
        export.check(-9, b"", b"")


# --- the variables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {ENDPOINT: ""},
        {ENDPOINT: "  "},
        {ENDPOINT: "http://collector:4318", "OTEL_SDK_DISABLED": "true"},
        {ENDPOINT: "not an address", "OTEL_SDK_DISABLED": "TRUE"},
        {ENDPOINT: "http://collector:4318", "OTEL_METRICS_EXPORTER": "none", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_HEADERS": "nonsense", "OTEL_EXPORTER_OTLP_PROTOCOL": "nonsense"},
        {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector:4318/v1/logs"},
    ],
)
def test_nothing_is_asked_for(environ: dict[str, str]) -> None:
    assert destination(environ) is None


def test_an_endpoint_is_enough() -> None:
    way = Way("http/protobuf", "none")
    assert destination({ENDPOINT: "https://api.example.org"}) == Destination({"metrics": way, "traces": way})


def test_grpc_takes_a_host_and_a_port() -> None:
    assert destination({ENDPOINT: "api.example.org:443", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})


def test_a_signals_own_variable_beats_the_common_one_and_an_empty_one_is_none() -> None:
    found = destination(
        {
            ENDPOINT: "http://collector:4317",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "gzip",
        }
    )
    assert found is not None
    assert found.ways == {"metrics": Way("grpc", "none"), "traces": Way("http/protobuf", "gzip")}


def test_the_sender_knows_opentelemetrys_variables_and_the_network_and_nothing_else() -> None:
    kept = {
        ENDPOINT: "http://collector",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-team=1",
        "HTTPS_PROXY": "http://proxy",
        "no_proxy": "localhost",
        "SSL_CERT_FILE": "/etc/certs.pem",
    }
    lost_on_it = {
        "ANTHROPIC_API_KEY": "k",
        "GITHUB_TOKEN": "t",
        "HOME": "/home/ada",
        "PYTHONPATH": "evil",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "600",
        "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION": "",
    }
    assert sender_environment({**kept, **lost_on_it}) == kept


# --- in one process: what the sender makes of its work -------------------------------------------------------------


@over_both
def test_the_sender_says_of_each_signal_how_it_ended(
    protocol: str, document: OutcomeDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver(protocol) as collector:
        work = json.loads(export._work(document, wanted(collector), time.monotonic() + UNHURRIED))
        for name, value in collector.environment.items():
            monkeypatch.setenv(name, value)
        assert sending.send(work) == {"metrics": None, "traces": None}
    assert collector.points == points_of(document)
    assert len(collector.spans) == len(span_names(review_span(document)))


@pytest.mark.parametrize(
    "protocol, answer, word",
    [
        ("http/protobuf", 403, "403"),
        ("http/protobuf", 503, "503"),
        ("grpc", grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED"),
        ("grpc", grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE"),
    ],
)
def test_the_sender_says_what_it_was_answered(
    protocol: str, answer: Any, word: str, document: OutcomeDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The exporter asks again after a random pause; one that is longer than the time left ends it at the first answer.
    monkeypatch.setattr("random.uniform", lambda low, high: 10 * UNHURRIED)
    with receiver(protocol, answer=answer) as collector:
        work = json.loads(export._work(document, wanted(collector), time.monotonic() + UNHURRIED))
        for name, value in collector.environment.items():
            monkeypatch.setenv(name, value)
        assert sending.send(work) == {"metrics": word, "traces": word}


def wanted(collector: Receiver) -> Destination:
    found = destination(collector.environment)
    assert found is not None
    return found


# --- the whole command -------------------------------------------------------------------------------------------


def reviewed(terminal: Terminal, env: Mapping[str, str]) -> tuple[int, str, list[str]]:
    """A review of the last commit: its code, its report without what differs by chance, and its warnings."""
    done = terminal.review("--output", "outcome.json", env=env)
    warnings = [line for line in done.err.splitlines() if "elemetry" in line or "OTEL" in line]
    return done.code, done.out, warnings


@pytest.mark.one_in(2)
@over_both
def test_a_review_sends_its_own_outcome(tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "LONGEST_SECONDS", UNHURRIED)
    with receiver(protocol) as collector:
        stored = scripted_review(project(tmp_path / "project").path, script(tmp_path), environ=collector.environment)
    assert collector.points == points_of(stored.document) != {}
    runs = {attributes(span.attributes)["review_advisor.run_id"] for span in collector.spans}
    assert runs == {stored.document.run_id}


@pytest.mark.one_in(2)
@over_both
def test_an_endpoint_that_does_not_answer_changes_nothing_but_one_line(terminal: Terminal, protocol: str) -> None:
    code, report, _ = reviewed(terminal, {})
    with receiver(protocol, silent=True) as collector:
        env = collector.environment | {"OTEL_EXPORTER_OTLP_HEADERS": f"x-team={SECRET}"}
        done = terminal.review("--output", "outcome.json", env=env)
    assert (done.code, done.out) == (code, report)
    (warning,) = [line.removeprefix("warning: ") for line in done.err.splitlines() if "elemetry" in line]
    assert warning == OUT_OF_REACH or BUSY.fullmatch(warning)
    assert SECRET not in done.out + done.err


def test_a_setting_that_means_nothing_changes_nothing_but_one_line(terminal: Terminal) -> None:
    code, report, _ = reviewed(terminal, {})
    hostile = {ENDPOINT: f"ftp://{SECRET}@collector"}
    sentence = f"{ENDPOINT} is no address: http://HOST:PORT or https://HOST is wanted."
    assert reviewed(terminal, hostile) == (code, report, [f"warning: Telemetry was not sent: {sentence}"])


@pytest.mark.every_case
@pytest.mark.parametrize("asked_for", [False, True])
def test_a_review_imports_nothing_of_opentelemetry(terminal: Terminal, tmp_path: Path, asked_for: bool) -> None:
    listing = tmp_path / "imported"
    words = ["review", "--agent", "embedded", "--range", "HEAD~1..HEAD"]
    code = (
        f"import sys, runpy\nsys.argv = ['review-advisor', *{words!r}]\n"
        "try:\n    runpy.run_module('review_advisor', run_name='__main__')\n"
        f"finally:\n    open({str(listing)!r}, 'w').write(chr(10).join(sys.modules))\n"
    )
    with receiver("http/protobuf") as collector:
        env = terminal.environment(collector.environment if asked_for else {})
        subprocess.run([sys.executable, "-c", code], cwd=terminal.folder, env=env, check=False, capture_output=True)
    modules = listing.read_text().splitlines()
    imported = {name.partition(".")[0] for name in modules}
    assert "review_advisor" in imported
    assert ("review_advisor.ledger.telemetry" in modules) is asked_for
    assert imported & {"opentelemetry", "grpc", "google", "requests"} == set()
    assert asked_for or collector.requests == []
