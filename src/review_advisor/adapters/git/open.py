"""How a source is opened that needs no network: one function for each way to name a change."""

from __future__ import annotations

from pathlib import Path

from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.repository import Repository, open_repository
from review_advisor.adapters.git.source import About, GitSource, Sides
from review_advisor.adapters.git.store import ObjectStore
from review_advisor.core.facts.change import Spec
from review_advisor.ports.review import SourceError


def open_range(
    repo: Path,
    revisions: str,
    *,
    title: str | None = None,
    body: str | None = None,
    spec: Spec | None = None,
    scratch: Path | None = None,
) -> GitSource:
    """``A..B`` (from A to B) or ``A...B`` (from their merge base to B); a right side left out is HEAD.

    All paths of the range count, also where ``repo`` is a folder inside the repository. Raises ``SourceError``.
    """
    dots = "..." if "..." in revisions else ".."
    left, found, right = revisions.partition(dots)
    if not found:
        raise SourceError(f"{revisions!r} is not a range: write A..B, or A...B to start from the merge base.")
    if not left:
        raise SourceError(
            f"{revisions!r} names no base: write A..B (an undefined variable in a script looks like this)."
        )
    repository = open_repository(repo)
    store = ObjectStore(repository, scratch)
    head = repository.commit(right or "HEAD")
    base = repository.base(left) if dots == ".." else _merge_base(repository, store, left, head)
    sides = Sides(base, head, store.tree(base), store.tree(head), commits=True)
    return GitSource(store, sides, About(title, body, spec), scratch)


def open_base(
    repo: Path,
    ref: str,
    *,
    title: str | None = None,
    body: str | None = None,
    spec: Spec | None = None,
    scratch: Path | None = None,
) -> GitSource:
    """What HEAD has brought since it left ``ref``: from their merge base to HEAD. Raises ``SourceError``."""
    repository = open_repository(repo)
    store = ObjectStore(repository, scratch)
    head = repository.commit("HEAD")
    base = _merge_base(repository, store, ref, head)
    sides = Sides(base, head, store.tree(base), store.tree(head), commits=True)
    return GitSource(store, sides, About(title, body, spec), scratch)


def open_staged(
    repo: Path,
    *,
    title: str | None = None,
    body: str | None = None,
    spec: Spec | None = None,
    scratch: Path | None = None,
) -> GitSource:
    """What is staged: HEAD (nothing, before the first commit) against the index as it is. Raises ``SourceError``."""
    repository = open_repository(repo)
    store = ObjectStore(repository, scratch)
    base = repository.head() or store.empty_tree()
    staged = store.staged_tree(repository)
    sides = Sides(base, staged, store.tree(base), staged, commits=False)
    return GitSource(store, sides, About(title, body, spec), scratch)


def open_patch(
    path: Path,
    *,
    title: str | None = None,
    body: str | None = None,
    spec: Spec | None = None,
    repo: Path | None = None,
) -> PatchSource:
    """A patch file, as ``git diff``, ``git format-patch`` or ``diff -u`` write it. Raises ``SourceError``.

    With a repository around (``repo``), its HEAD is the patch's base: for the configuration and the guard.
    """
    try:
        patch = path.read_bytes()
    except OSError as error:
        raise SourceError(f"The patch {path} cannot be read: {error.strerror}.") from error
    base = _head_of(repo) if repo is not None else None
    return PatchSource(patch, title=path.stem if title is None else title, body=body or "", spec=spec, base=base)


def _head_of(repo: Path) -> tuple[ObjectStore, str] | None:
    try:
        repository = open_repository(repo)
    except SourceError:
        return None
    head = repository.head()
    if head is None:
        return None
    store = ObjectStore(repository, None)
    return store, store.tree(head)


def base_file(repo: Path, revision: str, path: str) -> bytes | None:
    """The bytes of a regular file at a revision (a commit or a tree); None if it has none at ``path``.

    A symbolic link or a folder counts as none. Raises ``SourceError`` if the revision is not there.
    """
    repository = open_repository(repo)
    store = ObjectStore(repository, None)
    try:
        return store.blob(store.tree(repository.base(revision)), path)
    finally:
        store.close()


def _merge_base(repository: Repository, store: ObjectStore, ref: str, head: str) -> str:
    base = store.merge_base(repository.commit(ref), head)
    if base is None:
        advice = repository.advice("compare them with A..B instead, or")
        raise SourceError(f"{ref!r} and the head have no common ancestor here: {advice}.")
    return base
