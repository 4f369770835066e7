"""What a branch has brought: after a merge, or since a release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from review_advisor.change.change import OBJECT_NAME, SourceError
from review_advisor.change.git import GitRepository, open_repository
from review_advisor.change.git_store import ObjectStore
from review_advisor.change.pull_request import LARGEST_PULL_REQUEST, PullRequest
from review_advisor.change.pull_request_source import DEPTHS, Remote, fetch, not_fetched

LOOKED_AT = timedelta(days=30)
"""How long after the merge a commit still says something about it, by its own time."""

MOST_LISTED = 64_000_000
"""So many bytes may the names and messages of the commits after the merge come to."""

MOST_SECONDS = 60.0
"""So long may listing them take."""

MOST_BYTES = 1_000_000
"""Of a larger file nobody says what became of its lines."""

_HEAD, _BASE = "refs/observe/head", "refs/observe/base"
_COMMIT = re.compile(OBJECT_NAME)


class GitHistory:
    """A merged pull request and what came after it, as ``ports.History``; ``open_history`` opens it."""

    def __init__(self, store: ObjectStore, *, merge: str, merged_at: datetime, tip: str) -> None:
        self.merged_at = merged_at
        self._store = store
        self._merge = merge
        self._tip = tip

    def text(self, commit: str, path: str) -> str | None:
        """The text of a regular file at a commit; None if one of them is not there. Raises ``SourceError``."""
        if not _COMMIT.fullmatch(commit) or not self._store.has_commit(commit):
            return None
        found = self._store.blob(commit, path, MOST_BYTES + 1)
        if found is not None and len(found) > MOST_BYTES:
            raise SourceError("its file is too large")
        return None if found is None else found.decode("utf-8", "replace").replace("\r\n", "\n")

    def later(self) -> Iterator[tuple[str, str]]:
        """The commits of the base branch since the merge, the oldest first: name and message of each.

        Raises ``SourceError`` where there is too much to read.
        """
        output = self._store.git.limited(
            *("log", "-z", "--reverse", "--format=%ct %H%n%B", f"{self._merge}..{self._tip}", "--"),
            most=MOST_LISTED,
            seconds=MOST_SECONDS,
        )
        until = (self.merged_at + LOOKED_AT).timestamp()
        for commit in output.decode("utf-8", "replace").split("\0")[:-1]:
            about, _, message = commit.partition("\n")
            at, _, name = about.partition(" ")
            if int(at) <= until:
                yield name, message

    def close(self) -> None:
        """Remove the store."""
        self._store.close()


def open_history(repo: Path, pull_request: PullRequest, remote: Remote) -> GitHistory:
    """The history of a merged pull request, fetched into a private store; the clone ``repo`` is not written to.

    Raises ``SourceError``, in a phrase: no such clone, nothing to fetch, or the merge is not in the base branch.
    """
    merge, head = pull_request.merge_commit, pull_request.head_sha
    if not _COMMIT.fullmatch(merge) or not _COMMIT.fullmatch(head):
        raise SourceError("GitHub does not say which commit merged it")
    if pull_request.merged_at is None:
        raise SourceError("GitHub does not say when it was merged")
    repository = open_repository(repo)
    store = ObjectStore(repository)
    try:
        tip = _fetch(store, pull_request, remote, DEPTHS[-1] if repository.shallow else None)
    except BaseException:
        store.close()
        raise
    return GitHistory(store, merge=merge, merged_at=pull_request.merged_at, tip=tip)


def _fetch(store: ObjectStore, pull_request: PullRequest, remote: Remote, depth: int | None) -> str:
    """Fetch the pull request's head and its base branch; the tip of that, in whose history the merge is."""
    branch = f"refs/heads/{pull_request.base_ref}"
    if store.git.attempt("check-ref-format", branch).code != 0:
        raise SourceError("the name of its base branch cannot be fetched")
    references = (f"+refs/pull/{pull_request.number}/head:{_HEAD}", f"+{branch}:{_BASE}")
    reply = fetch(store, remote, references, depth)
    if reply.code != 0:
        raise SourceError(not_fetched(reply, remote, pull_request.number))
    tip = store.git.run("rev-parse", "--verify", f"{_BASE}^{{commit}}").decode("ascii").strip()
    if store.git.attempt("merge-base", "--is-ancestor", pull_request.merge_commit, tip).code != 0:
        raise SourceError("its merge is not in the history of the base branch")
    return tip


MOST_CHANGES = 200
"""Changes of one release that are told. A larger one has a gap."""


@dataclass(frozen=True, slots=True)
class MergedChange:
    """One commit of the branch's own line. ``head`` is the merged head where git knows it: of a merge commit."""

    commit: str
    title: str
    pull_request: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """What came after ``since``."""

    since: str
    start: str
    """The commit of ``since``."""
    head: str
    changes: tuple[MergedChange, ...]
    """The newest first."""
    more: bool = False
    """There is more than ``MOST_CHANGES``."""
    passed: tuple[str, ...] = ()
    """Annotated tags from there on that name no version."""


_MOST_LISTED = 16_000_000
_MOST_SECONDS = 60.0
_VERSIONS = ("v[0-9]*", "[0-9]*.[0-9]*")
_MERGED = re.compile(r"Merge pull request #(\d{1,10}) ", re.ASCII)
_SQUASHED = re.compile(r" \(#(\d{1,10})\)$", re.ASCII)


def open_release_history(repo: Path, since: str) -> ReleaseHistory:
    """What HEAD has brought since the commit ``since``; empty: since the last annotated tag of a version.

    Raises ``SourceError``.
    """
    repository = open_repository(repo)
    head = repository.commit("HEAD")
    tag = "" if since else _last_tag(repository)
    start = repository.commit(f"refs/tags/{tag}" if tag else since)
    since = since or tag
    output = repository.git.limited(
        "log",
        "-z",
        "--first-parent",
        f"--max-count={MOST_CHANGES + 1}",
        "--format=%H %P%n%B",
        f"{start}..{head}",
        "--",
        most=_MOST_LISTED,
        seconds=_MOST_SECONDS,
    )
    changes = tuple(map(_change, output.decode("utf-8", "replace").split("\0")[:-1]))
    if not changes:
        raise SourceError(f"Nothing has changed since {since}: name an earlier tag with --since.")
    passed = _passed_over(repository, tag, start) if tag else ()
    return ReleaseHistory(since, start, head, changes[:MOST_CHANGES], len(changes) > MOST_CHANGES, passed)


def origin_of(repo: Path) -> str:
    """The URL that the repository was cloned from; empty without one. Raises ``SourceError``."""
    reply = open_repository(repo).git.attempt("config", "--get", "remote.origin.url")
    return reply.stdout.decode("utf-8", "replace").strip()


def _last_tag(repository: GitRepository) -> str:
    """The nearest annotated one that is called like a version: any other name is one that is left in passing."""
    reply = repository.git.attempt("describe", "--abbrev=0", *(f"--match={each}" for each in _VERSIONS), "HEAD")
    name = reply.stdout.decode("utf-8", "replace").strip()
    if reply.code != 0 or not name:
        advice = repository.advice("check the tags, or")
        raise SourceError(f"No annotated tag of a version leads to HEAD: name a commit with --since, or {advice}.")
    return name


def _passed_over(repository: GitRepository, tag: str, start: str) -> tuple[str, ...]:
    """The other annotated tags from ``start`` on: each may have been meant as a release."""
    output = repository.git.limited(
        "for-each-ref",
        "--format=%(objecttype) %(refname:strip=2)",
        f"--contains={start}",
        "--merged=HEAD",
        "refs/tags",
        most=_MOST_LISTED,
        seconds=_MOST_SECONDS,
    )
    lines = output.decode("utf-8", "replace").splitlines()
    names = (line.removeprefix("tag ") for line in lines if line.startswith("tag "))
    return tuple(name for name in names if name != tag)


def _change(entry: str) -> MergedChange:
    """One commit of the log: names of it and its parents, then its message."""
    names, _, message = entry.partition("\n")
    commit, *parents = names.split()
    subject, *body = message.strip().splitlines() or [""]
    merged = _MERGED.match(subject)
    head = parents[1] if len(parents) == 2 else ""  # noqa: PLR2004 (of more parents nobody can tell the head)
    if merged is not None and len(parents) > 1:
        title = next((each.strip() for each in body if each.strip()), subject)
        return MergedChange(commit, title, _number(merged[1]), head)
    squashed = _SQUASHED.search(subject)
    return MergedChange(commit, subject, None if squashed is None else _number(squashed[1]), head)


def _number(digits: str) -> int | None:
    number = int(digits)
    return number if 0 < number <= LARGEST_PULL_REQUEST else None
