"""Trees of git: exported to a folder, and searched for texts and names."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from review_advisor.change.around import LARGEST_FILE, MOST_BYTES, UseCollector
from review_advisor.change.change import SourceError
from review_advisor.change.git import Git
from review_advisor.change.git_store import (
    ListedEntry,
    ObjectStore,
    entries,
    escapes,
    listed_entries,
    name_in_tree,
)
from review_advisor.change.patch import shown_name
from review_advisor.change.source import AsShown
from review_advisor.safety.children import make_folder, remove_folder

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
def exported(store: ObjectStore, tree: str, shown: AsShown | None = None) -> Iterator[ExportedTree]:
    """A fresh private folder that holds ``tree``; removed afterwards, whatever happened inside.

    The files in ``shown`` are as that makes them; one of more than ``LARGEST_MASKED`` bytes says that it is left out.

    The bytes are the blobs' own: no filter, no LFS, no ``export-ignore`` or ``export-subst``, and no ``.git``. A
    symbolic link becomes a regular file that holds the link's target, so that nothing leads out of the folder; a
    submodule becomes an empty folder; nothing is executable. A file whose content is not in the repository says so.
    Raises ``SourceError`` for a tree with a name that could escape (``..``, ``.git``), or larger than the limits: then
    no content was written.
    """
    try:
        folder = make_folder("tree")
    except OSError as error:
        raise SourceError(f"A temporary folder cannot be made: {error.strerror} ({error.filename}).") from error
    try:
        yield ExportedTree(folder, _write(store.git, tree, folder, shown or {}))
    finally:
        remove_folder(folder)


def _write(git: Git, tree: str, root: Path, shown: AsShown) -> dict[bytes, MaskedFile]:
    """Make every folder and note every file first, then ask git for the contents of all of them in one go.

    Returns the files that are masked.
    """
    place = os.fsencode(root) + b"/"
    masked: dict[bytes, MaskedFile] = {}
    try:
        with tempfile.TemporaryFile() as names, tempfile.TemporaryFile() as files:
            for entry in entries(git, tree):
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


def _masked(file: bytes, mask: Callable[[str], str] | None) -> MaskedFile | None:
    """Mask a file in its place; None where that makes no difference. Lines that are not masked keep their bytes."""
    if mask is None:
        return None
    if os.stat(file).st_size > LARGEST_MASKED:  # noqa: PTH116 (names are bytes)
        _overwrite(file, _TOO_LARGE)
        return MaskedFile(b"", _TOO_LARGE)
    with open(file, "rb") as opened:  # noqa: PTH123 (as above)
        raw = opened.read()
    text = raw.decode("utf-8", "replace")
    lines, was, now = raw.split(b"\n"), text.split("\n"), mask(text).split("\n")
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


_GREP = ("grep", "-F", "-w", "-n", "-z", "-I", "--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules")

_SECONDS = 5.0
"""So long git may look: whoever needs more has tools to look for it."""

_PATHS_AT_ONCE = 200

_MATCH = re.compile(rb"([^\0]*+)\0(\d++)\0([^\n]*+)\n")
"""git writes ``TREE:path NUL number NUL text LF``; a path may hold a line feed."""

_FOUND, _NONE = 0, 1


def collect_uses(git: Git, tree: str, collector: UseCollector) -> bool:
    """Give ``collector`` the lines of ``tree`` in which its names stand; False if they may not be all.

    The names are fixed texts, each behind its own ``-e``: none of them is a pattern or an option. Symbolic links,
    submodules and binary files are passed over, and the attributes of the tree say nothing here.
    """
    named = [word for name in collector.names for word in ("-e", name)]
    try:
        output, code = git.beginning(*_GREP, *named, tree, "--", most=MOST_BYTES, seconds=_SECONDS)
    except SourceError:
        return False
    at = 0
    while found := _MATCH.match(output, at):  # one that was cut off at the end is none
        collector.add(shown_name(found[1][len(tree) + 1 :]), int(found[2]), found[3].decode("utf-8", "replace"))
        at = found.end()
    return code in (_FOUND, _NONE) and len(output) <= MOST_BYTES


def small_texts(git: Git, tree: str, paths: Iterable[str]) -> dict[str, str]:
    """The texts of regular files of ``tree``, by their paths. What is no text, too large, or not there is left out."""
    try:
        names = list(_within_bounds(_listed(git, tree, [path for path in paths if name_in_tree(path)])))
        request = "".join(f"{name}\n" for _, name in names).encode("ascii")
        output = git.run("cat-file", "--batch", stdin=request) if names else b""
    except SourceError:  # a damaged or partial clone: without them a review has to look for itself
        return {}
    return dict(_texts(output, [path for path, _ in names]))


def _listed(git: Git, tree: str, paths: list[str]) -> Iterator[tuple[str, str, int]]:
    """Path, name and size of each regular file among ``paths``, in their order."""
    for begin in range(0, len(paths), _PATHS_AT_ONCE):
        wanted = paths[begin : begin + _PATHS_AT_ONCE]
        files = (each for each in listed_entries(git, tree, "-l", paths=wanted) if each.is_file and not each.is_missing)
        found = {shown_name(each.path): (each.name, each.size) for each in files}
        yield from ((path, *found[path]) for path in wanted if path in found)


def _within_bounds(files: Iterable[tuple[str, str, int]]) -> Iterator[tuple[str, str]]:
    left = MOST_BYTES
    for path, name, size in files:
        if size <= min(LARGEST_FILE, left):
            left -= size
            yield path, name


def _texts(output: bytes, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each answer of ``cat-file --batch``: a line that ends with the size, the bytes, and a line end."""
    at = 0
    for path in paths:
        begins = output.index(b"\n", at) + 1
        *_, size = output[at:begins].split()
        if not size.isdigit():  # missing: ls-tree could tell its size from a pack's index alone
            at = begins
            continue
        raw = output[begins : begins + int(size)]
        at = begins + int(size) + 1
        if b"\0" not in raw:
            yield path, raw.decode("utf-8", "replace")
