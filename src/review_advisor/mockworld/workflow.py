"""The workflow of a story: runs of it, and what people and GitHub do."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count

from review_advisor.change.change import Change
from review_advisor.change.pull_request import ActionsEvent, CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.github.begin import BeginPhase, Begun
from review_advisor.github.commands import WORD
from review_advisor.github.memory import believed_memory, earlier_review, peoples_word
from review_advisor.github.observation import ObservePhase
from review_advisor.github.publish import DidNotRun, PublishPhase, ShadowPublishPhase, Unfinished
from review_advisor.github.state import finding_in
from review_advisor.github.writer import Bot
from review_advisor.mockworld.agents import Killed
from review_advisor.mockworld.copies import NoPatcher
from review_advisor.mockworld.github import MergedHistory, time_of
from review_advisor.mockworld.github_records import ReactionContent, ReviewThread
from review_advisor.mockworld.github_traffic import NoAnswer, RequestMoment, killed
from review_advisor.mockworld.head_branch import HeadBranch, StoryStepError
from review_advisor.mockworld.snapshot import snapshot
from review_advisor.mockworld.story import (
    CloseStep,
    CommandStep,
    CommentStep,
    Deed,
    LabelStep,
    PendingStep,
    QueueStep,
    ReactStep,
    ResolveStep,
    StepBlock,
    TroubleBlock,
)
from review_advisor.policy.policy import Rules
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.observed import ObservedLabel
from review_advisor.review.ports import Clock
from review_advisor.safety.stated_values import nearest_of

NO_OUTCOME = "There is no outcome to publish: the review's job ended without one."
NO_TROUBLE = TroubleBlock()


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the workflow that has begun a review of ``head``."""

    number: int
    head: str
    begun: Begun


@dataclass(frozen=True, slots=True)
class _Publication:
    run: Run
    outcome: OutcomeDocument | DidNotRun


class Workflow:
    """Runs of the workflow: an event begins one, its review is played elsewhere, and what came of it is published.

    ``due`` are the runs whose review has not been played yet, the oldest first. ``unmet`` counts the troubles of the
    last publication that did not come, ``killed`` says whether it was killed.
    """

    def __init__(self, branch: HeadBranch, clock: Clock, rules: Rules) -> None:
        self.rules = PublicationRules().of_mode(rules.mode)
        self._consults = rules.escalation.caps is not None
        self.due: deque[Run] = deque()
        self._branch = branch
        self._clock = clock
        self._numbers = count(1)
        self._starter: ActionsEvent | None = None
        self._last: _Publication | None = None
        self.unmet = 0
        self.killed = False

    # --- events ---

    def happened(self, action: str, by: str, label: str | None = None) -> Begun:
        """Something happened to the pull request."""
        pull = self._branch.pull
        return self._begin(PullRequestEvent(action, pull.repository, pull.number, pull.head_sha, by, label))

    def commented(self, by: str, body: str) -> Begun:
        """Somebody comments."""
        pull = self._branch.pull
        made = self._branch.github.comments(pull, by=by, body=body)
        return self._begin(CommentEvent("created", pull.repository, pull.number, made.id, by, body, True))

    def queued(self) -> str:
        """The merge queue makes a commit, and asks for its check; that commit."""
        github, pull = self._branch.github, self._branch.pull
        name = f"gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{pull.head_sha}"
        made = github.commits(pull.repository, name, {}, by="github-merge-queue[bot]")
        base = github.base_sha(pull)
        self._begin(MergeGroupEvent("checks_requested", pull.repository, made, f"refs/heads/{name}", base))
        return made

    def _begin(self, event: ActionsEvent) -> Begun:
        number = next(self._numbers)
        begun = BeginPhase(self._bot(number)).begin(event)
        if begun.review:
            if isinstance(event, PullRequestEvent) and event.action == "synchronize":
                # A push ends the reviews that are under way, as the workflow's concurrency group does.
                while self.due:
                    self.publish(self.due.popleft(), None)
            self._starter = event
            self.due.append(Run(number, self._branch.pull.head_sha, begun))
        return begun

    def next_run(self) -> Run | str:
        """The run whose review is due; where none is, the last one is started again. A sentence if nothing begins."""
        if not self.due:
            again = self._starter or self._opened()
            if not (begun := self._begin(again)).review:
                return begun.because
        return self.due.popleft()

    def _opened(self) -> ActionsEvent:
        pull = self._branch.pull
        return PullRequestEvent("opened", pull.repository, pull.number, pull.head_sha, pull.author)

    # --- the jobs ---

    def remembered(self, change: Change, run: Run) -> Change:
        """The change as the run's review is told of it: with the last review, as far as that is believed."""
        state = believed_memory(self._branch.forge, self.rules, self._branch.pull.number, run.begun.memory)
        if state is None:
            return change
        earlier = self._branch.since(earlier_review(state))
        return replace(change, prior_fix_attempts=change.prior_fix_attempts + state.fix_attempts, earlier=earlier)

    def publish(self, run: Run, document: OutcomeDocument | None, trouble: TroubleBlock = NO_TROUBLE) -> None:
        """Publish what came of a run's review. A job that is killed leaves what it has written."""
        outcome = document or DidNotRun(f"job-{run.number}", run.head, NO_OUTCOME)
        self._last = _Publication(run, outcome)
        traffic = self._branch.github.traffic
        if trouble.publisher_killed_at is not None:
            traffic.meets(killed(), _write(trouble.publisher_killed_at))
        if trouble.second_publisher_at is not None:
            traffic.meanwhile(partial(self._publish, self._last), _write(trouble.second_publisher_at))
        if trouble.answer_lost_at is not None:
            traffic.meets(NoAnswer(), replace(_write(trouble.answer_lost_at), after=True))
        self.killed = False
        try:
            self._publish(self._last)
        except Killed:
            self.killed = True
        self.unmet = traffic.calm()

    def publish_again(self) -> None:
        """Start the job that published last again."""
        if self._last is None:
            raise StoryStepError("nothing was published before")
        self._publish(self._last)

    def _publish(self, what: _Publication) -> None:
        number, bot = self._branch.pull.number, self._bot(what.run.number)
        unfinished = Unfinished(bot, number, what.run.head)
        with unfinished.decided():
            unfinished.is_known(bot, what.run.head)
            if self.rules.is_shadow:
                ShadowPublishPhase(bot, unfinished.stands).publish(number, what.outcome)
                return
            PublishPhase(bot, NoPatcher(), unfinished.stands).publish(number, what.outcome, asked=what.run.begun.asked)

    def observe(self, after_days: int) -> tuple[ObservedLabel, ...]:
        """What is observed of the closed pull request, so many days later."""
        branch, pull = self._branch, self._branch.pull
        history = MergedHistory(branch.github, pull) if pull.merged else None
        listening = partial(peoples_word, branch.forge, self.rules, pull.number)
        now = time_of(branch.github.second) + timedelta(days=after_days)
        phase = ObservePhase(branch.forge, history, self.rules.login, {}, now, listening=listening)
        return phase.observe(branch.forge.pull_request(pull.number))

    def _bot(self, run: int) -> Bot:
        return Bot(
            forge=self._branch.forge,
            clock=self._clock,
            rules=self.rules,
            run=str(run),
            repository=self._branch.pull.repository,
            consults=self._consults,
        )


def _write(number: int) -> RequestMoment:
    return RequestMoment(number - 1, kind="write")


@dataclass(frozen=True, slots=True)
class DeedResult:
    """The result of a deed. ``head`` is the commit whose check it is about; empty for the pull request's head."""

    begun: Begun | None = None
    head: str = ""
    observed: tuple[ObservedLabel, ...] = ()


class Deeds:
    """Carries out what a step has people and GitHub do."""

    def __init__(self, branch: HeadBranch, workflow: Workflow) -> None:
        self._branch = branch
        self._workflow = workflow

    def carry_out(self, step: StepBlock) -> DeedResult:
        """Let it happen. Raises ``StoryStepError`` for what cannot."""
        deed = step.happening
        if isinstance(deed, Deed):
            self._branch.github.grants(self._branch.pull.repository, deed.by, deed.may)
        match deed:
            case CommentStep() | CommandStep():
                body = deed.says if isinstance(deed, CommentStep) else self._command(deed)
                return DeedResult(self._workflow.commented(deed.by, body))
            case LabelStep():
                return DeedResult(self._labelled(deed))
            case QueueStep():
                return DeedResult(head=self._workflow.queued())
            case CloseStep():
                return DeedResult(observed=self._closed(deed))
            case ReactStep():
                thumb: ReactionContent = "THUMBS_UP" if deed.thumb == "up" else "THUMBS_DOWN"
                self._branch.github.reacts(self._thread_of(deed.finding).comments[0], thumb, by=deed.by)
            case ResolveStep():
                self._branch.github.resolves(self._thread_of(deed.finding), by=deed.by)
            case PendingStep():
                self._drafted(deed)
            case _:
                self._workflow.publish_again()
        return DeedResult()

    def _command(self, deed: CommandStep) -> str:
        match deed.says:
            case "dismiss":
                return f"{WORD} dismiss {self._id_of(deed.finding)} {deed.reason}"
            case "explain":
                return f"{WORD} explain {self._id_of(deed.finding)}"
            case "override":
                return f"{WORD} override {self._branch.pull.head_sha} {deed.reason}"
            case _:
                return f"{WORD} {deed.says}"

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

    def _labelled(self, deed: LabelStep) -> Begun:
        github, pull = self._branch.github, self._branch.pull
        if deed.put:
            github.labels(pull, deed.put, by=deed.by)
            return self._workflow.happened("labeled", deed.by, deed.put)
        if not github.takes_label(pull, deed.take, by=deed.by):
            raise StoryStepError(f"the label {deed.take} is not on")
        return Begun(review=False, because="the workflow does not run for a label that is taken off")

    def _thread_of(self, title: str) -> ReviewThread:
        """The last thread about a finding."""
        identity = self._id_of(title)
        threads = [thread for review in self._branch.pull.reviews for thread in review.threads]
        found = [thread for thread in threads if finding_in(thread.comments[0].body) == identity]
        if not found:
            raise StoryStepError(f"no comment in the diff is about {title!r}")
        return found[-1]

    def _drafted(self, deed: PendingStep) -> None:
        pull = self._branch.pull
        if any(each.state == "PENDING" and each.author == deed.by for each in pull.reviews):
            raise StoryStepError(f"{deed.by} has a review that is not submitted: GitHub takes only one")
        self._branch.github.reviews(pull, by=deed.by, body=deed.says, state="PENDING")

    def _closed(self, deed: CloseStep) -> tuple[ObservedLabel, ...]:
        github, pull = self._branch.github, self._branch.pull
        if pull.state != "open":
            raise StoryStepError("the pull request is closed already")
        if not deed.may.may_write and (deed.merged or deed.by != pull.author):
            raise StoryStepError(f"{deed.by} may only {deed.may.value}: who merges or closes may write")
        if not deed.merged:
            github.closes(pull, by=deed.by)
            return self._workflow.observe(deed.after_days)
        merge = github.merges(pull, by=deed.by)
        if deed.reverted:
            message = f'Revert "{pull.title}"\n\nThis reverts commit {merge}.'
            github.commits(pull.repository, pull.base_ref, {}, by=deed.by, message=message)
        return self._workflow.observe(deed.after_days)
