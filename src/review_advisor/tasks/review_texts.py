"""A review as the texts that a look at a run after its end reads: under the names of a task's run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from review_advisor.agents.calls import LostReason
from review_advisor.ledger.telemetry import made_calls
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.document import finding_behind, knowledge_of
from review_advisor.review.events import (
    CallEnded,
    Consulted,
    Event,
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

_UNREADABLE = (LostReason.INVALID_ANSWER.value, LostReason.NO_STRUCTURED_OUTPUT.value)
"""Why an answer that came was none: the malformed blocks of a task."""


def review_texts(events: Sequence[Event]) -> dict[str, str]:
    """The texts by their names. The first event is the frozen policy."""
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review's events begin with PolicyFrozen")
    reports = {event.place[::2]: id(event) for event in events if isinstance(event, Reported)}
    run = _Run(first, {id(call.ended): call.answer for call in made_calls(events)}, set(reports.values()))
    run.add("run_started", first.at, task=task_of(first))
    for event in events:
        run.take(event)
    ended = last if isinstance(last, ReviewEnded) else None
    if ended is not None:
        run.add("run_completed", ended.at, outcome=ended.outcome, reason="; ".join(ended.because))
    outcome: Json = {
        "run_id": first.run_id,
        "outcome": "unfinished" if ended is None else ended.outcome,
        "because": () if ended is None else ended.because,
        "completed_at": None if ended is None else ended.at,
    }
    return {
        "task.md": task_of(first) + "\n",
        **run.files,
        "session_events.jsonl": json_lines(run.lines),
        "advisor_consults.jsonl": json_lines(run.consults),
        "advisor_guidance.jsonl": json_lines(run.guidance),
        "memory_proposals.jsonl": json_lines(run.proposals),
        "malformed_blocks.jsonl": json_lines(run.malformed),
        POLICY_FILE: facts_text(first.policy) + "\n",
        "outcome.json": json_text(outcome),
    }


def task_of(first: PolicyFrozen) -> str:
    """What was asked, in one line: the change and its title."""
    change = first.label if first.repository is None else f"{first.repository}#{first.pull_request}"
    return " ".join(f"Review {change}: {first.title}".split())


@dataclass(slots=True)
class _Run:
    """What has been read so far. ``answers`` are the calls' answers, by the identity of their event.

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
    turns: dict[tuple[Surface, int, int], int] = field(default_factory=dict)
    executor_turns: int = 0
    advisor_turns: int = 0

    def take(self, event: Event) -> None:
        match event:
            case CallEnded() if event.ended != "refused":
                self._call(event)
            case Consulted():
                self._consult(event)
            case Reported() if id(event) in self.last_reports:
                self._proposals(event)
            case Voted():
                self.add("council_vote", event.at, turn=self._turn(event), advisor=event.advisor, vote=event.vote)
            case Recommended():
                merged = {"diff": event.merged.diff, "conflict": event.merged.conflict}
                self.add("merge", event.at, turn=self._turn(event), recommendation=event.recommendation, **merged)
            case Verified() if event.judged.result.verdict == "VETO":
                self.add("veto", event.at, turn=self._turn(event), reason=event.judged.result.reasoning)
            case Ruled() if event.ruling.move is Move.RETRY:
                self.add("retry", event.at, turn=self._turn(event), reason=event.ruling.because)
            case SurfaceEnded() if event.outcome is Outcome.ESCALATED:
                self.add("hitl", event.at, turn=self.executor_turns, reason="; ".join(event.because))
            case _:
                pass

    def add(self, kind: str, at: datetime, **about: Any) -> None:
        """A line of ``session_events.jsonl``."""
        self.lines.append({"created_at": at, "run_id": self.first.run_id, "type": kind, **about})

    def _call(self, call: CallEnded) -> None:
        answer = self.answers[id(call)]
        if call.role is Role.EXECUTOR:
            self.executor_turns += 1
            self.turns[call.place] = self.executor_turns
            self._answer(f"executor_turn_{self.executor_turns}", answer)
            self.add("executor_turn", call.at, turn=self.executor_turns, final_message=answer)
        else:
            self.advisor_turns += 1
            self._answer(f"advisor_turn_{self.advisor_turns}", answer)
        if call.ended == "lost" and call.reason in _UNREADABLE:
            tag = "EXECUTOR_DONE" if call.role is Role.EXECUTOR else "ADVISOR_GUIDANCE"
            block = {"tag": tag, "turn": self._turn(call), "error": call.detail}
            self.malformed.append(block)
            self.add("malformed_block", call.at, turn=block["turn"], block=block)

    def _consult(self, event: Consulted) -> None:
        note, turn = event.note, self._turn(event)
        if not note.asked:
            self.add("alert", event.at, turn=turn, reason=f"a question was refused: {note.reason}")
            return
        self.advisor_turns += 1
        self._answer(f"advisor_turn_{self.advisor_turns}", note.guidance.model_dump_json() if note.guidance else "")
        asked = note.consult.model_dump(exclude={"answers"})  # they repeat the options
        consult = self._row("adv_consult", self.consults, event.at, turn=turn, **asked)
        self.add("advisor_consult", event.at, turn=turn, consult=consult)
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
            self.add("advisor_guidance", event.at, turn=turn, guidance=given)

    def _proposals(self, event: Reported) -> None:
        for entry in knowledge_of([event]):
            unknown = dict.fromkeys(("type", "confidence", "expires_at"))
            proposal = self._row(
                "mem_prop",
                self.proposals,
                event.at,
                **unknown,
                content=f"{entry.title}\n\n{entry.body}",
                source_excerpt=entry.evidence,
                tags=entry.tags,
                source_finding=finding_behind(entry, event.report.findings),
            )
            self.add("memory_proposal", event.at, turn=self._turn(event), proposal=proposal)

    def _row(self, kind: str, rows: list[Json], at: datetime, **about: Any) -> Json:
        """The next row of a text."""
        row = {"id": self._id(kind, len(rows)), "run_id": self.first.run_id, **about, "created_at": at}
        rows.append(row)
        return row

    def _answer(self, name: str, answer: str) -> None:
        if answer:
            self.files[f"{name}.final.md"] = answer + "\n"

    def _turn(self, step: Step) -> int:
        """The executor's turn that a step belongs to; 0 before the first."""
        return self.turns.get(step.place, 0)

    def _id(self, kind: str, number: int) -> str:
        """An identity that the same run gives again."""
        return f"{kind}_{sha256(f'{self.first.run_id} {number}')[:12]}"
