"""What a tree holds, read from git as it comes, and no further than its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from review_advisor.adapters.git.run import Git
from review_advisor.core.facts.change import EXECUTABLE_MODE, REGULAR_MODE, SUBMODULE_MODE
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.core.facts.tree_bounds import TreeBounds
from review_advisor.lifetime.belongings import DEVNULL
from review_advisor.ports.review import SourceError

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


def entries(git: Git, tree: str, bounds: TreeBounds) -> Iterator[ListedEntry]:
    """Everything in a tree, each folder before what it holds. No more than one entry is in memory.

    Raises ``SourceError`` where the tree is larger than ``bounds``.
    """
    paths = size = 0
    for record in _records(git, tree):
        entry = _entry(record)
        paths, size = paths + 1, size + max(entry.size, 0)
        _refuse_beyond(bounds, tree, paths=paths, size=size, depth=entry.path.count(b"/"))
        yield entry


def listed_entries(git: Git, tree: str, *asked: str, paths: Iterable[str] = ()) -> Iterator[ListedEntry]:
    """What stands at these paths of a tree or, without any, at its top; ``asked`` are options of ``ls-tree``."""
    records = git.run("ls-tree", "-z", "--full-tree", *asked, tree, "--", *paths).split(b"\0")[:-1]
    return map(_entry, records)


def missing(git: Git, tree: str, bounds: TreeBounds) -> Missing:
    """What of a tree is not in the repository. Raises ``SourceError`` as ``entries`` does."""
    count, names = 0, list[str]()
    for entry in entries(git, tree, bounds):
        if entry.is_missing:
            count += 1
            names += [shown_name(entry.path)] if count <= MOST_NAMED else []
    return Missing(count, tuple(names))


def escapes(part: bytes) -> bool:
    """Whether one part of a path means something else to git or to a file system."""
    plain = part.decode("utf-8", "replace").translate(_IGNORED).rstrip(". ").casefold()
    return part in {b"", b".", b".."} or plain in {".git", "git~1"}


def _refuse_beyond(bounds: TreeBounds, tree: str, *, paths: int, size: int, depth: int) -> None:
    for found, most, what, key in (
        (paths, bounds.paths, "files and folders", "paths"),
        (size, bounds.bytes, "bytes", "bytes"),
        (depth, bounds.depth, "folders one inside the other", "depth"),
    ):
        if found > most:
            raise SourceError(
                f"The tree {tree[:12]} holds more than {most:,} {what}: it is not read. `tree.{key}` in the base's "
                "configuration sets the limit."
            )


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
    mode, _, name, *told = facts.decode("ascii").split()
    size = "".join(told)
    length = int(size) if size.isdigit() else _ABSENT if size == "BAD" else 0
    return ListedEntry(mode, name, path, length)
