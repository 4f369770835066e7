"""What an earlier review of the same pull request left behind, and what has become of its lines since, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

MOST_GROWTH = 3
"""Lines that replace others are rework up to so many times as many; more than that is new code in an old place."""


class Age(StrEnum):
    """How long a finding's lines have been part of the pull request."""

    NEW = "new"
    REWORKED = "reworked"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class TouchedLines:
    """Lines ``first`` to ``last`` of a file at the head that differ since the last complete review."""

    first: int
    last: int
    age: Age


Touched = Mapping[str, tuple[TouchedLines, ...]]
"""By path. A file that is missing is the same as it was."""


def touched(first: int, added: int, removed: int) -> TouchedLines:
    """The lines of one replacement: ``added`` lines from ``first`` on, in the place of ``removed`` ones.

    Lines that are only taken out touch both neighbours: a check that is gone exposes what stands beside it.
    """
    if not added:
        return TouchedLines(first - 1, first, Age.NEW)
    age = Age.REWORKED if removed and added <= MOST_GROWTH * removed else Age.NEW
    return TouchedLines(first, first + added - 1, age)


def age_of(known: Touched | None, path: str, first: int, last: int, *, removed: bool) -> Age:
    """The age of lines of the head; of removed lines that of their file.

    ``known`` is None where there was no complete review, or nobody can tell what differs since: all lines are new then.
    """
    if known is None:
        return Age.NEW
    spans = known.get(path)
    if spans is None:
        return Age.UNCHANGED
    if removed or not spans:  # a binary file, or one whose name or mode alone differs
        return Age.NEW
    ages = {each.age for each in spans if each.first <= last and first <= each.last}
    return next((age for age in Age if age in ages), Age.UNCHANGED)


@dataclass(frozen=True, slots=True)
class EarlierFinding:
    """A finding that was raised before: still open, or dismissed by a person (``by``, with their reason)."""

    id: str
    path: str
    line: int
    title: str
    severity: str
    status: Literal["open", "dismissed"]
    reason: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class CompleteReview:
    """The last review that read and judged every file: of which head, against which tip of which base branch."""

    head_sha: str
    base_sha: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """The last review of the pull request.

    ``base_sha`` is where its diff began, ``paths`` every path that differs between its head and the present one,
    ``renames`` the old and the present path of each file that git calls renamed between the two,
    ``is_ancestor`` whether that head is part of the present history; ``complete`` that it read and judged every file.
    ``policy_digest`` stands for what it was decided under, ``rules_sha`` is the commit whose configuration held.
    ``whole`` is the last complete review, which may be an older one, and ``touched`` the lines that differ since that;
    None where nobody can tell.
    """

    head_sha: str
    base_sha: str
    policy_digest: str
    complete: bool
    is_ancestor: bool
    paths: frozenset[str]
    findings: tuple[EarlierFinding, ...] = ()
    renames: frozenset[tuple[str, str]] = frozenset()
    rules_sha: str = ""
    whole: CompleteReview | None = None
    touched: Touched | None = None
