"""What a run on a release comes to: its exit code, its figures and its files' fields."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from tests.scenarios.test_release_readiness import BLOCKER, EVIDENCE, GO, HOLD, judged, played, report
from tests.unit.readiness.test_readiness_rules import report as read_report

from review_advisor.ledger.task_events import EXIT_CODES, RunStatus
from review_advisor.tasks.readiness import ReadinessEvaluation, ReleaseEvidence, evaluation_json


def test_the_evaluation_tells_whether_it_passed_its_failures_the_report_and_figures() -> None:
    told = json.loads(evaluation_json(judged(played(report("hold", blockers=[BLOCKER]), [HOLD]))))
    assert list(told) == [
        "run_id",
        "passed",
        "verdict",
        "status",
        "failures",
        "evidence",
        "gaps",
        "blind_spots",
        "report",
        "metrics",
    ]
    assert (told["passed"], told["verdict"], told["failures"]) == (True, "hold", [])
    assert (told["evidence"], told["blind_spots"]) == ("a file", [])
    assert told["report"]["blockers"] == [BLOCKER]
    assert told["metrics"] == {
        "executor_calls": 2,
        "advisor_calls": 3,
        "consults_asked": 1,
        "consults_answered": 1,
        "consults_allowed": 2,
        "advisor_verdict": "hold",
        "blocker_count": 1,
        "risk_count": 0,
        "required_action_count": 0,
        "cost_usd": 0.25,
    }


def test_gaps_that_the_harness_knows_bind_the_verdict() -> None:
    evaluation = judged(
        played(report("go"), [GO]), ReleaseEvidence("a repository", EVIDENCE.text, ("#7: not reviewed",))
    )
    assert (evaluation.passed, evaluation.exit_code, evaluation.gaps) == (False, 11, ("#7: not reviewed",))


@pytest.mark.parametrize("status", get_args(RunStatus))
@pytest.mark.parametrize("verdict", ["go", "conditional_go", "hold"])
def test_only_a_go_that_passed_ends_with_0(status: RunStatus, verdict: str) -> None:
    failures = () if status == "completed" else ("The run is not completed.",)
    evaluation = ReadinessEvaluation("run-1", status, read_report(verdict), failures, (), {})
    expected = (0 if verdict == "go" else 10) if status == "completed" else (12 if EXIT_CODES[status] == 12 else 11)
    assert evaluation.exit_code == expected
