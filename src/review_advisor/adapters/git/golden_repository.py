"""A golden case as a real repository with a base and a head, so that it can be reviewed like any other change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from review_advisor.adapters.git.run import Git, find_git, identity
from review_advisor.core.evaluation.golden.golden_case import (
    CommitsChange,
    FilesChange,
    GoldenCase,
    GoldenFile,
    NamedChange,
    PatchChange,
)
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.report.wording import printable_line
from review_advisor.ports.review import SourceError

_BY = identity("Golden", "golden@example.invalid", "2026-01-05T09:00:00Z")


@dataclass(frozen=True, slots=True)
class GoldenRepository:
    """Where the change of a case lies, and between which commits."""

    folder: Path
    base: str
    head: str


@dataclass(frozen=True, slots=True)
class GoldenClones:
    """Where the repositories of cases lie: each under its name, and all others in ``any_other``."""

    named: Mapping[str, Path] = field(default_factory=dict)
    any_other: Path | None = None

    def of(self, repository: str) -> Path | None:
        """The clone of a repository; a case may name a folder itself."""
        by_name = {name.casefold(): folder for name, folder in self.named.items()}
        there = Path(repository) if Path(repository).is_dir() else self.any_other
        return by_name.get(repository.casefold(), there)


NO_CLONES = GoldenClones()


def make_golden_repository(
    case: GoldenCase,
    folder: Path,
    clones: GoldenClones = NO_CLONES,
    rules: Mapping[str, str] | None = None,
) -> GoldenRepository:
    """The change of ``case`` in a repository: made in the empty ``folder``, or found in one of ``clones``.

    The same case makes the same commits. A clone is needed for a case that names commits, and is not changed.
    ``rules`` are further files of a base that is made, which the change leaves alone unless it is about them.
    Raises ``SourceError``: for a patch that does not apply, and for commits that its clone does not hold.
    """
    more = [GoldenFile(path, text, text) for path, text in (rules or {}).items()]
    change = case.change
    if isinstance(change, CommitsChange):
        return _found(change.repository, change.base, change.head, clones.of(change.repository))
    if isinstance(change, NamedChange):
        raise SourceError(f"The case {case.id} only names {change.url}: it has no change that can be reviewed.")
    if isinstance(change, FilesChange):
        git = _begun(folder, (*more, *change.files))
        _write(folder, ((file.path, file.after) for file in change.files), git)
    else:
        git = _begun(folder, (*more, *change.base_files))
        _apply(change, git, case.id)
    git.run("commit", "--quiet", "--allow-empty", f"--message={printable_line(case.title).strip() or case.id}")
    base, head = (git.run("rev-parse", name).decode().strip() for name in ("HEAD~1", "HEAD"))
    return GoldenRepository(folder, base, head)


def files_of(made: GoldenRepository, paths: Iterable[str]) -> tuple[GoldenFile, ...]:
    """These files on both sides of the change; None where one is not."""
    git = Git(find_git(made.folder), made.folder)
    return tuple(GoldenFile(path, _text(git, made.base, path), _text(git, made.head, path)) for path in sorted(paths))


def _text(git: Git, commit: str, path: str) -> str | None:
    reply = git.attempt("cat-file", "blob", f"{commit}:{path}")
    return reply.stdout.decode("utf-8", "replace") if reply.code == 0 else None


def _begun(folder: Path, files: Iterable[GoldenFile]) -> Git:
    """A new repository whose one commit holds the files as they were."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SourceError(f"{folder} is not empty.")
    git = Git(find_git(folder), folder, ("core.autocrlf=false", "commit.gpgSign=false"), _BY)
    git.run("init", "--quiet", "--initial-branch=main", "--template=")
    _write(folder, ((file.path, file.before) for file in files), git)
    git.run("commit", "--quiet", "--allow-empty", "--message=Begin")
    return git


def _apply(change: PatchChange, git: Git, case_id: str) -> None:
    reply = git.attempt("apply", "--index", "--whitespace=nowarn", "-", stdin=change.patch.encode())
    if reply.code != 0:
        raise SourceError(f"The patch of the case {case_id} does not apply: {reply.complaint}.")


def _write(folder: Path, texts: Iterable[tuple[str, str | None]], git: Git) -> None:
    known = list(texts)
    try:
        for path, text in known:
            if text is None:
                (folder / path).unlink(missing_ok=True)
        for path, text in known:
            if text is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(text.encode())
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"A file of the case cannot be written: {why}.") from None
    git.run("add", "--all", "--force", ".")


def _found(repository: str, base: str, head: str, clone: Path | None) -> GoldenRepository:
    if clone is None:
        raise SourceError(f"A case is about commits of {repository}: name a clone of it with --clone.")
    git = Git(find_git(clone), clone)
    for commit in (base, head):
        named = re.fullmatch(OBJECT_NAME, commit) is not None
        if not named or git.attempt("cat-file", "-e", f"{commit}^{{commit}}").code != 0:
            raise SourceError(f"{clone} does not hold the commit {commit[:64]} of {repository}.")
    return GoldenRepository(clone, base, head)
