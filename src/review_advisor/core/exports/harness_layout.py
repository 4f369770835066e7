"""What stands in the JSON files of a run folder of ``advisor-harness``: its own keys, and no others."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from review_advisor.core.answers.answers import Consult
from review_advisor.core.outcome.events import CallEnded, Consulted

Status = Literal[
    "completed",
    "executor_stopped_without_done",
    "advisor_call_limit_reached",
    "max_turns_reached",
    "advisor_stop_signal",
    "executor_failed",
    "advisor_failed",
    "malformed_block",
    "running",
]
"""How a run ended; ``running`` is also one that was killed."""

Tag = Literal["EXECUTOR_DONE", "ADVISOR_GUIDANCE"]
"""Which answer it was that could not be read."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConsultRow(_Part):
    """A line of ``advisor_consults.jsonl``: a question that reached the advisor, in the ``turn``-th turn."""

    id: str
    run_id: str
    turn: int
    question: str
    context: str
    options: tuple[str, ...]
    preferred_option: str
    urgency: Literal["low", "normal", "high"]
    created_at: datetime

    @staticmethod
    def of(consult: Consult, **told: Any) -> ConsultRow:
        """The row of a question, with what else is told of it."""
        return ConsultRow(**dict(consult), **told)


class GuidanceRow(_Part):
    """A line of ``advisor_guidance.jsonl``."""

    id: str
    consult_id: str
    guidance: str
    rationale: str
    stop_signal: bool
    created_at: datetime


class ProposalRow(_Part):
    """A line of ``memory_proposals.jsonl``. What our knowledge entries do not say is None."""

    id: str
    run_id: str
    type: None = None
    content: str
    source_excerpt: str
    confidence: None = None
    expires_at: None = None
    tags: tuple[str, ...]
    created_at: datetime


class MalformedRow(_Part):
    """A line of ``malformed_blocks.jsonl``: an answer that could not be read."""

    tag: Tag
    turn: int
    error: str


class Done(_Part):
    """The executor's last word in a run that is completed."""

    status: Literal["completed"]
    summary: str


class NotDone(_Part):
    """Nothing: the run is not completed."""


class PromptVersions(_Part):
    """The ledger keeps the digest of each prompt, and no version of the texts that it was made from."""

    executor_start: None = None
    advisor_guidance: None = None
    executor_resume: None = None


class MemorySchema(_Part):
    """There is no such file: a knowledge entry is a field of the report, whose schema is the program's."""

    version: None = None
    path: None = None
    sha256: None = None


class FileVersion(_Part):
    """A file and the digest of what it held."""

    path: str | None = None
    sha256: str | None = None


class PolicyFiles(_Part):
    """What a run went by: its frozen policy, which stands in the folder."""

    routing_policy: FileVersion
    post_run_review: FileVersion = FileVersion()


class VersionManifest(_Part):
    """``version_manifest.json``."""

    schema_version: Literal["run-version-manifest.v1"] = "run-version-manifest.v1"
    created_at: datetime
    prompt_versions: PromptVersions = PromptVersions()
    memory_schema: MemorySchema = MemorySchema()
    policy_files: PolicyFiles


class RunOutcome(_Part):
    """``outcome.json``. Backends are the models: every call goes through one CLI."""

    run_id: str
    status: Status
    executor_backend: str
    advisor_backend: str
    executor_session_id: str
    executor_turn_count: int
    advisor_consult_count: int
    advisor_guidance_count: int
    memory_proposal_count: int
    malformed_block_count: int
    malformed_blocks: tuple[MalformedRow, ...]
    max_turns: int
    max_advisor_calls: int
    executor_done: Done | NotDone
    version_manifest: VersionManifest
    completed_at: datetime | None


class RawTurn(_Part):
    """``executor_turn_<n>.raw.json`` and ``advisor_turn_<n>.raw.json``: what is kept of a call or of a consult."""

    exit_code: None = None
    events_path: None = None
    session_id: str
    raw_artifacts: CallEnded | Consulted


class _Event(_Part):
    created_at: datetime
    run_id: str


class RunStarted(_Event):
    """The first line of ``session_events.jsonl``."""

    type: Literal["run_started"] = "run_started"
    task: str
    executor_backend: str
    advisor_backend: str
    executor_session_id: str


class ExecutorTurn(_Event):
    """The executor answered, or did not: then ``final_message`` is empty."""

    type: Literal["executor_turn"] = "executor_turn"
    turn: int
    exit_code: None = None
    final_message: str


class MemoryProposed(_Event):
    """A knowledge entry."""

    type: Literal["memory_proposal"] = "memory_proposal"
    turn: int
    proposal: ProposalRow


class AdvisorConsult(_Event):
    """A question that reached the advisor."""

    type: Literal["advisor_consult"] = "advisor_consult"
    turn: int
    consult: ConsultRow


class AdvisorGuidance(_Event):
    """What the advisor answered."""

    type: Literal["advisor_guidance"] = "advisor_guidance"
    turn: int
    exit_code: None = None
    guidance: GuidanceRow


class MalformedBlock(_Event):
    """An answer could not be read."""

    type: Literal["malformed_block"] = "malformed_block"
    turn: int
    block: MalformedRow


class Told(_Event):
    """What this bot has beyond the format: a question refused by the cap, a veto, a retry, a person who is called."""

    type: Literal["alert", "veto", "retry", "hitl"]
    turn: int
    reason: str


class RunCompleted(_Event):
    """The last line of a run that is over."""

    type: Literal["run_completed"] = "run_completed"
    outcome: RunOutcome


SessionEvent = (
    RunStarted | ExecutorTurn | MemoryProposed | AdvisorConsult | AdvisorGuidance | MalformedBlock | Told | RunCompleted
)
"""A line of ``session_events.jsonl``."""
