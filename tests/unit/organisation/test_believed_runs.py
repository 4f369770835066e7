"""Whose workflow file ran, as far as GitHub says it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from review_advisor.app.init import WORKFLOW_FILE
from review_advisor.github.artifacts import WorkflowRun
from review_advisor.lab.collected import OWN_WORKFLOW, Believing

HERE, FORK = 1, 2
OURS = Believing(HERE, OWN_WORKFLOW, {"main", "master"})
RUN = WorkflowRun(
    10, HERE, OWN_WORKFLOW, "pull_request_target", "change", HERE, datetime(2026, 1, 5, tzinfo=UTC)
)  # fmt: skip
TEMPLATE = Path(__file__).parents[3] / "src/review_advisor/templates/review-advisor.yml"


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"head_repository": FORK, "head_branch": "main"},
        {"head_repository": None, "head_branch": None},
        {"path": f"{OWN_WORKFLOW}@main"},
        {"path": f"{OWN_WORKFLOW}@refs/heads/main"},
        {"event": "issue_comment", "head_branch": "main"},
        {"event": "issue_comment", "head_branch": "master"},
    ],
)
def test_a_run_of_the_default_branchs_own_file_is_believed(facts: dict[str, Any]) -> None:
    belief = OURS.of(replace(RUN, **facts))
    assert belief.believed
    assert "GitHub runs the file of a believed branch" in belief.because


@pytest.mark.parametrize(
    "facts, because",
    [
        ({"repository": FORK}, "it is a run of another repository"),
        ({"path": ".github/workflows/evil.yml"}, "its workflow is .github/workflows/evil.yml, not "),
        ({"path": f"other/{OWN_WORKFLOW}"}, "its workflow is other/"),
        ({"path": f"{OWN_WORKFLOW}@refs/heads/change"}, "its workflow file is that of the branch change"),
        ({"path": f"{OWN_WORKFLOW}@refs/pull/7/merge"}, "its workflow file is that of the branch refs/pull/7/merge"),
        ({"event": "pull_request"}, "on pull_request the change brings its own workflow file"),
        ({"event": "pull_request", "head_branch": "main"}, "the change brings its own"),
        ({"event": "pull_request_review"}, "the change brings its own"),
        ({"event": "merge_group", "head_branch": "main"}, "a queued change's"),
        ({"event": "issue_comment", "head_branch": "change"}, "it ran on the branch change"),
        ({"event": "issue_comment", "head_branch": "main", "head_repository": FORK}, "in another repository"),
        ({"event": "issue_comment", "head_branch": "main", "head_repository": None}, "in another repository"),
        ({"event": "push", "head_branch": "main"}, "the shipped workflow does not run on push"),
        ({"event": "workflow_dispatch", "head_branch": "main"}, "does not run on workflow_dispatch"),
        ({"event": ""}, "the shipped workflow does not run on "),
    ],
)
def test_any_other_run_is_not_and_the_reason_is_told(facts: dict[str, Any], because: str) -> None:
    belief = OURS.of(replace(RUN, **facts))
    assert not belief.believed
    assert because in belief.because


def test_the_shipped_workflow_runs_on_what_is_believed_and_on_the_queue() -> None:
    shipped = yaml.load(TEMPLATE.read_text(encoding="utf-8"), yaml.BaseLoader)["on"]
    believed = {event for event in shipped if OURS.of(replace(RUN, event=event, head_branch="main")).believed}
    assert set(shipped) - believed == {"merge_group"}


def test_the_workflow_stands_where_init_puts_it() -> None:
    assert OWN_WORKFLOW == WORKFLOW_FILE
