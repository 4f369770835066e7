"""GitHub Actions' own variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from review_advisor.change.change import SourceError
from review_advisor.change.pull_request import ActionsEvent, EventError, read_event
from review_advisor.safety.this_machine import is_this_machine

SERVER = "https://github.com"
API = "https://api.github.com"

MOST_PAYLOAD_BYTES = 30_000_000
"""GitHub sends no payload of more than 25 MB."""

_NETWORK = (
    "HTTPS_PROXY",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
)

_SHORT_NAME = re.compile(r"(?P<repository>[^\s#/]+/[^\s#/]+)#(?P<number>[0-9]{1,10})")
_NUMBER = re.compile(r"#?(?P<number>[0-9]{1,10})")
_PATH = re.compile(r"(?P<repository>[^/\s]+/[^/\s]+)/pull/(?P<number>[0-9]{1,10})(?:/.*)?")


@dataclass(frozen=True, slots=True)
class GithubEnvironment:
    """Where GitHub is, and what this run knows of it. An empty variable is an unset one."""

    token: str = field(default="", repr=False)
    """The token for the API and for git."""
    api_url: str = API
    server_url: str = SERVER
    """Where git fetches from, without a slash at its end."""
    repository: str = ""
    event_name: str = ""
    workflow: str = ""
    run: str = ""
    attempt: str = "1"
    network: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables that say how the network is reached."""

    @property
    def run_id(self) -> str:
        """The name of this workflow run, a new one for each attempt; ``by-hand`` outside of GitHub Actions."""
        return f"actions-{self.run}-{self.attempt}" if self.run else "by-hand"

    @property
    def web_address(self) -> str:
        """Where people read this GitHub; empty for a folder of repositories."""
        return self.server_url if self.server_url.startswith("http") else ""

    @property
    def run_url(self) -> str | None:
        """The page of this workflow run."""
        known = self.run and self.repository and self.web_address
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run}" if known else None

    def clone_url(self, repository: str) -> str:
        """Where git fetches ``owner/name`` from."""
        return f"{self.server_url}/{repository}.git"

    def event(self, file: str) -> ActionsEvent:
        """The event whose payload is in ``file``, by the name that the environment gives it. Raises ``SourceError``."""
        if not self.event_name:
            raise SourceError(
                "What the event file holds is not known: GITHUB_EVENT_NAME is not set. Outside of GitHub Actions, name "
                "the pull request with --pr."
            )
        try:
            with Path(file).open("rb") as stream:
                payload = stream.read(MOST_PAYLOAD_BYTES + 1)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise SourceError(f"The event file {file!r} cannot be read: {why}.") from None
        if len(payload) > MOST_PAYLOAD_BYTES:
            raise SourceError(f"The event file {file!r} is larger than any that GitHub sends.")
        try:
            return read_event(self.event_name, payload)
        except EventError as problem:
            raise SourceError(str(problem)) from None

    def pull_request(self, name: str) -> tuple[str, int]:
        """Repository and number of a pull request: ``OWNER/REPO#N``, its address, or ``N`` with GITHUB_REPOSITORY.

        Raises ``SourceError``.
        """
        found = _SHORT_NAME.fullmatch(name) or _NUMBER.fullmatch(name)
        if found is None and "://" in name:
            found = _PATH.fullmatch(self._below_server(name))
        if found is None or not int(found["number"]):
            raise SourceError(
                f"{name!r} names no pull request: write OWNER/REPO#N, its address, or its number if "
                "GITHUB_REPOSITORY is set."
            )
        repository = found.groupdict().get("repository") or self.repository
        if not repository:
            raise SourceError(f"Say which repository {name!r} is in: OWNER/REPO#N, or set GITHUB_REPOSITORY.")
        return repository, int(found["number"])

    def _below_server(self, address: str) -> str:
        base = f"{self.server_url}/"
        if not address.casefold().startswith(base.casefold()):
            raise SourceError(
                f"{address!r} is not on {self.server_url}: set GITHUB_SERVER_URL and GITHUB_API_URL for another server."
            )
        return address[len(base) :].partition("?")[0].partition("#")[0]


def read_github(environ: Mapping[str, str]) -> GithubEnvironment:
    """What the environment says of GitHub; GH_TOKEN comes before GITHUB_TOKEN, as it does for ``gh``.

    A server other than GitHub's own has its API at ``/api/v3``, unless GITHUB_API_URL says where. Raises
    ``SourceError``, whose sentence repeats no address that may hold a secret.
    """
    values = {name: value.strip() for name, value in environ.items()}
    server = _server(values.get("GITHUB_SERVER_URL") or SERVER)
    api = values.get("GITHUB_API_URL", "").rstrip("/")
    if server == SERVER and api not in ("", API):
        raise SourceError("GITHUB_API_URL names another server than GitHub's own: set GITHUB_SERVER_URL too.")
    return GithubEnvironment(
        token=values.get("GH_TOKEN") or values.get("GITHUB_TOKEN") or "",
        api_url=api or (API if server == SERVER else f"{server}/api/v3"),
        server_url=server,
        repository=values.get("GITHUB_REPOSITORY", ""),
        event_name=values.get("GITHUB_EVENT_NAME", ""),
        workflow=_workflow(values.get("GITHUB_WORKFLOW_REF", "")),
        run=_digits(values.get("GITHUB_RUN_ID", "")),
        attempt=_digits(values.get("GITHUB_RUN_ATTEMPT", "")) or "1",
        network={name: values[name] for name in _NETWORK if values.get(name)},
    )


def _workflow(ref: str) -> str:
    """The path of the running workflow's file, out of ``owner/name/.github/workflows/x.yml@ref``."""
    found = re.fullmatch(r"[^/@]+/[^/@]+/(\.github/workflows/[^@]+)@.+", ref)
    return found[1] if found else ""


def _digits(value: str) -> str:
    return value if re.fullmatch(r"[0-9]{1,20}", value) else ""


def _server(url: str) -> str:
    """A server's address, checked: https; http on this machine only; or a folder of repositories (``file``)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SourceError("GITHUB_SERVER_URL cannot be read.") from None
    del port  # reading it checked it
    local = parts.scheme == "http" and is_this_machine(host)
    folder = parts.scheme == "file" and not parts.netloc and parts.path.startswith("/")
    if not (parts.scheme == "https" and host) and not local and not folder:
        raise SourceError("GITHUB_SERVER_URL must begin with https:// and a host, such as https://github.com.")
    if "@" in parts.netloc or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise SourceError("GITHUB_SERVER_URL must be a plain address, without credentials, query or spaces.")
    return url.rstrip("/")
