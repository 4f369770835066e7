"""Requests about workflow runs and their artifacts."""

from __future__ import annotations

from review_advisor.mockworld.github.ground import moment
from review_advisor.mockworld.github.records import ActionsRun, StoredArtifact
from review_advisor.mockworld.github.requests.access import Access
from review_advisor.mockworld.github.traffic import gone, missing

MOST_FOUND = 1_000
"""GitHub lists no more runs that were asked for by their moment, and counts all."""


class ActionsRequests(Access):
    """GitHub Actions as one token reaches it."""

    def workflow_runs(self, file: str, created: str) -> tuple[int, list[ActionsRun]]:
        """How many runs of a workflow began in a period, and the newest of them. A run's moment decides, to the second.

        A workflow that never ran is not there.
        """
        with self.request("list workflow runs", "actions:read") as repository:
            own = [each for each in repository.workflow_runs.values() if each.path.endswith(f"/workflows/{file}")]
            if not own:
                raise missing()
            since, _, until = created.partition("..")
            found = [each for each in own if since <= moment(each.at) <= until]
            return len(found), sorted(found, key=lambda each: each.at, reverse=True)[:MOST_FOUND]

    def artifacts(self, name: str) -> list[StoredArtifact]:
        """All artifacts of this very name, the newest first."""
        with self.request("list artifacts", "actions:read") as repository:
            return [each for each in reversed(repository.artifacts.values()) if each.name == name]

    def download(self, artifact: int) -> StoredArtifact:
        """An artifact, to be fetched from where it is stored."""
        with self.request("download artifact", "actions:read") as repository:
            found = repository.artifacts.get(artifact)
            if found is None:
                raise missing()
            if found.expired:
                raise gone()
            return found
