"""The run folder of ``advisor-harness``, as far as a review's events tell it; also of a review that was killed.

An executor's turn is a call of it. An advisor's turn is whatever the advisor was asked: a plan, a consult, a judgement.
Prompts, and what the CLI wrote, are not kept in a ledger: ``not_kept.md`` says of each file why it is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from review_advisor.core.answers.answers import Guidance
from review_advisor.core.exports.harness_layout import (
    AdvisorConsult,
    AdvisorGuidance,
    ConsultRow,
    Done,
    ExecutorTurn,
    FileVersion,
    GuidanceRow,
    MalformedBlock,
    MalformedRow,
    MemoryProposed,
    NotDone,
    PolicyFiles,
    ProposalRow,
    RawTurn,
    RunCompleted,
    RunOutcome,
    RunStarted,
    SessionEvent,
    Tag,
    Told,
    VersionManifest,
)
from review_advisor.core.exports.harness_status import UNREADABLE, status_of
from review_advisor.core.metrics.calls import made_calls
from review_advisor.core.outcome.events import (
    CallEnded,
    Consulted,
    Event,
    PolicyFrozen,
    Reported,
    ReviewEnded,
    Ruled,
    Step,
    SurfaceEnded,
    Verified,
)
from review_advisor.core.outcome.learned import knowledge_of
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.rulings import Move
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.safety.fence import facts_text

POLICY_FILE = "policy.json"
MISSING_FILE = "not_kept.md"


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
    manifest = VersionManifest(
        created_at=first.at,
        policy_files=PolicyFiles(
            routing_policy=FileVersion(path=POLICY_FILE, sha256=hashlib.sha256(policy.encode()).hexdigest())
        ),
    )
    outcome = _outcome(run, events, manifest)
    if outcome.completed_at is not None:
        run.lines.append(RunCompleted(created_at=outcome.completed_at, run_id=first.run_id, outcome=outcome))
    return {
        "task.md": task_of(first) + "\n",
        **run.files,
        "session_events.jsonl": _jsonl(run.lines),
        "advisor_consults.jsonl": _jsonl(run.consults),
        "advisor_guidance.jsonl": _jsonl(run.guidance),
        "memory_proposals.jsonl": _jsonl(run.proposals),
        "malformed_blocks.jsonl": _jsonl(run.malformed),
        POLICY_FILE: policy,
        MISSING_FILE: _missing(run.missing),
        "version_manifest.json": manifest.model_dump_json(indent=2) + "\n",
        "outcome.json": outcome.model_dump_json(indent=2) + "\n",
    }


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
    lines: list[SessionEvent] = field(default_factory=list)
    consults: list[ConsultRow] = field(default_factory=list)
    guidance: list[GuidanceRow] = field(default_factory=list)
    proposals: list[ProposalRow] = field(default_factory=list)
    malformed: list[MalformedRow] = field(default_factory=list)
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
            case Verified() if event.judged.result.verdict == "VETO":
                self._tell("veto", event, event.judged.result.reasoning)
            case Ruled() if event.ruling.move is Move.RETRY:
                self._tell("retry", event, event.ruling.because)
            case SurfaceEnded() if event.outcome is Outcome.ESCALATED:
                self._tell("hitl", event, "; ".join(event.because))
            case _:
                pass

    def _begin(self, events: Sequence[Event]) -> None:
        self.lines.append(
            RunStarted(
                created_at=self.first.at,
                run_id=self.first.run_id,
                task=task_of(self.first),
                executor_backend=_backend(self.first, executor=True),
                advisor_backend=_backend(self.first, executor=False),
                executor_session_id=_session(events),
            )
        )

    def _call(self, call: CallEnded) -> None:
        answer = self.answers[id(call)]
        if call.role is Role.EXECUTOR:
            self.executor_turns += 1
            self.turns[call.place] = self.executor_turns
            name = f"executor_turn_{self.executor_turns}"
            turn = ExecutorTurn(
                created_at=call.at, run_id=self.first.run_id, turn=self.executor_turns, final_message=answer
            )
            self.lines.append(turn)
        else:
            self.advisor_turns += 1
            name = f"advisor_turn_{self.advisor_turns}"
        why = f"a prompt of {call.prompt_characters} characters, sha256 {call.prompt_sha256}"
        self._files(name, RawTurn(session_id=call.session_id, raw_artifacts=call), answer, why)
        if call.ended == "lost" and call.reason in UNREADABLE:
            tag: Tag = "EXECUTOR_DONE" if call.role is Role.EXECUTOR else "ADVISOR_GUIDANCE"
            row = MalformedRow(tag=tag, turn=self._turn(call), error=call.detail)
            self.malformed.append(row)
            self.lines.append(MalformedBlock(created_at=call.at, run_id=self.first.run_id, turn=row.turn, block=row))

    def _consult(self, event: Consulted) -> None:
        note, turn = event.note, self._turn(event)
        if not note.asked:
            self._tell("alert", event, f"a question was refused: {note.reason}")
            return
        self.advisor_turns += 1
        said = note.guidance.model_dump_json() if note.guidance else ""
        raw = RawTurn(session_id="", raw_artifacts=event)
        self._files(f"advisor_turn_{self.advisor_turns}", raw, said, "its question stands in advisor_consults.jsonl")
        about: dict[str, Any] = {"run_id": self.first.run_id, "created_at": event.at}
        consult = ConsultRow.of(note.consult, id=self._id("adv_consult", len(self.consults)), turn=turn, **about)
        self.consults.append(consult)
        self.lines.append(AdvisorConsult(turn=turn, consult=consult, **about))
        if note.guidance is not None:
            guidance = self._guidance(consult, note.guidance)
            self.guidance.append(guidance)
            self.lines.append(AdvisorGuidance(turn=turn, guidance=guidance, **about))

    def _guidance(self, consult: ConsultRow, said: Guidance) -> GuidanceRow:
        return GuidanceRow(
            id=self._id("adv_guidance", len(self.guidance)),
            consult_id=consult.id,
            guidance=said.action,
            rationale=said.rationale,
            stop_signal=said.stop_signal,
            created_at=consult.created_at,
        )

    def _proposals(self, event: Reported) -> None:
        for entry in knowledge_of([event]):
            about: dict[str, Any] = {"run_id": self.first.run_id, "created_at": event.at}
            proposal = ProposalRow(
                id=self._id("mem_prop", len(self.proposals)),
                content=f"{entry.title}\n\n{entry.body}",
                source_excerpt=entry.evidence,
                tags=entry.tags,
                **about,
            )
            self.proposals.append(proposal)
            self.lines.append(MemoryProposed(turn=self._turn(event), proposal=proposal, **about))

    def _tell(self, kind: str, event: Step | SurfaceEnded, reason: str) -> None:
        turn = self._turn(event) if isinstance(event, Step) else self.executor_turns
        line = {"type": kind, "created_at": event.at, "run_id": self.first.run_id, "turn": turn, "reason": reason}
        self.lines.append(Told.model_validate(line))

    def _files(self, name: str, raw: RawTurn, answer: str, prompt: str) -> None:
        self.files[f"{name}.raw.json"] = raw.model_dump_json(indent=2) + "\n"
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
        return f"{kind}_{hashlib.sha256(f'{self.first.run_id} {number}'.encode()).hexdigest()[:12]}"


def _backend(first: PolicyFrozen, *, executor: bool) -> str:
    models = (row.executor_model if executor else row.advisor_model for row in first.policy.surfaces)
    return ", ".join(dict.fromkeys(models))


def _session(events: Iterable[Event]) -> str:
    """That of the executor's last call; each call has its own."""
    ids = [event.session_id for event in events if isinstance(event, CallEnded) and event.role is Role.EXECUTOR]
    return next((each for each in reversed(ids) if each), "")


def _outcome(run: _Run, events: Sequence[Event], manifest: VersionManifest) -> RunOutcome:
    first, last = run.first, events[-1]
    status = status_of(events)
    reports = [event.report for event in events if isinstance(event, Reported) and not event.structural]
    done = Done(status="completed", summary=reports[-1].summary) if status == "completed" and reports else NotDone()
    attempts = sum(1 + row.retry_budget for row in first.policy.surfaces)
    return RunOutcome(
        run_id=first.run_id,
        status=status,
        executor_backend=_backend(first, executor=True),
        advisor_backend=_backend(first, executor=False),
        executor_session_id=_session(events),
        executor_turn_count=run.executor_turns,
        advisor_consult_count=len(run.consults),
        advisor_guidance_count=len(run.guidance),
        memory_proposal_count=len(run.proposals),
        malformed_block_count=len(run.malformed),
        malformed_blocks=tuple(run.malformed),
        max_turns=attempts * first.shards,
        max_advisor_calls=first.policy.budgets.max_consults,
        executor_done=done,
        version_manifest=manifest,
        completed_at=last.at if isinstance(last, ReviewEnded) else None,
    )


def _jsonl(rows: Iterable[BaseModel]) -> str:
    return "".join(row.model_dump_json() + "\n" for row in rows)


def _missing(files: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"| {name} | {why} |\n" for name, why in files)
    head = "A ledger keeps the length and the digest of a prompt, and what an answer came to.\n\n| file | why |\n"
    return f"# What this folder does not hold\n\n{head}| --- | --- |\n{rows}"
