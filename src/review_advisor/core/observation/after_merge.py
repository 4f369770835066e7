"""What git says of a pull request after its merge: whether a finding's lines still stand, and whether it was reverted.

That lines are gone is a hint, and never proof of anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from review_advisor.core.observation.labels import Value
from review_advisor.core.safety.fence import clean
from review_advisor.core.safety.secret_shapes import holds_mark

_COMMIT = re.compile(r"^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b", re.MULTILINE)
_PULL_REQUEST = re.compile(r"^Reverts ([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?#([0-9]{1,10})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Where a finding was raised: lines of a file at the commit that was reviewed.

    ``removed``: they are on the old side, which the change takes away. ``quote`` is the model's own quote of them,
    empty where only the place is known.
    """

    path: str
    commit: str
    line: int
    end_line: int
    removed: bool = False
    quote: str = ""


def quoted_lines(place: FindingPlace, reviewed: str | None) -> str:
    """The lines as they were reviewed: the quote, or else the lines at the place in ``reviewed``; empty if unknown."""
    if place.quote or reviewed is None:
        return place.quote
    return "\n".join(reviewed.split("\n")[max(place.line - 1, 0) : place.end_line])


def lines_at_merge(place: FindingPlace, lines: str, merged: str | None) -> tuple[Value, str]:
    """Whether ``lines`` stand in the file as it was merged, and what shows it; ``merged`` is None without the file.

    Spaces do not count. Models see text without secrets and invisible characters, so that text is searched.
    """
    if place.removed:
        return "unknown", "the finding is about lines that the change removes"
    if holds_mark(lines):
        return "unknown", "its quote holds a secret, which is not kept"
    wanted = _bare(lines)
    if not wanted:
        return "unknown", "neither the ledger nor the reviewed commit has its lines"
    if merged is None:
        return "unknown", "the merge has no file of that name"
    if wanted in _bare(clean(merged)):
        return "there", "its lines are in the merged file"
    return "gone", "its lines are not in the merged file"


def _bare(text: str) -> str:
    return "\n".join(found for line in text.split("\n") if (found := " ".join(line.split())))


def is_revert(message: str, repository: str, number: int, merge_commit: str) -> bool:
    """Whether a commit with this message reverts the pull request that ``merge_commit`` merged.

    ``git revert`` writes ``This reverts commit <name>``; GitHub's Revert button writes ``Reverts owner/name#7``.
    """
    if merge_commit in _COMMIT.findall(message):
        return True
    return any(
        int(named) == number and (not where or where.casefold() == repository.casefold())
        for where, named in _PULL_REQUEST.findall(message)
    )
