"""Git objects, as far as GitHub's Git Data API hands them out. A name is computed from what the object holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from review_advisor.mockworld.object_names import blob_name, tree_name

ModeAndBlob = tuple[str, str]
"""A mode and the name of a blob."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. ``author`` and ``committer`` are logins, ``at`` the second of the model's clock.

    ``verified``: its committer signed it, which anybody else cannot. Without a ``committer`` it is the author.
    """

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: str
    at: int
    committer: str = ""
    verified: bool = False


@dataclass(slots=True)
class Objects:
    """All objects of all repositories: forks share theirs, as on GitHub. A tree is flat: whole paths to entries."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, Mapping[str, ModeAndBlob]] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def blob(self, content: bytes) -> str:
        """Store a file's content; its name is git's own."""
        name = blob_name(content)
        self.blobs[name] = content
        return name

    def tree(self, entries: Mapping[str, ModeAndBlob]) -> str:
        """Store a tree; its name is git's own."""
        name = tree_name(entries)
        self.trees[name] = dict(entries)
        return name

    def commit(
        self, tree: str, parents: tuple[str, ...], message: str, author: str, *, at: int, sha: str | None = None
    ) -> Commit:
        """Store a commit; ``sha`` gives it the name that it has somewhere else."""
        name = sha or _name("commit", tree, parents, message, author, at)
        made = Commit(name, tree, parents, message, author, at)
        self.commits[name] = made
        return made

    def files(self, sha: str) -> Mapping[str, ModeAndBlob]:
        """The flat tree of a commit."""
        return self.trees[self.commits[sha].tree]

    def content(self, sha: str, path: str) -> bytes | None:
        """A file of a commit; None if there is none."""
        entry = self.files(sha).get(path)
        return self.blobs[entry[1]] if entry else None

    def ancestry(self, sha: str) -> Iterator[str]:
        """The commit and everything that it rests on, the nearest first."""
        seen: set[str] = set()
        waiting = [sha]
        while waiting:
            name = waiting.pop(0)
            if name in seen or name not in self.commits:
                continue
            seen.add(name)
            yield name
            waiting.extend(self.commits[name].parents)

    def merge_base(self, one: str, other: str) -> str | None:
        """The nearest commit that both rest on."""
        others = set(self.ancestry(other))
        return next((sha for sha in self.ancestry(one) if sha in others), None)


def _name(*parts: object) -> str:
    return hashlib.sha1("\0".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()
