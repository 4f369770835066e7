"""A tree written out to a folder, byte for byte, by nobody's checkout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from review_advisor.adapters.git.run import Git
from review_advisor.adapters.git.store import ObjectStore
from review_advisor.core.facts.change import SUBMODULE_MODE
from review_advisor.core.facts.patch_files import shown_name
from review_advisor.lifetime.belongings import make_folder, remove_folder
from review_advisor.ports.review import SourceError

_CHUNK = 1 << 20
# HFS+ ignores these characters, so that ".g\u200cit" would be ".git" there.
_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF],
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, link or submodule of a tree."""

    mode: str
    name: str
    path: bytes


@contextmanager
def exported(store: ObjectStore, tree: str, scratch: Path | None) -> Iterator[Path]:
    """A fresh private folder that holds exactly ``tree``; removed afterwards, whatever happened inside.

    The bytes are the blobs' own: no filter, no LFS, no ``export-ignore`` or ``export-subst``, and no ``.git``. A
    symbolic link becomes a regular file that holds the link's target, so that nothing leads out of the folder; a
    submodule becomes an empty folder; nothing is executable. Raises ``SourceError`` for a tree with a name that could
    escape (``..``, ``.git``).
    """
    try:
        folder = make_folder("tree", scratch)
    except OSError as error:
        raise SourceError(f"A temporary folder cannot be made: {error.strerror} ({error.filename}).") from error
    try:
        _write(store.git, listed(store.git, tree), folder)
        yield folder
    finally:
        remove_folder(folder)


def listed(git: Git, tree: str) -> list[Entry]:
    """Everything in a tree. Raises ``SourceError`` for a name that could escape."""
    entries: list[Entry] = []
    for record in git.run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")[:-1]:
        facts, _, path = record.partition(b"\t")
        mode, _, name = facts.decode("ascii").split(" ")
        if any(map(escapes, path.split(b"/"))):
            raise SourceError(f"The tree holds a path that must not be written to disk: {shown_name(path)!r}.")
        entries.append(Entry(mode, name, path))
    return entries


def escapes(part: bytes) -> bool:
    """Whether one part of a path means something else to git or to a file system."""
    plain = part.decode("utf-8", "replace").translate(_IGNORED).rstrip(". ").casefold()
    return part in {b"", b".", b".."} or plain in {".git", "git~1"}


def _write(git: Git, entries: list[Entry], root: Path) -> None:
    made = {root}
    blobs = [entry for entry in entries if entry.mode != SUBMODULE_MODE]
    try:
        for entry in entries:
            target = root / os.fsdecode(entry.path)
            _make(target if entry.mode == SUBMODULE_MODE else target.parent, made)
        with tempfile.TemporaryFile() as names:
            names.writelines(entry.name.encode("ascii") + b"\n" for entry in blobs)
            names.seek(0)
            with git.start("cat-file", "--batch", "--buffer", stdin=names) as process:
                for entry in blobs:
                    _copy(process.stdout, entry, root)
    except OSError as error:
        where = shown_name(os.fsencode(error.filename or root))
        raise SourceError(f"The reviewed tree cannot be written out: {error.strerror} ({where}).") from error


def _make(folder: Path, made: set[Path]) -> None:
    if folder not in made:
        _make(folder.parent, made)
        folder.mkdir(mode=0o700)
        made.add(folder)


def _copy(output: IO[bytes] | None, entry: Entry, root: Path) -> None:
    """One answer of ``cat-file --batch``: a line with name, type and size, the bytes, and a line end."""
    if output is None:
        raise AssertionError("the process was started with a pipe")
    name, _, rest = output.readline().partition(b" ")
    kind, _, size = rest.partition(b" ")
    if kind != b"blob" or name != entry.name.encode("ascii"):
        raise SourceError(
            f"The content of {shown_name(entry.path)!r} is not in the repository (a partial or damaged clone): "
            "fetch all objects first."
        )
    left = int(size)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(root / os.fsdecode(entry.path), flags, 0o600), "wb") as file:
        while chunk := output.read(min(left, _CHUNK)):
            file.write(chunk)
            left -= len(chunk)
    if left or output.read(1) != b"\n":
        raise SourceError("git ended while the reviewed tree was being written out (a damaged repository?).")
