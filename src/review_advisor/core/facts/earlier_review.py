"""What an earlier review of the same pull request left behind, as facts for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.facts.line_ages import Touched


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
