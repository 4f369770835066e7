"""A pull request read from a clone and from what is fetched beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from review_advisor.change.change import OBJECT_NAME, SourceError
from review_advisor.change.git import GitRepository, Reply, open_repository
from review_advisor.change.git_store import ObjectStore
from review_advisor.change.pull_request import BelievedBase, PullRequest
from review_advisor.change.sources import About, GitSource, Sides

DEPTHS = (64, 512, 4_096)
"""How much history is asked for, one after the other, where the clone is shallow."""

_HEAD = "refs/review/head"
_BASE = "refs/review/base"
_BELIEVED = "refs/review/believed"
_EARLIER = "refs/review/earlier"
_KNOWN = "refs/review/known"

_SETTINGS = (
    "core.alternateRefsCommand=:",  # nothing runs in the user's repository
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
    "protocol.version=2",
)

_FETCH = (
    *(word for setting in _SETTINGS for word in ("-c", setting)),
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
)

_COMMIT = re.compile(OBJECT_NAME)
_NO_ACCESS = (b"could not read Username", b"Authentication failed", b"error: 403", b"error: 401")


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a repository is fetched from.

    ``url`` is https, http or file. ``token`` goes along with a request to this very address, never onto a command line
    or a disk. ``network`` are the variables that say how the network is reached (proxy, certificates).
    """

    url: str
    token: str | None = field(default=None, repr=False)
    network: Mapping[str, str] = field(default_factory=dict, repr=False)

    def environment(self) -> dict[str, str]:
        """What git's environment says about this remote."""
        scheme = self.url.partition(":")[0]
        variables = {**self.network, "GIT_ALLOW_PROTOCOL": scheme}
        if self.token is not None and scheme != "file":
            credential = base64.b64encode(f"x-access-token:{self.token}".encode()).decode("ascii")
            variables |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{self.url}.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: Basic {credential}",
            }
        return variables


def open_pull_request(
    repo: Path, pull_request: PullRequest, remote: Remote, believed: BelievedBase, about: About | None = None
) -> GitSource:
    """A pull request, from its merge base to its head; what the clone lacks is fetched from ``remote``.

    Nothing is checked out and the clone is not written to. Configuration, attributes and specifications are those of
    ``believed``. Raises ``SourceError``, also where the head is no longer the one of ``pull_request``.
    """
    repository = open_repository(repo)
    store = ObjectStore(repository)
    sides = _fetch_sides(store, repository, remote, pull_request, believed.commit)
    known = replace(about or About(), pull_request=pull_request, rules_ref=believed.branch)
    return GitSource(store, sides, known, fetching=partial(_fetch_commit, store, repository, remote))


def _fetch_sides(
    store: ObjectStore, repository: GitRepository, remote: Remote, pull_request: PullRequest, rules: str
) -> Sides:
    """Both sides of a pull request, from their merge base to its head, fetched into ``store``.

    A clone that is shallow is deepened in steps, in the store. Raises ``SourceError``: nothing to fetch, a head that is
    no longer the one of ``pull_request``, or no merge base within reach.
    """
    if not all(map(_COMMIT.fullmatch, (pull_request.base_sha, pull_request.head_sha, rules))):
        raise SourceError(f"Pull request #{pull_request.number} names no commits.")
    known = repository.head()
    if known is not None:
        store.git.run("update-ref", _KNOWN, known)
    for depth in DEPTHS if repository.shallow else (None,):
        head = _fetch_head(store, remote, pull_request, rules, depth)
        base = store.merge_base(pull_request.base_sha, head)
        if base is not None:
            return Sides(base, head, store.tree(base), store.tree(head), commits=True, rules=rules)
    where = f"within {DEPTHS[-1]:,} commits; check out the whole history (in CI: `fetch-depth: 0`)"
    raise SourceError(
        f"Pull request #{pull_request.number} and its base have no common ancestor"
        f"{f' {where}' if repository.shallow else ': their histories are unrelated'}."
    )


def _fetch_head(store: ObjectStore, remote: Remote, pull_request: PullRequest, rules: str, depth: int | None) -> str:
    """Fetch head, base and the commit ``rules``; the head's name, which is the one that was asked for."""
    number = pull_request.number
    wanted = (f"+refs/pull/{number}/head:{_HEAD}", f"+{pull_request.base_sha}:{_BASE}", f"+{rules}:{_BELIEVED}")
    reply = fetch(store, remote, wanted, depth)
    if reply.code != 0:
        raise SourceError(not_fetched(reply, remote, number))
    head = store.git.run("rev-parse", "--verify", f"{_HEAD}^{{commit}}").decode("ascii").strip()
    if head != pull_request.head_sha:
        raise SourceError(
            f"The head of pull request #{number} moved from {pull_request.head_sha[:12]} to {head[:12]} while it was "
            "being read: start the review again."
        )
    return head


def _fetch_commit(store: ObjectStore, repository: GitRepository, remote: Remote, commit: str) -> None:
    """Fetch a commit that no branch leads to any more, if the forge still has it."""
    if _COMMIT.fullmatch(commit) and not store.has_commit(commit):
        fetch(store, remote, (f"+{commit}:{_EARLIER}",), 1 if repository.shallow else None)


def fetch(store: ObjectStore, remote: Remote, references: tuple[str, ...], depth: int | None) -> Reply:
    """Fetch into ``store`` and nowhere else. ``depth`` is how much history, None for all of it."""
    return store.git.attempt(
        *_FETCH,
        *(() if depth is None else (f"--depth={depth}",)),
        "--end-of-options",
        remote.url,
        *references,
        environment=remote.environment(),
    )


def not_fetched(reply: Reply, remote: Remote, number: int) -> str:
    """Why a fetch for a pull request failed, as a sentence."""
    if any(sign in reply.stderr for sign in _NO_ACCESS):
        needed = "this token may not read it" if remote.token else "it needs a token (GITHUB_TOKEN)"
        return f"Pull request #{number} cannot be fetched from {remote.url}: {needed}."
    return f"Pull request #{number} cannot be fetched from {remote.url}: {reply.complaint}."
