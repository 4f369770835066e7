"""Architecture decision records among the changed files, and the structure one must have before anyone is paid."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review_advisor.core.facts.change import Change, FileChange, Status

REQUIRED_SECTIONS = ("Context", "Decision", "Consequences")
SHORTEST_DECISION = 60
_RECORD_NAME = re.compile(r"(?:adr[-_]?)?\d{2,}[-_].+\.(?:md|markdown|rst|adoc)$", re.IGNORECASE)
_HEADING = re.compile(r"^\s{0,3}(?P<depth>#{1,6}|={1,6}(?=\s))\s*(?:\d+[.)]\s*)?(?P<title>[^#\n]+?)\s*#*\s*$")
_UNDERLINE = re.compile(r"([=~^\"*-])\1{2,}\s*")
_CODE_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def changed_records(change: Change, folders: tuple[str, ...]) -> tuple[FileChange, ...]:
    """The records that the change adds or changes: numbered documents in or below one of ``folders``."""
    return tuple(
        file
        for file in change.files
        if file.status is not Status.DELETED and not file.binary and _is_record(file.path, folders)
    )


def _is_record(path: str, folders: tuple[str, ...]) -> bool:
    folder, _, name = path.casefold().rpartition("/")
    below = any(f"{folder}/".startswith(f"{each.casefold()}/") for each in folders)
    return below and _RECORD_NAME.match(name) is not None


def structure_faults(text: str) -> tuple[str, ...]:
    """What a record lacks: a section, a status, or a decision of at least 60 characters. Empty when sound.

    A section is a heading of any depth that begins with its word ("Decision", "Decision outcome"); what
    stands under deeper headings belongs to it.
    """
    sections = {name: _section(text, name) for name in REQUIRED_SECTIONS}
    faults = [f"section {name!r} is missing" for name, body in sections.items() if body is None]
    if not re.search(r"\bstatus\b", text, re.IGNORECASE):
        faults.append("its status is not stated")
    decision = sections["Decision"]
    if decision is not None and len(decision.strip()) < SHORTEST_DECISION:
        faults.append(f"its decision has fewer than {SHORTEST_DECISION} characters")
    return tuple(faults)


def _section(text: str, name: str) -> str | None:
    """The longest body of a section of that name, or None."""
    wanted = re.compile(rf"{name}\b(?! drivers)", re.IGNORECASE)
    found: str | None = None
    inside, body = 0, ""
    for depth, words in [*_lines(text), (1, "")]:
        if inside and 0 < depth <= inside:
            found, inside = max(found or "", body, key=len), 0
        if inside:
            body += words + "\n"
        elif depth and wanted.match(words):
            inside, body = depth, ""
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its heading's depth, 0 for plain text. Text inside code blocks is never a heading."""
    lines = text.splitlines()
    in_code = False
    for line, below in zip(lines, [*lines[1:], ""][: len(lines)], strict=True):
        in_code ^= _CODE_FENCE.match(line) is not None
        heading = None if in_code else _HEADING.match(line)
        if heading is not None:
            yield len(heading["depth"]), heading["title"].strip()
        elif not in_code and re.match(r"\w", line) and (mark := _UNDERLINE.fullmatch(below)):
            yield 1 + '=-~^"*'.index(mark[1]), line
        elif in_code or not _UNDERLINE.fullmatch(line):
            yield 0, line
