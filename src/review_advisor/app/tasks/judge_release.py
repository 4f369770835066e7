"""The composition root of ``release-readiness``: gathers the evidence, runs the task, and holds its report to rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from review_advisor.app.tasks.release_evidence import (
    evidence_in_file,
    evidence_of_repository,
    sample_evidence,
    shown_evidence,
)
from review_advisor.app.tasks.run_task import RanTask, TaskDuty, TaskOptions, run_task
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.readiness.readiness_evaluation import ReadinessEvaluation, evaluated
from review_advisor.core.readiness.readiness_files import EVALUATION, readiness_files
from review_advisor.core.readiness.readiness_prompt import READINESS_REPORT, RELEASE_COUNCIL, fake_report, release_task
from review_advisor.core.safety.redaction import redactor
from review_advisor.core.task.task_events import TaskEvent


@dataclass(frozen=True, slots=True)
class ReleaseChoice:
    """Where the evidence comes from: a file, the ``sample``, or what came ``since`` a commit (empty: the last tag)."""

    file: Path | None = None
    sample: bool = False
    since: str = ""


@dataclass(frozen=True, slots=True)
class JudgedRelease:
    """A run that is over, and what its report came to."""

    ran: RanTask
    evaluation: ReadinessEvaluation

    @property
    def path(self) -> Path:
        """Where the evaluation lies."""
        return self.ran.folder / f"{EVALUATION}.json"


def judge_release(
    choice: ReleaseChoice,
    options: TaskOptions,
    environ: Mapping[str, str],
    warn: Callable[[str], None],
    tell: Callable[[TaskEvent], None] = lambda _event: None,
) -> JudgedRelease:
    """Judge one release. Raises as ``run_task`` does; without evidence nothing is asked."""
    if choice.file is not None:
        found = evidence_in_file(choice.file)
    elif choice.sample:
        found = sample_evidence()
    else:
        found = evidence_of_repository(options.repo, choice.since, options.ledger)
    evidence = shown_evidence(found, redactor(environ).redact)
    duty = TaskDuty(
        surface=Surface.RELEASE_READINESS,
        evidence=evidence.text,
        council=RELEASE_COUNCIL,
        owed=READINESS_REPORT,
        fake=fake_report(),
        files=lambda events: readiness_files(events, evidence),
    )
    ran = run_task(replace(options, task=release_task(evidence)), environ, warn, tell, duty)
    return JudgedRelease(ran, evaluated(ran.events, evidence))
