"""What a run on a release asks: its task, the report that it owes, and the advisor that opens and judges it."""

from __future__ import annotations

from typing import Any

from review_advisor.core.readiness.readiness_evaluation import ReleaseEvidence
from review_advisor.core.readiness.release_report import RELEASE_VERDICTS, read_release_report
from review_advisor.core.roster.advisor import Advisor
from review_advisor.core.task.blocks import BlockTag
from review_advisor.core.task.messages import OwedReport
from review_advisor.core.task.task_council import TaskCouncil

_RULES = """\
This run judges a release. Ask the advisor at least one question, about what worries you most: without an answered \
question no verdict counts. End with EXECUTOR_DONE and, in the same message, one RELEASE_READINESS_REPORT of the form \
below. A program checks it:
- Say nothing that the evidence does not say. The evidence of a blocker quotes it word for word.
- go: no blocker, no open critical or high risk, no required action, and no evidence is missing.
- conditional_go: no critical or high blocker; required_actions name all that has to follow.
- hold: a critical or high blocker, or evidence is missing without which nobody can tell.
- severity is critical, high, medium or low. A risk is listed while it is open.
- advisor_consulted is true once the advisor has answered. confidence is between 0 and 1. Each count is the length of \
its list. There are no other keys."""
_FORM = """\
{"verdict":"go","summary":"...",
 "blockers":[{"id":"B1","severity":"high","description":"...","evidence":"..."}],
 "risks":[{"id":"R1","severity":"medium","description":"...","mitigation":"..."}],
 "required_actions":["..."],"advisor_consulted":true,"confidence":0.8,
 "measurable_outputs":{"blocker_count":1,"risk_count":1,"required_action_count":1}}"""

RELEASE_COUNCIL = TaskCouncil(
    (
        Advisor(
            "release-planner",
            "You know how releases fail: migrations without a way back, changes that nobody judged, checks that did"
            " not run, promises to users that break. Say what this evidence has to answer, where it is silent, and what"
            " to look at first.",
            on="start",
        ),
        Advisor(
            "release-judge",
            "You judge whether a release may go out, and you look for what is wrong with the executor's report: what it"
            " invents, plays down or leaves out, and evidence that is missing. Vote for the verdict that the evidence"
            " supports; where it leaves you in doubt, for the severer one.",
            on="finish",
            veto=True,
        ),
    ),
    RELEASE_VERDICTS,
)
"""The advisor of a release in its two moments. It answers questions in between, as in every run."""
READINESS_REPORT = OwedReport(BlockTag.READINESS, _RULES, _FORM, read_release_report)


def release_task(evidence: ReleaseEvidence) -> str:
    """The task in one sentence; lists show it."""
    return f"Judge whether the release is ready to go out. Evidence: {evidence.source}."


def fake_report() -> dict[str, Any]:
    """What a fake executor says: nobody has read the evidence, so it never says go."""
    return {
        "verdict": "conditional_go",
        "summary": "It is the fake executor's only report. No model has read the evidence.",
        "blockers": [],
        "risks": [
            {
                "id": "R1",
                "severity": "high",
                "description": "No model has read the evidence.",
                "mitigation": "Ask models.",
            }
        ],
        "required_actions": ["Run release-readiness with models."],
        "advisor_consulted": True,
        "confidence": 0.5,
        "measurable_outputs": {"blocker_count": 0, "risk_count": 1, "required_action_count": 1},
    }
