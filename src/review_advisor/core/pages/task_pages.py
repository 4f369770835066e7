"""What the dashboard tells of a task: its row in the list of runs, and its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never, get_args

from review_advisor.core.ledger.readings import UNFINISHED
from review_advisor.core.ledger.row import Participant
from review_advisor.core.ledger.task_lines import TaskLine
from review_advisor.core.outcome.cost import RoleCost, total_usage
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.pages.costs import cost_json, usage_json
from review_advisor.core.pages.entry import TONES, Entry, Tone
from review_advisor.core.pages.text import page_lines, page_text, without_empty
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.vote_text import vote_texts
from review_advisor.core.report.wording import counted
from review_advisor.core.task.task_events import (
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
    Speaker,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
    voted_words,
)
from review_advisor.core.task.task_status import EXIT_CODES as TASK_EXIT_CODES
from review_advisor.core.task.task_status import RunStatus

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
    return _LIKE[TASK_EXIT_CODES[status]].value  # type: ignore[index]


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
            asked = event.consult
            facts: tuple[tuple[str, str], ...] = (
                ("urgency", asked.urgency),
                ("preferred", asked.preferred_option or ""),
            )
            asks = f"The executor asks {event.asked}".rstrip()
            title = asks if not event.refused else "A question is refused"
            blocks = (("Refused", event.refused), ("Question", asked.question), ("Context", asked.context))
            return Entry(title, "warn" if event.refused else "ask", facts, (*blocks, ("Options", tuple(asked.options))))
        case GuidanceHeard():
            said = event.guidance
            facts = (("stop signal", "yes" if said.stop_signal else ""), ("without a block", "yes" * event.wrapped))
            tone: Tone = "warn" if said.stop_signal else ""
            return Entry("The advisor answers", tone, facts, (("Guidance", said.guidance), ("Why", said.rationale)))
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
