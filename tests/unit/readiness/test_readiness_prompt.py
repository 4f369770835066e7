"""What a run on a release asks, and of whom."""

from __future__ import annotations

import json

from tests.scenarios.task_runs import NONCE

from review_advisor.tasks.brief_council import FakeCouncil
from review_advisor.tasks.readiness import (
    READINESS_REPORT,
    RELEASE_COUNCIL,
    RELEASE_VERDICTS,
    ReleaseEvidence,
    ReleaseReport,
    fake_report,
    mildest_verdict,
    read_release_report,
    release_task,
)


def test_one_advisor_opens_and_one_judges_with_a_veto_over_the_verdicts() -> None:
    assert [each.id for each in RELEASE_COUNCIL.opening] == ["release-planner"]
    assert [(each.id, each.veto) for each in RELEASE_COUNCIL.voting] == [("release-judge", True)]
    assert RELEASE_COUNCIL.watching == ()
    assert RELEASE_COUNCIL.actions == RELEASE_VERDICTS == ("go", "conditional_go", "hold")


def test_the_form_that_is_shown_is_one_that_is_read() -> None:
    told = READINESS_REPORT.section(NONCE)
    form = told[told.index("{") : told.rindex("}") + 1]
    assert read_release_report(json.loads(form)).error == ""
    assert f'<RELEASE_READINESS_REPORT nonce="{NONCE}">' in told


def test_the_task_names_where_the_evidence_comes_from() -> None:
    assert "3 changes since v1" in release_task(ReleaseEvidence("3 changes since v1", "text"))


def test_a_fake_never_lets_a_release_go() -> None:
    report = ReleaseReport.model_validate(fake_report())
    assert (report.verdict, mildest_verdict(report)[0]) == ("conditional_go", "conditional_go")
    said = FakeCouncil(RELEASE_COUNCIL.advisors, RELEASE_COUNCIL.actions)._said["release-judge"]["calls"]
    votes = json.loads(said)
    assert max(votes, key=votes.get) == "conditional_go"
