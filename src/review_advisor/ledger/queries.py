"""What can be asked about runs and tasks. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, TypeGuard

from review_advisor.change.guidelines import GuidelineFact
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import spent
from review_advisor.review.events import CallEnded, Event, Step
from review_advisor.review.report import AdviceEnd, advice_ends
from review_advisor.safety.wording import and_unknown, printable_line, table

_VERIFIED, _RULED = "verified", "ruled"


def dispute_lines(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """A few lines for each judgement that disagrees, in their order; none where nobody disagreed.

    ``events`` are those of a run as JSON. What they quote comes from models: whoever prints it makes it safe.
    """
    lines: list[str] = []
    open_parts: set[tuple[str, int]] = set()
    for event in events:
        part = (str(event.get("surface", "")), int(event.get("shard", 0)))
        if event.get("kind") == _VERIFIED:
            judgement = list(_judgement(event))
            lines += judgement
            if judgement:
                open_parts.add(part)
        elif event.get("kind") == _RULED and part in open_parts:
            open_parts.remove(part)
            lines.append(f"  then: {event['ruling']['move']}, because {event['ruling']['because']}")
    return tuple(lines)


def _judgement(event: Mapping[str, Any]) -> Iterator[str]:
    judged = event["judged"]
    result = judged["result"]
    if result["verdict"] != "VETO" and not result["disagreements"]:
        return
    number = int(judged["number"])
    part = f", part {event['shard'] + 1}" if event.get("shard") else ""
    verdict = "vetoes" if result["verdict"] == "VETO" else "confirms"
    both = f"the executor says {judged['executor_verdict']}, the advisor {verdict} it"
    yield f"{event['surface']}{part}, attempt {number + 1}: {both}: {result['reasoning'] or 'no reason given'}"
    for at, each in enumerate(result["disagreements"], start=1):
        yield f"  d{number}.{at}, {each['severity']}: {each['executor_claim']}; answer: {each['advisor_assessment']}"
    if result.get("suggested_fix_direction"):
        yield f"  asked for: {result['suggested_fix_direction']}"


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
        flags = {
            "degraded": self.degraded,
            "advisor off": self.disabled,
            "recovered": self.recovered,
            "exhausted": self.exhausted,
        }
        return ", ".join(words for words, holds in flags.items() if holds)


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
        """Its fields as one JSON object."""
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
            text = _lines(shown, [[_value(row[column]) for column in shown] for row in rows], width)
            blocks.append(f"{name}\n{text}")
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


MOST_PERIODS = 100
"""More points than this are no picture."""


_DAYS = (1, 7, 28, 364)


@dataclass(frozen=True, slots=True)
class Period:
    """The runs that began at ``since`` or later, and before ``until``, of one repository or of all (None)."""

    since: datetime | None = None
    until: datetime | None = None
    repository: str | None = None


def periods(first: datetime, last: datetime, whole: Period) -> tuple[Period, ...]:
    """From the day of ``first`` (UTC) to that of ``last``, in days, weeks, or longer: ``MOST_PERIODS`` at most.

    The first one begins no earlier than the ``whole`` period, and the last one ends with it. Together they hold every
    moment from ``first`` to ``last`` once.
    """
    start = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = (last - start).days + 1
    length = next((each for each in _DAYS if days <= each * MOST_PERIODS), -(-days // MOST_PERIODS))
    starts = [start + timedelta(days=day) for day in range(0, days, length)]
    ends: list[datetime | None] = [*starts[1:], whole.until]
    begins = [max(starts[0], whole.since) if whole.since else starts[0], *starts[1:]]
    return tuple(Period(begin, end) for begin, end in zip(begins, ends, strict=True))


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks are wanted: those that are all of this. None asks for nothing.

    ``backend`` is that of either side, ``error`` the error mode.
    """

    status: str | None = None
    backend: str | None = None
    error: str | None = None
    consults: Between | None = None
    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task in a list. ``cost_usd`` is what its calls reported, None where none did."""

    run_id: str
    started_at: str
    task: str
    status: str
    error_mode: str
    executor_backend: str
    advisor_backend: str
    consults: int
    guidances: int
    proposals: int
    malformed: int
    executor_calls: int
    executor_tokens: int
    advisor_tokens: int
    cost_usd: float | None
    duration_ms: int

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)


def tasks_text(lines: Sequence[TaskLine], width: int | None = None) -> str:
    """The tasks as a table, one a line, no longer than ``width`` where only the task is shortened."""
    if not lines:
        return "No task matches.\n"
    head = ("run", "started (UTC)", "status", "backends", "consults", "cost", "error", "task")
    rows = [
        (
            each.run_id,
            each.started_at[:16].replace("T", " "),
            each.status,
            f"{each.executor_backend} > {each.advisor_backend}",
            str(each.consults),
            "-" if each.cost_usd is None else f"${each.cost_usd:.4f}",
            each.error_mode,
            printable_line(each.task),
        )
        for each in lines
    ]
    return table([head, *rows], width)


MOST_SESSIONS = 1_000


EVERY_SESSION = TaskFilter(limit=MOST_SESSIONS)


_NAMES = ("status", "backend", "error", "text", "consults")


_MOST_DIGITS = 9


def session_query(asked: Sequence[tuple[str, str]]) -> TaskFilter | None:
    """What the names and values of an address ask for; None where they mean nothing.

    ``consults`` is an exact number.
    """
    found = dict(asked)
    if not found or len(found) < len(asked) or not set(found) <= set(_NAMES) or not all(found.values()):
        return None
    many = found.pop("consults", None)
    if many is not None and not (many.isascii() and many.isdecimal() and len(many) <= _MOST_DIGITS):
        return None
    return TaskFilter(
        status=found.get("status"),
        backend=found.get("backend"),
        error=found.get("error"),
        consults=None if many is None else Between(int(many), int(many)),
        text=found.get("text"),
        limit=MOST_SESSIONS,
    )


SessionLine = RunLine | TaskLine


Json = dict[str, Any]


def session_view(session: SessionLine) -> Json:
    """One session: a review or a task, with what is known of both under the same names."""
    if isinstance(session, TaskLine):
        about: Json = {"kind": "task", "title": session.task, "error_mode": session.error_mode}
        about |= {"executor_backend": session.executor_backend, "advisor_backend": session.advisor_backend}
        took: int | None = session.duration_ms
        ended, corrections = session.status == "completed", None
    else:
        about = {"kind": "review", "title": session.title, "vetoes": session.vetoes}
        ended = session.status in ("approved", "changes_requested")
        corrections, took = session.vetoes, session.wall_ms
    return {
        "run_id": session.run_id,
        "started_at": session.started_at,
        "status": session.status,
        "completed": ended,
        "duration_ms": took,
        "decisions": session.consults,
        "self_sufficient": session.consults == 0,
        "first_pass": None if corrections is None else ended and corrections == 0,
        "executor_tokens": session.executor_tokens,
        "advisor_tokens": session.advisor_tokens,
        "advisor_fraction": _share(session.advisor_tokens, session.executor_tokens + session.advisor_tokens),
        "cost_usd": session.cost_usd,
        **about,
    }


def stats_view(sessions: Sequence[SessionLine]) -> Json:
    """The sums of these sessions. A share of nothing is null, and so is a cost that no session reported."""
    views = [session_view(each) for each in sessions]
    executor, advisor = (sum(each[f"{who}_tokens"] for each in views) for who in ("executor", "advisor"))
    costs = [each["cost_usd"] for each in views if each["cost_usd"] is not None]
    consulted = sum(each["decisions"] > 0 for each in views)
    first_pass = [each["first_pass"] for each in views if each["first_pass"] is not None]
    return {
        "sessions": len(views),
        "reviews": sum(each["kind"] == "review" for each in views),
        "tasks": sum(each["kind"] == "task" for each in views),
        "completed": sum(each["completed"] for each in views),
        "decisions": sum(each["decisions"] for each in views),
        "escalation_rate": _share(consulted, len(views)),
        "self_sufficient_rate": _share(len(views) - consulted, len(views)),
        "first_pass_rate": _share(sum(first_pass), len(first_pass)),
        "executor_tokens": executor,
        "advisor_tokens": advisor,
        "advisor_fraction": _share(advisor, executor + advisor),
        "cost_usd": sum(costs) if costs else None,
    }


def review_decisions(events: Sequence[Event]) -> Iterator[Json]:
    """Every consult of a review: why it was held, what was advised, what became of it, and what it took around it.

    ``executor_before`` is what the executor used on that part until then, ``executor_after`` what it used afterwards.
    Whether advice was worth its price is not told: nobody ran the review without it.
    """
    for end in advice_ends(events):
        yield {**_asked(end), **_answered(end), **_around(end, events)}


def _asked(end: AdviceEnd) -> Json:
    step = _step(end)
    return {
        "number": end.index,
        "surface": step.surface.value,
        "attempt": step.attempt,
        "shard": step.shard,
        "asked_by": "harness" if end.due else "executor",
        "triggers": [each.kind.value for each in end.due.reasons] if end.due else ["asked"],
        "details": [each.detail for each in end.due.reasons] if end.due else [],
        "state": end.due.state if end.due else None,
    }


def _answered(end: AdviceEnd) -> Json:
    note = end.consulted and end.consulted.note
    guidance = note.guidance if note else None
    merged = end.merge.merged if end.merge else None
    return {
        "status": note.status if note else "denied",
        "question": note.consult.question if note else "",
        "answers": [each.answer for each in note.consult.answers] if note else [],
        "answer": guidance.answer if guidance else "",
        "advisor": end.consulted.advisor if end.consulted else None,
        "action": guidance.action if guidance else "",
        "changes": [each.does for each in guidance.changes] if guidance else [],
        "risk_flags": list(guidance.risk_flags) if guidance else [],
        "stop_signal": guidance is not None and guidance.stops,
        "model": note.resolved_model if note else "",
        "tokens": note.tokens if note else None,
        "duration_ms": note.duration_ms if note else None,
        "reason": note.reason if note else end.reason,
        "recommendation": end.recommendation or None,
        "diff": [[each.what, each.before, each.after] for each in merged.diff] if merged else [],
        "conflict": merged.conflict if merged else "",
        "disposition": end.disposition,
        "disposition_reason": end.reason if note else "",
    }


def _around(end: AdviceEnd, events: Sequence[Event]) -> Json:
    step = _step(end)
    before, after = (
        [each for each in some if _is_executors(each, step)] for some in (events[: end.index], events[end.index + 1 :])
    )
    failed = [each.reason or each.ended for each in before if each.ended != "answered"]
    return {
        "executor_before": _used(before),
        "executor_after": _used(after),
        "last_error": failed[-1] if failed else None,
        "tool_failures": sum(each.tool_failures for each in before),
    }


def _step(end: AdviceEnd) -> Step:
    step = end.consulted or end.due
    if step is None:
        raise AssertionError("a consult was held or refused")
    return step


def _is_executors(event: Event, of: Step) -> TypeGuard[CallEnded]:
    part = (of.surface, of.shard)
    return isinstance(event, CallEnded) and event.role is Role.EXECUTOR and (event.surface, event.shard) == part


def _used(calls: Iterable[CallEnded]) -> Json:
    every = list(calls)
    costs = [each.usage.cost_usd for each in every if each.usage.cost_usd is not None]
    tokens = spent(every).executor_tokens
    return {"calls": len(every), "tokens": tokens, "cost_usd": sum(costs) if costs else None}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
