"""Architecture decision records among the changed files, and the structure one must have before anyone is paid."""

from __future__ import annotations

import re

from review_advisor.core.facts.change import Change, FileChange, Status

REQUIRED_SECTIONS = ("Context", "Decision", "Consequences")
SHORTEST_DECISION = 60
_RECORD_NAME = re.compile(r"(?:adr[-_]?)?\d{2,}[-_].+\.(?:md|markdown|rst|adoc)$", re.IGNORECASE)
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}|=+)\s*(?:\d+[.)]\s*)?(?P<title>[^#\n]+?)\s*#*\s*$")


def changed_records(change: Change, folders: tuple[str, ...]) -> tuple[FileChange, ...]:
    """The records that the change adds or changes: numbered documents directly in one of ``folders``."""
    return tuple(
        file
        for file in change.files
        if file.status is not Status.DELETED and not file.binary and _is_record(file.path, folders)
    )


def _is_record(path: str, folders: tuple[str, ...]) -> bool:
    folder, _, name = path.rpartition("/")
    return folder in folders and _RECORD_NAME.match(name) is not None


def structure_faults(text: str) -> tuple[str, ...]:
    """What a record lacks: a section, a status, or a decision of at least 60 characters. Empty when sound."""
    sections = _sections(text)
    faults = [f"section {name!r} is missing" for name in REQUIRED_SECTIONS if name.lower() not in sections]
    if not re.search(r"\bstatus\b", text, re.IGNORECASE):
        faults.append("its status is not stated")
    decision = sections.get("decision")
    if decision is not None and len(decision.strip()) < SHORTEST_DECISION:
        faults.append(f"its decision has fewer than {SHORTEST_DECISION} characters")
    return tuple(faults)


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    title: str | None = None
    level = 0
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        if heading is None:
            if title is not None:
                found[title] += line + "\n"
            continue
        depth = len(line.lstrip()) - len(line.lstrip().lstrip("#="))
        if title is not None and depth > level > 1:
            found[title] += line + "\n"
            continue
        title, level = heading["title"].strip().lower(), depth
        found.setdefault(title, "")
    return found
