"""Trees of whole texts, and copies that an executor may edit."""

from __future__ import annotations

import difflib
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Generic, Literal, TypeVar, assert_never

from review_advisor.change.change import (
    EXECUTABLE_MODE,
    REGULAR_MODE,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    Change,
    CommittedFile,
    Edits,
    FileChange,
    Hunk,
    Status,
)
from review_advisor.change.patch import files_of_patch

EditVerb = Literal["writes", "creates", "deletes", "links", "nests", "runs", "blobs", "undoes"]
"""What an executor does to a file: adds lines, makes it, deletes it, puts a symbolic link or a submodule there, makes
it executable (a new file, if it was not there) or binary, or takes all of that back."""

_ABSENT = "000000"
_MODES = {"links": SYMLINK_MODE, "nests": SUBMODULE_MODE, "runs": EXECUTABLE_MODE}
Held = TypeVar("Held")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of one file; ``lines`` are added at its end, ``removed`` lines go."""

    does: EditVerb
    lines: tuple[str, ...] = ()
    removed: int = 0

    def facts(self, path: str, known: FileChange | None) -> FileChange:
        """The difference that it makes against the head, as git would tell it."""
        mode = REGULAR_MODE if known is None else known.new_mode
        match self.does:
            case "writes":
                binary = known is not None and known.binary
                hunks = () if binary else (self._hunk(known),)
                return FileChange(Status.MODIFIED, path, None, mode, mode, len(self.lines), self.removed, binary, hunks)
            case "creates":
                added, hunks = len(self.lines), (self._hunk(None),)
                return FileChange(Status.ADDED, path, None, _ABSENT, REGULAR_MODE, added, hunks=hunks)
            case "deletes":
                return FileChange(Status.DELETED, path, None, mode, _ABSENT, removed=1)
            case "links" | "nests":
                return FileChange(Status.TYPE_CHANGED, path, None, mode, _MODES[self.does], added=1)
            case "runs":
                status, before = (Status.ADDED, _ABSENT) if known is None else (Status.MODIFIED, mode)
                return FileChange(status, path, None, before, EXECUTABLE_MODE)
            case "blobs":
                return FileChange(Status.MODIFIED, path, None, mode, mode, binary=True)
            case "undoes":
                raise AssertionError("what was undone makes no difference")
            case _:
                assert_never(self.does)

    def _hunk(self, known: FileChange | None) -> Hunk:
        last = known.hunks[-1] if known is not None and known.hunks else Hunk(0, 0, 0, 0, "", ())
        at = last.new_start + last.new_count + 1
        gone = tuple(f"-gone {number}" for number in range(1, self.removed + 1))
        return Hunk(at, self.removed, at, len(self.lines), "", (*gone, *(f"+{line}" for line in self.lines)))


EditResult = str | Edit | None
"""What an executor leaves in the place of a file: a whole text, what an edit makes of it, or nothing."""


class Copies(ABC, Generic[Held]):
    """Trees that can be copied and edited: ``copies`` are those that are out at the moment, with what they hold."""

    def __init__(self, head: Mapping[str, Held]) -> None:
        self.copies: dict[Path, dict[str, Held]] = {}
        self._head = head
        self._made = 0
        self._trees: dict[str, Mapping[str, Held]] = {}

    @contextmanager
    def copy(self, tree: str | None) -> Iterator[Path]:
        """A copy of the head, or of a tree that was read back, under a path that exists in this world only."""
        self._made += 1
        place = _place(self._made)
        self.copies[place] = dict(self._head if tree is None else self._trees[tree])
        yield place
        del self.copies[place]

    @abstractmethod
    def write(self, place: Path, path: str, written: EditResult) -> None:
        """What an executor does in its copy."""

    @abstractmethod
    def edits(self, place: Path, change: Change) -> Edits:
        """What a copy holds now, against the head."""


class Bench(Copies[Edit]):
    """The copies of a stated change's head, each as the edits in it by path."""

    def __init__(self) -> None:
        super().__init__({})

    def write(self, place: Path, path: str, written: EditResult) -> None:
        """What an executor does in its copy; a later edit of a file takes the place of an earlier one."""
        if not isinstance(written, Edit):
            raise TypeError("a bench holds edits")
        self.copies[place].pop(path, None)
        if written.does != "undoes":
            self.copies[place][path] = written

    def edits(self, place: Path, change: Change) -> Edits:
        """What a copy holds now, against the head."""
        now = dict(sorted(self.copies[place].items()))
        tree = hashlib.sha256(repr(now).encode()).hexdigest()[:40] if now else change.tree or ""
        self._trees[tree] = now
        known = {file.path: file for file in change.files if file.status is not Status.DELETED}
        touched = {path: edit.facts(path, known.get(path)) for path, edit in now.items()}
        kept = tuple(_edited(file, touched.get(file.path)) for file in change.files)
        new = tuple(file for path, file in touched.items() if path not in known)
        return Edits(
            tree=tree,
            patch="".join(map(_section, touched.values())),
            change=replace(change, files=(*kept, *new)),
            touched=tuple(touched.values()),
        )


@lru_cache(maxsize=64)
def _place(number: int) -> Path:
    return Path(f"tree-{number}")


def _edited(file: FileChange, touched: FileChange | None) -> FileChange:
    """The file's difference from the base, with the edit in it."""
    if touched is None or file.status is Status.DELETED:
        return file
    if touched.new_mode != file.new_mode or touched.binary:
        return touched
    return replace(
        file,
        added=file.added + touched.added,
        removed=file.removed + touched.removed,
        hunks=(*file.hunks, *touched.hunks),
    )


def _section(file: FileChange) -> str:
    """The file's part of the patch, as git would write it."""
    lines = [f"diff --git a/{file.path} b/{file.path}"]
    if file.old_mode == _ABSENT:
        lines.append(f"new file mode {file.new_mode}")
    elif file.new_mode == _ABSENT:
        lines.append(f"deleted file mode {file.old_mode}")
    elif file.old_mode != file.new_mode:
        lines += [f"old mode {file.old_mode}", f"new mode {file.new_mode}"]
    if file.binary:
        lines.append("Binary files differ")
    if file.hunks:
        lines += [f"--- a/{file.path}" if file.old_mode != _ABSENT else "--- /dev/null", f"+++ b/{file.path}"]
    for hunk in file.hunks:
        lines.append(f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@")
        lines += hunk.lines
    return "\n".join(lines) + "\n"


FOLDER_MODE = "40000"


def blob_name(content: bytes) -> str:
    """The name of a file's content."""
    return _name("blob", content)


def tree_name(entries: Mapping[str, tuple[str, str]]) -> str:
    """The name of a tree, told by whole paths: each has a mode and the name of a blob."""
    here: dict[str, tuple[str, str]] = {}
    folders: dict[str, dict[str, tuple[str, str]]] = {}
    for path, entry in entries.items():
        first, _, rest = path.partition("/")
        if rest:
            folders.setdefault(first, {})[rest] = entry
        else:
            here[first] = entry
    here |= {name: (FOLDER_MODE, tree_name(inside)) for name, inside in folders.items()}
    lines = sorted((_bytes(name, folder=name in folders), mode, name, of) for name, (mode, of) in here.items())
    return _name(
        "tree", b"".join(f"{mode} ".encode() + _bytes(name) + b"\0" + bytes.fromhex(of) for _, mode, name, of in lines)
    )


def _bytes(name: str, *, folder: bool = False) -> bytes:
    """Git sorts a folder as if its name ended in a slash."""
    return name.encode("utf-8", "surrogateescape") + (b"/" if folder else b"")


def _name(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


Texts = Mapping[str, str]


def text_tree_name(texts: Texts) -> str:
    """Git's own name of the tree that holds these files and nothing else."""
    return tree_name({path: (REGULAR_MODE, blob_name(text.encode())) for path, text in texts.items()})


def patch_between(before: Texts, after: Texts) -> str:
    """The patch from one tree to another, as git would write it."""
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    return "".join(_patch_section(path, before.get(path), after.get(path)) for path in changed)


def changed_between(before: Texts, after: Texts) -> tuple[FileChange, ...]:
    """The differences as facts."""
    return files_of_patch(patch_between(before, after).encode())


def _patch_section(path: str, old: str | None, new: str | None) -> str:
    head = f"diff --git a/{path} b/{path}\n"
    if old is None:
        head += "new file mode 100644\n"
    if new is None:
        head += "deleted file mode 100644\n"
    before, after = (StringIO(text or "", newline="\n").readlines() for text in (old, new))  # a line feed ends a line
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    return head + "".join(difflib.unified_diff(before, after, *names))


class Checkout(Copies[str]):
    """The base and the head of a change as whole texts, and the copies of that head."""

    def __init__(self, base: Texts, head: Texts) -> None:
        super().__init__(head)
        self._base = base

    def texts_of(self, tree: str) -> Texts:
        """The files of a tree that ``edits`` has read back."""
        return self._trees[tree]

    def write(self, place: Path, path: str, written: EditResult) -> None:
        """What an executor does in its copy; None deletes."""
        if isinstance(written, Edit):
            raise TypeError("a checkout holds whole texts")
        if written is None:
            self.copies[place].pop(path)
        else:
            self.copies[place][path] = written

    def edits(self, place: Path, change: Change) -> Edits:
        """What a copy holds now, against the head."""
        now = dict(self.copies[place])
        self._trees[text_tree_name(now)] = now
        return Edits(
            tree=text_tree_name(now),
            patch=patch_between(self._head, now),
            change=replace(change, files=changed_between(self._base, now)),
            touched=changed_between(self._head, now),
        )


class NoPatcher:
    """git, for a bot that pushes nothing."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """See ``Patcher``."""
        raise AssertionError(f"nothing is to be pushed, not {patch!r} to {len(files)} files")
