"""What a run on a release comes to: its report, held against every rule by the recorded events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from review_advisor.core.outcome.outcomes import EXIT_CODES as REVIEW_EXIT_CODES
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.readiness.readiness_rules import (
    conditions_unnamed,
    gone_with_gaps,
    invented_quotes,
    miscounted,
    taken_back,
    too_many_consults,
    unconsulted,
    verdict_too_mild,
    without_a_majority,
)
from review_advisor.core.readiness.release_report import ReleaseReport
from review_advisor.core.task.task_council import blind_spots, chosen_action, last_vote
from review_advisor.core.task.task_events import (
    ConsultHeard,
    GuidanceHeard,
    ReportHeard,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
)
from review_advisor.core.task.task_status import EXIT_CODES, RunStatus, ended_words


@dataclass(frozen=True, slots=True)
class ReleaseEvidence:
    """What is known of a release, as everybody in the run is shown it. ``gaps`` are what the harness knows to be open.

    ``source`` says where it comes from, in a few words.
    """

    source: str
    text: str
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadinessEvaluation:
    """``failures`` are the rules that do not hold; without any it has passed. ``report`` is the last usable one.

    ``evidence`` says where that comes from, and ``blind_spots`` whom the run has not heard.
    """

    run_id: str
    status: RunStatus
    report: ReleaseReport | None
    failures: tuple[str, ...]
    gaps: tuple[str, ...]
    metrics: dict[str, Any]
    evidence: str = ""
    blind_spots: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the verdict can be relied on, whatever it is."""
        return not self.failures

    @property
    def verdict(self) -> str:
        """The report's; ``none`` without one."""
        return "none" if self.report is None else self.report.verdict

    @property
    def exit_code(self) -> int:
        """0 only for a verdict of go that has passed."""
        if self.passed:
            return REVIEW_EXIT_CODES[Outcome.APPROVED if self.verdict == "go" else Outcome.CHANGES_REQUESTED]
        stopped = REVIEW_EXIT_CODES[Outcome.STOPPED]
        return stopped if EXIT_CODES[self.status] == stopped else REVIEW_EXIT_CODES[Outcome.ESCALATED]

    def as_json(self) -> dict[str, Any]:
        """For its file."""
        return {
            "run_id": self.run_id,
            "passed": self.passed,
            "verdict": self.verdict,
            "status": self.status,
            "failures": list(self.failures),
            "evidence": self.evidence,
            "gaps": list(self.gaps),
            "blind_spots": list(self.blind_spots),
            "report": None if self.report is None else self.report.model_dump(mode="json"),
            "metrics": self.metrics,
        }


def evaluated(events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> ReadinessEvaluation:
    """Hold the run so far against the rules. Before its end it has not passed."""
    reports = [each for each in events if isinstance(each, ReportHeard)]
    usable = [each for each in reports if not each.error]
    report = ReleaseReport.model_validate_json(usable[-1].report) if usable else None
    last = events[-1]
    status: RunStatus = last.status if isinstance(last, TaskEnded) else "running"
    failures = list(_of_the_run(last, status))
    if report is None:
        failures.append("There is no report that can be used.")
    else:
        failures += _of_the_report(report, events, evidence)
        failures += taken_back(report.verdict, (each.action for each in reports))
    return ReadinessEvaluation(
        _begun(events).run_id,
        status,
        report,
        tuple(failures),
        evidence.gaps,
        _metrics(events, report),
        evidence.source,
        blind_spots(events),
    )


def _of_the_run(last: TaskEvent, status: RunStatus) -> Iterator[str]:
    """The run is completed, and its advisor has voted for no worse verdict."""
    if status != "completed":
        reason = last.reason if isinstance(last, TaskEnded) else ""
        yield f"The run is not completed: {ended_words(status, reason, '')}."


def _of_the_report(report: ReleaseReport, events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> Iterator[str]:
    yield from verdict_too_mild(report)
    yield from conditions_unnamed(report)
    yield from miscounted(report)
    yield from invented_quotes(report, evidence.text)
    yield from unconsulted(report, _answered(events))
    yield from too_many_consults(_asked(events), _limit(events))
    yield from without_a_majority(report.verdict, last_vote(events))
    yield from gone_with_gaps(report.verdict, evidence.gaps)


def _answered(events: Sequence[TaskEvent]) -> int:
    """How many questions got guidance in its form: prose may as well be a refusal."""
    return sum(isinstance(each, GuidanceHeard) and not each.wrapped for each in events)


def _asked(events: Sequence[TaskEvent]) -> int:
    return sum(isinstance(each, ConsultHeard) and not each.refused for each in events)


def _limit(events: Sequence[TaskEvent]) -> int:
    return _begun(events).limits.max_advisor_calls


def _begun(events: Sequence[TaskEvent]) -> TaskBegun:
    return next(each for each in events if isinstance(each, TaskBegun))


def _metrics(events: Sequence[TaskEvent], report: ReleaseReport | None) -> dict[str, Any]:
    calls = [each for each in events if isinstance(each, TaskCalled) and each.ended != "refused"]
    costs = [each.usage.cost_usd for each in calls]
    known = [each for each in costs if each is not None]
    vote = last_vote(events)
    return {
        "executor_calls": sum(each.speaker == "executor" for each in calls),
        "advisor_calls": sum(each.speaker == "advisor" for each in calls),
        "consults_asked": _asked(events),
        "consults_answered": _answered(events),
        "consults_allowed": _limit(events),
        "advisor_verdict": None if vote is None else chosen_action(vote),
        "blocker_count": None if report is None else len(report.blockers),
        "risk_count": None if report is None else len(report.risks),
        "required_action_count": None if report is None else len(report.required_actions),
        "cost_usd": sum(known) if len(known) == len(costs) else None,
    }


def evaluation_json(evaluation: ReadinessEvaluation) -> str:
    """The same as JSON."""
    return json.dumps(evaluation.as_json(), indent=2, ensure_ascii=False) + "\n"
