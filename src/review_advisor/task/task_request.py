"""What a run of a task is asked, and everything that it may touch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from review_advisor.core.lessons.memory_prompt import NO_LESSONS, Lessons
from review_advisor.core.metrics.prices import Price
from review_advisor.core.roles.calls import EditGrant
from review_advisor.core.roles.repair_law import TaskPatch
from review_advisor.core.safety.redaction import Redactor
from review_advisor.core.task.council_prompts import council_version
from review_advisor.core.task.messages import OwedReport
from review_advisor.core.task.task_council import NO_COUNCIL, TaskCouncil
from review_advisor.core.task.task_events import Speaker, TaskBegun, TaskEvent, TaskLimits
from review_advisor.core.task.task_prompts import prompts_version
from review_advisor.ports.review import Agents, Clock


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What is asked of a run. Backends are names to show; an empty model is the backend's own.

    ``disabled`` says which switch turns the advisor off; empty if none does. ``head`` is the commit whose tree the
    executor reads, in ``tree``. With ``edits`` that is a throw-away copy, which it may change. ``lessons`` are the
    entries of that commit's memory. ``council`` are the declared advisors, if the user wants any. ``evidence`` is the
    material that the task is about, shown to everybody; ``owed`` is the report that a completed end needs.
    """

    run_id: str
    nonce: str
    task: str
    limits: TaskLimits
    redactor: Redactor
    executor_backend: str
    advisor_backend: str
    executor_model: str
    advisor_model: str
    disabled: str = ""
    head: str = ""
    tree: Path | None = None
    edits: EditGrant | None = None
    lessons: Lessons = NO_LESSONS
    council: TaskCouncil = NO_COUNCIL
    evidence: str = ""
    owed: OwedReport | None = None


def begun(request: TaskRequest, at: datetime) -> TaskBegun:
    """The first event of the run."""
    version = council_version() if request.council.advisors else prompts_version()
    return TaskBegun(
        at=at,
        run_id=request.run_id,
        task=request.task,
        executor_backend=request.executor_backend,
        advisor_backend=request.advisor_backend,
        limits=request.limits,
        head=request.head,
        edit=request.edits is not None,
        prompts=version if request.owed is None else f"{version}+{request.owed.version}",
        advisors=request.council.words,
        actions=request.council.actions,
        blind_spots=request.council.blind_spots,
        evidence_sha256=hashlib.sha256(request.evidence.encode()).hexdigest() if request.evidence else "",
    )


@dataclass(frozen=True, slots=True)
class TaskPorts:
    """Everything that a run may touch. ``record`` takes each event as it happens, ``keep_prompt`` each prompt.

    ``read_patch`` reads what was edited in the copy of a run that may edit. By ``prices`` calls are estimated.
    """

    executor: Agents
    advisor: Agents
    clock: Clock
    record: Callable[[TaskEvent], None]
    keep_prompt: Callable[[Speaker, int, str], None]
    read_patch: Callable[[], TaskPatch] = TaskPatch
    prices: tuple[Price, ...] = ()
