"""Workflow runs and artifacts on GitHub, to read only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from http.client import HTTPException, HTTPResponse
from pathlib import PurePosixPath
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from pydantic import AliasPath, AwareDatetime, Field

from review_advisor.github.forge import ForgeRejected, ForgeUnavailable
from review_advisor.github.responses import ApiAddress, Read, api_address, repository_name, token_value
from review_advisor.github.wire import Exchange, RepositoryReader, Unanswered, Wire
from review_advisor.review.ports import Clock
from review_advisor.safety.this_machine import is_this_machine

MOST_SECONDS = 300.0
"""So long one file may take, however slowly it comes."""

_TIMEOUT_SECONDS = 15
_CHUNK = 1 << 20
_SERVER_ERROR = 500


def fetch_stored(doing: str, location: str, api: ApiAddress, clock: Clock, most: int) -> bytes:
    """The bytes at an address that GitHub gave, ``most`` at the most. Raises ``ForgeError``, without the address.

    ``ForgeRejected`` where another try would hear the same: the store refuses it, or it is too large or too slow.
    ``https`` only; ``http`` on this machine, if GitHub's API itself is there.
    """
    _refuse_address(doing, location, api)
    opener = OpenerDirector()  # which follows nothing
    for handler in (HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    opener.add_handler(ProxyHandler({} if api.loopback else None))
    request = Request(location, headers={"User-Agent": "review-advisor"})  # noqa: S310 (the scheme was looked at)
    try:
        with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
            return _bounded(doing, answer, clock, most)
    except HTTPError as refusal:
        kind = Unanswered if refusal.code >= _SERVER_ERROR else ForgeRejected
        raise kind(f"GitHub did not {doing}: its store answered with status {refusal.code}.") from None
    except (OSError, HTTPException, ValueError) as error:
        raise Unanswered(f"GitHub did not {doing}: its store gave no answer ({type(error).__name__}).") from None


def _bounded(doing: str, answer: HTTPResponse, clock: Clock, most: int) -> bytes:
    begun, found = clock.monotonic(), bytearray()
    while chunk := answer.read1(min(_CHUNK, most + 1 - len(found))):
        found += chunk
        if len(found) > most:
            raise ForgeRejected(f"GitHub could not {doing}: it is larger than {most // 1024**2} MB.")
        if clock.monotonic() - begun > MOST_SECONDS:
            raise ForgeRejected(f"GitHub did not {doing}: it took longer than {MOST_SECONDS:.0f} seconds.")
    return bytes(found)


def _refuse_address(doing: str, location: str, api: ApiAddress) -> None:
    try:
        parts = urlsplit(location)
        host, has_user = parts.hostname or "", parts.username is not None
    except ValueError:
        host, has_user = "", False
    secure = location.startswith("https://") and bool(host)
    here = api.loopback and location.startswith("http://") and is_this_machine(host)
    if not (secure or here) or has_user or not location.isprintable() or " " in location:
        raise ForgeRejected(f"GitHub could not {doing}: it is not stored at an address that begins with https://.")


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow, as GitHub lists it."""

    id: int
    repository: int
    path: str
    """The workflow's file; ``@`` and a ref may stand behind it."""
    event: str
    head_branch: str | None
    """The branch of the run's commit; None where it is gone. A fork may call any branch ``main``."""
    head_repository: int | None
    """The repository of the run's commit, for ``pull_request_target`` the head's; None where it is gone."""
    begun: datetime
    attempt: int = 1
    """The newest attempt."""
    status: str = "completed"
    conclusion: str = "success"


@dataclass(frozen=True, slots=True)
class LedgerArtifact:
    """An artifact as GitHub lists it."""

    id: int
    name: str
    run: int | None
    """None where GitHub does not name it."""
    repository: int | None
    """None where GitHub does not name it."""
    size: int
    expired: bool
    made: datetime
    expires: datetime | None = None


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
        parameters = {"created": f"{since:%Y-%m-%dT%H:%M:%SZ}..{until:%Y-%m-%dT%H:%M:%SZ}"}
        count = self._wire.get(doing, path, _RunsAnswer, {**parameters, "per_page": "1"}).total_count
        if count > _MOST_FOUND and until - since > _SHORTEST:
            middle = since + (until - since) / 2
            yield from self._runs(path, since, middle)
            yield from self._runs(path, middle, until)
            return
        if count > _MOST_FOUND:
            raise ForgeUnavailable(f"GitHub did not {doing}: {count} of one minute are more than it lists.")
        for page in self._wire.pages(doing, path, _RunsAnswer, parameters):
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
