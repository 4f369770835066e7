"""The one place that runs git: which executable, with which environment, and what a failure says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import IO

from review_advisor.lifetime.belongings import DEVNULL, Child, check_interrupt, run, start
from review_advisor.ports.review import SourceError

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
        """The same in blocks, as the output comes. A failure is raised before the output is said to be over."""
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
    said = Git(executable, Path("/")).run("version").decode("utf-8", "replace").strip()
    return f"{executable}, {said}"
