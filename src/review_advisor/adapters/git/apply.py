"""Applying a patch to a few files without a repository, and without any of them ever lying on disk by its name."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git
from review_advisor.core.pull_request.writes import CommittedFile
from review_advisor.lifetime.belongings import temporary_folder
from review_advisor.ports.forge import PatchRefused
from review_advisor.ports.review import SourceError


class GitPatcher:
    """``ports.Patcher`` by the installed git, in a private bare repository that is gone afterwards."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """All files there are once the patch is applied: every hunk of it, or nothing. Raises ``PatchRefused``."""
        try:
            with temporary_folder("patch") as place:
                git = Git(find_git(Path.cwd()), place, environment={"GIT_DIR": str(place)})
                return _applied(git, patch, files)
        except SourceError as error:
            raise PatchRefused(str(error)) from None
        except OSError as error:
            raise PatchRefused(f"A temporary folder cannot be filled: {error.strerror}.") from None


def _applied(git: Git, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
    git.run("init", "--bare", "--quiet", "--template=")
    for file in files:
        name = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=file.content).strip()
        entry = b"%s %s\t%s\0" % (file.mode.encode(), name, file.path.encode())
        git.run("update-index", "-z", "--index-info", stdin=entry)
    reply = git.attempt("apply", "--cached", "--whitespace=nowarn", "-p1", "-", stdin=patch.encode())
    if reply.code != 0:
        raise PatchRefused(f"git does not apply the patch: {reply.complaint}.")
    return tuple(_read(git, entry) for entry in git.run("ls-files", "--stage", "-z").split(b"\0")[:-1])


def _read(git: Git, entry: bytes) -> CommittedFile:
    facts, _, path = entry.partition(b"\t")
    mode, name, _ = facts.decode("ascii").split(" ")
    return CommittedFile(path.decode("utf-8", "backslashreplace"), mode, git.run("cat-file", "blob", name))
