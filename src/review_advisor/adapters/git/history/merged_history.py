"""A merged pull request and its base branch since, read as git objects from a private store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from review_advisor.adapters.git.fetch import DEPTHS, Remote, fetch, not_fetched
from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.adapters.git.repository import open_repository
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.ports.review import SourceError

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
        told = self._store.git.limited(
            *("log", "-z", "--reverse", "--format=%ct %H%n%B", f"{self._merge}..{self._tip}", "--"),
            most=MOST_LISTED,
            seconds=MOST_SECONDS,
        )
        until = (self.merged_at + LOOKED_AT).timestamp()
        for commit in told.decode("utf-8", "replace").split("\0")[:-1]:
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
