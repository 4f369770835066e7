"""A tree written out to a folder, byte for byte, by nobody's checkout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.adapters.git.run import Git
from review_advisor.adapters.git.tree_entries import ListedEntry, entries, escapes
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.core.facts.tree_bounds import TreeBounds
from review_advisor.lifetime.belongings import make_folder, remove_folder
from review_advisor.ports.review import SourceError

_CHUNK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_HERE = b"[review-advisor: the content of this file is not in the clone that is reviewed]\n"


@contextmanager
def exported(store: ObjectStore, tree: str, bounds: TreeBounds) -> Iterator[Path]:
    """A fresh private folder that holds exactly ``tree``; removed afterwards, whatever happened inside.

    The bytes are the blobs' own: no filter, no LFS, no ``export-ignore`` or ``export-subst``, and no ``.git``. A
    symbolic link becomes a regular file that holds the link's target, so that nothing leads out of the folder; a
    submodule becomes an empty folder; nothing is executable. A file whose content is not in the repository says so.
    Raises ``SourceError`` for a tree with a name that could escape (``..``, ``.git``), or larger than ``bounds``: then
    no content was written.
    """
    try:
        folder = make_folder("tree")
    except OSError as error:
        raise SourceError(f"A temporary folder cannot be made: {error.strerror} ({error.filename}).") from error
    try:
        _write(store.git, tree, folder, bounds)
        yield folder
    finally:
        remove_folder(folder)


def _write(git: Git, tree: str, root: Path, bounds: TreeBounds) -> None:
    """Make every folder and note every file first, then ask git for the contents of all of them in one go."""
    place = os.fsencode(root) + b"/"
    try:
        with tempfile.TemporaryFile() as names, tempfile.TemporaryFile() as files:
            for entry in entries(git, tree, bounds):
                _prepare(entry, place, names, files)
            names.seek(0)
            files.seek(0)
            with git.start("cat-file", "--batch", "--buffer", stdin=names) as process:
                for name, path in _noted(files):
                    _copy(process.stdout, name, path, place)
    except OSError as error:
        where = shown_name(os.fsencode(error.filename or root))
        raise SourceError(f"The reviewed tree cannot be written out: {error.strerror} ({where}).") from error


def _prepare(entry: ListedEntry, place: bytes, names: IO[bytes], files: IO[bytes]) -> None:
    if any(map(escapes, entry.path.split(b"/"))):
        raise SourceError(f"The tree holds a path that must not be written to disk: {shown_name(entry.path)!r}.")
    if entry.has_content:
        name = entry.name.encode("ascii")
        names.write(name + b"\n")
        files.write(b"%s %d\n%s" % (name, len(entry.path), entry.path))
    else:
        os.mkdir(place + entry.path, 0o700)  # noqa: PTH102 (names are bytes)


def _noted(files: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    while line := files.readline():
        name, length = line.split()
        yield name, files.read(int(length))


def _copy(output: IO[bytes] | None, name: bytes, path: bytes, place: bytes) -> None:
    """One answer of ``cat-file --batch``: a line with name, type and size, the bytes, and a line end."""
    if output is None:
        raise AssertionError("the process was started with a pipe")
    answer = output.readline().split()
    is_missing = answer == [name, b"missing"]
    if not is_missing and answer[:2] != [name, b"blob"]:
        raise SourceError(f"git does not hand out the content of {shown_name(path)!r} (a damaged repository?).")
    with os.fdopen(os.open(place + path, _NEW, 0o600), "wb") as file:
        if is_missing:
            file.write(_NOT_HERE)
            return
        left = int(answer[2])
        while chunk := output.read(min(left, _CHUNK)):
            file.write(chunk)
            left -= len(chunk)
    if left or output.read(1) != b"\n":
        raise SourceError("git ended while the reviewed tree was being written out (a damaged repository?).")
