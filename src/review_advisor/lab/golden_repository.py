"""A golden case as a real repository."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from review_advisor.change.change import OBJECT_NAME, SourceError
from review_advisor.change.git import Git, find_git, identity, open_repository
from review_advisor.lab.golden_cases import CommitsChange, FilesChange, GoldenCase, GoldenFile, NamedChange, PatchChange
from review_advisor.safety.wording import printable_line

_BY = identity("Golden", "golden@example.invalid", "2026-01-05T09:00:00Z")


@dataclass(frozen=True, slots=True)
class GoldenRepository:
    """Where the change of a case lies, and between which commits.

    ``rules`` is the commit whose files say by which rules it is reviewed; empty: the base.
    """

    folder: Path
    base: str
    head: str
    rules: str = ""


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
    ``rules`` are files by which it is reviewed, in the place of the base's own; an empty one is not there. Raises
    ``SourceError``: for a patch that does not apply, and for commits that its clone does not hold.
    """
    change = case.change
    if isinstance(change, CommitsChange):
        found = _found(change.repository, change.base, change.head, clones.of(change.repository))
        return _ruled(_borrowed(found, folder), rules) if rules else found
    if isinstance(change, NamedChange):
        raise SourceError(f"The case {case.id} only names {change.url}: it has no change that can be reviewed.")
    if isinstance(change, FilesChange):
        git = _begun(folder, change.files)
        _write(folder, ((file.path, file.after) for file in change.files), git)
    else:
        git = _begun(folder, change.base_files)
        _apply(change, git, case.id)
    git.run("commit", "--quiet", "--allow-empty", f"--message={printable_line(case.title).strip() or case.id}")
    base, head = (git.run("rev-parse", name).decode().strip() for name in ("HEAD~1", "HEAD"))
    made = GoldenRepository(folder, base, head)
    return _ruled(made, rules) if rules else made


def files_of(made: GoldenRepository, paths: Iterable[str]) -> tuple[GoldenFile, ...]:
    """These files on both sides of the change; None where one is not."""
    git = Git(find_git(made.folder), made.folder)
    return tuple(GoldenFile(path, _text(git, made.base, path), _text(git, made.head, path)) for path in sorted(paths))


def _text(git: Git, commit: str, path: str) -> str | None:
    reply = git.attempt("cat-file", "blob", f"{commit}:{path}")
    return reply.stdout.decode("utf-8", "replace") if reply.code == 0 else None


def _borrowed(found: GoldenRepository, folder: Path) -> GoldenRepository:
    """The same commits in a repository of its own in ``folder``, which borrows what the clone holds."""
    clone = open_repository(found.folder)
    folder.mkdir(parents=True, exist_ok=True)
    init = ("init", "--quiet", "--template=", f"--object-format={clone.object_format}")
    Git(find_git(folder), folder).run(*init)
    try:
        (folder / ".git/objects/info/alternates").write_bytes(bytes(clone.objects) + b"\n")
        if clone.shallow_file.is_file():
            shutil.copyfile(clone.shallow_file, folder / ".git/shallow")
    except OSError as error:
        raise SourceError(f"The clone {found.folder} cannot be borrowed from: {error.strerror}.") from None
    return replace(found, folder=folder)


def _ruled(made: GoldenRepository, rules: Mapping[str, str]) -> GoldenRepository:
    """With a commit beside the change: the files of its base, but for these."""
    own = {**_BY, "GIT_INDEX_FILE": str(made.folder.resolve() / ".git/rules-index")}
    git = Git(find_git(made.folder), made.folder, (), own)
    git.run("read-tree", f"{made.base}^{{tree}}")
    for path, text in rules.items():
        blob = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text.encode()).decode().strip()
        told = f"{'100644' if text else '0'} {blob}\t{path}\0"
        git.run("update-index", "-z", "--index-info", stdin=told.encode())
    tree = git.run("write-tree").decode().strip()
    return replace(made, rules=git.run("commit-tree", tree, stdin=b"Rules").decode().strip())


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
