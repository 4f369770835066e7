"""What happens on the pull request of a story besides pushes and reviews: people, the merge queue, the end."""

from __future__ import annotations

from dataclasses import dataclass

from review_advisor.core.observation.labels import ObservedLabel
from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.markers import finding_in
from review_advisor.core.roster.nearest import nearest_of
from review_advisor.mockworld.github.records import ReactionContent, ReviewThread
from review_advisor.mockworld.stories.branch import HeadBranch, StoryStepError
from review_advisor.mockworld.stories.snapshot import snapshot
from review_advisor.mockworld.stories.story import StepBlock
from review_advisor.mockworld.stories.story_events import (
    CloseStep,
    CommandStep,
    CommentStep,
    Deed,
    LabelStep,
    PendingStep,
    QueueStep,
    ReactStep,
    ResolveStep,
)
from review_advisor.mockworld.stories.workflow import Workflow
from review_advisor.pull_request.begin import Begun


@dataclass(frozen=True, slots=True)
class Came:
    """What came of it. ``head`` is the commit whose check it is about; empty for the head of the pull request."""

    begun: Begun | None = None
    head: str = ""
    observed: tuple[ObservedLabel, ...] = ()


class Life:
    """Lets people and GitHub do what a step says."""

    def __init__(self, branch: HeadBranch, workflow: Workflow) -> None:
        self._branch = branch
        self._workflow = workflow

    def lives(self, step: StepBlock) -> Came:
        """Let it happen. Raises ``StoryStepError`` for what cannot."""
        told = step.happening
        if isinstance(told, Deed):
            self._branch.github.grants(self._branch.pull.repository, told.by, told.may)
        match told:
            case CommentStep() | CommandStep():
                body = told.says if isinstance(told, CommentStep) else self._command(told)
                return Came(self._workflow.commented(told.by, body))
            case LabelStep():
                return Came(self._labelled(told))
            case QueueStep():
                return Came(head=self._workflow.queued())
            case CloseStep():
                return Came(observed=self._closed(told))
            case ReactStep():
                thumb: ReactionContent = "THUMBS_UP" if told.thumb == "up" else "THUMBS_DOWN"
                self._branch.github.reacts(self._thread_of(told.finding).comments[0], thumb, by=told.by)
            case ResolveStep():
                self._branch.github.resolves(self._thread_of(told.finding), by=told.by)
            case PendingStep():
                self._drafted(told)
            case _:
                self._workflow.publish_again()
        return Came()

    def _command(self, told: CommandStep) -> str:
        match told.says:
            case "dismiss":
                return f"{WORD} dismiss {self._id_of(told.finding)} {told.reason}"
            case "explain":
                return f"{WORD} explain {self._id_of(told.finding)}"
            case "override":
                return f"{WORD} override {self._branch.pull.head_sha} {told.reason}"
            case _:
                return f"{WORD} {told.says}"

    def _id_of(self, title: str) -> str:
        memory = snapshot(self._branch.github, self._branch.pull, self._workflow.rules).memory
        known = memory.findings if memory is not None else ()
        found = [each.id for each in known if each.title == title]
        if len(found) > 1:
            raise StoryStepError(f"the bot remembers {len(found)} findings {title!r}: give each a title of its own")
        if not found:
            near = f"; {nearest_of(title, (each.title for each in known))}" if known else ""
            raise StoryStepError(f"the bot remembers no finding {title!r}{near}")
        return found[0]

    def _labelled(self, told: LabelStep) -> Begun:
        github, pull = self._branch.github, self._branch.pull
        if told.put:
            github.labels(pull, told.put, by=told.by)
            return self._workflow.happened("labeled", told.by, told.put)
        if not github.takes_label(pull, told.take, by=told.by):
            raise StoryStepError(f"the label {told.take} is not on")
        return Begun(review=False, because="the workflow does not run for a label that is taken off")

    def _thread_of(self, title: str) -> ReviewThread:
        """The last thread about a finding."""
        identity = self._id_of(title)
        threads = [thread for review in self._branch.pull.reviews for thread in review.threads]
        found = [thread for thread in threads if finding_in(thread.comments[0].body) == identity]
        if not found:
            raise StoryStepError(f"no comment in the diff is about {title!r}")
        return found[-1]

    def _drafted(self, told: PendingStep) -> None:
        pull = self._branch.pull
        if any(each.state == "PENDING" and each.author == told.by for each in pull.reviews):
            raise StoryStepError(f"{told.by} has a review that is not submitted: GitHub takes only one")
        self._branch.github.reviews(pull, by=told.by, body=told.says, state="PENDING")

    def _closed(self, told: CloseStep) -> tuple[ObservedLabel, ...]:
        github, pull = self._branch.github, self._branch.pull
        if pull.state != "open":
            raise StoryStepError("the pull request is closed already")
        if not told.may.may_write and (told.merged or told.by != pull.author):
            raise StoryStepError(f"{told.by} may only {told.may.value}: who merges or closes may write")
        if not told.merged:
            github.closes(pull, by=told.by)
            return self._workflow.observe(told.after_days)
        merge = github.merges(pull, by=told.by)
        if told.reverted:
            message = f'Revert "{pull.title}"\n\nThis reverts commit {merge}.'
            github.commits(pull.repository, pull.base_ref, {}, by=told.by, message=message)
        return self._workflow.observe(told.after_days)
