"""GitHub Actions on MockWorld's GitHub: workflow runs, what they upload, and what a token may ask of both."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from review_advisor.lab.collected import OWN_WORKFLOW
from review_advisor.mockworld.github import GitHub, moment
from review_advisor.mockworld.github_doors import Access
from review_advisor.mockworld.github_records import Repository
from review_advisor.mockworld.github_traffic import RefusedRequest, missing

RETENTION_DAYS = 90
"""So long GitHub keeps artifacts, unless a repository says otherwise."""
MOST_FOUND = 1_000
"""GitHub lists no more runs that were asked for by their moment, and counts all."""
_DAY = 24 * 3_600


@dataclass
class ActionsRun:
    """A run of a workflow. ``head_branch`` and ``head_repository`` are where the commit is that it is about."""

    id: int
    path: str
    event: str
    head_branch: str
    head_repository: str
    at: int
    attempt: int = 1
    status: str = "completed"
    conclusion: str | None = "success"


@dataclass
class StoredArtifact:
    """What a run uploaded, as an archive. Of one that has ``expired`` GitHub keeps the name only."""

    id: int
    run: int
    name: str
    archive: bytes
    at: int
    expires: int
    expired: bool = False


@dataclass
class ActionsOfRepository:
    """What a repository's workflows did, by id."""

    runs: dict[int, ActionsRun] = field(default_factory=dict)
    artifacts: dict[int, StoredArtifact] = field(default_factory=dict)


@dataclass
class GitHubWithActions(GitHub):
    """The model with what happens on GitHub Actions, by the id of each repository."""

    actions: defaultdict[int, ActionsOfRepository] = field(default_factory=lambda: defaultdict(ActionsOfRepository))
    moved: dict[str, str] = field(default_factory=dict)

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
        made = ActionsRun(self.next_id(), path, event, branch, head or place.name, second, attempt, status, conclusion)
        self.actions[place.id].runs[made.id] = made
        return made

    def uploads(self, repository: str, run: ActionsRun, name: str, archive: bytes) -> StoredArtifact:
        """A run uploads an artifact, which expires as the repository's retention has it."""
        expires = run.at + RETENTION_DAYS * _DAY
        made = StoredArtifact(self.next_id(), run.id, name, archive, run.at, expires)
        self.actions[self.repository(repository).id].artifacts[made.id] = made
        return made

    def renames_repository(self, name: str, new: str) -> None:
        """A repository is called otherwise; who asks for the old name is sent on."""
        place = self.repositories.pop(name)
        for run in self.actions[place.id].runs.values():
            run.head_repository = new if run.head_repository == name else run.head_repository
        place.name = new
        self.repositories[new] = place
        self.moved[name.casefold()] = new

    def repository(self, name: str) -> Repository:
        """A repository. Raises GitHub's 404, and its 301 for the old name of one."""
        if name.casefold() in self.moved:
            raise RefusedRequest(301, "Moved Permanently")
        return super().repository(name)


@dataclass(frozen=True)
class ActionsRequests(Access):
    """GitHub Actions as one token reaches it."""

    github: GitHubWithActions

    def workflow_runs(self, file: str, created: str) -> tuple[int, list[ActionsRun]]:
        """How many runs of a workflow began in a period, and the newest of them. A run's moment decides, to the second.

        A workflow that never ran is not there.
        """
        with self.request("list workflow runs", "actions:read") as repository:
            runs = self.github.actions[repository.id].runs.values()
            own = [each for each in runs if each.path.endswith(f"/workflows/{file}")]
            if not own:
                raise missing()
            since, _, until = created.partition("..")
            found = [each for each in own if since <= moment(each.at) <= until]
            return len(found), sorted(found, key=lambda each: each.at, reverse=True)[:MOST_FOUND]

    def artifacts(self, name: str) -> list[StoredArtifact]:
        """All artifacts of this very name, the newest first."""
        with self.request("list artifacts", "actions:read") as repository:
            every = self.github.actions[repository.id].artifacts.values()
            return [each for each in reversed(every) if each.name == name]

    def download(self, artifact: int) -> StoredArtifact:
        """An artifact, to be fetched from where it is stored."""
        with self.request("download artifact", "actions:read") as repository:
            found = self.github.actions[repository.id].artifacts.get(artifact)
            if found is None:
                raise missing()
            if found.expired:
                raise gone()
            return found


def gone() -> RefusedRequest:
    """What was there, and is not kept any more."""
    return RefusedRequest(410, "Artifact has expired")
