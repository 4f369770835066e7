"""What stands on the pull request of a story at one moment."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from review_advisor.github.state import PREFIX, SUMMARY, StandingComment, State, finding_in, is_check_of, read_state
from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import CheckRun, Pull, ReviewThread
from review_advisor.policy.policy import Mode, is_shadow_name
from review_advisor.policy.pull_request_rules import PublicationRules

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DiffComment:
    """A comment of the bot in the diff."""

    finding: str
    """The id of the finding that it is about."""
    path: str
    line: int
    """Where it stands, or stood."""
    title: str
    state: Literal["open", "resolved", "outdated"]

    def __str__(self) -> str:
        state = "" if self.state == "open" else f" ({self.state})"
        return f"comment on {self.path}:{self.line}{state}: {self.title}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What stands on the pull request at one moment."""

    head: str
    checks: tuple[CheckRun, ...]
    """The bot's check runs on any commit."""
    comments: tuple[DiffComment, ...]
    """The bot's comments in the diff."""
    summaries: tuple[str, ...]
    answers: tuple[str, ...]
    labels: frozenset[str]
    pending: frozenset[tuple[int, str]]
    """The id and the text of each review that somebody has not submitted."""
    memory: State | None
    """What the bot's one summary remembers."""

    def checks_on(self, commit: str) -> tuple[CheckRun, ...]:
        """The bot's check runs on a commit that may be required."""
        return tuple(run for run in self.checks if run.commit == commit and not is_shadow_name(run.name))

    def shadows_on(self, commit: str) -> tuple[CheckRun, ...]:
        """The bot's check runs of shadow mode on a commit."""
        return tuple(run for run in self.checks if run.commit == commit and is_shadow_name(run.name))

    def check_on(self, commit: str) -> str:
        """What the check on a commit concludes, in the words of a story."""
        return _concludes(self.checks_on(commit))

    def shadow_on(self, commit: str) -> str:
        """What the check of shadow mode on a commit concludes, in the words of a story."""
        return _concludes(self.shadows_on(commit))

    def title_on(self, commit: str, mode: Mode = "enforce") -> str:
        """The title of the check on a commit, of this mode."""
        runs = self.shadows_on(commit) if mode == "shadow" else self.checks_on(commit)
        return next((run.title or "" for run in runs), "")

    @property
    def findings(self) -> dict[str, str]:
        """What the bot remembers of each finding, by title."""
        return {} if self.memory is None else {each.title: each.status for each in self.memory.findings}

    @property
    def twins(self) -> tuple[str, ...]:
        """The titles that several remembered findings have."""
        titles = Counter(each.title for each in self.memory.findings) if self.memory is not None else Counter()
        return tuple(title for title, times in titles.items() if times > 1)


def _concludes(runs: tuple[CheckRun, ...]) -> str:
    return next((run.conclusion or run.status for run in runs), "none")


def snapshot(github: GitHub, pull: Pull, rules: PublicationRules) -> Snapshot:
    """What stands now. Later changes do not touch it."""
    own = [each for each in pull.comments if rules.is_ours(each.author)]
    summaries = [each for each in own if each.body.startswith(SUMMARY)]
    checks = github.repository(pull.repository).checks.values()
    reviews = [each for each in pull.reviews if rules.is_ours(each.author) and each.state != "PENDING"]
    memory = None
    if summaries:
        first = summaries[0]
        standing = StandingComment(first.id, first.author, first.body, first.editor or "")
        memory = read_state(standing, rules.login)
    return Snapshot(
        head=pull.head_sha,
        checks=tuple(replace(run) for run in checks if is_check_of(pull.number, run.external_id)),
        comments=tuple(_comment_of(each) for review in reviews for each in review.threads),
        summaries=tuple(each.body for each in summaries),
        answers=tuple(each.body for each in own if each.body.startswith(f"{PREFIX}answer ")),
        labels=frozenset(pull.labels),
        pending=frozenset(
            (each.id, each.body) for each in pull.reviews if each.state == "PENDING" and not rules.is_ours(each.author)
        ),
        memory=memory,
    )


def _comment_of(thread: ReviewThread) -> DiffComment:
    first = thread.comments[0]
    state: Literal["open", "resolved", "outdated"] = "outdated" if thread.outdated else "open"
    state = "resolved" if thread.resolved_by else state
    title = visible_lines(first.body)[0].strip("*")
    return DiffComment(finding_in(first.body) or "", first.path, first.line or first.original_line, title, state)


def visible_lines(body: str) -> list[str]:
    """The lines of a comment that a reader sees; one empty line if there are none."""
    return [line for line in _HIDDEN.sub("", body).splitlines() if line.strip()] or [""]
