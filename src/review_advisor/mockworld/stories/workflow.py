"""The shipped workflow on the pull request of a story: its jobs are calls of the bot's own use cases."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count

from review_advisor.core.facts.actions_event import ActionsEvent, CommentEvent, MergeGroupEvent, PullRequestEvent
from review_advisor.core.facts.change import Change
from review_advisor.core.observation.labels import ObservedLabel
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.policy.policy import Rules
from review_advisor.core.pull_request.memory import earlier_review
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.mockworld.checkout import NoPatcher
from review_advisor.mockworld.github.ground import time_of
from review_advisor.mockworld.github.history import MergedHistory
from review_advisor.mockworld.github.traffic import NoAnswer, RequestMoment, killed
from review_advisor.mockworld.lines import Killed
from review_advisor.mockworld.stories.branch import HeadBranch, StoryStepError
from review_advisor.mockworld.stories.story import TroubleBlock
from review_advisor.observation.closed_pull_request import ObservePhase
from review_advisor.ports.review import Clock
from review_advisor.pull_request.begin import BeginPhase, Begun
from review_advisor.pull_request.believed_memory import believed_memory, peoples_word
from review_advisor.pull_request.bot import Bot
from review_advisor.pull_request.publish import DidNotRun, PublishPhase
from review_advisor.pull_request.shadow_publish import ShadowPublishPhase
from review_advisor.pull_request.unfinished import Unfinished

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
                self._cancel()
            self._starter = event
            self.due.append(Run(number, self._branch.pull.head_sha, begun))
        return begun

    def _cancel(self) -> None:
        """A push ends the reviews that are under way, as the workflow's concurrency group does."""
        while self.due:
            self.publish(self.due.popleft(), None)

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
