"""The history of a merged pull request, read from the model's own commits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from review_advisor.mockworld.github.ground import time_of
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Pull


class MergedHistory:
    """See the port ``History``."""

    def __init__(self, github: GitHub, pull: Pull) -> None:
        self._github = github
        self._pull = pull

    @property
    def merged_at(self) -> datetime:
        """When it was merged."""
        return time_of(self._pull.merged_at or 0)

    def text(self, commit: str, path: str) -> str | None:
        """The text of a file at a commit; None if it is not there."""
        content = self._github.objects.content(commit, path)
        return None if content is None else content.decode(errors="replace")

    def later(self) -> Iterator[tuple[str, str]]:
        """The commits on the base branch since, the oldest first."""
        since: list[tuple[str, str]] = []
        for sha in self._github.objects.ancestry(self._github.base_sha(self._pull)):
            if sha == self._pull.merge_commit:
                break
            since.append((sha, self._github.commit(sha).message))
        return reversed(since)
