"""Links to pages of the forge: lines of a file at a commit, a rule of the team's, the check's page, the run's page."""

from __future__ import annotations

import re
from dataclasses import dataclass

from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.guidelines import GuidelineFact, cited
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.safety.markdown import code

MOST_TARGET = 300
"""A longer target takes more room than the finding: the words stand without a link."""
CHECK_PAGE = "The check's page"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_COMMIT = re.compile(OBJECT_NAME)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._/-]")
_RUN_PAGE = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9._/-]+")


@dataclass(frozen=True, slots=True)
class CommitLinks:
    """Links to the files of one commit; there are none where the repository or the commit is not known."""

    repository: str = ""
    commit: str = ""

    def to(self, words: str, path: str, first: int = 0, last: int = 0) -> str:
        """Safe Markdown as a link to a file, and to its lines if ``first`` is one."""
        if not _REPOSITORY.fullmatch(self.repository) or not _COMMIT.fullmatch(self.commit):
            return words
        target = f"/{self.repository}/blob/{self.commit}/{_NOT_PLAIN.sub(_percent, path)}"
        if first > 0:
            target += f"?plain=1#L{first}{f'-L{last}' if last > first else ''}"
        return f"[{words}]({target})" if len(target) <= MOST_TARGET else words


NOWHERE = CommitLinks()


def head_links(document: OutcomeDocument) -> CommitLinks:
    """Links to the reviewed files."""
    return CommitLinks(document.repository or "", document.head_sha or "")


def base_links(document: OutcomeDocument) -> CommitLinks:
    """Links to the files as they were before the change."""
    return CommitLinks(document.repository or "", document.base_sha or "")


@dataclass(frozen=True, slots=True)
class RuleLinks:
    """Where the rules of one review stand: files ``at`` a commit, by the names of the rules."""

    at: CommitLinks = NOWHERE
    rules: tuple[GuidelineFact, ...] = ()

    def to(self, citation: str) -> str:
        """A citation as Markdown, with a link to its lines on whatever host the comment stands."""
        words = code(shown_path(citation), 200)
        found = cited(citation, self.rules)
        if found is None:
            return words
        name, first, last = found
        file = next(each.file for each in self.rules if each.name == name)
        if not file:
            return words
        if file != name:  # a text within the configuration has no lines of its own there
            first = 0
        return self.at.to(words, file, first, last)


NO_LINKS = RuleLinks()


def rule_links(document: OutcomeDocument) -> RuleLinks:
    """The links of a review."""
    return RuleLinks(CommitLinks(document.repository or "", document.rules_sha or ""), document.guidelines)


def check_page(document: OutcomeDocument) -> str:
    """The check's page, as a link if the repository and the pull request are known."""
    repository, number = document.repository, document.pull_request
    if repository is None or number is None or not _REPOSITORY.fullmatch(repository):
        return CHECK_PAGE
    return f"[{CHECK_PAGE}](/{repository}/pull/{number}/checks)"


def run_link(words: str, page: str | None) -> str:
    """Safe Markdown as a link to the page of the workflow run, if that has an address of the usual form."""
    return f"[{words}]({page})" if page is not None and _RUN_PAGE.fullmatch(page) else words


def _percent(sign: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in sign[0].encode("utf-8", "replace"))
