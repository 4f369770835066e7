"""Files at commits, however many, read by two git processes: sizes by one, contents by the other."""

from __future__ import annotations

import re
import time
from contextlib import suppress

from review_advisor.adapters.git.run import Git
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.lifetime.belongings import PIPE, Child
from review_advisor.ports.forge import FileTooLarge
from review_advisor.ports.review import SourceError

REGULAR_FILES = ("100644", "100755")
MOST_BYTES = 1_000_000
"""Of a larger file nobody says what became of its lines."""
MOST_READ = 64_000_000
"""So much is read and kept for one pull request, in bytes."""
_NAME = re.compile(OBJECT_NAME)
_FOLDER = "40000"
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


class Objects:
    """git's objects by their names, each read once. Past ``MOST_READ`` and after ``until`` nothing is read any more.

    ``until`` is of ``time.monotonic``. No path reaches git: folders are looked through here.
    """

    def __init__(self, git: Git, until: float) -> None:
        self._git = git
        self._until = until
        self._processes: dict[str, Child] = {}
        self._read: dict[str, bytes] = {}
        self._left = MOST_READ

    def has(self, commit: str) -> bool:
        """Whether a commit is there."""
        return bool(_NAME.fullmatch(commit)) and self._asked("--batch-check", f"{commit}^{{commit}}") is not None

    def file(self, commit: str, path: str) -> str | None:
        """The name of a regular file's content at a commit that is there; None if there is none, as for a link."""
        name = name_in_tree(path)
        if name is None:
            return None
        *folders, last = name.split(b"/")
        tree = f"{commit}^{{tree}}"
        for folder in folders:
            mode, tree = self._entry(tree, folder, len(commit) // 2)
            if mode != _FOLDER:
                return None
        mode, found = self._entry(tree, last, len(commit) // 2)
        return found if mode in REGULAR_FILES else None

    def text(self, name: str) -> str:
        """A file's content as text, with plain line ends. Raises ``SourceError``, if it is late in any case."""
        self._refuse_if_late()
        return self._content(name).decode("utf-8", "replace").replace("\r\n", "\n")

    def close(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()
        self._processes.clear()

    def _entry(self, tree: str, name: bytes, width: int) -> tuple[str, str]:
        """What a folder holds under a name: its mode, and the name of its content; both empty if there is nothing."""
        content, place = self._content(tree), 0
        while place < len(content):
            end = content.index(b"\0", place)
            mode, _, found = content[place:end].partition(b" ")
            place = end + 1 + width
            if found == name:
                return mode.decode("ascii"), content[end + 1 : place].hex()
        return "", ""

    def _content(self, name: str) -> bytes:
        if name not in self._read:
            size = self._asked("--batch-check", name)
            if size is None:
                raise SourceError("an object is not there (a partial or damaged clone?)")
            if size > MOST_BYTES:
                raise FileTooLarge("its file is too large")
            if size > self._left:
                raise SourceError("there is too much to read")
            self._left -= size
            stdout = self._pipe("--batch").stdout
            if self._asked("--batch", name) != size or stdout is None or len(content := stdout.read(size + 1)) <= size:
                raise SourceError("git ended while it was read")
            self._read[name] = content[:size]
        return self._read[name]

    def _asked(self, how: str, name: str) -> int | None:
        """The size of an object, as one of the processes tells it before anything else; None if it is not there."""
        self._refuse_if_late()
        process = self._pipe(how)
        if process.stdin is None or process.stdout is None:
            raise AssertionError("the process was started with pipes")
        try:
            process.stdin.write(name.encode("ascii") + b"\n")
            process.stdin.flush()
        except OSError:
            raise SourceError("git ended while it was read") from None
        told = process.stdout.readline().rpartition(b" ")[2].strip()
        if not told:
            raise SourceError("git ended while it was read")
        return int(told) if told.isdigit() else None

    def _refuse_if_late(self) -> None:
        if time.monotonic() > self._until:
            raise SourceError("it takes too long to read")

    def _pipe(self, how: str) -> Child:
        if how not in self._processes:
            self._processes[how] = self._git.start("cat-file", how, stdin=PIPE)
        return self._processes[how]
