"""Making commits through GitHub's Git Data API: objects first, to which nothing leads, then one move of a branch."""

from __future__ import annotations

import base64
from typing import Any, TypeVar
from urllib.parse import quote

from review_advisor.adapters.github.address import commit_name, quoted
from review_advisor.adapters.github.rest_answers import BranchAnswer, Read, RepositoryAnswer
from review_advisor.adapters.github.wire import Wire
from review_advisor.core.pull_request.writes import CommittedFile, MadeCommit
from review_advisor.ports.forge import ForgeRejected


class _Named(Read):
    sha: str


class _Commit(_Named):
    tree: _Named

    def value(self) -> MadeCommit:
        return MadeCommit(self.sha, self.tree.sha)


Shape = TypeVar("Shape")


class RepositoryReader:
    """What all that is about one repository has to ask. Every method raises ``ForgeError``."""

    def __init__(self, repository: str, wire: Wire) -> None:
        self._root = f"/repos/{repository}"
        self._wire = wire

    def _read_repository(self) -> RepositoryAnswer:
        return self._wire.get("read the repository", self._root, RepositoryAnswer)

    def _has_rules(self, path: str) -> bool:
        """Whether branch protection or a ruleset guards the branch. Raises ``ForgeMissing`` if it is not there."""
        if self._wire.get("read the branch", f"{self._root}/branches/{path}", BranchAnswer).protected:
            return True
        return any(self._wire.pages("read the branch's rules", f"{self._root}/rules/branches/{path}", list[Any]))


class GitData(RepositoryReader):
    """Branches and git objects of one repository, as ``ports.Forge``. Every method raises ``ForgeError``."""

    def is_protected(self, branch: str) -> bool:
        """Whether any rule guards a branch, or it is the default one: branch protection and rulesets both count."""
        path = _path(branch)
        return self._read_repository().default_branch == branch or self._has_rules(path)

    def tip(self, branch: str) -> str:
        """The commit that a branch ends with."""
        doing = f"read the branch {quoted(branch)}"
        return self._wire.get(doing, f"{self._root}/branches/{_path(branch)}", BranchAnswer).tip

    def make_commit(self, parent: str, files: tuple[CommittedFile, ...], message: str) -> MadeCommit:
        """Make a commit on ``parent`` with these files put into its tree. No branch leads to it yet.

        The parent's own tree is asked for: a commit's name is no base of a tree by GitHub's word.
        """
        doing = f"read commit {quoted(parent)}"
        base = self._wire.get(doing, f"{self._root}/git/commits/{commit_name(parent)}", _Commit).tree.sha
        entries = [
            {"path": each.path, "mode": each.mode, "type": "blob", "sha": self._blob(each.content)} for each in files
        ]
        tree = self._make("store a tree", "trees", {"base_tree": base, "tree": entries}, _Named).sha
        body = {"message": message, "tree": tree, "parents": [parent]}
        return self._make("store a commit", "commits", body, _Commit).value()

    def advance_branch(self, branch: str, commit: str) -> None:
        """Move a branch forward to a commit, without force."""
        doing = f"move the branch {quoted(branch)}"
        path = f"{self._root}/git/refs/heads/{_path(branch)}"
        self._wire.write(doing, "PATCH", path, {"sha": commit_name(commit), "force": False})

    def _blob(self, content: bytes) -> str:
        body = {"content": base64.b64encode(content).decode("ascii"), "encoding": "base64"}
        return self._make("store a file", "blobs", body, _Named).sha

    def _make(self, doing: str, kind: str, body: dict[str, Any], shape: type[Shape]) -> Shape:
        return self._wire.make(doing, f"{self._root}/git/{kind}", body, shape)


def _path(branch: str) -> str:
    """A branch's name as a part of a path. Raises ``ForgeRejected`` for one that would lead somewhere else."""
    if any(part in {"", ".", ".."} for part in branch.split("/")):
        raise ForgeRejected(f"{quoted(branch)} is not the name of a branch.")
    return quote(branch)
