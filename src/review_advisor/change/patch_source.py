"""A change read from a patch file."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from review_advisor.change.around import UseCollector
from review_advisor.change.change import Change, Edits, FileChange, SourceError, Spec, Status
from review_advisor.change.git import Git, find_git
from review_advisor.change.git_store import ObjectStore
from review_advisor.change.guidelines import BaseText
from review_advisor.change.kinds import OWN_PIPELINE, PYPROJECT, may_configure
from review_advisor.change.patch import PatchError, entries_of_patch, merged_types, shown_name
from review_advisor.change.source import AsShown
from review_advisor.change.sources import About, open_head
from review_advisor.safety.children import temporary_folder

_SHORT_DIGEST = 12
_ACCEPTED = "make it with `git diff` or `git format-patch`, with the prefixes a/ and b/, and pass it as it is"
_MOST_MAILS = 1_000
_MOST_LISTED = 200_000_000
_SECONDS = 60


class PatchSource:
    """A patch from a file. Made by ``open_patch``; ``base`` is the tree of the repository around it, if any."""

    base_sha: str | None = None
    rules_sha: str | None = None

    remarks: tuple[str, ...] = ()

    def __init__(
        self, patch: bytes, *, title: str, body: str, spec: Spec | None, base: tuple[ObjectStore, str] | None = None
    ) -> None:
        self._patch = patch
        self._base = base
        self._title = title
        self._body = body
        self._spec = spec
        self._read: tuple[FileChange, ...] | None = None

    @property
    def label(self) -> str:
        """The change's, which is known before anything of it is read."""
        return f"patch-{hashlib.sha256(self._patch).hexdigest()[:_SHORT_DIGEST]}"

    def change(self) -> Change:
        """The facts, as far as the patch tells them. Raises ``SourceError`` for a damaged patch."""
        files = self._files()
        if not files:
            raise SourceError("The patch holds no change: make it with `git diff` or `git format-patch`.")
        lines = (line for file in files if PYPROJECT in file.paths for hunk in file.hunks for line in hunk.lines)
        configured = may_configure(self.base_file(PYPROJECT))
        return Change(
            label=self.label,
            title=self._title,
            body=self._body,
            files=files,
            spec=self._spec,
            own_repository=self.base_file(OWN_PIPELINE) is not None,
            config_in_pyproject=configured or any(may_configure(line.encode()) for line in lines),
        )

    def _files(self) -> tuple[FileChange, ...]:
        """The files of the patch, once git was seen to read the same."""
        if self._read is None:
            try:
                entries = entries_of_patch(self._patch)
            except PatchError as error:
                raise SourceError(f"The patch cannot be read: {error}; {_ACCEPTED}.") from error
            _check_with_git(self._patch, entries)
            self._read = merged_types(entries)
        return self._read

    def head_tree(
        self,
        tree: str | None = None,  # noqa: ARG002 (as GitSource)
        shown: AsShown | None = None,  # noqa: ARG002 (as above)
    ) -> AbstractContextManager[None]:
        """A patch comes without a tree: None."""
        return nullcontext()

    def edits(self, folder: Path) -> Edits:
        """A bug: nobody can edit a tree that is not there."""
        raise AssertionError(f"a patch has no tree that could be edited in {folder}")

    def base_file(self, path: str) -> bytes | None:
        """A regular file at the HEAD of the repository around the patch; None without one."""
        if self._base is None:
            return None
        store, tree = self._base
        return store.blob(tree, path, refuse_links=True)

    def base_texts(self, paths: Iterable[str]) -> dict[str, BaseText]:
        """What stands at these paths of that HEAD; nothing without one."""
        return {} if self._base is None else self._base[0].texts(self._base[1], paths)

    def base_declared(self) -> dict[str, BaseText]:
        """The files of that HEAD which declare advisors; none without one."""
        return {} if self._base is None else self._base[0].declared(self._base[1])

    def base_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a base: None."""
        return None

    def head_part(self, path: str, most: int) -> bytes | None:  # noqa: ARG002 (as above)
        """A patch comes without a tree: None."""
        return None

    def base_names(self, folder: str) -> tuple[str, ...]:
        """The names in a folder of the repository around it; none without one."""
        return () if self._base is None else self._base[0].names(self._base[1], folder)

    def head_text(self, path: str) -> str | None:
        """The text of a file that the patch adds, which stands in it whole; None for any other."""
        for file in self._files():
            if file.path == path and file.status is Status.ADDED and not file.binary:
                return "\n".join(line[1:] for hunk in file.hunks for line in hunk.lines if line.startswith("+"))
        return None

    def head_texts(self, paths: Iterable[str], tree: str | None = None) -> dict[str, str]:  # noqa: ARG002 (as above)
        """A patch comes without a tree: none."""
        return {}

    def collect_uses(self, collector: UseCollector, tree: str | None = None) -> bool:  # noqa: ARG002 (as above)
        """A patch comes without a tree: nothing is found."""
        return False

    def close(self) -> None:
        """Remove the private folder that the reading goes through."""
        if self._base is not None:
            self._base[0].close()


def _check_with_git(patch: bytes, entries: Sequence[FileChange]) -> None:
    """Raise ``SourceError`` unless git reads these files and counts in the patch, as a diff and as mails."""
    due = [(str(each.added), str(each.removed), each.path) for each in entries]
    due = [("-", "-", each.path) if each.binary else counts for each, counts in zip(entries, due, strict=True)]
    with temporary_folder("patch") as place:
        git = Git(find_git(Path.cwd()), place, environment={"GIT_CEILING_DIRECTORIES": str(place.parent)})
        try:
            (place / "diff").write_bytes(patch.replace(b"\r\n", b"\n"))
            (place / "mails").write_bytes(patch)
            for listed in (_numstat(git, "diff"), _numstat(git, _mailed(git))) if entries else ():
                if listed != due:
                    raise SourceError(f"The patch means something else to git than to this review: {_ACCEPTED}.")
        except OSError as error:
            raise SourceError(f"The patch cannot be given to git: {error.strerror}.") from error


def _numstat(git: Git, name: str) -> list[tuple[str, ...]] | None:
    """Added and removed lines and path of each section in a file; None if git cannot read it.

    By git's rule the first step of each path is a prefix; only where that leaves no name, paths have none.
    """
    for strip in ("-p1", "-p0"):
        output, code = git.beginning("apply", "--numstat", "-z", strip, name, most=_MOST_LISTED, seconds=_SECONDS)
        if code == 0:
            lines = output.split(b"\0")[:-1]
            return [tuple(map(shown_name, line.split(b"\t", 2))) for line in lines]
    return None


def _mailed(git: Git) -> str:
    """The name of a file with all diffs that ``git am`` finds in the patch. Raises ``SourceError``."""
    (git.folder / "split").mkdir()
    _, code = git.beginning("mailsplit", "-b", "-osplit", "mails", most=100, seconds=_SECONDS)
    mails = sorted((git.folder / "split").iterdir())
    if code != 0 or len(mails) > _MOST_MAILS:
        raise SourceError(f"The patch cannot be read as mails, or holds over {_MOST_MAILS} of them: {_ACCEPTED}.")
    with (git.folder / "mailed").open("wb") as mailed:
        for mail in mails:
            with mail.open("rb") as one_mail:
                _, code = git.beginning(
                    "mailinfo", "-n", "message", "body", most=100_000, seconds=_SECONDS, stdin=one_mail
                )
            if code != 0:
                raise SourceError(f"A mail of the patch cannot be read: {_ACCEPTED}.")
            with (git.folder / "body").open("rb") as body:
                shutil.copyfileobj(body, mailed)
            mailed.write(b"\n")
    return "mailed"


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
    given = about or About()
    title = path.stem if given.title is None else given.title
    head = open_head(repo) if repo is not None else None
    base = None if head is None else (head.store, head.tree)
    return PatchSource(patch, title=title, body=given.body or "", spec=given.spec, base=base)
