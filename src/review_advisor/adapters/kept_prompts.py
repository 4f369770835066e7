"""The prompts that ``run --recording full`` keeps in its runs' folders, deleted when they are too old."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from review_advisor.core.task.task_files import is_prompt_digest

_RUN = re.compile(r"run_\d{8}T\d{6}Z_[0-9a-f]{8}", re.ASCII)
_PROMPTS = "*.prompt.md"
_BEGINNING = 400


def forget_prompts(runs: Path, now: datetime, days: int) -> int:
    """Delete prompts below ``runs`` that were written more than ``days`` ago; of how many runs those were.

    What only tells a prompt's length and digest stays, and so does all that is no file of a run. No link is followed.
    """
    oldest = (now - timedelta(days=days)).timestamp()
    gone = set[Path]()
    for path in _prompts(runs):
        with suppress(OSError):
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode) or facts.st_mtime >= oldest:
                continue
            with path.open(encoding="utf-8", errors="replace") as file:
                told = file.read(_BEGINNING)
            if not is_prompt_digest(told):
                path.unlink()
                gone.add(path.parent)
    return len(gone)


def _prompts(runs: Path) -> Iterator[Path]:
    if runs.is_symlink():
        return
    with suppress(OSError):
        for folder in sorted(runs.iterdir()):
            if _RUN.fullmatch(folder.name) and not folder.is_symlink():
                yield from sorted(folder.glob(_PROMPTS))
