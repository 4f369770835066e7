"""The user's repository: where its parts lie, and what a revision's name means in it.

Only names are looked up here. What is compared is read in an ``ObjectStore``.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git, nearest_checkout
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.report.wording import printable_line
from review_advisor.ports.review import SourceError

_NEAR = 3
_ORIGIN = "refs/remotes/origin/"
_LOCAL_BRANCHES = ("refs/heads/main", "refs/heads/master")
"""The default branch where there is no remote that could name one."""
_REFS_OF_A_BASE = (*(f"{_ORIGIN}{name}" for name in ("HEAD", "main", "master")), *_LOCAL_BRANCHES)
"""Every ref that may be the default branch. Here more of them are stricter, so usual names count beside a known one."""
_OBJECT_NAME = re.compile(OBJECT_NAME)
_FULL_NAME_LENGTHS = {"sha1": 40, "sha256": 64}
_END_OF_NAME = re.compile(r"[~^:]|@\{")
_DESCRIBED = re.compile(r".+-g([0-9a-f]{4,})", re.IGNORECASE)
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
        """The full name of the commit that ``revision`` names.

        Raises ``SourceError``, also for a short name that several refs have: whoever pushes a tag or a branch chooses
        its name, and git would prefer a tag.
        """
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
        """The full name of the ref that others start from: ``origin/HEAD``, as the clone has it from the remote.

        Only a repository without any remote has the local ``main`` or ``master`` instead: beside a remote, whoever may
        push could have made a branch of that name.
        """
        names: tuple[str, ...] = _LOCAL_BRANCHES
        if self.has_remote():  # a remote's own branch named HEAD is no symbolic ref
            names = (self.git.attempt("symbolic-ref", "--quiet", f"{_ORIGIN}HEAD").stdout.decode("utf-8", "replace"),)
            names = tuple(name.strip() for name in names if name.startswith(_ORIGIN))
        return next((name for name in names if self._resolve(name, "commit")), None)

    def has_remote(self) -> bool:
        """Whether this is a clone of another repository, as far as it says so."""
        return any(
            self.git.attempt(*words).stdout
            for words in (("remote",), ("for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes"))
        )

    @property
    def fetch_command(self) -> str:
        """What brings the history of every branch, also into a clone of one branch or of one commit."""
        return f"git fetch {'--unshallow ' if self.shallow else ''}origin '+refs/heads/*:refs/remotes/origin/*'"

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
            return f"the clone is shallow, fetch the whole history (`{self.fetch_command}`, in CI `fetch-depth: 0`)"
        fetch = f" (`{self.fetch_command}`, in CI `fetch-depth: 0`)" if self.has_remote() else ""
        return f"{otherwise} fetch it first{fetch}"

    def _resolve(self, revision: str, kind: str) -> str | None:
        if not revision or "\0" in revision:
            return None
        # Without --quiet, git warns of a name that it finds in several places.
        reply = self.git.attempt("rev-parse", "--verify", "--end-of-options", f"{revision}^{{{kind}}}")
        name = reply.stdout.decode("ascii", "replace").strip()
        if reply.code != 0 or not _OBJECT_NAME.fullmatch(name):
            return None
        self._refuse_unclear(revision, name, is_ambiguous=b"is ambiguous" in reply.stderr)
        return name

    def _refuse_unclear(self, revision: str, resolved: str, *, is_ambiguous: bool) -> None:
        """Raise ``SourceError`` where the name in ``revision`` may mean something else than what git takes it for.

        HEAD, a ref's full name and an object's full name are always themselves.
        """
        name = _END_OF_NAME.split(revision, maxsplit=1)[0]
        is_object = _OBJECT_NAME.fullmatch(name) and len(name) == _FULL_NAME_LENGTHS[self.object_format]
        if name in ("HEAD", "@") or is_object:
            return
        if name.startswith("refs/") and self.git.attempt("show-ref", "--verify", "--quiet", name).code == 0:
            return
        meanings = list(self._meanings(name, resolved)) if name else []
        if is_ambiguous and len(meanings) < 2:  # noqa: PLR2004 (a meaning and another one)
            meanings += ["one ref", "another thing of that name"][len(meanings) :]
        if len(meanings) > 1:
            raise SourceError(
                f"{printable_line(revision)!r} is not clear, because it may mean {printable_line(meanings[0])} or "
                f"{printable_line(meanings[1])}: give the full name of the one that you mean."
            )

    def _meanings(self, name: str, resolved: str) -> Iterator[str]:
        """The refs that have this name, in git's order, and whatever else a person may mean by it."""
        own = [f"refs/{place}{name}" for place in ("", "tags/", "heads/", "remotes/")] + [f"refs/remotes/{name}/HEAD"]
        listed = self.git.run("for-each-ref", "--format=%(refname)", *own, f"refs/remotes/*/{name}").splitlines()
        refs = [os.fsdecode(line) for line in listed]
        found = [ref for ref in own if ref in refs]
        yield from found
        if found and (promised := self._promised(name)) not in (None, *found):
            yield f"{promised}, which is not here"
        if f"refs/tags/{name}" in found:
            yield from (ref for ref in refs if ref not in own and ref.split("/", 3)[3:] == [name])
        if found and (described := _DESCRIBED.fullmatch(name)):
            objects = self.git.attempt("rev-parse", f"--disambiguate={described[1]}").stdout.decode("ascii").split()
            if objects and resolved not in objects:
                yield f"the commit {described[1]}"

    def _promised(self, name: str) -> str | None:
        """The one ref that a name means by its first part, which is a folder of refs or a remote; None for others."""
        first, inner, _ = name.partition("/")
        if inner and first in ("refs", "heads", "remotes", "tags"):
            return name if first == "refs" else f"refs/{name}"
        remotes = self.git.attempt("remote").stdout.decode("utf-8", "replace").splitlines()
        return f"refs/remotes/{name}{'' if inner else '/HEAD'}" if first in remotes else None


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


def why_not_yours(path: Path) -> str | None:
    """Why what lies at ``path`` may have come with a branch, to follow its name; None if it is the user's own.

    Whoever writes a branch also writes what git checks out. So in a checkout a file or folder is the user's own only if
    the user owns it and its folder, no link leads to it, and neither the index nor HEAD nor the default branch tracks
    anything of its path, in whatever case. Outside of every checkout everything is the user's own.
    """
    for place in dict.fromkeys((Path(os.path.abspath(path)), path.resolve())):  # noqa: PTH100 (links stay)
        for top in (above for above in place.parents if os.path.lexists(above / ".git")):
            below = place.relative_to(top)
            steps = [top / step for step in (below, *below.parents[:-1])]
            if link := next((step for step in reversed(steps) if step.is_symlink()), None):
                return f"{link.relative_to(top)} is a symbolic link in a checkout"
            if not all(_is_of_this_user(each) for each in (place, place.parent)):
                return "another user owns it in a checkout"
            try:
                tracked = next(_tracked(open_repository(top), below.as_posix()), None)
            except NoRepositoryError:
                continue
            except SourceError as problem:
                return f"nobody can tell whether git tracks it: {str(problem).rstrip('.')}"
            if tracked is not None:
                return f"git tracks {printable_line(tracked)}, so whoever wrote the branch may have written it"
    return None


def _is_of_this_user(path: Path) -> bool:
    return not os.path.lexists(path) or path.lstat().st_uid == os.geteuid()


def _tracked(repository: GitRepository, wanted: str) -> Iterator[str]:
    """What the index, HEAD and the default branch track of a path: itself, what is above, below or kept beside it."""
    listed = repository.git.run("for-each-ref", "--format=%(objectname)", *_REFS_OF_A_BASE).decode("ascii").split()
    first = wanted.partition("/")[0]
    narrowed = ("--", first) if first.isascii() else ()
    anyhow = {"GIT_LITERAL_PATHSPECS": None, "GIT_ICASE_PATHSPECS": "1", "GIT_NOGLOB_PATHSPECS": "1"}
    folded = _folded(wanted)
    for commit in dict.fromkeys((repository.head(), *listed)):
        trees = () if commit is None else (f"--with-tree={commit}",)
        reply = repository.git.attempt("ls-files", "-z", *trees, *narrowed, environment=anyhow)
        if reply.code != 0:
            raise SourceError(f"git ls-files failed: {reply.complaint}.")
        for name in map(os.fsdecode, reply.stdout.split(b"\0")[:-1]):
            found = _folded(name)
            if found == folded or folded.startswith(f"{found}/") or found.startswith((f"{folded}/", f"{folded}-")):
                yield name


def _folded(path: str) -> str:
    """The path as a file system that ignores case and composition sees it."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())
