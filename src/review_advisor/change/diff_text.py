"""The diff as agents read it, and its inverse."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from review_advisor.change.change import FileChange, Hunk, Touched, TouchedLines, touched
from review_advisor.change.kinds import kind_of

LONGEST_PATH = 4_096
_SIGNS = (" ", "+", "-", "\\")
_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_TELLING = ('"', "\\", ", ", ": ")

SHOWN_PATH = r'(?:"(?:[^"\\]|\\.)*"|(?:[^",:\\]|[,:](?! ))+)'
"""What ``shown_path`` gives, as a pattern."""

LINES_APART = 20
"""So many lines at least stand between two places of a hunk that tell the line numbers."""

TEXT_APART = 10
"""So many times as long as such a place is the text before it, so that they cost a tenth of it at most."""

_HEADER_IN_PLACES = 2
"""A hunk's header is at most so many times as long as the line that tells the numbers of its end."""


def shown_path(path: str) -> str:
    """A path on one line: control characters, quotes and backslashes escaped, and what no disk takes shortened.

    One that holds ``, `` or ``: `` is quoted, because these stand between the facts in the list of files.
    """
    if len(path) > LONGEST_PATH:
        digest = hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()
        path = f"{path[:LONGEST_PATH]} [and {len(path) - LONGEST_PATH} more characters, {digest[:12]}]"
    is_plain = path.isprintable() and path.strip() == path
    if is_plain and not any(each in path for each in _TELLING):
        return path
    escaped = path.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


def path_length(path: str) -> int:
    """The characters that a path counts in a prompt: as it is shown, and never fewer than it has.

    A path that is shown shortened counts whole, so that no part holds it, and the outcome names it as not sent.
    """
    return max(len(path), len(shown_path(path)))


def render_file(file: FileChange) -> str:
    """One file: its path, then its hunks. What else is known of it stands in the list of files."""
    return "\n".join([f"FILE {shown_path(file.path)}", *(line for hunk in file.hunks for line in _hunk_lines(hunk))])


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


def hunk_length(hunk: Hunk) -> int:
    """The characters that a hunk is shown with, line ends included, or a few more; never fewer."""
    lines = hunk.text.count("\n")
    first = place_length(hunk.old_start, hunk.new_start)
    last = place_length(hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count)
    return lines_length(lines, len(hunk.text) - lines, first, last)


def lines_length(lines: int, text: int, first: int, last: int) -> int:
    """The length of so many lines with so much text, between places of the lengths ``first`` and ``last``."""
    places = min(max(0, lines - 1) // LINES_APART, text // (TEXT_APART * first))
    return _HEADER_IN_PLACES * last + text + lines + places * (last + 1)


def place_length(old: int, new: int) -> int:
    """How long a line is that tells these line numbers."""
    return len(_place(old, new))


def _place(old: int, new: int) -> str:
    return f"@@ -{old} +{new} @@"


def _hunk_lines(hunk: Hunk) -> Iterator[str]:
    """Its header and its lines. A long hunk tells its line numbers again now and then: models count badly."""
    yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"
    old, new = hunk.old_start, hunk.new_start
    lines = text = 0
    for line in hunk.lines:
        here = _place(old, new)
        if lines >= LINES_APART and text >= TEXT_APART * len(here):
            yield here
            lines = text = 0
        signed = line if line[:1] in _SIGNS else f" {line}"
        sign = signed[:1]
        yield signed
        old += sign in (" ", "-")
        new += sign in (" ", "+")
        lines, text = lines + 1, text + len(line)


def as_in_file(quote: str) -> str:
    """A quote of a rendered hunk as the file has it.

    Lines that tell numbers are left out, and signs are if every line has one. An answer's first line may have lost its
    blank, which is a sign, too.
    """
    lines = [line for line in quote.split("\n") if _HEADER.fullmatch(line) is None and not line.startswith("\\ ")]
    if any(line[:1] not in _SIGNS for line in lines[1:] if line):
        return "\n".join(lines)
    return "\n".join(line[1:] if line[:1] in _SIGNS else line for line in lines)


def as_it_is_now(quote: str) -> str:
    """A quote that holds a replaced line and what took its place, without the lines that are gone."""
    lines = quote.split("\n")
    is_of_both = {"+", "-"} <= {line[:1] for line in lines}
    return as_in_file("\n".join(line for line in lines if line[:1] != "-") if is_of_both else quote)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One changed line as an agent was shown it. ``number`` is the new line's, or the old one's if removed."""

    path: str
    number: int
    added: bool
    text: str


def changed_lines(text: str) -> Iterator[ShownLine]:
    """The added and removed lines of a rendered diff, in order: the inverse of ``render_files``."""
    path, old, new = "", 0, 0
    for line in text.split("\n"):
        sign = line[:1]
        if line.startswith("FILE "):
            path = line.removeprefix("FILE ")
        elif found := _HEADER.fullmatch(line):
            old, new = int(found[1]), int(found[2])
        elif sign in ("+", "-"):
            yield ShownLine(path, new if sign == "+" else old, sign == "+", line[1:])
        old += sign in (" ", "-")
        new += sign in (" ", "+")


def touched_lines(files: Iterable[FileChange]) -> Touched:
    """What the difference between two heads touches, in every file of the later one."""
    return {file.path: tuple(each for hunk in file.hunks for each in _of_hunk(hunk)) for file in files}


def _of_hunk(hunk: Hunk) -> Iterator[TouchedLines]:
    line, added, removed = hunk.new_start if hunk.new_count else hunk.new_start + 1, 0, 0
    for text in (*hunk.lines, " "):
        match text[:1]:
            case "+":
                added += 1
            case "-":
                removed += 1
            case " ":
                if added or removed:
                    yield touched(line, added, removed)
                line, added, removed = line + added + 1, 0, 0
