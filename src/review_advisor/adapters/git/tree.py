"""A tree written out to a folder, byte for byte, by nobody's checkout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.adapters.git.run import Git
from review_advisor.adapters.git.tree_entries import ListedEntry, entries, escapes
from review_advisor.core.facts.patches.patch_files import shown_name
from review_advisor.core.facts.tree_bounds import TreeBounds
from review_advisor.lifetime.belongings import make_folder, remove_folder
from review_advisor.ports.review import AsShown, SourceError

_CHUNK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LARGEST_MASKED = 8_000_000
_TOO_LARGE = b"[review-advisor: this changed file is too large to be masked, and is left out here]\n"
_NOT_HERE = b"[review-advisor: the content of this file is not in the clone that is reviewed]\n"


@dataclass(frozen=True, slots=True)
class MaskedFile:
    """A file whose content in a folder is not that of its tree: what the tree has, and what is shown of it."""

    raw: bytes
    shown: bytes


@dataclass(frozen=True, slots=True)
class ExportedTree:
    """The folder, and the files that are masked in it, by their paths."""

    folder: Path
    masked: Mapping[bytes, MaskedFile]


@contextmanager
def exported(store: ObjectStore, tree: str, bounds: TreeBounds, shown: AsShown | None = None) -> Iterator[ExportedTree]:
    """A fresh private folder that holds ``tree``; removed afterwards, whatever happened inside.

    The files in ``shown`` are as that makes them; one of more than ``LARGEST_MASKED`` bytes says that it is left out.

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
        yield ExportedTree(folder, _write(store.git, tree, folder, bounds, shown or {}))
    finally:
        remove_folder(folder)


def _write(git: Git, tree: str, root: Path, bounds: TreeBounds, shown: AsShown) -> dict[bytes, MaskedFile]:
    """Make every folder and note every file first, then ask git for the contents of all of them in one go.

    Returns the files that are masked.
    """
    place = os.fsencode(root) + b"/"
    masked: dict[bytes, MaskedFile] = {}
    try:
        with tempfile.TemporaryFile() as names, tempfile.TemporaryFile() as files:
            for entry in entries(git, tree, bounds):
                _prepare(entry, place, names, files)
            names.seek(0)
            files.seek(0)
            with git.start("cat-file", "--batch", "--buffer", stdin=names) as process:
                for name, path in _noted(files):
                    _copy(process.stdout, name, path, place)
                    made = _masked(place + path, shown.get(shown_name(path))) if shown else None
                    if made is not None:
                        masked[path] = made
    except OSError as error:
        where = shown_name(os.fsencode(error.filename or root))
        raise SourceError(f"The reviewed tree cannot be written out: {error.strerror} ({where}).") from error
    return masked


def _masked(file: bytes, shown: Callable[[str], str] | None) -> MaskedFile | None:
    """Mask a file in its place; None where that makes no difference. Lines that are not masked keep their bytes."""
    if shown is None:
        return None
    if os.stat(file).st_size > LARGEST_MASKED:  # noqa: PTH116 (names are bytes)
        _overwrite(file, _TOO_LARGE)
        return MaskedFile(b"", _TOO_LARGE)
    with open(file, "rb") as opened:  # noqa: PTH123 (as above)
        raw = opened.read()
    text = raw.decode("utf-8", "replace")
    lines, was, now = raw.split(b"\n"), text.split("\n"), shown(text).split("\n")
    made = b"\n".join(
        line if before == after else after.encode("utf-8", "replace")
        for line, before, after in zip(lines, was, now, strict=True)
    )
    if made == raw:
        return None
    _overwrite(file, made)
    return MaskedFile(raw, made)


def _overwrite(file: bytes, content: bytes) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC), "wb") as opened:
        opened.write(content)


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
