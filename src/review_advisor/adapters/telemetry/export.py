"""Sending what a review that is over adds to the metrics, and its trace: bounded, and without a say in its result."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from review_advisor import __version__
from review_advisor.adapters.telemetry.destination import (
    Destination,
    TelemetryError,
    destination,
    sender_environment,
)
from review_advisor.core.ledger.moments import microseconds
from review_advisor.core.metrics.metrics import METRICS, SECONDS_BUCKETS, measurements
from review_advisor.core.metrics.spans import Span, review_span
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.lifetime.belongings import TimeoutExpired, start

LONGEST_SECONDS = 2.0
"""What telemetry may cost a review, all in all."""
TO_END_SECONDS = 0.1
TO_ANSWER_SECONDS = 0.2
ENOUGH = 0.5
"""The share of its time that the sender needs: with less, an endpoint that does not answer is not to blame."""

_SENDER = (sys.executable, "-I", "-m", "review_advisor.adapters.telemetry.sending")
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
