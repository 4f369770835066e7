"""What the dashboard's pages show, as plain values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, assert_never, get_args

from review_advisor.agents.answers import own_words
from review_advisor.agents.calls import total_usage
from review_advisor.agents.findings import merged_into
from review_advisor.ledger.artifacts import MOST_PAIRS
from review_advisor.ledger.kind_records import FindingKind, kinds_of
from review_advisor.ledger.kpis import (
    CONSULT_RATE,
    CONSULT_SHARE,
    SHOWN_KPIS,
    Alarm,
    Kpi,
    MemberPair,
    RepositoryRollup,
    Rollup,
    ShadowModeSums,
    Target,
    format_value,
    pair_rows,
    shadow_mode_text,
)
from review_advisor.ledger.page_entries import (
    MOST_LINES,
    TONES,
    Entry,
    Tone,
    became_of_advice,
    changes,
    cost_json,
    entry_json,
    finding_json,
    page_lines,
    page_text,
    usage_json,
    without_empty,
)
from review_advisor.ledger.queries import Period, RunLine, TaskLine, dispute_lines, money_words
from review_advisor.ledger.rows import UNFINISHED, Participant
from review_advisor.ledger.task_events import EXIT_CODES as EXIT_CODES_OF_TASK_EVENTS
from review_advisor.ledger.task_events import (
    BlockIgnored,
    BlockMalformed,
    ConsultHeard,
    CouncilVoted,
    GuidanceHeard,
    GuidanceUsed,
    OpinionHeard,
    PatchRead,
    ProposalHeard,
    ReportHeard,
    RunStatus,
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
    after_a_turn,
    at_the_end,
    blind_spots,
    counted_votes,
    last_vote,
    voted_words,
)
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, RoleCost, ends_of_calls, role_costs
from review_advisor.review.events import CallEnded, CallStarted, Event, PolicyFrozen, Ruled, Verified
from review_advisor.review.observed import ObservedLabel
from review_advisor.review.report import council_texts, findings_by_id, matrix_of
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.safety.fence import as_facts
from review_advisor.safety.markdown import shortened
from review_advisor.safety.terminal import printable, wrapped
from review_advisor.safety.wording import counted, table

_SERVER = re.compile(
    r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*"
)


@dataclass(frozen=True, slots=True)
class RunPage:
    """A run's page. ``document`` is None while it is unfinished; ``labels`` say what became of its pull request.

    ``paid_elsewhere`` are the numbers of the calls that another run counts. ``trouble`` says why its events cannot be
    shown; then there are none. ``unlabelled`` says the same of the labels.
    """

    line: RunLine
    events: tuple[Event, ...] = ()
    document: OutcomeDocument | None = None
    labels: tuple[ObservedLabel, ...] = ()
    paid_elsewhere: frozenset[int] = frozenset()
    trouble: str = ""
    unlabelled: str = ""

    @property
    def counted(self) -> tuple[RoleCost, ...]:
        """What its calls used and no other run counts, by role and model."""
        return role_costs(call for number, call in self._calls() if number not in self.paid_elsewhere)

    def as_json(self) -> dict[str, Any]:
        """For the page. Its keys are ours; only values come from the run."""
        document = self.document
        kinds = kinds_of(document) if document else {}
        return {
            "run": shown_line(self.line) | {"server": self._server()},
            "trouble": page_text(self.trouble),
            "why": page_lines(document.because) if document else [],
            "summary": [[label, page_text(value)] for label, value in self._summary()],
            "costs": [cost_json(cost) for cost in role_costs(call for _, call in self._calls())],
            "findings": [
                {**finding_json(each), "became": self._became(each.id), **_kind(kinds, each.id)}
                for each in (document.findings if document else ())
            ],
            "became": self._became(""),
            "unlabelled": page_text(self.unlabelled),
            "disputes": page_lines(dispute_lines(map(as_facts, self._judgements()))),
            "council": [page_text(each) for each in council_texts(self.events)],
            "not_read": _not_read(document) if document else [],
            "repair": page_text(document.repair.patch) if document and document.repair else "",
            "entries": list(self._entries()),
        }

    def _server(self) -> str:
        """Where links lead: nowhere, unless the review recorded a plain address of its GitHub."""
        first = self.events[0] if self.events else None
        server = first.server if isinstance(first, PolicyFrozen) else ""
        return server if _SERVER.fullmatch(server) else ""

    def _became(self, finding: str) -> list[str]:
        return page_lines(
            f"{each.name.replace('_', ' ')}: {each.value.replace('_', ' ')}{f' ({each.source})' if each.source else ''}"
            for each in self.labels
            if each.finding == finding
        )

    def _judgements(self) -> Iterator[Event]:
        return (event for event in self.events if isinstance(event, Verified | Ruled))

    def _calls(self) -> list[tuple[int, CallEnded]]:
        return [(number, event) for number, event in enumerate(self.events) if isinstance(event, CallEnded)]

    def _summary(self) -> Iterator[tuple[str, str]]:
        line = self.line
        yield "Status", line.status.replace("_", " ")
        yield "Change", f"{line.repository}#{line.pull_request}" if line.repository else line.label
        yield "Head", line.head_sha or "not a commit"
        yield "Began", f"{line.started_at[:19].replace('T', ' ')} UTC"
        yield "Wall clock", "no end is recorded" if line.wall_ms is None else f"{line.wall_ms / 1000:.1f} s"
        yield "Executor's first attempts", f"{line.executor_ms / 1000:.1f} s"
        yield "Cost", money_words(line)
        yield "Tokens", f"{line.executor_tokens:,} executor, {line.advisor_tokens:,} advisor"
        yield "Calls", str(sum(call.ended != "refused" for _, call in self._calls()))
        yield "Consults", str(line.consults)
        repaired = self.document is not None and self.document.repair is not None
        yield "Findings", "none is left after the repair" if repaired and not line.findings else str(line.findings)
        merged = merged_into(self.document.findings) if self.document else 0
        if merged:
            yield "Merged into them", str(merged)
        yield "Vetoes", str(line.vetoes)
        yield "Flags", line.flags or "none"
        if self.events and isinstance(self.events[0], PolicyFrozen):
            policy = self.events[0].policy
            yield "Blast radius", policy.blast.radius.value
            yield "Surfaces", ", ".join(row.surface.value for row in policy.surfaces)
            rules = self.events[0].guidelines
            yield "Team rules", "; ".join(each.words for each in rules) or "none"
        if self.document and self.document.flags.lost:
            yield "Answers that did not come", ", ".join(self.document.flags.lost)

    def _entries(self) -> Iterator[dict[str, Any]]:
        changed, became = changes(self.events), became_of_advice(self.events)
        ends, named = ends_of_calls(self.events), findings_by_id(self.events)
        for number, event in enumerate(self.events):
            if isinstance(event, CallStarted) and number in ends:
                continue  # its end tells everything that its beginning tells
            entry = entry_json(number, event, named)
            if number in became:
                entry["facts"] = [*entry.get("facts", ()), ["what became of it", became[number]]]
            yield entry | {"change": changed[number].as_json()} if number in changed else entry


def _kind(kinds: Mapping[str, FindingKind], finding: str) -> dict[str, str]:
    return {"kind": page_text(kinds[finding].words)} if finding in kinds else {}


def _not_read(document: OutcomeDocument) -> list[str]:
    return page_lines(f"{each.path}: {each.why}" for each in document.coverage if each.read != "read")


def shown_line(line: RunLine) -> dict[str, Any]:
    """A run's line as a page shows it: its numbers as they are."""
    texts = {"title": page_text(line.title), "label": page_text(line.label)}
    return (
        line.as_json()
        | texts
        | {"like": line.status, "kind": "review"}
        | {"repository": None if line.repository is None else page_text(line.repository)}
    )


_MOST_OWN = 500
"""Characters of one advisor's own fields. The run's folder has all of them."""


def vote_texts(events: Sequence[TaskEvent]) -> Iterator[str]:
    """Each vote as plain text."""
    last = last_vote(events)
    yield from (
        "\n".join(_vote(each, blind_spots(events) if each is last else ()))
        for each in events
        if isinstance(each, CouncilVoted)
    )


def last_vote_text(events: Sequence[TaskEvent]) -> str:
    """The latest of them; empty without any."""
    return next(reversed(tuple(vote_texts(events))), "")


def _vote(event: CouncilVoted, spots: Sequence[str]) -> Iterator[str]:
    counted = counted_votes(event)
    yield "Vote on the end" if event.moment == "finish" else f"Vote of who watches, turn {event.turn}"
    yield from (f"  {printable(line)}" for line in table(matrix_of(counted, {})).splitlines())
    yield wrapped("  ", f"Result: {counted.why}.")
    means = at_the_end(event) if event.moment == "finish" else after_a_turn(event)
    if means is not None and means[1] != counted.why:
        yield wrapped("  ", f"The run is {means[0]}: {means[1]}.")
    if counted.dissent:
        yield wrapped("  ", f"Dissent: {', '.join(counted.dissent)}.")
    yield from (wrapped("  ", f"Blind spot: {each.rstrip('.')}.") for each in spots)
    yield from (
        wrapped("  ", f"{each.advisor}: {shortened(own_words(each.own), _MOST_OWN)}")
        for each in event.votes
        if each.own
    )


TASK = "task"
"""What stands in the place of a surface: a task has none."""


_ROLES: Mapping[Speaker, Role] = {"executor": Role.EXECUTOR, "advisor": Role.MID_FLIGHT}


_NAMES: Mapping[Speaker, str] = {"executor": "The executor", "advisor": "The advisor"}


_LIKE: Mapping[int, Outcome] = {
    EXIT_CODES[outcome]: outcome for outcome in Outcome if outcome is not Outcome.NOTHING_TO_REVIEW
}


def like_outcome(status: str) -> str:
    """The status of a review that has the colour of this status: that with the same exit code."""
    if status == "running" or status not in get_args(RunStatus):
        return UNFINISHED
    return _LIKE[EXIT_CODES_OF_TASK_EVENTS[status]].value  # type: ignore[index]


def task_row(line: TaskLine) -> dict[str, Any]:
    """The task as the list shows it, by the names of a review's columns."""
    return {
        "run_id": line.run_id,
        "started_at": line.started_at,
        "status": line.status,
        "like": like_outcome(line.status),
        "kind": TASK,
        "repository": None,
        "pull_request": None,
        "label": page_text(f"{line.executor_backend} → {line.advisor_backend}"),
        "title": page_text(line.task),
        "cost_usd": line.cost_usd,
        "unpriced": 0,
        "consults": line.consults,
        "findings": 0,
        "vetoes": 0,
        "wall_ms": line.duration_ms,
        "executor_tokens": line.executor_tokens,
        "advisor_tokens": line.advisor_tokens,
    }


def task_parts(line: TaskLine) -> tuple[Participant, ...]:
    """Who took part, so that the filters of reviews find tasks, too: a backend is a model, an error mode an error."""
    error = "" if line.error_mode == "none" else line.error_mode
    return (
        Participant(TASK, Role.EXECUTOR.value, line.executor_backend, error),
        Participant(TASK, Role.MID_FLIGHT.value, line.advisor_backend),
    )


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A task's page. ``trouble`` says why its events cannot be shown; then there are none."""

    line: TaskLine
    events: tuple[TaskEvent, ...] = ()
    trouble: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the page, in the form of a review's."""
        ended = next((event for event in self.events if isinstance(event, TaskEnded)), None)
        patches = [event.made.patch for event in self.events if isinstance(event, PatchRead)]
        return {
            "run": task_row(self.line) | {"server": "", "head_sha": None},
            "trouble": page_text(self.trouble),
            "why": page_lines(filter(None, (ended.reason, ended.done.summary if ended.done else ""))) if ended else [],
            "summary": [[label, page_text(value)] for label, value in self._summary()],
            "costs": [cost_json(cost) for cost in _costs(self._calls())],
            "findings": [],
            "became": [],
            "unlabelled": "",
            "disputes": [],
            "council": [page_text(each) for each in vote_texts(self.events)],
            "not_read": [],
            "repair": page_text(patches[-1]) if patches else "",
            "entries": [_entry_json(number, event) for number, event in enumerate(self.events)],
        }

    def _calls(self) -> list[TaskCalled]:
        return [event for event in self.events if isinstance(event, TaskCalled) and event.ended != "refused"]

    def _summary(self) -> Iterator[tuple[str, str]]:
        line = self.line
        yield "Status", line.status.replace("_", " ")
        yield "Error mode", line.error_mode
        yield "Executor", line.executor_backend
        yield "Advisor", line.advisor_backend
        yield "Began", f"{line.started_at[:19].replace('T', ' ')} UTC"
        yield "Time of all calls", f"{line.duration_ms / 1000:.1f} s"
        yield "Cost", "unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}"
        yield "Tokens", f"{line.executor_tokens:,} executor, {line.advisor_tokens:,} advisor"
        yield "Calls of the executor", str(line.executor_calls)
        yield "Consults", str(line.consults)
        yield "Guidance", str(line.guidances)
        yield "Memory proposals", str(line.proposals)
        yield "Malformed blocks", str(line.malformed)
        if self.events and isinstance(self.events[0], TaskBegun):
            yield "Head", self.events[0].head or "no tree"


def _role(call: TaskCalled) -> str:
    """Who was asked; whoever looked at a run after its end was asked by the name of that role."""
    return call.advisor if call.advisor == Role.RETRO.advisor else _ROLES[call.speaker].value


def _entry_json(number: int, event: TaskEvent) -> dict[str, Any]:
    call = event if isinstance(event, TaskCalled) else None
    about = without_empty(
        kind=event.kind,
        **_told(event).as_json(),
        role=_role(call) if call else "",
        call=_call_json(call) if call else {},
        turn=event.turn or "",
    )
    return {"number": number, "at": event.at.isoformat(), **about}


def _told(event: TaskEvent) -> Entry:  # noqa: C901, PLR0911, PLR0912 (a case for each kind of event)
    match event:
        case TaskBegun():
            limits = event.limits
            most = f"{counted(limits.max_turns, 'turn')}, {counted(limits.max_advisor_calls, 'question')}"
            may_edit = ("may edit", "yes" if event.edit else "")
            actions = ("actions, mildest first", ", ".join(event.actions))
            about = (("limits", f"{most}, ${limits.max_usd:.2f}"), may_edit, actions)
            return Entry("The task began", facts=about, blocks=(("Task", event.task), ("Advisors", event.advisors)))
        case TaskCalled():
            return _called(event)
        case ConsultHeard():
            consult = event.consult
            facts: tuple[tuple[str, str], ...] = (
                ("urgency", consult.urgency),
                ("preferred", consult.preferred_option or ""),
            )
            asks = f"The executor asks {event.asked}".rstrip()
            title = asks if not event.refused else "A question is refused"
            blocks = (("Refused", event.refused), ("Question", consult.question), ("Context", consult.context))
            return Entry(
                title, "warn" if event.refused else "ask", facts, (*blocks, ("Options", tuple(consult.options)))
            )
        case GuidanceHeard():
            guidance = event.guidance
            facts = (("stop signal", "yes" if guidance.stop_signal else ""), ("without a block", "yes" * event.wrapped))
            tone: Tone = "warn" if guidance.stop_signal else ""
            return Entry(
                "The advisor answers", tone, facts, (("Guidance", guidance.guidance), ("Why", guidance.rationale))
            )
        case GuidanceUsed():
            return Entry(f"Guidance {event.disposition}", facts=(("id", event.id),), blocks=(("Why", event.reason),))
        case ProposalHeard():
            return Entry("Offered to remember", blocks=(("", event.proposal.content),))
        case ReportHeard():
            facts = (("for", event.action), ("not usable", event.error))
            tone = "bad" if event.error else ""
            return Entry(f"The executor hands in {event.tag}", tone, facts, folded=(("Report", event.report),))
        case BlockMalformed():
            return Entry(f"{event.tag} of the {event.speaker} is malformed", "bad", blocks=(("", event.error),))
        case BlockIgnored():
            return Entry(f"{event.tag} of the {event.speaker} has no effect", "warn", blocks=(("", event.why),))
        case PatchRead():
            made = event.made
            refused = tuple(f"{each.path}: {each.why}" for each in made.refused)
            return Entry("The edits were read", blocks=(("Files", tuple(made.files)), ("Refused", refused)))
        case OpinionHeard():
            title = f"{event.advisor} speaks before the first turn"
            return Entry(title, "warn" if event.lost else "", (("no opinion", event.lost),), (("", event.opinion),))
        case CouncilVoted():
            return Entry("The declared advisors vote", blocks=(("", voted_words(event)),))
        case TaskEnded():
            like = like_outcome(event.status)
            tone = "warn" if like == UNFINISHED else TONES[Outcome(like)]
            return Entry(f"The task ended: {event.status.replace('_', ' ')}", tone, blocks=(("", event.reason),))
        case _:
            assert_never(event)


def _called(event: TaskCalled) -> Entry:
    words = {
        "answered": "answered",
        "lost": "gave no answer",
        "refused": "was not asked",
        "stopped": "could not be asked",
    }
    facts = (("why", event.reason), ("session", event.session_id))
    tone: Tone = "" if event.ended == "answered" else "warn"
    title = f"{event.advisor or _NAMES[event.speaker]} {words[event.ended]}"
    return Entry(title, tone, facts, (("", event.detail),), folded=(("Message", event.message),))


def _call_json(call: TaskCalled) -> Mapping[str, Any]:
    return without_empty(
        role=_ROLES[call.speaker].value,
        ended=call.ended,
        model=page_text(call.resolved_model or call.model),
        **usage_json(call.usage),
        seconds=call.duration_seconds,
        prompt_characters=call.prompt_characters,
    )


def _costs(calls: Iterable[TaskCalled]) -> Iterator[RoleCost]:
    """What a task used, by speaker and model."""
    used: dict[tuple[Role, str], list[TaskCalled]] = {}
    for call in calls:
        used.setdefault((_ROLES[call.speaker], call.resolved_model or call.model), []).append(call)
    for (role, model), its in used.items():
        usage = total_usage(call.usage for call in its)
        unpriced = sum(call.usage.cost_usd is None for call in its)
        yield RoleCost(role, model, len(its), usage, unpriced)


STATUSES = ("approved", "changes_requested", "escalated", "stopped", "nothing_to_review", UNFINISHED)
"""In the order in which they are stacked."""


CHUNK = 2_000
"""Runs in one file of the list."""


_FLAGS = ("degraded", "disabled", "recovered", "exhausted")


_COLUMNS = (
    *(
        "run_id",
        "started_at",
        "status",
        "like",
        "kind",
        "repository",
        "pull_request",
        "label",
        "title",
        "cost_usd",
        "unpriced",
    ),
    *("consults", "findings", "vetoes", "wall_ms", "executor_tokens", "advisor_tokens"),
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """One point of the plots: what the runs of a period come to, and how they ended."""

    period: Period
    rollup: Rollup
    ends: Mapping[str, int]


def kpi_json(kpi: Kpi) -> dict[str, Any]:
    """A KPI in figures, and in the words of ``rollup``."""
    value = "not measured" if kpi.value is None else format_value(kpi.value, kpi.unit)
    return kpi.as_json() | {"means": kpi.means, "shown": value, "wanted": kpi.target.words(kpi.unit)}


def plots_json(stretches: Sequence[Stretch]) -> dict[str, Any]:
    """A column for each line of each plot, all as long as ``starts``; None where there is nothing to measure."""
    values = [{kpi.name: kpi.value for kpi in each.rollup.kpis} for each in stretches]
    sums = [each.rollup.sums for each in stretches]
    money = [each.rollup.money for each in stretches]
    return {
        "starts": [each.period.since.isoformat() for each in stretches if each.period.since],
        "ends": {status: [each.ends.get(status, 0) for each in stretches] for status in STATUSES},
        "reported_usd": [each.reported_usd for each in money],
        "by_price_usd": [each.by_price_usd for each in money],
        "unknown_calls": [each.unknown_calls for each in money],
        "consult_share": [each["consult_share"] for each in values],
        "consult_rate": [each["consult_rate"] for each in values],
        "wall_s": [None if each.wall_ms is None else each.wall_ms / 1_000 for each in sums],
        "executor_s": [None if each.executor_ms is None else each.executor_ms / 1_000 for each in sums],
        "bands": {"consult_share": _band(CONSULT_SHARE), "consult_rate": _band(CONSULT_RATE)},
    }


def _band(target: Target) -> list[float | None]:
    return [target.low, target.high]


def overview_json(
    rollup: Rollup,
    stretches: Sequence[Stretch],
    costs: Iterable[RoleCost],
    since: datetime | None,
    made: datetime,
    *,
    pairs: Sequence[MemberPair] = (),
) -> dict[str, Any]:
    """The first page. ``costs`` and ``pairs`` of members of councils are of the runs of the period with a page."""
    ends = sum((Counter(each.ends) for each in stretches), Counter[str]())
    return {
        "made": made.isoformat(timespec="seconds"),
        "since": since.isoformat(timespec="seconds") if since else None,
        "sums": rollup.as_json()["sums"],
        "money": rollup.money.as_json() | {"unknown_models": page_lines(rollup.money.unknown_models)},
        "ends": {status: ends[status] for status in STATUSES},
        "kpis": [kpi_json(kpi) for kpi in rollup.kpis],
        "plots": plots_json(stretches),
        "costs": [cost_json(cost) for cost in costs],
        "pairs": [[page_text(cell) for cell in row] for row in pair_rows(pairs[:MOST_PAIRS])],
        "further_pairs": max(len(pairs) - MOST_PAIRS, 0),
    }


def shadow_mode_json(sums: ShadowModeSums) -> dict[str, Any]:
    """The reviews in shadow mode, in the words of ``rollup --shadow``, for the first page; no line without any."""
    return {"shadow_mode": page_lines(shadow_mode_text(sums).splitlines())}


def alerts_json(alarms: Iterable[Alarm]) -> dict[str, Any]:
    """The alerts that are raised, in words, for the first page."""
    return {"alerts": [_alert_words(alarm) for alarm in alarms if alarm.state == "raised"]}


def _alert_words(alarm: Alarm) -> str:
    kpi, rule = alarm.kpi, alarm.rule
    value = "-" if kpi.value is None else format_value(kpi.value, kpi.unit)
    hours = rule.window // timedelta(hours=1)
    return f"{rule.name}: {value} in the last {hours} h, allowed {rule.allowed.words(kpi.unit)}; {rule.means}"


def repositories_json(rollups: Sequence[RepositoryRollup]) -> dict[str, Any]:
    """The table of repositories, for the first page."""
    rows = [
        {"name": page_text(each.name), "cells": [page_text(cell) for cell in each.cells()]}
        for each in rollups[:MOST_LINES]
    ]
    further = max(len(rollups) - MOST_LINES, 0)
    return {"repositories": {"kpis": list(SHOWN_KPIS), "further": further, "rows": rows}}


def list_json(
    lines: Sequence[RunLine | TaskLine], castings: Mapping[str, tuple[Participant, ...]], files: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The list in chunks of columns, of reviews and tasks. Runs share the same few castings: each chunk holds its own.

    ``files`` says what the file of each run is called.
    """
    for start in range(0, len(lines), CHUNK):
        chunk = [_row(line) for line in lines[start : start + CHUNK]]
        known: dict[tuple[Participant, ...], int] = {}
        of_run = [known.setdefault(castings.get(str(row["run_id"]), ()), len(known)) for row in chunk]
        columns = {column: [row[column] for row in chunk] for column in _COLUMNS}
        columns["file"] = [files[line.run_id] for line in lines[start : start + CHUNK]]
        columns["flags"] = [[flag for flag in _FLAGS if row.get(flag)] for row in chunk]
        columns["casting"] = of_run
        yield {
            "columns": columns,
            "castings": [
                [[p.surface, p.role, page_text(p.model), page_text(p.error)] for p in parts] for parts in known
            ],
        }


def _row(line: RunLine | TaskLine) -> dict[str, Any]:
    return task_row(line) if isinstance(line, TaskLine) else shown_line(line)
