"""Which workflow runs are believed: those whose workflow file nobody could write who may not write the default branch.

What GitHub says of a run is where its *commit* is, and by which event it was started; the event decides whose file ran.
Pull requests that it lists beside a run are those that are open with that head now: they prove nothing.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

OWN_WORKFLOW = ".github/workflows/review-advisor.yml"
"""Where ``init`` puts the bot's workflow."""
_FileOf = Literal["default branch", "run's branch", "queue", "change"]
_FILE_OF: dict[str, _FileOf] = {
    "pull_request_target": "default branch",  # whatever is the head, also in a fork
    "issue_comment": "run's branch",  # which is the default branch, of the repository itself
    "merge_group": "queue",
    "pull_request": "change",
    "pull_request_review": "change",
    "pull_request_review_comment": "change",
}
"""Whose workflow file runs on an event. Only the first two review anything in the shipped workflow."""


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow, as GitHub tells it.

    ``path`` is the workflow's file; ``@`` and a ref may stand behind it. ``head_branch`` and ``head_repository`` are
    where the run's commit is: for ``pull_request_target`` that is the pull request's head, and any branch of a fork may
    be called ``main``. None where it is gone. ``attempt`` is the newest one.
    """

    id: int
    repository: int
    path: str
    event: str
    head_branch: str | None
    head_repository: int | None
    begun: datetime
    attempt: int = 1
    status: str = "completed"
    conclusion: str = "success"


@dataclass(frozen=True, slots=True)
class Belief:
    """Whether a run's artifacts count, and why: words behind "because"."""

    believed: bool
    because: str


@dataclass(frozen=True, slots=True)
class Believing:
    """Whose runs count: those of the file ``workflow`` in the repository of this id, as ``branches`` have it.

    ``branches`` are the default branch, and what else is believed, such as a former name of it.
    """

    repository: int
    workflow: str
    branches: AbstractSet[str]

    def of(self, run: WorkflowRun) -> Belief:
        """Whether a run is believed."""
        doubt = self._doubt(run)
        return Belief(doubt is None, doubt or f"on {run.event} GitHub runs the file of a believed branch")

    def _doubt(self, run: WorkflowRun) -> str | None:
        """Why a run is not believed; None if it is."""
        path, _, ref = run.path.partition("@")
        branch = ref.removeprefix("refs/heads/")
        if run.repository != self.repository:
            return "it is a run of another repository"
        if path != self.workflow:
            return f"its workflow is {path}, not {self.workflow}"
        if branch and branch not in self.branches:
            return f"its workflow file is that of the branch {branch}"
        match _FILE_OF.get(run.event):
            case "default branch":
                return None
            case "run's branch":
                return self._doubt_of_branch(run)
            case "queue":
                return "its workflow file may be a queued change's, and it reviews nothing"
            case "change":
                return f"on {run.event} the change brings its own workflow file"
            case _:
                return f"the shipped workflow does not run on {run.event}"

    def _doubt_of_branch(self, run: WorkflowRun) -> str | None:
        if run.head_repository != self.repository:
            return "its commit is in another repository"
        return None if run.head_branch in self.branches else f"it ran on the branch {run.head_branch}"
