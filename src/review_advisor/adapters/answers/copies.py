"""What an executor edited in its copy of the tree, so that the same can be done to another copy of it."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

from review_advisor.core.roles.reply_cache import EditedFile

MOST_FILES = 200
MOST_BYTES = 5_000_000
DEEPEST = 100

Seen = Mapping[str, os.stat_result]
"""Every file below a folder, by its path."""


def seen(folder: Path) -> Seen:
    """What lies below ``folder``. No link is followed."""
    return dict(entries(folder))


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The same, one file at a time."""
    ahead = [folder]
    while ahead:
        with os.scandir(ahead.pop()) as listed:
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    ahead.append(Path(entry.path))
                else:
                    yield str(Path(entry.path).relative_to(folder)), entry.stat(follow_symlinks=False)


def edited(folder: Path, before: Seen) -> tuple[EditedFile, ...] | None:
    """What differs below ``folder`` from what was there; None for edits that cannot be kept whole.

    These are more, larger or deeper ones than any repair may have, names that cannot be printed, and no plain files.
    """
    try:
        return _edited(folder, before, seen(folder))
    except OSError:  # what cannot be read is no plain file either
        return None


def _edited(folder: Path, before: Seen, after: Seen) -> tuple[EditedFile, ...] | None:
    changed = [path for path, facts in after.items() if path not in before or _differs(before[path], facts)]
    if len(changed) > MOST_FILES or sum(after[path].st_size for path in changed) > MOST_BYTES:
        return None
    if any(path.count(os.sep) > DEEPEST for path in changed):
        return None
    if not all(
        stat.S_ISREG(after[path].st_mode) and after[path].st_nlink == 1 and path.isprintable() for path in changed
    ):
        return None
    gone = [EditedFile(path, 0, None) for path in before if path not in after]
    kept = [
        EditedFile(path, stat.S_IMODE(after[path].st_mode), b64encode((folder / path).read_bytes()).decode("ascii"))
        for path in changed
    ]
    return (*gone, *kept)


def edit(folder: Path, edits: tuple[EditedFile, ...]) -> None:
    """Do the same in another copy of the same tree. Raises ``OSError``."""
    for each in edits:
        path = folder / each.path
        if each.base64 is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b64decode(each.base64))
            path.chmod(each.mode)


def _differs(before: os.stat_result, after: os.stat_result) -> bool:
    """The time of the last change of a file cannot be set back, as that of its last writing can."""
    return (before.st_ino, before.st_size, before.st_mode, before.st_ctime_ns) != (
        *(after.st_ino, after.st_size, after.st_mode, after.st_ctime_ns),
    )
