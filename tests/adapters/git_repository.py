"""A real repository to test against, driven by the real git."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path


class Repo:
    """A repository in ``path``, made fresh; its git takes no settings from the machine.

    What it commits is of now, or of ``at`` where that is set.
    """

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        self.at: datetime | None = None
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
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=environment, input=stdin, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str | bytes, content: str | bytes = "text\n") -> None:
        """Write a file of the work tree."""
        target = Path(self.path, os.fsdecode(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "a change") -> str:
        """Commit the whole work tree; the commit's name."""
        self.git("add", "--all", "--force", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.rev("HEAD")

    def rev(self, name: str) -> str:
        """The full name of a revision."""
        return self.git("rev-parse", "--verify", name).decode().strip()
