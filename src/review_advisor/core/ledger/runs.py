"""What can be asked about runs, and how the answer is shown. Standard library only: a list must come at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from review_advisor.core.facts.guidelines import GuidelineFact
from review_advisor.core.ledger.dispute_words import dispute_lines
from review_advisor.core.report.wording import and_unknown, effort_words, printable_line, table

ANY_ERROR = "any"
NO_ERROR = "none"


@dataclass(frozen=True, slots=True)
class Between:
    """A range of numbers, both ends included; None is an open end."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are wanted: those that are all of this. None asks for nothing.

    ``surface``, ``role``, ``model`` and ``error`` are held against one call or consult at a time: a run is wanted if
    one of them is all of it. ``model`` is what was asked for, or what answered. ``error`` is why an answer did not
    come, or ``any``, or ``none`` for runs that lack no answer. ``text`` stands in the title, whatever its ASCII
    letters' case. ``since`` is included, ``until`` is not.
    """

    status: str | None = None
    surface: str | None = None
    role: str | None = None
    model: str | None = None
    error: str | None = None
    cost_usd: Between | None = None
    consults: Between | None = None
    repository: str | None = None
    pull_request: int | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a list. ``wall_ms`` is None while it is unfinished.

    ``cost_usd`` is what its calls reported, None where none did; ``unpriced`` of them did not.
    """

    run_id: str
    started_at: str
    status: str
    repository: str | None
    pull_request: int | None
    label: str
    title: str
    head_sha: str | None
    cost_usd: float | None
    unpriced: int
    consults: int
    findings: int
    vetoes: int
    degraded: bool
    disabled: bool
    recovered: bool
    exhausted: bool
    wall_ms: int | None
    executor_ms: int
    executor_tokens: int
    advisor_tokens: int

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)

    @property
    def flags(self) -> str:
        """What must not be overlooked, in words."""
        told = {
            "degraded": self.degraded,
            "advisor off": self.disabled,
            "recovered": self.recovered,
            "exhausted": self.exhausted,
        }
        return ", ".join(words for words, holds in told.items() if holds)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything about one run: its line, the rows of each table, and its events.

    ``broken`` says where the events are not what was recorded; only those before it are told. ``advice`` is what became
    of it, line by line, in words that come from models.
    """

    line: RunLine
    tables: Mapping[str, tuple[Mapping[str, Any], ...]]
    events: tuple[Mapping[str, Any], ...]
    broken: str = ""
    advice: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {"run": self.line.as_json(), **{name: list(rows) for name, rows in self.tables.items()}} | {
            "events": list(self.events),
            "broken": self.broken,
        }


def letters(text: str) -> int:
    """Which pairs of letters ``text`` holds, whatever the case of ASCII ones, as 63 bits.

    A text that stands in another sets no bit that the other does not set.
    """
    raw = text.encode("utf-8", "replace").lower()
    found = 0
    for one, next_one in pairwise(raw):
        found |= 1 << (one * 31 + next_one) % 63
    return found


def runs_text(lines: Sequence[RunLine], width: int | None = None) -> str:
    """The runs as a table, one a line, no longer than ``width`` where only the title is shortened."""
    if not lines:
        return "No run matches.\n"
    rows = [
        (
            run.run_id,
            run.started_at[:16].replace("T", " "),
            run.status,
            f"{run.repository}#{run.pull_request}" if run.repository else run.label,
            money_words(run),
            str(run.consults),
            str(run.findings),
            run.flags or "-",
            run.title,
        )
        for run in lines
    ]
    head = ("run", "started (UTC)", "status", "change", "cost", "consults", "findings", "flags", "title")
    return _lines(head, rows, width)


def run_text(record: RunRecord, width: int | None = None) -> str:
    """One run for a person: its line, then each table that has rows."""
    line = record.line
    about = [
        ("run", line.run_id),
        ("started", line.started_at),
        ("change", f"{line.repository}#{line.pull_request}" if line.repository else line.label),
        ("title", line.title),
        ("head", line.head_sha or "-"),
        ("status", line.status),
        *(("because", reason) for reason in _reasons(record.events)),
        ("flags", line.flags or "-"),
        ("cost", money_words(line)),
        ("wall clock", "-" if line.wall_ms is None else f"{line.wall_ms / 1000:.1f} s"),
        ("tokens", f"{line.executor_tokens} executor, {line.advisor_tokens} advisor"),
        *([("effort", effort)] if (effort := effort_words(_efforts(record.events))) else []),
        ("events", str(len(record.events))),
        *(("team rule", each.words) for each in _rules(record.events)),
        *([("BROKEN", record.broken)] if record.broken else []),
    ]
    blocks = ["".join(f"{name:<10}  {printable_line(value)}\n" for name, value in about)]
    disputes = dispute_lines(record.events)
    if disputes:
        blocks.append("disagreement\n" + "".join(f"{_indented(each)}\n" for each in disputes))
    if record.advice:
        blocks.append("advice\n" + "".join(f"{_indented(each)}\n" for each in record.advice))
    for name, rows in record.tables.items():
        if rows:
            shown = [column for column in rows[0] if column in _SHOWN]
            if any(row.get("advisor") not in ("", row.get("role"), None) for row in rows):
                shown.insert(shown.index("role") + 1, "advisor")
            told = _lines(shown, [[_value(row[column]) for column in shown] for row in rows], width)
            blocks.append(f"{name}\n{told}")
    return "\n".join(blocks)


def _rules(events: Sequence[Mapping[str, Any]]) -> Iterator[GuidelineFact]:
    """The team's own rules that the first event names."""
    for each in events[0].get("guidelines", ()) if events else ():
        yield GuidelineFact(str(each["name"]), "", cut=int(each.get("cut", 0)), problem=str(each.get("problem", "")))


def _reasons(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Why the review ended as it did."""
    for each in events:
        if each.get("kind") == "review_ended":
            yield from map(str, each.get("because", ()))


def _efforts(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """As ``questions.efforts`` finds them, of events as they are stored."""
    for each in events:
        if each.get("effort") and each.get("kind") in ("call_ended", "consulted"):
            yield str(each.get("role", "mid_flight")), str(each["effort"])


_SHOWN = (
    *(
        "number",
        "surface",
        "role",
        "attempt",
        "shard",
        "ended",
        "reason",
        "resolved_model",
        "tokens",
        "turns",
        "duration_ms",
        "cost_usd",
    ),
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"),
    *("path", "line", "severity", "status", "authority", "verdict", "disagreement", "disposition", "settled"),
    *("title", "question", "action"),
)
"""The columns that a person is shown."""


def _indented(line: str) -> str:
    words = line.lstrip(" ")
    return line[: len(line) - len(words)] + printable_line(words)


def _value(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def money_words(line: RunLine) -> str:
    """What a run cost, for a person: a part of it may be unknown, and so may all of it."""
    return "unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}{and_unknown(line.unpriced)}"


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> str:
    return table([head, *([printable_line(value) for value in row] for row in rows)], width)
