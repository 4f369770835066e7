"""Sending what a review that is over adds to the metrics, and its trace: bounded, and without a say in its result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from review_advisor import __version__
from review_advisor.adapters.telemetry.destination import (
    Destination,
    TelemetryError,
    destination,
    sender_environment,
)
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.record.metrics import METRICS, SECONDS_BUCKETS, measurements
from review_advisor.core.record.moments import microseconds
from review_advisor.core.record.spans import Span, review_span

LONGEST_SECONDS = 2.0
"""What telemetry may cost a review, all in all."""
TO_END_SECONDS = 0.1
TO_ANSWER_SECONDS = 0.2

_SENDER = (sys.executable, "-I", "-m", "review_advisor.adapters.telemetry.sending")
_ERROR = re.compile(r"^(?:[\w.]*\.)?(\w+)(?::.*)?$")
_OUT_OF_REACH = f"the endpoint could not be reached within {LONGEST_SECONDS:g} seconds"
_NO_ANSWER = {"nothing", "UNAVAILABLE", "DEADLINE_EXCEEDED"}


def export_telemetry(document: OutcomeDocument, environ: Mapping[str, str], warn: Callable[[str], None]) -> None:
    """Send the document's metrics and spans where ``environ`` says. Does nothing if it says nothing.

    Takes at most ``LONGEST_SECONDS``. Whatever goes wrong becomes one sentence for ``warn``, which repeats no value of
    a variable.
    """
    try:
        wanted = destination(environ)
        if wanted is not None:
            _send(document, wanted, sender_environment(environ))
    except TelemetryError as problem:
        warn(f"Telemetry was not sent: {problem}")


def _send(document: OutcomeDocument, wanted: Destination, environment: dict[str, str]) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS - TO_END_SECONDS
    work = _work(document, wanted, deadline - TO_ANSWER_SECONDS)
    try:
        # In a session of its own: an interrupt at the terminal is the review's, and the time is short anyway.
        done = subprocess.run(
            _SENDER,
            input=work,
            capture_output=True,
            env=environment,
            timeout=deadline - time.monotonic(),
            check=False,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise TelemetryError(f"{_OUT_OF_REACH}.") from None
    except OSError as error:
        raise TelemetryError(f"its process cannot be started ({error.strerror}).") from None
    _check(done)


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
    """Raise for what the sender says became of each signal, or for how it broke."""
    if done.returncode < 0:
        raise TelemetryError(f"its process was ended by signal {-done.returncode}.")
    if done.returncode > 0:
        raise TelemetryError(_broken(done.stderr.decode("utf-8", "replace")))
    answers: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    problems = {signal: _problem(code) for signal, code in answers.items() if code}
    if not problems:
        return
    if len(problems) == len(answers) and len(set(problems.values())) == 1:
        raise TelemetryError(f"{next(iter(problems.values()))}.")
    told = "; ".join(f"{signal}: {problem}" for signal, problem in problems.items())
    raise TelemetryError(f"{told}.")


def _problem(code: str) -> str:
    return _OUT_OF_REACH if code in _NO_ANSWER else f"the endpoint answered {code}"


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
