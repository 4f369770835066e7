"""The diff as agents read it: numbered lines, nothing a content line could forge, and its inverse."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from review_advisor.core.facts.change import FileChange, Hunk
from review_advisor.core.facts.files.kinds import kind_of

LONGEST_PATH = 4_096
_COLUMN = 7
_REMOVED = re.compile(rf" *(\d+) {{{_COLUMN + 2}}}-(.*)", re.DOTALL)
_ADDED = re.compile(rf" {{{_COLUMN + 1}}} *(\d+) \+(.*)", re.DOTALL)
"""A number wider than its column moves the rest of its line to the right."""


def shown_path(path: str) -> str:
    """A path on one line: control characters, quotes and backslashes escaped, and what no disk takes shortened."""
    if len(path) > LONGEST_PATH:
        digest = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()
        path = f"{path[:LONGEST_PATH]} [and {len(path) - LONGEST_PATH} more characters, {digest[:12]}]"
    if path.isprintable() and '"' not in path and "\\" not in path and path.strip() == path:
        return path
    escaped = path.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


def render_file(file: FileChange) -> str:
    """One file: a header, then its hunks with old and new line numbers in front of each line."""
    head = [f"FILE {shown_path(file.path)}", "  " + ", ".join(_facts(file))]
    return "\n".join([*head, *(line for hunk in file.hunks for line in _hunk_lines(hunk))])


def render_files(files: Iterable[FileChange]) -> str:
    """Several files, a blank line between them."""
    return "\n\n".join(render_file(file) for file in files)


def render_statistics(files: Iterable[FileChange]) -> str:
    """One line a file: status, counts, kind, path."""
    return "\n".join(f"{', '.join(_facts(file))}: {shown_path(file.path)}" for file in files)


def _facts(file: FileChange) -> list[str]:
    facts = [file.status.value, f"+{file.added} -{file.removed}", kind_of(file).value]
    if file.old_path is not None:
        facts.append(f"from {shown_path(file.old_path)}")
    if file.old_mode != file.new_mode and "000000" not in (file.old_mode, file.new_mode):
        facts.append(f"mode {file.old_mode} to {file.new_mode}")
    for is_so, word in (
        (file.binary, "binary, not shown"),
        (file.is_symlink, "symlink"),
        (file.is_submodule, "submodule"),
    ):
        if is_so:
            facts.append(word)
    return facts


def _hunk_lines(hunk: Hunk) -> Iterator[str]:
    yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    old, new = hunk.old_start, hunk.new_start
    for line in hunk.lines:
        sign = line[:1]
        shown_old = str(old) if sign in (" ", "-") else ""
        shown_new = str(new) if sign in (" ", "+") else ""
        yield f"{shown_old:>{_COLUMN}} {shown_new:>{_COLUMN}} {line}"
        old += sign in (" ", "-")
        new += sign in (" ", "+")


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One changed line as an agent was shown it. ``number`` is the new line's, or the old one's if removed."""

    path: str
    number: int
    added: bool
    text: str


def changed_lines(text: str) -> Iterator[ShownLine]:
    """The added and removed lines of a rendered diff, in order: the inverse of ``render_files``."""
    path = ""
    for line in text.split("\n"):
        if line.startswith("FILE "):
            path = line.removeprefix("FILE ")
            continue
        if found := _ADDED.fullmatch(line) or _REMOVED.fullmatch(line):
            yield ShownLine(path, int(found[1]), found.re is _ADDED, found[2])
