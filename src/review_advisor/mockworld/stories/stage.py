"""Playing a story: its steps in order, each review through the real pipeline, everything remembered."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.observation.labels import ObservedLabel
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event
from review_advisor.core.policy.mode import Mode
from review_advisor.core.policy.policy import RepairMode, Rules
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.shadow.shadow_decision import ShadowDecision
from review_advisor.core.shadow.shadow_rule import Shadow
from review_advisor.mockworld.editable_copies import Bench
from review_advisor.mockworld.fake_advisor_runner import FakeAdvisorRunner, PlayedCall
from review_advisor.mockworld.github.model import GitHub
from review_advisor.mockworld.github.records import Pull
from review_advisor.mockworld.stories.branch import HeadBranch, StoryStepError
from review_advisor.mockworld.stories.life import Life
from review_advisor.mockworld.stories.one_review import OneAfterTheOther, run
from review_advisor.mockworld.stories.roster import cast, cast_shadow, unmet_troubles
from review_advisor.mockworld.stories.snapshot import Snapshot, snapshot
from review_advisor.mockworld.stories.story import DEFAULT_FILE, ReviewBlock, StepBlock, Story
from review_advisor.mockworld.stories.story_change import PushBlock
from review_advisor.mockworld.stories.story_expect import StoryEnd
from review_advisor.mockworld.stories.story_lines import Meanwhile
from review_advisor.mockworld.stories.workflow import Workflow
from review_advisor.mockworld.world import (
    FakeClock,
    FakePictures,
    FakeSource,
    MemoryArtifacts,
    MemoryJournal,
    MockWorld,
)
from review_advisor.pull_request.begin import Begun


@dataclass(frozen=True, slots=True)
class PlayedReview:
    """One review as it happened. ``document`` is None when nothing was decided; ``files`` is what was stored.

    ``wiki`` is what reached the repository's wiki, ``environment`` what held when it began. ``stale``: the head moved
    meanwhile; ``flipped``: a switch did. ``unsaid`` are lines that nobody asked for, ``spared`` sentences about
    troubles that never came, both unless the story is loose.
    """

    number: int
    change: Change
    pictures: tuple[PictureDifference, ...]
    rules: Rules
    repair: RepairMode
    jobs: int
    environment: Mapping[str, str]
    run_id: str
    nonce: str
    asked: tuple[PlayedCall, ...]
    shadows: tuple[Shadow, ...]
    asked_in_shadow: tuple[PlayedCall, ...]
    events: tuple[Event, ...]
    document: OutcomeDocument | None
    files: Mapping[str, str]
    wiki: Mapping[str, str]
    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    in_shadow: Mapping[str, ShadowDecision]
    stale: bool
    flipped: bool
    unsaid: tuple[str, ...]
    spared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """One step as it happened. ``head`` is the commit whose check it is about.

    ``because`` says what the bot made of it, ``begins`` whether that is a review, and ``problem`` why the step could
    not happen as it is told. ``stands`` is None where nothing is published.
    ``mode`` is the one that holds. ``killed``: its publication was. ``due`` are the heads whose review has begun and is
    not played yet.
    """

    number: int
    told: StepBlock
    head: str
    review: PlayedReview | None = None
    begins: bool = False
    because: str = ""
    problem: str = ""
    stands: Snapshot | None = None
    observed: tuple[ObservedLabel, ...] = ()
    mode: Mode = "enforce"
    killed: bool = False
    due: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlayedStory:
    """A story that is over. ``unplayed`` are the reviews that were begun and not played.

    ``github`` and ``pull`` are the pull request in the end.
    """

    story: Story
    reviews: tuple[PlayedReview, ...]
    steps: tuple[PlayedStep, ...]
    unplayed: tuple[str, ...]
    github: GitHub = field(compare=False, repr=False)
    pull: Pull = field(compare=False, repr=False)


def play(story: Story, reviews: int | None = None, *, flips: bool = True) -> PlayedStory:
    """Play ``story`` from its first step to its last, or to the review of number ``reviews``.

    Two plays of one story are equal, on any machine. Without ``flips`` no switch is set while a review runs.
    """
    stage = _Stage(story, flips=flips)
    steps: list[PlayedStep] = []
    played: list[PlayedReview] = []
    for step in stage.steps():
        steps.append(step)
        played += [step.review] if step.review is not None else []
        if len(played) == reviews:
            break
    pull = stage.branch.pull
    return PlayedStory(story, tuple(played), tuple(steps), stage.unplayed, stage.branch.github, pull)


class _Stage:
    """The world of one story while it is played."""

    def __init__(self, story: Story, *, flips: bool) -> None:
        self._story = story
        self._may_flip = flips
        self._clock = FakeClock()
        self._environment = dict(story.switches)
        self._rules = story.config.rules()
        self._flips = 0
        self._own: dict[str, str | None] = {}
        self._reviews = count(1)
        self.branch = HeadBranch(GitHub(), story.pull_request, whole=story.published)
        self._workflow = Workflow(self.branch, self._clock, self._rules) if story.published else None
        self._opened = False
        if story.steps[0].push is None:
            self._push(PushBlock())

    @property
    def unplayed(self) -> tuple[str, ...]:
        """The reviews that were begun and not played."""
        due = self._workflow.due if self._workflow is not None else ()
        return tuple(f"a review of {run.head[:8]} began and no step plays it: {run.begun.because}" for run in due)

    def steps(self) -> Iterator[PlayedStep]:
        """Take every step; what came of it."""
        for number, told in enumerate(self._story.steps, 1):
            try:
                played = self._step(number, told)
            except StoryStepError as problem:
                played = PlayedStep(number, told, self.branch.pull.head_sha, problem=str(problem))
            if self._workflow is not None:
                stands = snapshot(self.branch.github, self.branch.pull, self._workflow.rules)
                played = replace(played, stands=stands, due=frozenset(run.head for run in self._workflow.due))
            yield replace(played, mode=self._rules.mode)

    def _step(self, number: int, told: StepBlock) -> PlayedStep:
        if told.switches is not None:
            self._environment.update(told.switches)
            return PlayedStep(number, told, self.branch.pull.head_sha)
        if told.mode is not None and self._workflow is not None:
            self._rules = replace(self._rules, mode=told.mode)
            self._workflow.rules = PublicationRules().of_mode(told.mode)
            return PlayedStep(number, told, self.branch.pull.head_sha)
        if told.review is not None:
            return self._reviewed(number, told, told.review)
        begun: Begun | None = None
        if told.push is not None:
            begun = self._push(told.push)
        elif told.force_push is not None:
            begun = self._push(told.force_push, forced=True)
        elif told.rename is not None:
            self.branch.rename(told.rename.path, told.rename.to, told.rename.by)
            begun = self._happened("synchronize", told.rename.by or self.branch.pull.author)
        elif self._workflow is not None:
            return self._life(number, told, Life(self.branch, self._workflow))
        head = self.branch.pull.head_sha
        return PlayedStep(number, told, head, begins=begun is not None and begun.review, because=_because(begun))

    def _life(self, number: int, told: StepBlock, life: Life) -> PlayedStep:
        came = life.lives(told)
        head = came.head or self.branch.pull.head_sha
        begins = came.begun is not None and came.begun.review
        return PlayedStep(number, told, head, begins=begins, because=_because(came.begun), observed=came.observed)

    def _push(self, told: PushBlock, *, forced: bool = False) -> Begun | None:
        if told.files is None and not self._opened:
            told = told.model_copy(update={"files": (DEFAULT_FILE,)})
        self.branch.push(told, forced=forced)
        action, self._opened = "synchronize" if self._opened else "opened", True
        return self._happened(action, told.by or self.branch.pull.author)

    def _happened(self, action: str, by: str) -> Begun | None:
        return self._workflow.happened(action, by) if self._workflow is not None else None

    def _reviewed(self, number: int, told: StepBlock, block: ReviewBlock) -> PlayedStep:
        """The review that is due, and its publication."""
        change = self.branch.change()
        if self._workflow is None:
            review = self._review(block, change)
            return PlayedStep(number, told, change.head_sha or "", review)
        run = self._workflow.next_run()
        if isinstance(run, str):
            raise StoryStepError(f"no review begins: {run}")
        if run.head != change.head_sha:
            self._workflow.publish(run, None)
            raise StoryStepError(f"its review does not run: it began for {run.head[:8]}, and a push moved the head")
        review = self._review(block, self._workflow.remembered(change, run), consult=run.begun.consult)
        self._workflow.publish(run, review.document, block.trouble)
        problem = "its trouble never came: the publication has fewer writes to GitHub" if self._workflow.unmet else ""
        return PlayedStep(number, told, run.head, review, problem=problem, killed=self._workflow.killed)

    def _meanwhile(self, told: Meanwhile) -> None:
        switches = told.switches if self._may_flip else {}
        self._flips += bool(switches)
        self._environment.update(switches)
        for name, value in switches.items():
            self._own.setdefault(name, os.environ.get(name))
            os.environ[name] = value
        if told.push is not None:
            self._push(told.push)

    def _take_back(self) -> None:
        """A flip is one of this process's own environment, too, for whoever would read it; it ends with the review."""
        for name, value in self._own.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        self._own.clear()

    def _review(self, told: ReviewBlock, change: Change, *, consult: bool = False) -> PlayedReview:
        number = next(self._reviews)
        agents = FakeAdvisorRunner(self._clock, lifelike=True)
        cast(agents, told, self._meanwhile)
        flips, published = self._flips, self._story.published
        world = self._world(told, agents, change, number)
        world.consult_requested = consult
        cast_shadow(world.in_shadow, told, self._meanwhile)
        environment = dict(self._environment)
        shadows = tuple(each.shadow() for each in self._story.config.shadow)
        try:
            over = run(world, shadows)
        finally:
            self._take_back()
        for asked in (*agents.played, *world.in_shadow.played):
            if isinstance(asked.came, BaseException):
                asked.came.__traceback__ = None  # it holds this whole review, in a circle
        return PlayedReview(
            number=number,
            change=change,
            pictures=world.pictures.stated,
            rules=world.rules,
            repair=told.repair,
            jobs=told.jobs,
            environment=environment,
            run_id=world.run_id,
            nonce=world.nonce,
            asked=tuple(agents.played),
            shadows=shadows,
            asked_in_shadow=tuple(world.in_shadow.played),
            events=tuple(world.journal.events),
            document=over.document,
            files=world.artifacts.files,
            wiki=world.wiki.files,
            ended=over.ended,
            exit_code=over.exit_code,
            because=over.because,
            in_shadow=over.in_shadow,
            stale=self.branch.pull.head_sha != change.head_sha,
            flipped=self._flips != flips,
            unsaid=() if self._story.loose else (*agents.unsaid(), *world.in_shadow.unsaid()),
            spared=() if self._story.loose else tuple(unmet_troubles(told.trouble, world, published=published)),
        )

    def _world(self, told: ReviewBlock, agents: FakeAdvisorRunner, change: Change, number: int) -> MockWorld:
        """The present state of the story as a world in which one review runs."""
        push = self.branch.head
        world = MockWorld(self._clock, agents)
        world.reviews = number - 1
        world.source = FakeSource(change, dict(push.texts), checkout=None if push.bare else Bench())
        world.source.guidelines = self._story.config.guidelines
        world.repair, agents.write = told.repair, world.source.write
        world.pictures = FakePictures(push.pictures)
        world.journal = MemoryJournal(killed_at=told.trouble.killed_at_event)
        world.artifacts = MemoryArtifacts(full_at=told.trouble.disk_full_at_write)
        world.rules, world.environment = self._rules, dict(self._environment)
        world.threads, world.jobs = (lambda _: OneAfterTheOther()), told.jobs
        return world


def _because(begun: Begun | None) -> str:
    return "" if begun is None else begun.because
