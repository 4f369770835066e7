"""A real repository to test against, driven by the real git.

What many tests begin with is made by git once: ``made_once`` writes it out again for every later test.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

_SETTINGS = (
    *("-c", "core.abbrev=no"),  # a commit tells its whole name
    *("-c", "init.templateDir="),
    *("-c", "maintenance.auto=false"),
)
_MADE: dict[tuple[object, ...], dict[Path, bytes | None]] = {}
"""What is in each file, or nothing for a folder, by what was asked for."""


def made_once(place: Path, make: Callable[..., None], *what: str) -> None:
    """Have ``make(place, *what)`` make files, or write out what it made earlier in this process: that takes no git.

    Nothing in the files may tell where they are. What stood in ``place`` before is nobody else's.
    """
    wanted = (make, *what)
    if wanted not in _MADE:
        place.mkdir(parents=True, exist_ok=True)
        before = set(place.rglob("*"))
        make(place, *what)
        found = sorted(set(place.rglob("*")) - before)
        _MADE[wanted] = {path.relative_to(place): None if path.is_dir() else path.read_bytes() for path in found}
        return
    place.mkdir(parents=True, exist_ok=True)
    for path, content in _MADE[wanted].items():
        if content is None:
            (place / path).mkdir(exist_ok=True)
        else:
            (place / path).write_bytes(content)


class Repo:
    """A repository in ``path``, made fresh; its git takes no settings from the machine.

    What it commits is of now, or of ``at`` where that is set.
    """

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self.at: datetime | None = None
        if options or not (path / ".git").exists():
            path.mkdir(parents=True, exist_ok=True)
            self.git("init", "--quiet", "--initial-branch=main", *options)

    def git(self, *arguments: str | bytes, stdin: bytes = b"") -> bytes:
        """Run git here; it has to succeed."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada Lovelace",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Ada Lovelace",
            "GIT_COMMITTER_EMAIL": "ada@example.org",
            **({} if self.at is None else {"GIT_COMMITTER_DATE": f"@{int(self.at.timestamp())} +0000"}),
        }
        command = ["git", *_SETTINGS, *arguments]
        done = subprocess.run(command, cwd=self.path, env=environment, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str | bytes, content: str | bytes = "text\n") -> None:
        """Write a file of the work tree."""
        target = Path(self.path, os.fsdecode(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def symlink(self, name: str, target: str) -> None:
        """Make a symbolic link in the work tree, in the place of whatever file is there."""
        link = Path(self.path, name)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def commit(self, message: str = "a change") -> str:
        """Commit the whole work tree; the commit's name."""
        self.git("add", "--all", "--force", ".")
        told = self.git("commit", "--allow-empty", "--message", message).decode()
        (name,) = re.findall(r"\A\[.* ([0-9a-f]{40,})\]", told)
        return str(name)

    def rev(self, name: str) -> str:
        """The full name of a revision."""
        return self.git("rev-parse", "--verify", name).decode().strip()
