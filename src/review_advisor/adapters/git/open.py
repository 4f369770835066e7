"""How a source is opened that needs no network: one function for each way to name a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.adapters.git.patch_source import PatchSource
from review_advisor.adapters.git.repository import GitRepository, open_repository
from review_advisor.adapters.git.source import About, GitSource, Sides
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.ports.review import SourceError

_SHORT = 12
_MOST_NAMED = 5


def open_range(repo: Path, revisions: str, about: About | None = None, rules: str = "") -> GitSource:
    """``A..B`` (from A to B) or ``A...B`` (from their merge base to B); a right side left out is HEAD.

    All paths of the range count, also where ``repo`` is a folder inside the repository. The rules are those of A, not
    of the merge base, or of the commit ``rules``. Raises ``SourceError``, also for a range that is empty in a shallow
    clone.
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
    store = ObjectStore(repository)
    head = repository.commit(right or "HEAD")
    tip = repository.base(left) if dots == ".." else repository.commit(left)
    base = tip if dots == ".." else _merge_base(repository, store, left, tip, head)
    _refuse_cut_off(repository, left, base, head)
    return _between(store, base, head, about, repository.commit(rules) if rules else tip)


def open_commit(repo: Path, revision: str = "HEAD") -> GitSource:
    """A commit that changes nothing, to read its files. Raises ``SourceError``."""
    repository = open_repository(repo)
    commit = repository.commit(revision)
    return _between(ObjectStore(repository), commit, commit, None, commit)


def open_base(repo: Path, ref: str, about: About | None = None) -> GitSource:
    """What HEAD has brought since it left ``ref``: from their merge base to HEAD, by the rules of the tip of ``ref``.

    Raises ``SourceError``, also for a short name that several refs have, and where a shallow clone holds nothing that
    HEAD has brought.
    """
    repository = open_repository(repo)
    store = ObjectStore(repository)
    head, tip = repository.commit("HEAD"), repository.commit(ref)
    base = _merge_base(repository, store, ref, tip, head)
    _refuse_cut_off(repository, ref, base, head)
    return _between(store, base, head, about, tip)


def _refuse_cut_off(repository: GitRepository, ref: str, base: str, head: str) -> None:
    """Refuse an empty range of a shallow clone: the commits that it lacks are not known to change nothing."""
    if repository.shallow and base == head:
        raise _no_base(repository, f"The head is no newer than {ref!r}, so there is no base to compare with")


def _default_branch(repository: GitRepository) -> str | None:
    """The default branch's full name; None where nobody else could have named one. Raises ``SourceError``."""
    branch = repository.default_branch()
    if branch is None and (repository.shallow or repository.has_remote()):
        raise _no_base(repository)
    return branch


def _no_base(repository: GitRepository, reason: str = "There is no base to compare with") -> SourceError:
    """Why nothing is reviewed without a base: the change would look empty or smaller, or bring its own rules."""
    where = "in this shallow clone" if repository.shallow else "here"
    ways = "name one with --base REF"
    if repository.has_remote():
        ways = f"run `{repository.fetch_command}` (in CI: `fetch-depth: 0`), or {ways}"
        if repository.default_branch() is None:
            ways += ", or have git ask for the default branch after that (`git remote set-head origin --auto`)"
    return SourceError(f"{reason} {where}: {ways}.")


def _between(store: ObjectStore, base: str, head: str, about: About | None, rules: str) -> GitSource:
    base_tree, head_tree = store.trees(base, head)
    return GitSource(store, Sides(base, head, base_tree, head_tree, commits=True, rules=rules), about or About())


def open_staged(repo: Path, about: About | None = None) -> GitSource:
    """What is staged: HEAD (nothing, before the first commit) against the index as it is.

    In a hook it is the index of the commit that is being made. The rules are those of the default branch's tip, because
    the earlier commits of a branch are its author's. Only where there is no remote, and no ``main`` or ``master``, they
    are those of HEAD. Raises ``SourceError``, also where the default branch is not here.
    """
    repository = open_repository(repo).of_commit_in_progress()
    branch = _default_branch(repository)
    store = ObjectStore(repository)
    base = repository.head() or store.empty_tree()
    rules = base if branch is None else repository.commit(branch)
    staged = store.staged_tree(repository)
    return GitSource(store, Sides(base, staged, store.tree(base), staged, commits=False, rules=rules), about or About())


def open_working_tree(repo: Path, about: About | None = None, *, untracked: bool = False) -> GitSource:
    """All that a developer has: what HEAD has brought since the default branch, and tracked files as they are on disk.

    ``untracked``: the files that git does not know, too; ignored ones never. What was chosen is told in ``remarks``.
    The rules are those of the default branch's tip. Raises ``SourceError``, also where the default branch is not here
    and the change may therefore be larger than what can be seen of it.
    """
    repository = open_repository(repo)
    top = repository.top()
    head, branch = repository.head(), _default_branch(repository)
    store = ObjectStore(repository)
    base, since = head or store.empty_tree(), "the last commit"
    rules = base if branch is None else repository.commit(branch)
    if head is not None and branch is not None:
        shown = branch.removeprefix("refs/remotes/").removeprefix("refs/heads/")
        forked = _merge_base(repository, store, shown, rules, head)
        base, since = (forked, f"{shown} ({forked[:_SHORT]})") if forked != head else (base, since)
    others = repository.untracked(top)
    tree = store.working_tree(repository, top, others if untracked else ())
    base_tree = store.tree(base)
    if head in (None, base) and tree == base_tree and (branch is None or repository.shallow):
        raise _no_base(repository)
    title = f"changes since {since}, with what is not committed"
    sides = Sides(base, tree, base_tree, tree, commits=False, rules=rules, kind="work", title=title)
    return GitSource(store, sides, about or About(), remarks=tuple(_remarks(since, others, sent=untracked)))


def _remarks(since: str, untracked: Sequence[str], *, sent: bool) -> Iterator[str]:
    yield f"Reviewing the changes since {since}, with what is not committed of tracked files."
    if untracked:
        named = ", ".join(map(shown_path, untracked[:_MOST_NAMED]))
        more = f" and {len(untracked) - _MOST_NAMED} more" if len(untracked) > _MOST_NAMED else ""
        word = "Untracked and sent" if sent else "Untracked and not sent (--untracked sends them)"
        yield f"{word}: {named}{more}."


def open_patch(
    path: Path,
    about: About | None = None,
    repo: Path | None = None,
    read: Callable[[Path], bytes] = Path.read_bytes,
) -> PatchSource:
    """A patch file, as ``git diff``, ``git format-patch`` or ``diff -u`` write it. Raises ``SourceError``.

    With a repository around (``repo``), its HEAD is the patch's base: for the configuration and the guard.
    """
    try:
        patch = read(path)
    except OSError as error:
        raise SourceError(f"The patch {path} cannot be read: {error.strerror}.") from error
    said = about or About()
    title = path.stem if said.title is None else said.title
    head = open_head(repo) if repo is not None else None
    base = None if head is None else (head.store, head.tree)
    return PatchSource(patch, title=title, body=said.body or "", spec=said.spec, base=base)


@dataclass(frozen=True, slots=True)
class CheckedOutHead:
    """The commit that is checked out, and its ``tree`` in a ``store`` that whoever opened it closes."""

    commit: str
    store: ObjectStore
    tree: str


def open_head(repo: Path) -> CheckedOutHead | None:
    """HEAD; None outside a repository and before the first commit."""
    try:
        repository = open_repository(repo)
    except SourceError:
        return None
    commit = repository.head()
    if commit is None:
        return None
    store = ObjectStore(repository)
    return CheckedOutHead(commit, store, store.tree(commit))


def _merge_base(repository: GitRepository, store: ObjectStore, ref: str, tip: str, head: str) -> str:
    base = store.merge_base(tip, head)
    if base is None:
        advice = repository.advice("compare them with A..B instead, or")
        raise SourceError(f"{ref!r} and the head have no common ancestor here: {advice}.")
    return base
