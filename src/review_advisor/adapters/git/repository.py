"""The user's repository: where its parts lie, and what a revision's name means in it.

Only names are looked up here. What is compared is read in an ``ObjectStore``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git, nearest_checkout
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.report.wording import printable_line
from review_advisor.ports.review import SourceError

_NEAR = 3
_USUAL_BRANCHES = ("origin/main", "origin/master", "main", "master")
_OBJECT_NAME = re.compile(OBJECT_NAME)
_WHERE = (
    "rev-parse",
    "--path-format=absolute",
    "--show-object-format",
    "--is-shallow-repository",
    "--git-path",
    "objects",
    "--git-path",
    "index",
    "--git-path",
    "shallow",
)


class NoRepositoryError(SourceError):
    """git says that a folder is in no repository."""


@dataclass(frozen=True, slots=True)
class GitRepository:
    """An existing repository, bare or not."""

    git: Git
    object_format: str
    shallow: bool
    objects: Path
    index: Path
    shallow_file: Path

    def commit(self, revision: str) -> str:
        """The full name of the commit that ``revision`` names. Raises ``SourceError``."""
        if name := self._resolve(revision, "commit"):
            return name
        near = self.near(revision)
        known = f" The nearest names here: {', '.join(near)}." if near else ""
        raise SourceError(
            f"{revision!r} names no commit in this repository: {self.advice('check the name, or')}.{known}"
        )

    def base(self, revision: str) -> str:
        """As ``commit``, but a tree (such as the empty one) will do: the left side of ``A..B``."""
        return self._resolve(revision, "commit") or self._resolve(revision, "tree") or self.commit(revision)

    def head(self) -> str | None:
        """The commit of HEAD, None while the branch is unborn."""
        return self._resolve("HEAD", "commit")

    def near(self, revision: str) -> tuple[str, ...]:
        """The branches and tags whose names are nearest to ``revision``, at most three."""
        listed = self.git.attempt(
            "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags"
        )
        names = listed.stdout.decode("utf-8", "replace").splitlines() if listed.code == 0 else []
        last = {name.rpartition("/")[2]: name for name in reversed(names)}
        found = get_close_matches(revision, names, n=_NEAR) or [
            last[name] for name in get_close_matches(revision.rpartition("/")[2], last, n=_NEAR)
        ]
        return tuple("".join(c if c.isprintable() else "?" for c in name) for name in found)

    def default_branch(self) -> str | None:
        """The branch that others start from: what the remote calls so, or else the first of the usual names."""
        head = self.git.attempt("rev-parse", "--abbrev-ref", "--verify", "--quiet", "origin/HEAD")
        named = head.stdout.decode("utf-8", "replace").strip() if head.code == 0 else ""
        names = (named, *_USUAL_BRANCHES)
        return next((name for name in names if name and self._resolve(name, "commit")), None)

    def untracked(self, top: Path) -> tuple[str, ...]:
        """Files below ``top`` that git does not track and is not told to ignore, as paths from there."""
        listed = replace(self.git, folder=top).run("ls-files", "--others", "--exclude-standard", "-z")
        return tuple(os.fsdecode(path) for path in listed.split(b"\0")[:-1])

    def of_commit_in_progress(self) -> GitRepository:
        """The same with the index that git names to the hooks of a commit. Raises ``SourceError`` for a foreign one.

        ``git commit --all`` and ``git commit FILE`` commit another index than the usual one (githooks(5)).
        """
        named = os.environ.get("GIT_INDEX_FILE")
        if not named:
            return self
        index = Path(named).absolute()
        if index.parent.resolve() != self.index.parent.resolve():
            raise SourceError(
                f"GIT_INDEX_FILE names {printable_line(named)}, which is no index of this repository: unset it."
            )
        return replace(self, index=index)

    def top(self) -> Path:
        """The top folder of the work tree. Raises ``SourceError`` in a bare repository."""
        top = self.work_tree()
        if top is None:
            raise SourceError("This repository has no files to compare: name a range, such as --range A..B.")
        return top

    def work_tree(self) -> Path | None:
        """The top folder of the work tree, None in a bare repository."""
        reply = self.git.attempt("rev-parse", "--path-format=absolute", "--show-toplevel")
        return Path(os.fsdecode(reply.stdout.removesuffix(b"\n"))) if reply.code == 0 else None

    def advice(self, otherwise: str) -> str:
        """What to do about history that is not here."""
        if self.shallow:
            return "the clone is shallow, fetch the whole history (`git fetch --unshallow`, in CI `fetch-depth: 0`)"
        return f"{otherwise} fetch it first (in CI: `fetch-depth: 0`)"

    def _resolve(self, revision: str, kind: str) -> str | None:
        if not revision or "\0" in revision:
            return None
        reply = self.git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{{kind}}}")
        name = reply.stdout.decode("ascii", "replace").strip()
        return name if reply.code == 0 and _OBJECT_NAME.fullmatch(name) else None


def open_repository(folder: Path) -> GitRepository:
    """The repository that holds ``folder``, at any depth. Raises ``SourceError``: ``NoRepositoryError`` for none."""
    if not folder.is_dir():
        raise SourceError(f"{printable_line(str(folder))} is not a folder: give the path of a git repository.")
    folder = folder.resolve()
    shown = printable_line(str(folder))
    git = Git(find_git(folder), folder)
    reply = git.attempt(*_WHERE)
    if reply.code != 0 and _is_ownership(reply.stderr):
        git = replace(git, settings=tuple(f"safe.directory={value}" for value in _allowed_folders(git)))
        reply = git.attempt(*_WHERE)
        if reply.code != 0 and _is_ownership(reply.stderr):
            top = printable_line(str(nearest_checkout(folder)))
            raise SourceError(
                f"git refuses {top} because another user owns it: run as its owner, or allow it with "
                f"`git config --global --add safe.directory {top}`."
            )
    if reply.code != 0:
        if b"not a git repository" in reply.stderr:
            raise NoRepositoryError(f"{shown} is not in a git repository: run inside one, or name one with --repo.")
        raise SourceError(f"git cannot open {shown}: {reply.complaint}.")
    return _located(git, reply.stdout)


def _located(git: Git, output: bytes) -> GitRepository:
    lines = [os.fsdecode(line) for line in output.removesuffix(b"\n").split(b"\n")]
    try:
        object_format, shallow, objects, index, shallow_file = lines
    except ValueError:
        raise SourceError(
            f"git cannot place {git.folder}: git 2.31 or newer is needed, and a path without line breaks."
        ) from None
    return GitRepository(git, object_format, shallow == "true", Path(objects), Path(index), Path(shallow_file))


def _is_ownership(stderr: bytes) -> bool:
    return b"dubious ownership" in stderr or b"owned by someone else" in stderr


def _allowed_folders(git: Git) -> list[str]:
    """The ``safe.directory`` values of the system and of the user who runs us (``actions/checkout`` sets one)."""
    own = {name: os.environ.get(name) for name in ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL")}
    outside = replace(git, folder=Path(git.folder.anchor))
    values: list[str] = []
    for scope in ("--system", "--global"):
        reply = outside.attempt(
            "config",
            scope,
            "--null",
            "--type=path",
            "--get-all",
            "safe.directory",
            environment={"GIT_CONFIG_NOSYSTEM": None, **own},
        )
        values += [os.fsdecode(value) for value in reply.stdout.split(b"\0")[:-1]]
    return values
