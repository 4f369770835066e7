"""Requests that make git objects and move branches (GitHub's Git Data API)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.mockworld.github.objects import Commit, ModeAndBlob
from review_advisor.mockworld.github.records import Push, Repository
from review_advisor.mockworld.github.requests.access import Access
from review_advisor.mockworld.github.traffic import RefusedRequest, refused

WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a new tree."""

    path: str
    mode: str
    blob: str


class GitObjectRequests(Access):
    """Git objects as one token reaches them."""

    def create_blob(self, content: bytes) -> str:
        """Store a file's content; its name."""
        with self.request("create blob", "contents:write"):
            return self.github.objects.blob(content)

    def create_tree(self, base: str, entries: Sequence[TreeEntry]) -> str:
        """Store a tree: another one with these entries put in; its name."""
        with self.request("create tree", "contents:write"):
            objects = self.github.objects
            if base not in objects.trees:
                raise refused("base_tree is not a valid tree")
            files: dict[str, ModeAndBlob] = dict(objects.trees[base])
            for entry in entries:
                if entry.blob not in objects.blobs:
                    raise refused(f"tree.sha {entry.blob} is not a valid blob")
                files[entry.path] = (entry.mode, entry.blob)
            return objects.tree(files)

    def create_commit(self, message: str, tree: str, parents: Sequence[str]) -> Commit:
        """Store a commit; nothing points to it yet."""
        with self.request("create commit", "contents:write"):
            objects = self.github.objects
            if tree not in objects.trees or any(parent not in objects.commits for parent in parents):
                raise refused("Tree SHA or parent does not exist")
            return objects.commit(tree, tuple(parents), message, self.account, at=self.github.tick())

    def commit(self, sha: str) -> Commit:
        """A commit."""
        with self.request("get commit", "contents:read"):
            return self.github.commit(sha)

    def update_ref(self, branch: str, sha: str) -> str:
        """Move a branch to a commit that rests on its tip."""
        with self.request("update ref", "contents:write") as repository:
            if branch not in repository.branches:
                raise refused("Reference does not exist")
            if sha not in self.github.objects.commits:
                raise refused("Object does not exist")
            self._may_move(repository, branch, sha)
            repository.pushes.append(Push(branch, sha, self.account))
            self.github.move_branch(repository, branch, sha)
            return sha

    def _may_move(self, repository: Repository, branch: str, sha: str) -> None:
        objects, tip = self.github.objects, repository.branches[branch]
        if tip not in objects.ancestry(sha):
            raise refused("Update is not a fast forward")
        if repository.protected.get(branch):
            raise refused("Protected branch update failed: required status checks are expected.")
        before, after = objects.files(tip), objects.files(sha)
        moved = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        if any(path.startswith(WORKFLOWS) for path in moved) and not self.token.may("workflows:write"):
            raise RefusedRequest(403, "refusing to allow a GitHub App to create or update workflow")
