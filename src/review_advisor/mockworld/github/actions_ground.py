"""Workflow runs and what they upload, in the words of a story."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.mockworld.github.ground import Ground
from review_advisor.mockworld.github.records import ActionsRun, StoredArtifact

OWN_WORKFLOW = ".github/workflows/review-advisor.yml"
RETENTION_DAYS = 90
"""So long GitHub keeps artifacts, unless a repository says otherwise."""
_DAY = 24 * 3_600


@dataclass(slots=True)
class ActionsGround(Ground):
    """What happens on GitHub Actions."""

    def runs_workflow(
        self,
        repository: str,
        *,
        path: str = OWN_WORKFLOW,
        event: str = "pull_request_target",
        branch: str = "change",
        head: str | None = None,
        at: int | None = None,
        attempt: int = 1,
        status: str = "completed",
        conclusion: str | None = "success",
    ) -> ActionsRun:
        """A workflow runs, for a commit on ``branch`` of the repository ``head``: its own, unless it is said."""
        second = self.tick() if at is None else at
        place = self.repository(repository)
        made = ActionsRun(
            self.next_id(), path, event, branch, head or place.name, second, attempt, status, conclusion
        )  # fmt: skip
        place.workflow_runs[made.id] = made
        return made

    def uploads(self, repository: str, run: ActionsRun, name: str, archive: bytes) -> StoredArtifact:
        """A run uploads an artifact, which expires as the repository's retention has it."""
        expires = run.at + RETENTION_DAYS * _DAY
        made = StoredArtifact(self.next_id(), run.id, name, archive, run.at, expires)
        self.repository(repository).artifacts[made.id] = made
        return made

    def renames_repository(self, name: str, new: str) -> None:
        """A repository is called otherwise; who asks for the old name is sent on."""
        place = self.repositories.pop(name)
        for run in place.workflow_runs.values():
            run.head_repository = new if run.head_repository == name else run.head_repository
        place.name = new
        self.repositories[new] = place
        self.moved[name.casefold()] = new
