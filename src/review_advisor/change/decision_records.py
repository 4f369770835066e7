"""Architecture decision records among the changed files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from review_advisor.change.change import Change, FileChange, Status

_Y_STATEMENT = re.compile(
    r"\A(?>.*?\bin\s+the\s+context\s+of\b)(?>.+?\bfacing\b).+?\bwe\s+(?:decided|decide|chose|choose)\b.+",
    re.IGNORECASE | re.DOTALL,
)
"""A record of one sentence: in the context of, facing, we decided for, to achieve, accepting."""

_STATUS = re.compile(r"^[ \t>*+-]*(?:\*\*)?status(?:\*\*)?[ \t]*:(.*)$", re.IGNORECASE | re.MULTILINE)
_RECORD_NAME = re.compile(r"(?:adr[-_]?)?\d{2,}[-_].+\.(?:md|markdown|rst|adoc)$", re.IGNORECASE)

_HEADING = re.compile(
    r"\s{0,3}(?P<depth>#{1,6}|={1,6}(?=\s))(?=[^#\n])\s*+(?:\d+[.)]\s*+(?=[^#\s]))?+(?P<title>[^#\n]*+)#*+\s*+\Z"
)

_UNDERLINE = re.compile(r"([=~^\"*-])\1{2,}\s*")
_CODE_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def changed_records(change: Change, folders: tuple[str, ...]) -> tuple[FileChange, ...]:
    """The new records, and those whose decision or status changes: numbered documents in or below one of ``folders``.

    A record that nobody read on both sides counts as changed.
    """
    return tuple(
        file
        for file in change.files
        if file.status is not Status.DELETED
        and not file.binary
        and is_record(file.path, folders)
        and file.path not in change.same_decisions
    )


def may_be_record(file: FileChange) -> bool:
    """Whether a file is changed in place and has a record's name, whatever folder it lies in."""
    named = _RECORD_NAME.match(file.path.casefold().rpartition("/")[2]) is not None
    return named and file.status is Status.MODIFIED and not (file.binary or file.is_symlink or file.is_submodule)


def is_record(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is a numbered document in or below one of ``folders``."""
    folder, _, name = path.casefold().rpartition("/")
    below = any(f"{folder}/".startswith(f"{each.casefold()}/") for each in folders)
    return below and _RECORD_NAME.match(name) is not None


def same_decision(before: str, after: str) -> bool:
    """Whether two versions of a record decide the same and have the same status; blanks and case are no difference.

    They count as different if either has an HTML comment, which may hide a section, or if their headings differ.
    """
    if "<!--" in before + after or _headings(before) != _headings(after):
        return False
    return _decided(before) == _decided(after)


def _headings(text: str) -> list[str]:
    return [" ".join(heading.casefold().split()) for depth, heading in _lines(text) if depth and heading]


def _decided(text: str) -> tuple[str, ...]:
    status = [*_sections(text, "Status"), *_STATUS.findall(text)]
    decision = [*_sections(text, "Decision")] or [text]
    return tuple(" ".join(part.casefold().split()) for part in (*status, *decision))


def structure_faults(text: str) -> tuple[str, ...]:
    """What a record lacks: its context, or its decision. Empty for MADR, its minimal form, Nygard and Y-statements.

    A section is a heading of any depth that begins with its word ("Decision", "Decision outcome"); what stands under
    deeper headings belongs to it. Everything else that a template asks for, another one leaves out.
    """
    if _Y_STATEMENT.search(text):
        return ()
    sections = {name: _section(text, name) for name in ("Context", "Decision")}
    faults = [f"section {name!r} is missing" for name, body in sections.items() if body is None]
    decision = sections["Decision"]
    return (*faults, "its decision is empty") if decision is not None and not decision.strip() else tuple(faults)


def _section(text: str, name: str) -> str | None:
    """The longest body of a section of that name, or None."""
    return max(_sections(text, name), key=len, default=None)


def _sections(text: str, name: str) -> Iterator[str]:
    """The body of each section of that name."""
    wanted = re.compile(rf"{name}\b(?! drivers)", re.IGNORECASE)
    inside, body = 0, ""
    for depth, line in [*_lines(text), (1, "")]:
        if inside and 0 < depth <= inside:
            yield body
            inside = 0
        if inside:
            body += line + "\n"
        elif depth and wanted.match(line):
            inside, body = depth, ""


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
