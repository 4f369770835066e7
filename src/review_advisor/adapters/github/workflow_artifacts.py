"""Workflow runs and artifacts of one repository on GitHub, to read only."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from urllib.parse import quote

from pydantic import AliasPath, AwareDatetime, Field

from review_advisor.adapters.github.address import ApiAddress, api_address, repository_name, token_value
from review_advisor.adapters.github.git_data import RepositoryReader
from review_advisor.adapters.github.rest_answers import Read
from review_advisor.adapters.github.stored_files import fetch_stored
from review_advisor.adapters.github.transport import Exchange
from review_advisor.adapters.github.wire import Wire
from review_advisor.core.organisation.believed_runs import WorkflowRun
from review_advisor.core.organisation.shelf import LedgerArtifact
from review_advisor.ports.forge import ForgeUnavailable
from review_advisor.ports.review import Clock

_MOST_FOUND = 1_000
"""GitHub lists no more runs of one period, and says how many there are."""
_SHORTEST = timedelta(minutes=1)


class _RunAnswer(Read):
    id: int
    path: str = Field(max_length=1_000)
    event: str = Field(max_length=100)
    head_branch: str | None
    head_repository: int | None = Field(default=None, validation_alias=AliasPath("head_repository", "id"))
    repository: int = Field(validation_alias=AliasPath("repository", "id"))
    created_at: AwareDatetime
    run_attempt: int = 1
    status: str | None
    conclusion: str | None


class _RunsAnswer(Read):
    total_count: int
    workflow_runs: list[_RunAnswer]


class _ArtifactAnswer(Read):
    id: int
    name: str
    size_in_bytes: int
    expired: bool
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    run: int | None = Field(default=None, validation_alias=AliasPath("workflow_run", "id"))
    run_repository: int | None = Field(default=None, validation_alias=AliasPath("workflow_run", "repository_id"))


class _ArtifactsAnswer(Read):
    artifacts: list[_ArtifactAnswer]


class WorkflowArtifacts(RepositoryReader):
    """One repository's runs and artifacts. Every method raises ``ForgeError``; reads are tried again inside."""

    def __init__(self, repository: str, wire: Wire, address: ApiAddress, clock: Clock) -> None:
        super().__init__(repository, wire)
        self._address = address
        self._clock = clock

    def repository(self) -> tuple[int, str]:
        """The repository's id, and its default branch."""
        found = self._read_repository()
        return found.id, found.default_branch

    def runs(self, workflow: str, since: datetime, until: datetime) -> list[WorkflowRun]:
        """The runs of a workflow's file that began in a period, each once, in no order."""
        file = quote(PurePosixPath(workflow).name, safe="")
        path = f"{self._root}/actions/workflows/{file}/runs"
        return list({run.id: _run(run) for run in self._runs(path, since, until)}.values())

    def _runs(self, path: str, since: datetime, until: datetime) -> Iterator[_RunAnswer]:
        """Where a period has more runs than GitHub lists, its halves are asked for."""
        doing = "list the workflow's runs"
        asked = {"created": f"{since:%Y-%m-%dT%H:%M:%SZ}..{until:%Y-%m-%dT%H:%M:%SZ}"}
        count = self._wire.get(doing, path, _RunsAnswer, {**asked, "per_page": "1"}).total_count
        if count > _MOST_FOUND and until - since > _SHORTEST:
            middle = since + (until - since) / 2
            yield from self._runs(path, since, middle)
            yield from self._runs(path, middle, until)
            return
        if count > _MOST_FOUND:
            raise ForgeUnavailable(f"GitHub did not {doing}: {count} of one minute are more than it lists.")
        for page in self._wire.pages(doing, path, _RunsAnswer, asked):
            yield from page.workflow_runs

    def artifacts(self, name: str) -> list[LedgerArtifact]:
        """All artifacts of this name that GitHub still lists."""
        path = f"{self._root}/actions/artifacts"
        pages = self._wire.pages("list the artifacts", path, _ArtifactsAnswer, {"name": name})
        return [_artifact(each) for page in pages for each in page.artifacts if each.name == name]

    def archive(self, artifact: LedgerArtifact, most: int) -> bytes:
        """The archive of an artifact, ``most`` bytes at the most."""
        doing = f"download the artifact {artifact.id}"

        def fetch(location: str) -> bytes:
            return fetch_stored(doing, location, self._address, self._clock, most)

        return self._wire.stored(doing, f"{self._root}/actions/artifacts/{artifact.id}/zip", fetch)


def workflow_artifacts(repository: str, *, token: str, api_url: str = "", clock: Clock) -> WorkflowArtifacts:
    """The artifacts of ``owner/name``; nothing is sent yet. Raises ``ForgeError`` for what cannot be used."""
    name, address = repository_name(repository), api_address(api_url)
    wire = Wire(Exchange(address, token_value(token)), clock, between_writes=0.0)
    return WorkflowArtifacts(name, wire, address, clock)


def _run(answer: _RunAnswer) -> WorkflowRun:
    return WorkflowRun(
        answer.id,
        answer.repository,
        answer.path,
        answer.event,
        answer.head_branch,
        answer.head_repository,
        answer.created_at,
        answer.run_attempt,
        answer.status or "",
        answer.conclusion or "",
    )


def _artifact(answer: _ArtifactAnswer) -> LedgerArtifact:
    return LedgerArtifact(
        answer.id,
        answer.name,
        answer.run,
        answer.run_repository,
        answer.size_in_bytes,
        answer.expired,
        answer.created_at,
        answer.expires_at,
    )
