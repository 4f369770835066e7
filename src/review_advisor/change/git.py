"""Runs git: the executable, its environment, the repository and a private object store."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from threading import Timer
from typing import IO

from review_advisor.change.change import OBJECT_NAME, SourceError
from review_advisor.safety.children import DEVNULL, Child, check_interrupt, run, start
from review_advisor.safety.wording import printable_line

_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.pager=cat",
    "core.warnAmbiguousRefs=true",
    "log.showSignature=false",
)

_BLOCK = 65_536
_SYSTEM_PATH = ("/usr/bin", "/bin")


def identity(name: str, mail: str, when: str) -> dict[str, str]:
    """The variables that make somebody the author and the committer of what git commits."""
    facts = (("NAME", name), ("EMAIL", mail), ("DATE", when))
    return {f"GIT_{role}_{fact}": value for role in ("AUTHOR", "COMMITTER") for fact, value in facts}


class OutputTooLargeError(SourceError):
    """git has more to say than it may."""


class NoGitError(SourceError):
    """There is no git to ask."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a git process left: its exit code and both outputs."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """The first line of stderr, printable, without git's ``fatal:``."""
        text = self.stderr.decode("utf-8", "backslashreplace").strip().partition("\n")[0]
        text = text.removeprefix("fatal: ").removeprefix("error: ")
        return "".join(c if c.isprintable() else "?" for c in text) or f"exit code {self.code}"


@dataclass(frozen=True, slots=True)
class Git:
    """git, ready to run in one folder.

    Nothing of the caller's environment or configuration reaches it: the environment is made here, system and user
    configuration are off, and replace refs, grafts, hooks, lazy fetches and prompts too.
    """

    executable: Path
    folder: Path
    settings: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def attempt(
        self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str | None] | None = None
    ) -> Reply:
        """Run to the end, whatever the exit code. A variable that is None in ``environment`` is not passed."""
        try:
            done = run(self._argv(arguments), self._environment(environment), self.folder, stdin=stdin)
        except OSError as error:
            raise SourceError(f"git cannot be started in {self.folder}: {error.strerror}.") from error
        return Reply(done.code, done.stdout, done.stderr)

    def run(self, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str | None] | None = None) -> bytes:
        """The output of a command that has to succeed. Raises ``SourceError``."""
        reply = self.attempt(*arguments, stdin=stdin, environment=environment)
        if reply.code != 0:
            raise SourceError(f"git {arguments[0]} failed: {reply.complaint} (a partial or damaged clone?).")
        return reply.stdout

    def limited(self, *arguments: str, most: int, seconds: float) -> bytes:
        """The output of a command that has to succeed, with no more than so many bytes and within so many seconds.

        Raises ``SourceError``, past either bound too; the process has ended then.
        """
        return b"".join(self.blocks(*arguments, most=most, seconds=seconds))

    def blocks(self, *arguments: str, most: int, seconds: float) -> Iterator[bytes]:
        """The output of a command in blocks, as it comes, bounded as in ``limited``.

        A failure is raised before the output is said to be over.
        """
        left = most
        with self._watched(arguments, seconds) as process:
            block = None
            while block != b"":
                block = b"" if process.stdout is None else process.stdout.read(min(_BLOCK, max(left, 0) + 1))
                left -= len(block)
                if left < 0:
                    process.kill()
                    raise OutputTooLargeError(f"git {arguments[0]} has more to say than {most:,} bytes.")
                yield block
            if process.wait() != 0:
                raise SourceError(f"git {arguments[0]} failed, or took too long.")

    def beginning(
        self, *arguments: str, most: int, seconds: float, stdin: IO[bytes] | int = DEVNULL
    ) -> tuple[bytes, int]:
        """What a command says, up to one byte more than ``most``, and its exit code; it has ended then.

        Past either bound it was killed. Raises ``ReviewInterrupted``.
        """
        with self._watched(arguments, seconds, stdin) as process:
            output = b"" if process.stdout is None else process.stdout.read(most + 1)
            if len(output) > most:
                process.kill()
            code = process.wait()
        check_interrupt()  # a signal ends git as well: its exit code then tells of no failure
        return output, code

    @contextmanager
    def _watched(self, arguments: tuple[str, ...], seconds: float, stdin: IO[bytes] | int = DEVNULL) -> Iterator[Child]:
        """A process that is killed after so many seconds."""
        with self.start(*arguments, stdin=stdin) as process:
            watch = Timer(seconds, process.kill)
            watch.start()
            try:
                yield process
            finally:
                watch.cancel()

    def start(self, *arguments: str, stdin: IO[bytes] | int) -> Child:
        """A process whose output the caller reads as it comes; stderr is dropped."""
        try:
            return start(self._argv(arguments), self._environment(None), self.folder, stdin=stdin, stderr=DEVNULL)
        except OSError as error:
            raise SourceError(f"git cannot be started in {self.folder}: {error.strerror}.") from error

    def _argv(self, arguments: tuple[str, ...]) -> list[str]:
        settings = [word for setting in (*_SETTINGS, *self.settings) for word in ("-c", setting)]
        return [str(self.executable), *settings, *arguments]

    def _environment(self, more: Mapping[str, str | None] | None) -> dict[str, str]:
        variables = {
            "PATH": os.pathsep.join((str(self.executable.parent), *_SYSTEM_PATH)),
            "HOME": os.devnull,
            "XDG_CONFIG_HOME": os.devnull,
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_GRAFT_FILE": os.devnull,
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            **self.environment,
            **(more or {}),
        }
        return {name: value for name, value in variables.items() if value is not None}


def find_git(checkout: Path) -> Path:
    """The absolute path of git, from ``PATH``; never one that lies in ``checkout``.

    Relative entries of the path are passed over. Raises ``NoGitError`` when no git is left.
    """
    root = checkout_around(checkout)
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("git", path=entry) if Path(entry).is_absolute() else None
        if found is None:
            continue
        places = {Path(found), Path(found).resolve()}
        if root == Path(root.anchor) or not any(place.is_relative_to(root) for place in places):
            return Path(found)
    raise NoGitError("git was not found on PATH (outside the checkout): install git 2.31 or newer.")


def checkout_around(folder: Path) -> Path:
    """What may be a checkout around ``folder``, whoever's it is: no program below it is started.

    It is the outermost folder with a ``.git``, because git may pass over those within, or else ``folder`` itself. The
    root of the file system and the user's home are it only where nothing within is: programs lie below them.
    """
    root, places = folder.resolve(), _with_git(folder)
    wide = {Path(root.anchor), Path(os.path.realpath(os.path.expanduser("~")))}  # noqa: PTH111 -- it never raises
    within = [place for place in places if place not in wide]
    return (within or places or [root])[-1]


def nearest_checkout(folder: Path) -> Path:
    """The nearest folder around ``folder`` with a ``.git``, whoever's it is, or else itself."""
    return (_with_git(folder) or [folder.resolve()])[0]


def _with_git(folder: Path) -> list[Path]:
    root = folder.resolve()
    # Path.exists raises where a folder above may not be searched.
    return [place for place in (root, *root.parents) if os.path.exists(place / ".git")]  # noqa: PTH110


def git_version() -> str:
    """Which git would be used, and its version. Raises ``SourceError`` without one."""
    executable = find_git(Path.cwd())
    version = Git(executable, Path("/")).run("version").decode("utf-8", "replace").strip()
    return f"{executable}, {version}"


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
            self.git.attempt(*command).stdout
            for command in (("remote",), ("for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes"))
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
        """This repository with the index that git names to a commit's hooks. Raises ``SourceError`` for a foreign one.

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
    printed = printable_line(str(folder))
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
            raise NoRepositoryError(f"{printed} is not in a git repository: run inside one, or name one with --repo.")
        raise SourceError(f"git cannot open {printed}: {reply.complaint}.")
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
