"""The run folder of advisor-harness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from review_advisor.agents.calls import LostReason
from review_advisor.agents.mid_flight import stop_signal
from review_advisor.ledger.artifacts import roster_version
from review_advisor.ledger.task_events import HarnessStatus
from review_advisor.ledger.telemetry import made_calls
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import finding_behind, knowledge_of, unanswered
from review_advisor.review.events import (
    CallEnded,
    Consulted,
    Escalated,
    Event,
    OfCall,
    PartEnded,
    PolicyFrozen,
    Recommended,
    Reported,
    ReviewEnded,
    Ruled,
    Step,
    SurfaceEnded,
    Verified,
    Voted,
)
from review_advisor.review.rulings import Move, Outcome
from review_advisor.safety.fence import facts_text
from review_advisor.tasks.run_files import POLICY_FILE, Json, json_lines, json_text, sha256

UNREADABLE = (LostReason.INVALID_ANSWER.value, LostReason.NO_STRUCTURED_OUTPUT.value)
"""Why an answer that came was none: the malformed blocks of the format."""


_REASONS: tuple[HarnessStatus, ...] = (
    "advisor_stop_signal",
    "max_turns_reached",
    "advisor_failed",
    "advisor_call_limit_reached",
)


def status_of(events: Sequence[Event]) -> HarnessStatus:
    """The run's end in the format's closed list. Whatever is not completed says who, or what, kept it from it."""
    last = events[-1]
    if not isinstance(last, ReviewEnded):
        return "running"
    match last.outcome:
        case Outcome.NOTHING_TO_REVIEW | Outcome.APPROVED | Outcome.CHANGES_REQUESTED:
            return "completed"
        case Outcome.ESCALATED:
            return _escalated(events)
        case Outcome.STOPPED:
            return _stopped(events)


def _escalated(events: Sequence[Event]) -> HarnessStatus:
    """Of several parts that call a person, the first reason of ``_REASONS`` counts."""
    ended = [event for event in events if isinstance(event, PartEnded) and event.outcome is Outcome.ESCALATED]
    steps = [event for event in events if isinstance(event, Step)]
    found = {_why(part, [each for each in steps if each.place == part.place]) for part in ended}
    return next((reason for reason in _REASONS if reason in found), "executor_stopped_without_done")


def _why(part: PartEnded, steps: Sequence[Step]) -> HarnessStatus:
    """Why a part calls a person, by what happened in its last attempt."""
    notes = [step.note for step in steps if isinstance(step, Consulted)]
    if stop_signal(notes) is not None:
        return "advisor_stop_signal"
    if any(isinstance(step, Escalated) and step.refused and not step.advisor_alone for step in steps):
        return "advisor_call_limit_reached"
    if any(isinstance(step, Ruled) for step in steps):
        return "max_turns_reached" if any(isinstance(step, Verified) for step in steps) else "advisor_failed"
    if any(note.status == "denied" for note in notes):
        return "advisor_call_limit_reached"
    # A retry that changes nothing is not judged again: it was the last turn.
    return "max_turns_reached" if part.attempt > 0 and part.read else "executor_stopped_without_done"


def _stopped(events: Sequence[Event]) -> HarnessStatus:
    missing = unanswered(event for event in events if isinstance(event, CallEnded))
    if not missing:
        return "executor_stopped_without_done"
    if missing[-1].role is not Role.EXECUTOR:
        return "advisor_failed"
    return "malformed_block" if missing[-1].reason in UNREADABLE else "executor_failed"


MISSING_FILE = "not_kept.md"


_PROMPTS = ("executor_start", "advisor_guidance", "executor_resume")


_NO_SCHEMA = dict.fromkeys(("version", "path", "sha256"))


def harness_run(events: Sequence[Event]) -> dict[str, str]:
    """The texts of the folder's files by name, ``outcome.json`` last. The first event is the frozen policy."""
    first = events[0]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    reports = {event.place[::2]: id(event) for event in events if isinstance(event, Reported)}
    run = _Run(first, {id(call.ended): call.answer for call in made_calls(events)}, set(reports.values()))
    for event in events:
        run.take(event, events)
    policy = facts_text(first.policy) + "\n"
    manifest: Json = {
        "schema_version": "run-version-manifest.v1",
        "created_at": first.at,
        "prompt_versions": dict.fromkeys(_PROMPTS, _prompts(events)),
        "memory_schema": _NO_SCHEMA,
        "policy_files": {
            "routing_policy": {"path": POLICY_FILE, "sha256": sha256(policy)},
            "post_run_review": {"path": None, "sha256": None},
        },
        "roster_version": roster_version(first.policy.roster),
    }
    outcome = _outcome(run, events, manifest)
    if outcome["completed_at"] is not None:
        run.tell("run_completed", outcome["completed_at"], outcome=outcome)
    return {
        "task.md": task_of(first) + "\n",
        **run.files,
        "session_events.jsonl": json_lines(run.lines),
        "advisor_consults.jsonl": json_lines(run.consults),
        "advisor_guidance.jsonl": json_lines(run.guidance),
        "memory_proposals.jsonl": json_lines(run.proposals),
        "malformed_blocks.jsonl": json_lines(run.malformed),
        POLICY_FILE: policy,
        MISSING_FILE: _missing(run.missing),
        "version_manifest.json": json_text(manifest),
        "outcome.json": json_text(outcome),
    }


def _prompts(events: Iterable[Event]) -> str | None:
    """The version of the prompt texts; None where no call was made, and in streams that do not say it."""
    return next((event.prompts for event in events if isinstance(event, OfCall) and event.prompts), None)


def task_of(first: PolicyFrozen) -> str:
    """What was asked, in one line: the change and its title."""
    change = first.label if first.repository is None else f"{first.repository}#{first.pull_request}"
    return " ".join(f"Review {change}: {first.title}".split())


@dataclass(slots=True)
class _Run:
    """What has been told so far. ``answers`` are the calls' answers, by the identity of their event.

    ``last_reports`` are those of the last attempt on each part: what one before it knew has been taken back.
    """

    first: PolicyFrozen
    answers: dict[int, str]
    last_reports: set[int]
    lines: list[Json] = field(default_factory=list)
    consults: list[Json] = field(default_factory=list)
    guidance: list[Json] = field(default_factory=list)
    proposals: list[Json] = field(default_factory=list)
    malformed: list[Json] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    turns: dict[tuple[Surface, int, int], int] = field(default_factory=dict)
    executor_turns: int = 0
    advisor_turns: int = 0

    def take(self, event: Event, events: Sequence[Event]) -> None:
        match event:
            case PolicyFrozen():
                self._begin(events)
            case CallEnded() if event.ended != "refused":
                self._call(event)
            case Consulted():
                self._consult(event)
            case Reported() if id(event) in self.last_reports:
                self._proposals(event)
            case Voted():
                self.tell("council_vote", event.at, turn=self._turn(event), advisor=event.advisor, vote=event.vote)
            case Recommended():
                merged = {"diff": event.merged.diff, "conflict": event.merged.conflict}
                self.tell("merge", event.at, turn=self._turn(event), recommendation=event.recommendation, **merged)
            case Verified() if event.judged.result.verdict == "VETO":
                self._alert("veto", event, event.judged.result.reasoning)
            case Ruled() if event.ruling.move is Move.RETRY:
                self._alert("retry", event, event.ruling.because)
            case SurfaceEnded() if event.outcome is Outcome.ESCALATED:
                self._alert("hitl", event, "; ".join(event.because))
            case _:
                pass

    def tell(self, kind: str, at: datetime, **told: Any) -> None:
        """A line of ``session_events.jsonl``."""
        self.lines.append({"created_at": at, "run_id": self.first.run_id, "type": kind, **told})

    def _alert(self, kind: str, event: Step | SurfaceEnded, reason: str) -> None:
        """What this bot has beyond the format: a question refused by the cap, a veto, a retry, a person's call."""
        turn = self._turn(event) if isinstance(event, Step) else self.executor_turns
        self.tell(kind, event.at, turn=turn, reason=reason)

    def _begin(self, events: Sequence[Event]) -> None:
        self.tell(
            "run_started",
            self.first.at,
            task=task_of(self.first),
            executor_backend=_backend(self.first, executor=True),
            advisor_backend=_backend(self.first, executor=False),
            executor_session_id=_session(events),
        )

    def _call(self, call: CallEnded) -> None:
        answer = self.answers[id(call)]
        if call.role is Role.EXECUTOR:
            self.executor_turns += 1
            self.turns[call.place] = self.executor_turns
            name = f"executor_turn_{self.executor_turns}"
            self.tell("executor_turn", call.at, turn=self.executor_turns, exit_code=None, final_message=answer)
        else:
            self.advisor_turns += 1
            name = f"advisor_turn_{self.advisor_turns}"
        why = f"a prompt of {call.prompt_characters} characters, sha256 {call.prompt_sha256}"
        self._files(name, call, call.session_id, answer, why)
        if call.ended == "lost" and call.reason in UNREADABLE:
            tag = "EXECUTOR_DONE" if call.role is Role.EXECUTOR else "ADVISOR_GUIDANCE"
            row = {"tag": tag, "turn": self._turn(call), "error": call.detail}
            self.malformed.append(row)
            self.tell("malformed_block", call.at, turn=row["turn"], block=row)

    def _consult(self, event: Consulted) -> None:
        note, turn = event.note, self._turn(event)
        if not note.asked:
            self._alert("alert", event, f"a question was refused: {note.reason}")
            return
        self.advisor_turns += 1
        said = note.guidance.model_dump_json() if note.guidance else ""
        name = f"advisor_turn_{self.advisor_turns}"
        self._files(name, event, "", said, "its question stands in advisor_consults.jsonl")
        asked = note.consult.model_dump(exclude={"answers"})  # the format has options alone
        consult = self._row("adv_consult", self.consults, event.at, turn=turn, **asked)
        self.tell("advisor_consult", event.at, turn=turn, consult=consult)
        if note.guidance is not None:
            given = {
                "id": self._id("adv_guidance", len(self.guidance)),
                "consult_id": consult["id"],
                "guidance": note.guidance.action,
                "rationale": note.guidance.rationale,
                "stop_signal": note.guidance.stops,
                "created_at": event.at,
            }
            self.guidance.append(given)
            self.tell("advisor_guidance", event.at, turn=turn, exit_code=None, guidance=given)

    def _proposals(self, event: Reported) -> None:
        for entry in knowledge_of([event]):
            said = {"content": f"{entry.title}\n\n{entry.body}", "source_excerpt": entry.evidence, "tags": entry.tags}
            said |= {"source_finding": finding_behind(entry, event.report.findings)}
            unknown = dict.fromkeys(("type", "confidence", "expires_at"))
            proposal = self._row("mem_prop", self.proposals, event.at, **unknown, **said)
            self.tell("memory_proposal", event.at, turn=self._turn(event), proposal=proposal)

    def _row(self, kind: str, rows: list[Json], at: datetime, **told: Any) -> Json:
        """The next row of a file."""
        row = {"id": self._id(kind, len(rows)), "run_id": self.first.run_id, **told, "created_at": at}
        rows.append(row)
        return row

    def _files(self, name: str, kept: CallEnded | Consulted, session: str, answer: str, prompt: str) -> None:
        """What is kept of a call or of a consult, and why the rest is not."""
        raw = {"exit_code": None, "events_path": None, "session_id": session, "raw_artifacts": kept}
        self.files[f"{name}.raw.json"] = json_text(raw)
        if answer:
            self.files[f"{name}.final.md"] = answer + "\n"
        else:
            self.missing.append((f"{name}.final.md", "no answer stood"))
        self.missing.append((f"{name}.prompt.md", prompt))
        self.missing += [(f"{name}.{stream}.txt", "what the CLI wrote is not kept") for stream in ("stdout", "stderr")]

    def _turn(self, step: Step) -> int:
        """The executor's turn that a step belongs to; 0 before the first."""
        return self.turns.get(step.place, 0)

    def _id(self, kind: str, number: int) -> str:
        """An identity that another export of the same run gives again."""
        return f"{kind}_{sha256(f'{self.first.run_id} {number}')[:12]}"


def _backend(first: PolicyFrozen, *, executor: bool) -> str:
    models = (row.executor_model if executor else row.advisor_model for row in first.policy.surfaces)
    return ", ".join(dict.fromkeys(models))


def _session(events: Iterable[Event]) -> str:
    """That of the executor's last call; each call has its own."""
    ids = [event.session_id for event in events if isinstance(event, CallEnded) and event.role is Role.EXECUTOR]
    return next((each for each in reversed(ids) if each), "")


def _outcome(run: _Run, events: Sequence[Event], manifest: Json) -> Json:
    first, last = run.first, events[-1]
    status = status_of(events)
    reports = [event.report for event in events if isinstance(event, Reported) and not event.structural]
    done = {"status": "completed", "summary": reports[-1].summary} if status == "completed" and reports else {}
    attempts = sum(1 + row.retry_budget for row in first.policy.surfaces)
    return {
        "run_id": first.run_id,
        "status": status,
        "executor_backend": _backend(first, executor=True),
        "advisor_backend": _backend(first, executor=False),
        "executor_session_id": _session(events),
        "executor_turn_count": run.executor_turns,
        "advisor_consult_count": len(run.consults),
        "advisor_guidance_count": len(run.guidance),
        "memory_proposal_count": len(run.proposals),
        "malformed_block_count": len(run.malformed),
        "malformed_blocks": run.malformed,
        "max_turns": attempts * first.shards,
        "max_advisor_calls": first.policy.budgets.max_consults,
        "executor_done": done,
        "version_manifest": manifest,
        "completed_at": last.at if isinstance(last, ReviewEnded) else None,
    }


def _missing(files: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"| {name} | {why} |\n" for name, why in files)
    head = "A ledger keeps the length and the digest of a prompt, and what an answer came to.\n\n| file | why |\n"
    return f"# What this folder does not hold\n\n{head}| --- | --- |\n{rows}"
