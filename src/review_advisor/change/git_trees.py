"""Trees of git: listed, exported to a folder, and read back after edits."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

from review_advisor.change.around import LARGEST_FILE, MOST_BYTES, UseCollector
from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, WHOLE, RefusedPath, SourceError
from review_advisor.change.git import Git
from review_advisor.change.git_store import (
    FOLDER_MODE,
    MOST_DEPTH,
    ListedEntry,
    ObjectStore,
    entries,
    escapes,
    listed_entries,
    name_in_tree,
)
from review_advisor.change.patch import shown_name
from review_advisor.change.redaction import over_masks
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


LARGEST_EDITED = 1_000_000
MOST_FILES = 200

_INDEX = "edits-index"
_REGULAR = "100644"
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")

_DIFFERENCE = (
    *("diff", "-U0", "--text", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--diff-algorithm=myers", "--end-of-options"),
)

_ANY_EXECUTE = 0o111

_PATCH = (
    *("diff-tree", "-p", "-U3", "--no-renames", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color"),
    *("--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"),
)


@dataclass
class _Reading:
    """What was found so far. ``changed``: lines for ``update-index``, removals first."""

    store: ObjectStore
    head: dict[bytes, ListedEntry]
    algorithm: str
    masked: Mapping[bytes, MaskedFile] = field(default_factory=dict)
    removed: list[bytes] = field(default_factory=list)
    written: list[bytes] = field(default_factory=list)
    unfit: list[RefusedPath] = field(default_factory=list)

    @cached_property
    def folded(self) -> frozenset[str]:
        """The head's names as a file system sees them that knows no case."""
        return frozenset(shown_name(path).casefold() for path in self.head)

    def refuse(self, path: bytes, why: str) -> None:
        self.unfit.append(RefusedPath(shown_name(path), why))

    @property
    def full(self) -> bool:
        return len(self.removed) + len(self.written) + len(self.unfit) > MOST_FILES


def read_back(
    store: ObjectStore,
    head_tree: str,
    folder: Path,
    masked: Mapping[bytes, MaskedFile] | None = None,
) -> tuple[str, tuple[RefusedPath, ...]]:
    """The tree that ``folder`` holds now, and what in it can be no part of a patch (then the tree is the head's).

    The ``masked`` files were shown with marks: what was edited in one is made in what the tree really has. Where an
    edit touches a masked line, or writes a mark, nobody knows what it would come to: such a file is unfit.

    A link, a hard link, a device, an executable bit, a name that git keeps for itself, binary or huge content, and
    anything in the place of a submodule or a link are such parts. No link is followed and no filter runs.
    """
    head = {entry.path: entry for entry in entries(store.git, head_tree) if entry.mode != FOLDER_MODE}
    algorithm = "sha1" if len(head_tree) == hashlib.sha1(usedforsecurity=False).digest_size * 2 else "sha256"
    reading = _Reading(store, head, algorithm, masked or {})
    seen: set[bytes] = set()
    try:
        for path, facts in _walk(folder, reading):
            seen.add(path)
            _read(reading, folder, path, facts)
            if reading.full:
                break
    except OSError as error:
        raise SourceError(f"The edited tree cannot be read: {error.strerror}.") from error
    if reading.full:
        return head_tree, (RefusedPath(WHOLE, f"more than {MOST_FILES} files"),)
    _missing(reading, folder, seen)
    if reading.unfit:
        return head_tree, tuple(reading.unfit)
    return _written(reading, head_tree), ()


def patch_between(store: ObjectStore, head_tree: str, tree: str) -> str:
    """The patch that ``git apply`` takes on ``head_tree`` and that makes ``tree`` of it."""
    return store.git.run(*_PATCH, head_tree, tree, "--").decode("utf-8", "replace")


def _walk(root: Path, reading: _Reading) -> Iterator[tuple[bytes, os.stat_result]]:
    """Everything that is no plain folder, by its path below ``root``, in a fixed order, however deep."""
    ahead = [b""]
    while ahead and not reading.full:
        below = ahead.pop()
        with os.scandir(os.fsencode(root / os.fsdecode(below))) as found:
            inside = sorted(found, key=lambda entry: entry.name)
        for entry in inside:
            path = below + b"/" + entry.name if below else entry.name
            if escapes(entry.name):
                reading.refuse(path, "a name that git keeps for itself")
            elif entry.is_dir(follow_symlinks=False):
                ahead.append(path)
            else:
                yield path, entry.stat(follow_symlinks=False)


def _read(reading: _Reading, root: Path, path: bytes, facts: os.stat_result) -> None:
    known = reading.head.get(path)
    why = _oddity(reading, path, facts)
    if why is not None:
        reading.refuse(path, why)
        return
    raw = _content(root / os.fsdecode(path), facts.st_size, reading, path)
    if raw is None:
        return
    if known is not None and known.mode == SYMLINK_MODE:
        reading.refuse(path, "a symbolic link")
    elif isinstance(raw, str):
        reading.refuse(path, raw)
    elif known is not None and not _is_text(reading.store.git.run("cat-file", "blob", known.name)):
        reading.refuse(path, "not UTF-8 text before")
    else:
        name = reading.store.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=raw).strip()
        mode = known.mode if known is not None else _REGULAR
        reading.written.append(mode.encode("ascii") + b" " + name + b"\t" + path)


def _oddity(reading: _Reading, path: bytes, facts: os.stat_result) -> str | None:
    parents = [b"/".join(path.split(b"/")[:depth]) for depth in range(1, path.count(b"/") + 1)]
    inside_submodule = any(at in reading.head and reading.head[at].mode == SUBMODULE_MODE for at in (*parents, path))
    reasons = (
        (stat.S_ISLNK(facts.st_mode), "a symbolic link"),
        (not stat.S_ISREG(facts.st_mode), "not a regular file"),
        (facts.st_nlink > 1, "a hard link"),
        (bool(facts.st_mode & _ANY_EXECUTE), "made executable"),
        (len(parents) > MOST_DEPTH, f"more than {MOST_DEPTH} folders deep"),
        (inside_submodule, "inside a submodule"),
        (path not in reading.head and not _is_utf8(path), "a name that is not UTF-8"),
        (
            path not in reading.head and path.decode("utf-8", "replace").casefold() in reading.folded,
            "a name that differs from another only in case",
        ),
    )
    return next((why for holds, why in reasons if holds), None)


def _content(file: Path, size: int, reading: _Reading, path: bytes) -> bytes | str | None:
    """The new content of a file, or why it cannot be taken; None for the head's own."""
    masked, known = reading.masked.get(path), reading.head.get(path)
    if masked is not None and size == len(masked.shown) and file.read_bytes() == masked.shown:
        is_head = known is not None and known.name == _digest(reading.algorithm, masked.raw)
        return None if is_head or masked.raw == b"" else masked.raw
    digest = hashlib.new(reading.algorithm, b"blob %d\0" % size, usedforsecurity=False)
    kept = bytearray()
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            if size <= LARGEST_EDITED:
                kept += chunk
    if known is not None and digest.hexdigest() == known.name:
        return None
    if size > LARGEST_EDITED:
        return f"larger than {LARGEST_EDITED} bytes"
    if b"\0" in kept:
        return "binary"
    if not kept.strip():
        return "left without content"
    if not _is_utf8(kept):
        return "not UTF-8 text"
    return bytes(kept) if masked is None else _unmasked(reading.store, masked, bytes(kept))


def _digest(algorithm: str, raw: bytes) -> str:
    return hashlib.new(algorithm, b"blob %d\0%b" % (len(raw), raw), usedforsecurity=False).hexdigest()


def _unmasked(store: ObjectStore, masked: MaskedFile, edited: bytes) -> bytes | str:
    """What the edits of a masked file make of the real one, or why they cannot be taken."""
    if not masked.raw:
        return "too large to be shown"
    names = [
        store.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=each).decode("ascii").strip()
        for each in (masked.shown, edited)
    ]
    raw, masked_lines, now = (_LINES.findall(each) for each in (masked.raw, masked.shown, edited))
    hidden = {at for at, (real, mask) in enumerate(zip(raw, masked_lines, strict=True)) if real != mask}
    edits = list[tuple[range, list[bytes]]]()
    for line in store.git.run(*_DIFFERENCE, *names).split(b"\n"):
        found = _HUNK.match(line)
        if found is not None:
            old, gone, new, come = (int(each if each is not None else 1) for each in found.groups())
            begin, first = (old - 1 if gone else old), (new - 1 if come else new)
            edits.append((range(begin, begin + gone), now[first : first + come]))
    why = over_masks(
        masked.raw.decode("utf-8", "replace"),
        hidden,
        [(lost, [each.decode() for each in written]) for lost, written in edits],
        [masked_lines[at].decode("utf-8", "replace") for at in hidden],
    )
    if why is not None:
        return why
    made, done = list[bytes](), 0
    for lost, written in edits:
        made += [*raw[done : lost.start], *written]
        done = lost.stop
    return b"".join((*made, *raw[done:]))


def _is_text(raw: bytes) -> bool:
    return b"\0" not in raw and _is_utf8(raw)


def _is_utf8(raw: bytes | bytearray) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _missing(reading: _Reading, root: Path, seen: set[bytes]) -> None:
    for path, entry in reading.head.items():
        if entry.mode == SUBMODULE_MODE:
            place = root / os.fsdecode(path)
            if path not in seen and (place.is_symlink() or not place.is_dir()):
                reading.refuse(path, "a submodule was removed")
        elif path not in seen:
            reading.removed.append(b"0 " + b"0" * len(entry.name) + b"\t" + path)


def _written(reading: _Reading, head_tree: str) -> str:
    lines = [*reading.removed, *reading.written]
    if not lines:
        return head_tree
    git, use = reading.store.git, {"GIT_INDEX_FILE": str(reading.store.folder / _INDEX)}
    git.run("read-tree", head_tree, environment=use)
    git.run("update-index", "-z", "--index-info", stdin=b"".join(line + b"\0" for line in lines), environment=use)
    return git.run("write-tree", "--missing-ok", environment=use).decode("ascii").strip()
