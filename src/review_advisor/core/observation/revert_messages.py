"""Which commits revert a pull request, by what GitHub and ``git revert`` write into their messages."""

from __future__ import annotations

import re

_COMMIT = re.compile(r"^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b", re.MULTILINE)
_PULL_REQUEST = re.compile(r"^Reverts ([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?#([0-9]{1,10})\s*$", re.MULTILINE)


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
