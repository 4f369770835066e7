"""A story's reviews put on one pull request of the simulated GitHub, one after the other, and what stands there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from review_advisor.core.facts.change import Change
from review_advisor.core.forge_text.check import check_in_progress
from review_advisor.core.outcome.document import OutcomeDocument, outcome_document
from review_advisor.core.outcome.events import PolicyFrozen
from review_advisor.core.pull_request.markers import SUMMARY
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.state import State, own_summaries, read_state
from review_advisor.core.pull_request.writes import CommittedFile
from review_advisor.mockworld.github.forge import FakeForge
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.page import page
from review_advisor.mockworld.github.records import CheckRun, Comment, Pull, ReviewThread
from review_advisor.mockworld.stories.stage import PlayedReview, PlayedStory
from review_advisor.mockworld.world import FakeClock
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.publish import PublishPhase

REPOSITORY = "acme/shop"
AUTHOR = "ada"
LATER = "f" * 40
"""A head that nobody reviewed."""


class NoPatcher:
    """git, for a bot that pushes nothing."""

    def apply(self, patch: str, files: tuple[CommittedFile, ...]) -> tuple[CommittedFile, ...]:
        """See ``Patcher``."""
        raise AssertionError(f"nothing is to be pushed, not {patch!r} to {len(files)} files")


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands on the pull request once a review was published, and once the same was published again.

    ``threads`` are the comments in the diff that are open and in their place. ``before`` and ``memory`` are what the
    summary remembered before the review, and remembers now. ``foreign`` is a check run of another pull request with the
    same head, whose number only begins like this one's.
    """

    review: PlayedReview
    document: OutcomeDocument
    checks: tuple[CheckRun, ...]
    summaries: tuple[str, ...]
    threads: tuple[str, ...]
    labels: frozenset[str]
    written_again: int
    before: State | None
    memory: State | None
    foreign: CheckRun


class SimulatedPullRequest:
    """One pull request, on which the reviews of a story are published."""

    def __init__(self) -> None:
        self.rules = PublicationRules()
        self.github = GitHub()
        self.github.opens_repository(REPOSITORY)
        self.github.workflow_token()
        self.pull: Pull | None = None
        self._others: dict[str, int] = {}

    def publish(self, review: PlayedReview, outcome: OutcomeDocument) -> Standing:
        """Publish a review of a head that is pushed now, and publish it once more."""
        head = outcome.head_sha or ""
        pull = self._pushed(head, contents_of(review.change))
        document = _against(outcome, self.github.base_sha(pull))
        before, other = self._memory(pull), self._foreign(head, int(f"{pull.number}2"))
        if review.stale:
            self.github.pushes(pull, {"change.txt": "later\n"}, sha=LATER)
        self._publish(pull, document)
        first = self._written(pull, head)
        self._publish(pull, document)
        checks = self.github.repository(REPOSITORY).checks
        return Standing(
            review=review,
            document=document,
            checks=tuple(run for run in checks.values() if run.commit == head and run.id != other),
            summaries=tuple(each.body for each in _summaries(pull)),
            threads=tuple(each.comments[0].body for each in _threads(pull) if not (each.outdated or each.resolved_by)),
            labels=frozenset(label.name for label in pull.labels),
            written_again=self._written(pull, head) - first,
            before=before,
            memory=self._memory(pull),
            foreign=checks[other],
        )

    def show(self, change: Change, outcome: OutcomeDocument) -> Pull:
        """Publish a review once, on a pull request whose head is the one that was reviewed."""
        pull = self._pushed(outcome.head_sha or LATER, contents_of(change))
        self._publish(pull, _against(outcome, self.github.base_sha(pull)))
        return pull

    @property
    def check(self) -> CheckRun | None:
        """The check on the head; None while nothing was published."""
        runs = self.github.repository(REPOSITORY).checks.values()
        return next((run for run in runs if self.pull is not None and run.commit == self.pull.head_sha), None)

    def html(self, title: str) -> str:
        """The check and the comments as a page that looks like GitHub's."""
        if self.pull is None or self.check is None:
            return page(title, (), {})
        patches = {file.path: file.patch or "" for file in self.github.changed_files(self.pull)}
        return page(title, (self.check, *self.pull.comments, *self.pull.reviews), patches)

    def text(self) -> str:
        """The same in a few lines: the check, and where the comments are."""
        if self.pull is None or self.check is None:
            return ""
        lines = [f"check: {self.check.title} ({self.check.conclusion})"]
        lines += [f"label: {label.name}" for label in self.pull.labels]
        for thread in _threads(self.pull):
            first = thread.comments[0]
            state = " (resolved)" if thread.resolved_by else " (outdated)" if thread.outdated else ""
            title = visible_lines(first.body)[0].strip("*")
            lines.append(f"comment on {first.path}:{first.line or first.original_line}{state}: {title}")
        lines += [f"comment: {visible_lines(each.body)[0].lstrip('# ')}" for each in self.pull.comments]
        return "\n".join(lines)

    def _pushed(self, head: str, contents: Mapping[str, str]) -> Pull:
        if self.pull is None:
            self.pull = self.github.opens(REPOSITORY, contents, by=AUTHOR, sha=head)
        elif self.pull.head_sha != head:
            self.github.pushes(self.pull, contents, sha=head)
        return self.pull

    def _publish(self, pull: Pull, document: OutcomeDocument) -> None:
        PublishPhase(Bot(forge=self._forge, clock=FakeClock(), rules=self.rules), NoPatcher()).publish(
            pull.number, document, asked=False
        )

    def _foreign(self, head: str, number: int) -> int:
        if head not in self._others:
            self._others[head] = self._forge.create_check(head, check_in_progress(self.rules, number))
        return self._others[head]

    @property
    def _forge(self) -> FakeForge:
        return FakeForge(self.github, REPOSITORY, self.rules.login)

    def _memory(self, pull: Pull) -> State | None:
        found = own_summaries(self._forge.comments(pull.number), self.rules.login)
        return read_state(found[0], self.rules.login) if found else None

    def _written(self, pull: Pull, head: str) -> int:
        """How many things of ours there are."""
        runs = sum(run.commit == head for run in self.github.repository(REPOSITORY).checks.values())
        return runs + len(pull.comments) + len(pull.reviews) + len(_threads(pull))


def standings(reviews: Sequence[PlayedReview]) -> Iterator[Standing]:
    """What stands after each review of a story that came to a document."""
    simulated = SimulatedPullRequest()
    for review in reviews:
        if review.document is not None:
            yield simulated.publish(review, review.document)


def on_github(reviews: Iterable[tuple[Change, OutcomeDocument]]) -> SimulatedPullRequest:
    """A pull request on which these reviews were published, each of a head that was pushed before it."""
    simulated = SimulatedPullRequest()
    for change, document in reviews:
        simulated.show(change, document)
    return simulated


def story_on_github(story: PlayedStory) -> SimulatedPullRequest:
    """The same for the reviews of a story that came to an outcome."""
    return on_github((each.change, each.document) for each in story.reviews if each.document is not None)


def _against(document: OutcomeDocument, base_sha: str) -> OutcomeDocument:
    """The same review, of a change against the base branch as the simulated GitHub names it."""
    first, *others = document.events
    if not isinstance(first, PolicyFrozen):
        raise TypeError("a review begins with its policy")
    return outcome_document([replace(first, base_ref="main", base_sha=base_sha), *others])


def contents_of(change: Change) -> dict[str, str]:
    """The text files of a change at its head, as far as its hunks tell them: each line where it stands."""
    texts = {"change.txt": f"{change.head_sha}\n"}
    for file in change.files:
        lines: dict[int, str] = {}
        for hunk in file.hunks if not (file.is_symlink or file.is_submodule) else ():
            kept = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
            lines.update(enumerate(kept, hunk.new_start))
        if lines:
            texts[file.path] = "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines) + 1))
    return texts


def _summaries(pull: Pull) -> list[Comment]:
    return [each for each in pull.comments if each.body.startswith(SUMMARY)]


def _threads(pull: Pull) -> list[ReviewThread]:
    return [thread for review in pull.reviews for thread in review.threads]


def visible_lines(body: str) -> list[str]:
    """The lines of a comment that a reader sees; one empty line if there are none."""
    return [line for line in _HIDDEN.sub("", body).splitlines() if line.strip()] or [""]


_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
