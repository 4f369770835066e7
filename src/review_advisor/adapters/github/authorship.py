"""Whose work the commits of a pull request are: who made them, who pushed them, and what they bring."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from urllib.parse import quote

from review_advisor.adapters.github.address import commit_name
from review_advisor.adapters.github.git_data import GitData
from review_advisor.adapters.github.rest_answers import ActivityAnswer, CommitAnswer, ComparisonAnswer
from review_advisor.core.facts.pull_request import Makers, PullRequest
from review_advisor.ports.forge import MOST_COMPARED, MOST_LISTED_COMMITS, Comparison, ForgeDenied, ForgeMissing

_MOST_PAGES = 10
"""A branch with more pushes than these pages hold, a hundred each, has some that nobody knows."""


class Authorship(GitData):
    """The makers of commits on GitHub, as ``ports.Forge``. Every method raises ``ForgeError``."""

    def makers(self, pull_request: PullRequest) -> Makers:
        """The accounts that GitHub knows the commits' authors and committers by, and whoever pushed any of the commits.

        It goes by the mail addresses in a commit.
        """
        doing = f"list the commits of pull request #{pull_request.number}"
        pages = self._wire.pages(doing, f"{self._pull(pull_request.number)}/commits", list[CommitAnswer])
        commits = [each for page in pages for each in page]
        found = (login for each in commits for login in each.makers())
        pushed = self.pushers(pull_request, {each.sha for each in commits})
        named = all(each.names_author for each in commits)
        whole = named and pushed.whole and len(commits) < MOST_LISTED_COMMITS
        return Makers(tuple(dict.fromkeys((*found, *pushed.logins))), whole)

    def pushers(self, pull_request: PullRequest, commits: AbstractSet[str]) -> Makers:
        """Whoever pushed one of these commits to the head's branch.

        Not whole: a fork that the token cannot read, more pushes than are read, or a head that nobody is known to push.
        """
        every, whole = self._pushes("read who pushed the commits", pull_request, _MOST_PAGES)
        pushes = [each for each in every if each.after in commits]
        known = all(each.actor for each in pushes) and pull_request.head_sha in {each.after for each in pushes}
        return Makers(tuple(dict.fromkeys(each.actor.login for each in pushes if each.actor)), whole and known)

    def pushed_heads(self, pull_request: PullRequest) -> tuple[str, ...]:
        """The heads that pushes gave to its branch, the newest first, at most a hundred; none if unreadable."""
        pushes, _ = self._pushes("read what was pushed", pull_request, 1)
        return tuple(dict.fromkeys(each.after for each in pushes))

    def _pushes(self, doing: str, pull_request: PullRequest, pages: int) -> tuple[list[ActivityAnswer], bool]:
        """The newest pushes to the head's branch, and whether they are all; none where the token may not read them."""
        if pull_request.head_repository is None:
            return [], False
        path = f"/repos/{quote(pull_request.head_repository)}/activity"
        asked = {"ref": f"refs/heads/{pull_request.head_ref}"}
        try:
            found, whole = self._wire.newest(doing, path, list[ActivityAnswer], asked, pages)
        except (ForgeMissing, ForgeDenied):
            return [], False
        return [each for page in found for each in page], whole

    def compared(self, base: str, head: str) -> Comparison:
        """What ``head`` brings over its merge base with ``base``: both are commits, which no push moves."""
        path = f"{self._root}/compare/{commit_name(base)}...{commit_name(head)}"
        pages = self._wire.pages(f"compare the commit {head[:12]} with its base", path, ComparisonAnswer)
        commits = tuple(each.value() for page in pages for each in page.commits)
        told = pages[0].files
        files = tuple(each.value() for each in told or ())
        whole = told is not None and len(files) < MOST_COMPARED and len(commits) == pages[0].total_commits
        return Comparison(files, commits, whole)

    def _pull(self, number: int) -> str:
        return f"{self._root}/pulls/{number}"
