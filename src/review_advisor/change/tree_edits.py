"""What was edited in a folder that holds a tree, as a tree and as a patch."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from review_advisor.change.change import SUBMODULE_MODE, SYMLINK_MODE, WHOLE, RefusedPath, SourceError
from review_advisor.change.git_store import (
    FOLDER_MODE,
    MOST_DEPTH,
    ListedEntry,
    ObjectStore,
    entries,
    escapes,
)
from review_advisor.change.git_trees import MaskedFile
from review_advisor.change.patch import shown_name
from review_advisor.change.redaction import over_masks

_CHUNK = 1 << 20
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
