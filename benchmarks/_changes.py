"""The changes that the benchmarks of large reviews make, in which every changed line can be recognised anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from _runs import git

CHANGED_LINES_EACH = 100
LONG_FILE = 0
_REWRITTEN_LINES = 150
_CHANGED_LINE = re.compile(r"[+-]value_\d+ = (\d+) [*/] \d+")


def make_many(folder: Path, *sizes: int) -> None:
    """A repository whose tags ``files-N`` each change N files against the first commit, 100 lines in each.

    Every other file is new; in those between them, every third line is another one.
    """
    _begin(folder)
    for number in range(1, max(sizes), 2):
        _write(folder, number, _old_lines(number))
    _commit(folder, "base")
    written = 0
    for files in sorted(sizes):
        for number in range(written, files):
            _write(folder, number, _new_lines(number) if number % 2 else _lines(number, CHANGED_LINES_EACH))
        written = files
        _commit(folder, f"files-{files}")


def make_one(folder: Path, lines: int) -> None:
    """A repository whose tag ``head`` brings one file of that many lines."""
    _begin(folder)
    _commit(folder, "base")
    _write(folder, LONG_FILE, _lines(LONG_FILE, lines))
    _commit(folder, "head")


def path_of(number: int) -> str:
    """Where a file lies in its repository."""
    return f"package{number % 20}/module{number}.py"


def shown_lines(texts: Iterable[str]) -> Mapping[int, int]:
    """How many different changed lines of each file, by its number, stand in the texts of prompts."""
    seen = {found[0]: int(found[1]) for text in texts for found in _CHANGED_LINE.finditer(text)}
    return Counter(seen.values())


def _begin(folder: Path) -> None:
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")


def _commit(folder: Path, tag: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", f"--message={tag}")
    git(folder, "tag", tag)


def _write(folder: Path, number: int, lines: Iterable[str]) -> None:
    path = folder / path_of(number)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines))


def _lines(number: int, count: int) -> list[str]:
    return [f"value_{line} = {number} * {line}\n" for line in range(count)]


def _old_lines(number: int) -> list[str]:
    return _lines(number, _REWRITTEN_LINES)


def _new_lines(number: int) -> list[str]:
    return [line if at % 3 else line.replace("*", "/") for at, line in enumerate(_old_lines(number))]
