"""Where telemetry goes, by OpenTelemetry's own variables. Values may hold credentials: no sentence repeats one.

An empty variable is an unset one; a value that means nothing is refused, by the variable's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

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
