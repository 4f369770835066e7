"""What became of a pull request after its merge: its base branch's history, as git objects in a private store."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from review_advisor.adapters.git.diff import changed_files
from review_advisor.adapters.git.fetch import DEPTHS, Remote, fetch, not_fetched
from review_advisor.adapters.git.repository import open_repository
from review_advisor.adapters.git.store import ObjectStore
from review_advisor.core.facts.change import OBJECT_NAME, FileChange
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.record.fate import LaterCommit, same_lines
from review_advisor.ports.forge import Brought
from review_advisor.ports.review import SourceError

LOOKED_AT = timedelta(days=30)
"""How long after the merge a commit still says something about it, by the commits' own times."""
MOST_LATER = 200
"""So many of the commits that touch the same files are looked at."""
MOST_BYTES = 1_000_000
"""Of a larger file nobody says what became of its lines."""
_HEAD, _BASE = "refs/observe/head", "refs/observe/base"
_COMMIT = re.compile(OBJECT_NAME)
_MOST_COMMITS = 250
_REMEMBERED = 64
_FIRST_PARENTS = ("rev-list", "--first-parent")


class GitHistory:
    """A merged pull request and what came after it, as ``ports.History``; ``open_history`` opens it."""

    def __init__(self, store: ObjectStore, merge: str, head: str, tip: str) -> None:
        self._store = store
        self._merge = merge
        self._head = head
        self._tip = tip
        self._text = lru_cache(maxsize=_REMEMBERED)(self._read)
        self._later = lru_cache(maxsize=_REMEMBERED)(self._read_later)

    def text(self, commit: str, path: str) -> str | None:
        """The text of a regular file at a commit; None if there is none. Raises ``SourceError`` without the commit."""
        return self._text(commit, path)

    def brought(self) -> Brought:
        """What the merge brought: by a merge commit, by one squashed commit, or by the pull request's own, rebased."""
        before, *others = self._store.git.run("rev-parse", f"{self._merge}^@").decode("ascii").split() or [""]
        if not before:
            raise SourceError("the merge has no commit before it")
        own = self._listed("rev-list", f"--max-count={_MOST_COMMITS}", self._head, f"^{before}")
        files = self._changed(before, self._merge)
        made: tuple[str, ...] = (self._merge,)
        if not others and len(own) > 1:
            line = self._listed(*_FIRST_PARENTS, f"--max-count={len(own) + 1}", self._merge)
            base = self._store.merge_base(line[-1], self._head) or before
            rebased = self._changed(line[-1], self._merge)
            if len(line) > len(own) and same_lines(rebased, self._changed(base, self._head)):
                files, made = rebased, tuple(line[:-1])
        return Brought((*made, *own), files)

    def later(self, paths: tuple[str, ...]) -> tuple[LaterCommit, ...]:
        """The base branch's own commits since that touch one of ``paths``, the oldest first, within our bounds."""
        if not paths:
            return ()
        merged_at = int(self._store.git.run("show", "--no-patch", "--format=%ct", self._merge, "--").split()[0])
        until = merged_at + int(LOOKED_AT.total_seconds())
        asked = ("--reverse", f"--until={until}", f"{self._merge}..{self._tip}", "--", *paths)
        return tuple(map(self._later, self._listed(*_FIRST_PARENTS, *asked)[:MOST_LATER]))

    def close(self) -> None:
        """Remove the store."""
        self._store.close()

    def _read_later(self, commit: str) -> LaterCommit:
        message = self._store.git.run("show", "--no-patch", "--format=%B", commit, "--").decode("utf-8", "replace")
        return LaterCommit(commit, message, self._changed(f"{commit}^", commit))

    def _read(self, commit: str, path: str) -> str | None:
        known = _COMMIT.fullmatch(commit)
        if not known or self._store.git.attempt("cat-file", "-e", f"{commit}^{{commit}}").code != 0:
            raise SourceError(f"commit {commit[:12]} is not there any more")
        if "\0" in path or any(part in {"", ".", ".."} for part in path.split("/")):
            return None
        raw = self._store.blob(self._store.tree(commit), path, MOST_BYTES + 1)
        if raw is not None and len(raw) > MOST_BYTES:
            raise SourceError("its file is too large")
        return None if raw is None else raw.decode("utf-8", "replace").replace("\r\n", "\n")

    def _changed(self, one: str, other: str) -> tuple[FileChange, ...]:
        return changed_files(self._store, self._store.tree(one), self._store.tree(other))

    def _listed(self, *arguments: str) -> list[str]:
        return self._store.git.run(*arguments).decode("ascii").split()


def open_history(repo: Path, pull_request: PullRequest, remote: Remote) -> GitHistory:
    """The history of a merged pull request, fetched into a private store; the clone ``repo`` is not written to.

    Raises ``SourceError``, in a phrase: no such clone, nothing to fetch, or the merge is not in the base branch.
    """
    merge, head = pull_request.merge_commit, pull_request.head_sha
    if not _COMMIT.fullmatch(merge) or not _COMMIT.fullmatch(head):
        raise SourceError("GitHub does not say which commit merged it")
    repository = open_repository(repo)
    store = ObjectStore(repository, None)
    try:
        tip = _fetch(store, pull_request, remote, DEPTHS[-1] if repository.shallow else None)
    except BaseException:
        store.close()
        raise
    head_there = store.git.attempt("cat-file", "-e", f"{head}^{{commit}}").code == 0
    return GitHistory(store, merge, head if head_there else merge, tip)


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
