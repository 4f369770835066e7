"""A new branch of one commit with one changed file, by git's plumbing: files, index and HEAD stay as they are."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.git.repository import GitRepository
from review_advisor.adapters.git.run import Git, identity
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.review import SourceError

_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class NewBranch:
    """A branch to make: ``text`` is the whole file at ``path`` in its only commit, whose parent is ``parent``."""

    name: str
    parent: str
    path: str
    text: str
    message: str
    at: datetime


def make_branch(repository: GitRepository, branch: NewBranch) -> str:
    """Make it, and give the name of its commit. Nothing is pushed. Raises ``SourceError``, also if it is there."""
    where = repository.git.run("rev-parse", "--absolute-git-dir").removesuffix(b"\n")
    folder = Path(os.fsdecode(where))
    by = identity("review-advisor", "review-advisor@localhost", branch.at.isoformat(timespec="seconds"))
    ref = f"refs/heads/{branch.name}"
    try:
        with temporary_folder("index") as place:
            own = {**repository.git.environment, **by, "GIT_DIR": str(folder), "GIT_INDEX_FILE": str(place / "i")}
            git = replace(repository.git, folder=folder, environment=own)
            _refuse_taken(git, branch.name, ref)
            entry = git.run("ls-tree", "-z", "--full-tree", branch.parent, "--", branch.path)
            mode = entry.partition(b" ")[0].decode("ascii") or _FILE_MODES[0]
            if mode not in _FILE_MODES:
                raise SourceError(f"{shown_path(branch.path)} is no plain file in {branch.parent[:12]}.")
            git.run("read-tree", "--end-of-options", f"{branch.parent}^{{tree}}")
            blob = _named(git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=branch.text.encode()))
            told = f"{mode} {blob}\t{branch.path}\0".encode()
            git.run("update-index", "-z", "--index-info", stdin=told)
            tree = _named(git.run("write-tree"))
            changed = git.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", f"{branch.parent}^{{tree}}", tree)
            if changed != f"{branch.path}\0".encode():
                raise SourceError(f"{shown_path(branch.path)} alone cannot be changed in {branch.parent[:12]}.")
            made = git.run("commit-tree", tree, "-p", branch.parent, stdin=branch.message.encode())
            commit = _named(made)
            git.run("update-ref", ref, commit, "0" * len(commit))
            return commit
    except OSError as error:
        raise SourceError(f"A temporary folder cannot be made: {error.strerror}.") from None


def _refuse_taken(git: Git, name: str, ref: str) -> None:
    """Raises ``SourceError`` where the branch is there, where a worktree would be on it, or where no such name fits."""
    if git.attempt("show-ref", "--verify", "--quiet", ref).code == 0:
        raise SourceError(f"There is a branch {name} already: delete it, or go on with it.")
    own = git.attempt("symbolic-ref", "--quiet", "HEAD").stdout.decode("utf-8", "replace").strip()
    worktrees = git.run("worktree", "list", "--porcelain").decode("utf-8", "replace").splitlines()
    heads = {own, *(line.removeprefix("branch ") for line in worktrees)}
    if ref in heads:
        raise SourceError(f"A worktree is on the branch {name}, which has no commit yet: switch it to another one.")
    top = "/".join(ref.split("/")[:3])
    listed = git.run("for-each-ref", "--format=%(refname)", top).decode("utf-8", "replace").splitlines()
    near = next((each for each in listed if f"{ref}/".startswith(f"{each}/") or each.startswith(f"{ref}/")), None)
    if near is not None:
        shown = shown_path(near.removeprefix("refs/heads/"))
        raise SourceError(f"There can be no branch {name} beside the branch {shown}: rename that one.")


def _named(output: bytes) -> str:
    return output.decode("ascii").strip()
