"""The private store in which all reading of a repository's objects is done, and how large a tree may be."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from review_advisor.change.change import (
    EXECUTABLE_MODE,
    MOST_RENAMES,
    REGULAR_MODE,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    SourceError,
)
from review_advisor.change.git import Git, GitRepository
from review_advisor.change.guidelines import MOST_READ, BaseText, base_text
from review_advisor.change.kinds import DECLARED, LOOKED_UP_TOGETHER, MOST_DECLARED, TOO_MANY, is_declared
from review_advisor.change.patch import shown_name
from review_advisor.safety.children import DEVNULL, make_folder, remove_folder

# Past any of these limits nothing is read and nobody is asked. The kernel of Linux has 96,000 paths, 1.5 GB, and is 9
# deep. A review may write the files of a tree several times.
MOST_PATHS = 500_000
"""Files and folders of a reviewed tree."""
MOST_TREE_BYTES = 4_000_000_000
"""Bytes of its files."""
MOST_DEPTH = 100
"""Folders one inside the other."""
FOLDER_MODE = "040000"

MOST_NAMED = 20
"""So many missing files are named; the others are counted."""

_CHUNK = 1 << 16
_LONGEST_RECORD = 1 << 16
_ABSENT = -1

# HFS+ ignores these characters, so that ".g\u200cit" would be ".git" there.
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF],
)


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """One file, folder, link or submodule of a tree. ``size`` is 0 for what has no content of its own."""

    mode: str
    name: str
    path: bytes
    size: int = 0

    @property
    def is_missing(self) -> bool:
        """Whether its content is not in the repository, as in a partial clone."""
        return self.size == _ABSENT

    @property
    def has_content(self) -> bool:
        """Whether it is a file, or a link."""
        return self.mode not in (FOLDER_MODE, SUBMODULE_MODE)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, and no link."""
        return self.mode in (REGULAR_MODE, EXECUTABLE_MODE)


@dataclass(frozen=True, slots=True)
class Missing:
    """The files of a tree whose content is not in the repository: how many, and the names of the first."""

    count: int = 0
    names: tuple[str, ...] = ()


def entries(git: Git, tree: str) -> Iterator[ListedEntry]:
    """Everything in a tree, each folder before what it holds. No more than one entry is in memory.

    Raises ``SourceError`` where the tree is larger than the limits above.
    """
    paths = size = 0
    for record in _records(git, tree):
        entry = _entry(record)
        paths, size = paths + 1, size + max(entry.size, 0)
        _refuse_beyond(tree, paths=paths, size=size, depth=entry.path.count(b"/"))
        yield entry


def listed_entries(git: Git, tree: str, *options: str, paths: Iterable[str] = ()) -> Iterator[ListedEntry]:
    """What stands at these paths of a tree or, without any, at its top; ``options`` are those of ``ls-tree``."""
    records = git.run("ls-tree", "-z", "--full-tree", *options, tree, "--", *paths).split(b"\0")[:-1]
    return map(_entry, records)


def missing(git: Git, tree: str) -> Missing:
    """What of a tree is not in the repository. Raises ``SourceError`` as ``entries`` does."""
    count, names = 0, list[str]()
    for entry in entries(git, tree):
        if entry.is_missing:
            count += 1
            names += [shown_name(entry.path)] if count <= MOST_NAMED else []
    return Missing(count, tuple(names))


def escapes(part: bytes) -> bool:
    """Whether one part of a path means something else to git or to a file system."""
    plain = part.decode("utf-8", "replace").translate(_IGNORED).rstrip(". ").casefold()
    return part in {b"", b".", b".."} or plain in {".git", "git~1"}


def _refuse_beyond(tree: str, *, paths: int, size: int, depth: int) -> None:
    for found, most, what in (
        (paths, MOST_PATHS, "files and folders"),
        (size, MOST_TREE_BYTES, "bytes"),
        (depth, MOST_DEPTH, "folders one inside the other"),
    ):
        if found > most:
            raise SourceError(f"The tree {tree[:12]} holds more than {most:,} {what}: it is not read.")


def _records(git: Git, tree: str) -> Iterator[bytes]:
    with git.start("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", tree, stdin=DEVNULL) as process:
        yield from _split(process.stdout)
        if process.wait() != 0:
            raise SourceError(f"The tree {tree[:12]} cannot be read whole (a partial or damaged clone?).")


def _split(output: IO[bytes] | None) -> Iterator[bytes]:
    if output is None:
        raise AssertionError("the process was started with a pipe")
    rest = b""
    while chunk := output.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
        if len(rest) > _LONGEST_RECORD:
            raise SourceError("The tree holds a name that no file can have: it is too long.")


def _entry(record: bytes) -> ListedEntry:
    facts, _, path = record.partition(b"\t")
    mode, _, name, *sizes = facts.decode("ascii").split()
    size = "".join(sizes)
    length = int(size) if size.isdigit() else _ABSENT if size == "BAD" else 0
    return ListedEntry(mode, name, path, length)


RENAMES = ("-M50%", f"-l{MOST_RENAMES}")
"""What counts as renamed, wherever git is asked: half of it is the same."""

_INDEX = "staged-index"

_PATHS_AT_ONCE = 500
"""So many names fit on one command line, however long each is allowed to be in a repository that is checked out."""


class ContentMissingError(SourceError):
    """A tree has the file, and the repository lacks its content: a partial or damaged clone."""


_LONGEST_PATH = 4_096
"""In bytes: no system opens a longer one, and a command line holds it."""


def name_in_tree(path: str) -> bytes | None:
    """``path`` as git spells it; None for a text that names nothing in a tree and may not reach a command line."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character
        return None
    parts = name.split(b"/")
    fit = b"\0" not in name and len(name) <= _LONGEST_PATH and not any(part in {b"", b".", b".."} for part in parts)
    return name if fit else None


class ObjectStore:
    """Where all reading is done: no configuration, attributes, work tree, hooks, filters, grafts or remotes.

    The attributes in a work tree, in an index and in ``.git/info``, and whatever ``.git/config`` says, therefore cannot
    decide what a diff shows. New objects (the index's tree) stay in here; the user's repository is never written to.
    The folder is private, and removed with this object or at exit.
    """

    def __init__(self, repository: GitRepository) -> None:
        try:
            self.folder = make_folder("git")
            self._remove = weakref.finalize(self, remove_folder, self.folder)
            self._fill(repository)
        except OSError as error:
            raise SourceError(f"A temporary folder cannot be filled: {error.strerror} ({error.filename}).") from error
        self.git = replace(repository.git, folder=self.folder, settings=(), environment={"GIT_DIR": str(self.folder)})
        self._bots_files_in: dict[str, Mapping[bytes, ListedEntry]] = {}

    def _fill(self, repository: GitRepository) -> None:
        (self.folder / "objects" / "info").mkdir(parents=True)
        (self.folder / "refs").mkdir()
        (self.folder / "HEAD").write_text("ref: refs/heads/unborn\n", encoding="ascii")
        version = "0" if repository.object_format == "sha1" else "1"
        extension = "" if version == "0" else f"[extensions]\n\tobjectformat = {repository.object_format}\n"
        # A low core.bigFileThreshold makes text binary; git's own default holds here.
        config = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n{extension}"
        (self.folder / "config").write_text(config, encoding="ascii")
        (self.folder / "objects" / "info" / "alternates").write_bytes(bytes(repository.objects) + b"\n")
        if repository.shallow_file.is_file():
            shutil.copyfile(repository.shallow_file, self.folder / "shallow")

    def close(self) -> None:
        """Remove the folder now."""
        self._remove()

    def tree(self, name: str) -> str:
        """The tree of a commit, or the tree itself."""
        return self.git.run("rev-parse", "--verify", "--end-of-options", f"{name}^{{tree}}").decode("ascii").strip()

    def trees(self, *names: str) -> list[str]:
        """The trees of several commits, by one process. Raises ``SourceError`` if one is missing."""
        wanted = [f"{name}^{{tree}}" for name in names]
        found = self.git.run("rev-parse", "--revs-only", "--end-of-options", *wanted).decode("ascii").split()
        return found if len(found) == len(names) else [self.tree(name) for name in names]

    def empty_tree(self) -> str:
        """The empty tree's name."""
        return self.git.run("mktree").decode("ascii").strip()

    def merge_base(self, one: str, other: str) -> str | None:
        """The commit both come from (git's first, if there are several); None if there is none, or none for certain.

        In a shallow clone an older common ancestor can be in sight while the real one is not. Whoever wrote one of the
        histories could bring that about, so nothing since the ancestor may be cut off.
        """
        reply = self.git.attempt("merge-base", "--all", "--end-of-options", one, other)
        bases = reply.stdout.decode("ascii").split()
        if not bases:
            return None
        cut = self._cut_off()
        if cut and not cut.isdisjoint(self.git.run("rev-list", one, other, "--not", *bases).split()):
            return None
        return bases[0]

    def changed_since(self, commit: str, head: str) -> tuple[frozenset[str], frozenset[tuple[str, str]]] | None:
        """Every path that differs between ``commit`` and ``head``, and both paths of each file that git calls renamed.

        None if ``head`` is not known to come after ``commit``.
        """
        if not self.comes_after(commit, head):
            return None
        compare = ("diff-tree", "-r", "-z", "--name-status", *RENAMES, "--end-of-options", commit, head)
        fields = iter(self.git.run(*compare).split(b"\0")[:-1])
        paths, renames = set[str](), set[tuple[str, str]]()
        for status in fields:
            names = [shown_name(next(fields)) for _ in range(2 if status.startswith(b"R") else 1)]
            paths.update(names)
            renames.update([(names[0], names[1])] if len(names) > 1 else [])
        return frozenset(paths), frozenset(renames)

    def has_commit(self, name: str) -> bool:
        """Whether a commit of this full name is here."""
        return self.git.attempt("cat-file", "-e", "--end-of-options", f"{name}^{{commit}}").code == 0

    def comes_after(self, commit: str, head: str) -> bool:
        """Whether ``head`` is known to be ``commit`` or to come after it."""
        return self.git.attempt("merge-base", "--is-ancestor", "--end-of-options", commit, head).code == 0

    def _cut_off(self) -> frozenset[bytes]:
        """The commits whose parents a shallow clone leaves out."""
        listed = self.folder / "shallow"
        return frozenset(listed.read_bytes().split()) if listed.is_file() else frozenset()

    def staged_tree(self, repository: GitRepository) -> str:
        """The tree that a commit of the index would have. Raises ``SourceError`` while a merge is unresolved."""
        use = self._copy_of_index(repository)
        return self.empty_tree() if use is None else self._tree_of_index(use)

    def working_tree(self, repository: GitRepository, top: Path, untracked: Sequence[str] = ()) -> str:
        """The tree that a commit of all tracked files as they are on disk would have, and of these ``untracked`` ones.

        No filter runs: the store has no configuration of one. Raises ``SourceError``.
        """
        use = self._copy_of_index(repository) or {"GIT_INDEX_FILE": str(self.folder / _INDEX)}
        at = ("--work-tree", str(top))
        self.git.run(*at, "add", "--update", "--", str(top), environment=use)
        for begin in range(0, len(untracked), _PATHS_AT_ONCE):
            paths = (str(top / path) for path in untracked[begin : begin + _PATHS_AT_ONCE])
            self.git.run(*at, "add", "--force", "--", *paths, environment=use)
        return self._tree_of_index(use)

    def _tree_of_index(self, use: Mapping[str, str]) -> str:
        if self.git.run("ls-files", "--unmerged", "-z", environment=use):
            raise SourceError("The index holds unresolved conflicts: resolve them and `git add` the files first.")
        return self.git.run("write-tree", "--missing-ok", environment=use).decode("ascii").strip()

    def _copy_of_index(self, repository: GitRepository) -> dict[str, str] | None:
        if not repository.index.exists():
            return None
        try:
            shutil.copyfile(repository.index, self.folder / _INDEX)
            for shared in repository.index.parent.glob("sharedindex.*"):
                shutil.copyfile(shared, self.folder / shared.name)
        except OSError as error:
            raise SourceError(f"The index cannot be read: {error.strerror} ({error.filename}).") from error
        return {"GIT_INDEX_FILE": str(self.folder / _INDEX)}

    def blob(self, tree: str, path: str, most: int | None = None, *, refuse_links: bool = False) -> bytes | None:
        """A regular file of a tree, None if there is none at ``path`` (a link or a folder is none).

        ``path`` may be any text, also one that no tree can hold. With ``most``, no more than that many bytes of the
        file are read. ``refuse_links`` raises ``SourceError`` for a link.
        """
        found = self._found(tree, path)
        if refuse_links and found is not None and found.mode == SYMLINK_MODE:
            raise SourceError(f"{path} is a symbolic link at the base: put the file itself there.")
        return self._content(found.name, path, most) if found is not None and found.is_file else None

    def texts(self, tree: str, paths: Iterable[str]) -> dict[str, BaseText]:
        """What stands at each of these paths of a tree, as far as it can be read; a path with nothing is left out."""
        found: dict[str, BaseText] = {}
        wanted = [path for path in paths if name_in_tree(path)]
        for begin in range(0, len(wanted), _PATHS_AT_ONCE):
            there = self._listed(tree, wanted[begin : begin + _PATHS_AT_ONCE])
            found |= {path: self._text(there[name]) for path in wanted if (name := os.fsencode(path)) in there}
        return found

    def declared(self, tree: str) -> dict[str, BaseText]:
        """The files of a tree that declare advisors, by their paths, as far as they can be read.

        A link or a submodule that stands in the place of a folder is listed as itself.
        """
        entries = ((shown_name(each.path), each) for each in listed_entries(self.git, tree, "-r", paths=[DECLARED]))
        found = [(path, entry) for path, entry in entries if is_declared(path)]
        texts = {path: self._text(entry) for path, entry in found[:MOST_DECLARED]}
        return texts | {path: BaseText(problem=TOO_MANY) for path, _ in found[MOST_DECLARED:]}

    def paths_named(self, tree: str, names: Collection[str]) -> tuple[str, ...]:
        """Every path of a tree whose last part is one of ``names``."""
        listed = self.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).split(b"\0")[:-1]
        wanted = {os.fsencode(name) for name in names}
        return tuple(os.fsdecode(path) for path in listed if path.rpartition(b"/")[2] in wanted)

    def link_paths(self, tree: str) -> tuple[str, ...]:
        """The path of every symbolic link of a tree."""
        return tuple(
            shown_name(each.path) for each in listed_entries(self.git, tree, "-r") if each.mode == SYMLINK_MODE
        )

    def link_text(self, tree: str, path: str) -> str | None:
        """What a symbolic link of a tree holds; None for anything else, and for one whose content is missing."""
        found = self._found(tree, path)
        if found is not None and found.mode == SYMLINK_MODE:
            with suppress(ContentMissingError):
                return self._content(found.name, path, _LONGEST_PATH).decode("utf-8", "surrogateescape")
        return None

    def _text(self, entry: ListedEntry) -> BaseText:
        if not entry.is_file:
            return BaseText(problem="it is a symbolic link" if entry.mode == SYMLINK_MODE else "it is no file")
        try:
            raw = self._content(entry.name, entry.name, MOST_READ)
        except ContentMissingError:
            return BaseText(problem="its content is not in the repository")
        return base_text(raw)

    def has(self, tree: str, path: str) -> bool:
        """Whether a tree has a regular file at ``path``. Its content is not looked at."""
        found = self._found(tree, path)
        return found is not None and found.is_file

    def _found(self, tree: str, path: str) -> ListedEntry | None:
        """What stands at ``path``."""
        wanted = name_in_tree(path)
        if wanted is None:
            return None
        found = self._bots_files(tree) if path in LOOKED_UP_TOGETHER else self._listed(tree, [path])
        return found.get(wanted)

    def _bots_files(self, tree: str) -> Mapping[bytes, ListedEntry]:
        """One look for all of them: a tree never changes."""
        if tree not in self._bots_files_in:
            self._bots_files_in[tree] = self._listed(tree, LOOKED_UP_TOGETHER)
        return self._bots_files_in[tree]

    def _listed(self, tree: str, paths: Iterable[str]) -> dict[bytes, ListedEntry]:
        """What stands at ``paths`` and beside them, by its path as git spells it."""
        return {each.path: each for each in listed_entries(self.git, tree, paths=paths)}

    def _content(self, blob: str, path: str, most: int | None) -> bytes:
        with self.git.start("cat-file", "blob", blob, stdin=DEVNULL) as process:
            if process.stdout is None:
                raise AssertionError("the process was started with a pipe")
            content = process.stdout.read(-1 if most is None else most)
            if most is not None and len(content) == most:
                process.kill()
            elif process.wait() != 0:
                raise ContentMissingError(
                    f"The content of {path} is not in the repository (a partial or damaged clone): fetch all objects "
                    "first."
                )
        return content

    def names(self, tree: str, folder: str) -> tuple[str, ...]:
        """The names of what lies directly in a folder of a tree; none if there is no such folder."""
        listed = self.git.run("ls-tree", "-z", "--name-only", "--full-tree", tree, "--", f"{folder.strip('/')}/")
        return tuple(os.fsdecode(name).rpartition("/")[2] for name in listed.split(b"\0")[:-1])
