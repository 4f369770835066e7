"""What became of a pull request after its merge: its base branch's history, as git objects in a private store.

However many files and findings there are, so many git processes read it: a handful, and one for each reviewed commit
of which lines or a file are gone, or which has to be fetched.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from review_advisor.adapters.git.fetch import DEPTHS, Remote, fetch, not_fetched
from review_advisor.adapters.git.objects import REGULAR_FILES, Objects
from review_advisor.adapters.git.repository import open_repository
from review_advisor.adapters.git.store import RENAMES, ObjectStore
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.patch_files import shown_name
from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.observation.revert_detection import LaterCommit, Lines, Touched, brings_the_same, changed_lines
from review_advisor.ports.forge import FileTooLarge
from review_advisor.ports.review import SourceError

LOOKED_AT = timedelta(days=30)
"""How long after the merge a commit still says something about it, by its own time."""
MOST_COMMITS = 5_000
"""So many commits after the merge are listed, the oldest first."""
MOST_LISTED = 64_000_000
"""So long may what git lists be, in bytes: the names of what a merge or the commits after it touch."""
MOST_SECONDS = 300.0
"""So long one pull request is looked at."""
MOST_CHANGED = 200_000
"""A change of more lines is not compared line by line."""
MOST_FETCHED = 20
"""So many reviewed commits that are no longer in any branch are asked for by their names."""
_HEAD, _BASE, _REVIEWED = "refs/observe/head", "refs/observe/base", "refs/observe/reviewed"
_COMMIT = re.compile(OBJECT_NAME)
_MOST_OWN = 250
_NOT_KNOWN = "nobody can tell what its merge brought"
_MOST_KEPT = 100_000
_NOTHING = "000000"
_LINE = ("rev-list", "--first-parent")
_TOUCHED = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", *RENAMES, "--no-ext-diff")


class GitHistory:
    """A merged pull request and what came after it, as ``ports.History``; ``open_history`` opens it."""

    def __init__(
        self,
        store: ObjectStore,
        *,
        merge: str,
        merged_at: datetime,
        head: str,
        tip: str,
        fetched: Callable[[str, float], bool],
    ) -> None:
        self.merged_at = merged_at
        self._store = store
        self._fetch = fetched
        self._asked_for: set[str] = set()
        self._merge = merge
        self._head = head
        self._tip = tip
        self._until = time.monotonic() + MOST_SECONDS
        self._files = Objects(store.git, self._until)
        self._sides = Objects(store.git, self._until)
        self._since: dict[str, tuple[Touched, ...]] = {}

    def has(self, commit: str) -> bool:
        """Whether a commit is there, or can be had by its name. Whatever is no commit's name is none.

        Raises ``SourceError`` where too many had to be fetched, or it takes too long.
        """
        if self._files.has(commit):
            return True
        if commit in self._asked_for or not _COMMIT.fullmatch(commit):
            return False
        if len(self._asked_for) == MOST_FETCHED:
            raise SourceError(f"more than {MOST_FETCHED} reviewed commits have to be fetched by name")
        self._asked_for.add(commit)
        return self._fetch(commit, self._left()) and self._files.has(commit)

    def text(self, commit: str, path: str) -> str | None:
        """The text of a regular file at a commit that is there; None if there is none."""
        found = self._files.file(commit, path)
        return None if found is None else self._files.text(found)

    def content(self, name: str) -> str:
        """The text of a file that ``later`` names."""
        return self._files.text(name)

    def moved(self, commit: str, path: str) -> str | None:
        """What git calls a file of a commit in what was merged, where it was renamed since; None if it was not.

        Where the commit is gone, the merge's own renames tell.
        """
        return next((each.path for each in self.since(commit) if each.is_moved and each.old_path == path), None)

    def since(self, commit: str) -> tuple[Touched, ...]:
        """Every file that differs between a commit and what was merged; where it is gone, those of the merge."""
        if commit not in self._since:
            found = self._between(commit, self._merge) if self.has(commit) else self.brought
            if sum(map(len, self._since.values())) + len(found) > _MOST_KEPT:
                self._since.clear()
            self._since[commit] = found
        return self._since[commit]

    @property
    def brought(self) -> tuple[Touched, ...]:
        """What the merge brought: by a merge commit, by one squashed commit, or by the pull request's own, rebased."""
        files, unknown = self._brought
        if unknown:
            raise SourceError(unknown)
        return files

    @cached_property
    def _brought(self) -> tuple[tuple[Touched, ...], str]:
        """The same, and why nobody can tell."""
        try:
            return self._of_merge(), ""
        except SourceError as problem:
            return (), str(problem)

    def _of_merge(self) -> tuple[Touched, ...]:
        before, *others = self._store.git.run("rev-parse", f"{self._merge}^@").decode("ascii").split() or [""]
        if not before:
            raise SourceError("the merge has no commit before it")
        if self._merge == self._head:  # it was pushed: nobody says where the base branch was before
            raise SourceError(_NOT_KNOWN)
        if others:
            return self._between(before, self._merge)
        if not self._head:
            raise SourceError("its own commits are not there")
        own = self._listed("rev-list", "--no-merges", f"--max-count={_MOST_OWN}", self._head, f"^{before}")
        return self._between(before, self._merge) if len(own) <= 1 else self._rebased_or_squashed(before, len(own))

    def _rebased_or_squashed(self, before: str, own: int) -> tuple[Touched, ...]:
        """What so many commits brought: whichever of the two comes to the same lines as they do."""
        line = self._listed(*_LINE, f"--max-count={own + 1}", self._merge)
        for first in (before, line[-1]):
            base = self._store.merge_base(first, self._head) or before
            found = self._between(first, self._merge)
            own_files = self._between(base, self._head)
            if brings_the_same(found, own_files) and self.lines(found) == self.lines(own_files):
                return found
        raise SourceError(_NOT_KNOWN)

    def later(self) -> Iterator[LaterCommit]:
        """The base branch's own commits since, the oldest first; past a bound it raises ``SourceError``."""
        commits, cut_off = self._after
        yield from commits
        if cut_off:
            raise SourceError(cut_off)

    def lines(self, files: Iterable[Touched], *, passing_over: bool = False) -> Lines:
        """Every changed line of these files; ``passing_over`` those that are too large.

        Raises ``SourceError`` past a bound.
        """
        found, total = Lines(), 0
        for each in files:
            try:
                sides = [self._sides.text(name) if name else "" for name in (each.old, each.new)]
            except FileTooLarge:
                if not passing_over:
                    raise
                continue
            lines = changed_lines(each, *sides)
            found.update(lines)
            total += lines.total()
            if total > MOST_CHANGED:
                raise SourceError(f"more than {MOST_CHANGED:,} lines are changed")
        return found

    def close(self) -> None:
        """Remove the store, and end what reads it."""
        self._files.close()
        self._sides.close()
        self._store.close()

    @cached_property
    def _after(self) -> tuple[tuple[LaterCommit, ...], str]:
        """The commits after the merge, and why there are no more of them where there may be."""
        try:
            asked = ("--reverse", "--parents", "--timestamp", f"{self._merge}..{self._tip}")
            line = [each.split() for each in self._limited(*_LINE, *asked).splitlines()]
            until = self.merged_at.timestamp() + LOOKED_AT.total_seconds()
            listed = [b" ".join(commit[:2]) + b"\n" for at, *commit in line if int(at) <= until]
            told = self._limited(*_TOUCHED, "--stdin", stdin=b"".join(listed[:MOST_COMMITS]))
        except SourceError as problem:
            return (), str(problem)
        if line and line[0][2:3] != [self._merge.encode("ascii")]:
            return (), "the base branch's own line of commits does not hold it"
        more = f"more than {MOST_COMMITS:,} commits came after it" if len(listed) > MOST_COMMITS else ""
        return tuple(LaterCommit(commit, files) for commit, files in _commits(told)), more

    def _between(self, one: str, other: str) -> tuple[Touched, ...]:
        ((_, files),) = _commits(b"\0" + self._limited(*_TOUCHED, one, other, "--"))
        return files

    def _limited(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self._store.git.limited(*arguments, most=MOST_LISTED, seconds=self._left(), stdin=stdin)

    def _left(self) -> float:
        """How many seconds are left. Raises ``SourceError`` once there are none."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise SourceError("it takes too long to read")
        return left

    def _listed(self, *arguments: str) -> list[str]:
        return self._limited(*arguments).decode("ascii").split()


def _commits(told: bytes) -> list[tuple[str, tuple[Touched, ...]]]:
    """What ``diff-tree -z --raw`` tells: after the name of each commit, what it touches."""
    found: list[tuple[str, list[Touched]]] = []
    fields = iter(told.split(b"\0")[:-1])
    for field in fields:
        if not field.startswith(b":"):
            found.append((field.decode("ascii"), []))
            continue
        modes, names, status = _facts(field)
        first = shown_name(next(fields))
        last = shown_name(next(fields)) if status in "RC" else first
        old, new = (name if mode in REGULAR_FILES else "" for mode, name in zip(modes, names, strict=True))
        before, after = (f"{mode} {name}" if mode != _NOTHING else "" for mode, name in zip(modes, names, strict=True))
        touched = Touched(first if before else "", last if after else "", old, new, (before, after))
        found[-1][1].append(touched)
    return [(commit, tuple(files)) for commit, files in found]


def _facts(field: bytes) -> tuple[list[str], list[str], str]:
    """The two modes, the two names of contents and the letter in one record."""
    old_mode, new_mode, old, new, status = field[1:].decode("ascii").split(" ")
    return [old_mode, new_mode], [old, new], status[:1]


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
    store = ObjectStore(repository, None)
    try:
        tip = _fetch(store, pull_request, remote, DEPTHS[-1] if repository.shallow else None)
    except BaseException:
        store.close()
        raise
    head_there = store.git.attempt("cat-file", "-e", f"{head}^{{commit}}").code == 0

    def fetched(commit: str, seconds: float) -> bool:
        return fetch(store, remote, (f"+{commit}:{_REVIEWED}",), 1, seconds).code == 0

    return GitHistory(
        store,
        merge=merge,
        merged_at=pull_request.merged_at,
        head=head if head_there else "",
        tip=tip,
        fetched=fetched,
    )


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
