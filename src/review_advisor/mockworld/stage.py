"""Plays a story through the real pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import count
from typing import ParamSpec, TypeVar

from review_advisor.change.change import Change
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.github.begin import Begun
from review_advisor.mockworld.agents import FakeAdvisorRunner, Killed, PlayedCall
from review_advisor.mockworld.copies import Bench
from review_advisor.mockworld.github import GitHub
from review_advisor.mockworld.github_records import Pull
from review_advisor.mockworld.head_branch import HeadBranch, StoryStepError
from review_advisor.mockworld.snapshot import Snapshot, snapshot
from review_advisor.mockworld.spoken_lines import cast, unmet_troubles
from review_advisor.mockworld.story import DEFAULT_FILE, Meanwhile, PushBlock, ReviewBlock, StepBlock, Story, StoryEnd
from review_advisor.mockworld.workflow import Deeds, Workflow
from review_advisor.mockworld.world import (
    FakeClock,
    FakePictures,
    FakeSource,
    MemoryArtifacts,
    MemoryJournal,
    MockWorld,
)
from review_advisor.policy.policy import Mode, RepairMode, Rules
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallStarted, Event
from review_advisor.review.observed import ObservedLabel
from review_advisor.review.ports import ArtifactError
from review_advisor.review.report import PATCH_FILE, headline

_NOTHING_ASKED, _NOT_TO_ITS_END = 2, 12
"""The exit codes of a review whose folder cannot be written, before its first call and after it."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class OneAfterTheOther(Pool):
    """A pool that does each task at once: the money is divided as for parallel calls, the order is always the same."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Do it now. What a kill raises comes out here, as it would end the process."""
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (handed on as the future's, like every pool does)
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class EndedReview:
    """How a review ended."""

    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    document: OutcomeDocument | None = None


def run(world: MockWorld) -> EndedReview:
    """One review and its folder.

    As in the product, a review whose folder cannot be written decides nothing.
    """
    artifacts = world.artifacts
    try:
        document = world.review()
        artifacts.write("report.txt", headline(document))  # the whole is written out by the promises that read it
        if document.repair is not None:
            artifacts.write(PATCH_FILE, document.repair.patch)
    except Killed:
        artifacts.files.clear()
        return EndedReview("died", None, ("the process was killed",))
    except ArtifactError as problem:
        artifacts.files.clear()
        was_called = any(isinstance(event, CallStarted) for event in world.journal.events)
        return EndedReview("broken", _NOT_TO_ITS_END if was_called else _NOTHING_ASKED, (str(problem),))
    return EndedReview(document.outcome.value, document.exit_code, document.because, document)


@dataclass(frozen=True, slots=True)
class PlayedReview:
    """One review as it happened."""

    number: int
    change: Change
    pictures: tuple[PictureDifference, ...]
    rules: Rules
    repair: RepairMode
    jobs: int
    environment: Mapping[str, str]
    """The environment that held when the review began."""
    run_id: str
    nonce: str
    asked: tuple[PlayedCall, ...]
    events: tuple[Event, ...]
    document: OutcomeDocument | None
    """None when nothing was decided."""
    files: Mapping[str, str]
    """The artefacts that were stored."""
    wiki: Mapping[str, str]
    """The pages that reached the repository's wiki."""
    ended: StoryEnd
    exit_code: int | None
    because: tuple[str, ...]
    stale: bool
    """The head moved meanwhile."""
    flipped: bool
    """A switch was set meanwhile."""
    unsaid: tuple[str, ...]
    """Lines that nobody asked for, unless the story is loose."""
    spared: tuple[str, ...]
    """Sentences about troubles that never came, unless the story is loose."""


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """One step as it happened."""

    number: int
    block: StepBlock
    head: str
    """The commit whose check it is about."""
    review: PlayedReview | None = None
    begins: bool = False
    """The bot began a review."""
    because: str = ""
    """Why the bot began a review or none."""
    problem: str = ""
    """Why the step could not happen as the story has it."""
    stands: Snapshot | None = None
    """What stands on the pull request afterwards; None where nothing is published."""
    observed: tuple[ObservedLabel, ...] = ()
    mode: Mode = "enforce"
    """The mode that holds."""
    killed: bool = False
    """Its publication was killed."""
    due: frozenset[str] = frozenset()
    """The heads whose review has begun and is not played yet."""


@dataclass(frozen=True, slots=True)
class PlayedStory:
    """A story that is over."""

    story: Story
    reviews: tuple[PlayedReview, ...]
    steps: tuple[PlayedStep, ...]
    unplayed: tuple[str, ...]
    """The reviews that were begun and not played."""
    github: GitHub = field(compare=False, repr=False)
    """In the end."""
    pull: Pull = field(compare=False, repr=False)
    """The pull request in the end."""


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
        for number, block in enumerate(self._story.steps, 1):
            try:
                played = self._step(number, block)
            except StoryStepError as problem:
                played = PlayedStep(number, block, self.branch.pull.head_sha, problem=str(problem))
            if self._workflow is not None:
                stands = snapshot(self.branch.github, self.branch.pull, self._workflow.rules)
                played = replace(played, stands=stands, due=frozenset(run.head for run in self._workflow.due))
            yield replace(played, mode=self._rules.mode)

    def _step(self, number: int, block: StepBlock) -> PlayedStep:
        if block.switches is not None:
            self._environment.update(block.switches)
            return PlayedStep(number, block, self.branch.pull.head_sha)
        if block.mode is not None and self._workflow is not None:
            self._rules = replace(self._rules, mode=block.mode)
            self._workflow.rules = PublicationRules().of_mode(block.mode)
            return PlayedStep(number, block, self.branch.pull.head_sha)
        if block.review is not None:
            return self._reviewed(number, block, block.review)
        begun: Begun | None = None
        if block.push is not None:
            begun = self._push(block.push)
        elif block.force_push is not None:
            begun = self._push(block.force_push, forced=True)
        elif block.rename is not None:
            self.branch.rename(block.rename.path, block.rename.to, block.rename.by)
            begun = self._happened("synchronize", block.rename.by or self.branch.pull.author)
        elif self._workflow is not None:
            result = Deeds(self.branch, self._workflow).carry_out(block)
            played = self._played(number, block, result.begun)
            return replace(played, head=result.head or played.head, observed=result.observed)
        return self._played(number, block, begun)

    def _played(self, number: int, block: StepBlock, begun: Begun | None) -> PlayedStep:
        head = self.branch.pull.head_sha
        if begun is None:
            return PlayedStep(number, block, head)
        return PlayedStep(number, block, head, begins=begun.review, because=begun.because)

    def _push(self, block: PushBlock, *, forced: bool = False) -> Begun | None:
        if block.files is None and not self._opened:
            block = block.model_copy(update={"files": (DEFAULT_FILE,)})
        self.branch.push(block, forced=forced)
        action, self._opened = "synchronize" if self._opened else "opened", True
        return self._happened(action, block.by or self.branch.pull.author)

    def _happened(self, action: str, by: str) -> Begun | None:
        return self._workflow.happened(action, by) if self._workflow is not None else None

    def _reviewed(self, number: int, step: StepBlock, block: ReviewBlock) -> PlayedStep:
        """The review that is due, and its publication."""
        change = self.branch.change()
        if self._workflow is None:
            review = self._review(block, change)
            return PlayedStep(number, step, change.head_sha or "", review)
        run = self._workflow.next_run()
        if isinstance(run, str):
            raise StoryStepError(f"no review begins: {run}")
        if run.head != change.head_sha:
            self._workflow.publish(run, None)
            raise StoryStepError(f"its review does not run: it began for {run.head[:8]}, and a push moved the head")
        review = self._review(block, self._workflow.remembered(change, run), consult=run.begun.consult)
        self._workflow.publish(run, review.document, block.trouble)
        problem = "its trouble never came: the publication has fewer writes to GitHub" if self._workflow.unmet else ""
        return PlayedStep(number, step, run.head, review, problem=problem, killed=self._workflow.killed)

    def _meanwhile(self, block: Meanwhile) -> None:
        switches = block.switches if self._may_flip else {}
        self._flips += bool(switches)
        self._environment.update(switches)
        for name, value in switches.items():
            self._own.setdefault(name, os.environ.get(name))
            os.environ[name] = value
        if block.push is not None:
            self._push(block.push)

    def _take_back(self) -> None:
        """A flip is one of this process's own environment, too, for whoever would read it; it ends with the review."""
        for name, value in self._own.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        self._own.clear()

    def _review(self, block: ReviewBlock, change: Change, *, consult: bool = False) -> PlayedReview:
        number = next(self._reviews)
        agents = FakeAdvisorRunner(self._clock, lifelike=True)
        cast(agents, block, self._meanwhile)
        flips, published = self._flips, self._story.published
        world = self._world(block, agents, change, number)
        world.consult_requested = consult
        environment = dict(self._environment)
        try:
            over = run(world)
        finally:
            self._take_back()
        for call in agents.played:
            if isinstance(call.result, BaseException):
                call.result.__traceback__ = None  # it holds this whole review, in a circle
        return PlayedReview(
            number=number,
            change=change,
            pictures=world.pictures.stated,
            rules=world.rules,
            repair=block.repair,
            jobs=block.jobs,
            environment=environment,
            run_id=world.run_id,
            nonce=world.nonce,
            asked=tuple(agents.played),
            events=tuple(world.journal.events),
            document=over.document,
            files=world.artifacts.files,
            wiki=world.wiki.files,
            ended=over.ended,
            exit_code=over.exit_code,
            because=over.because,
            stale=self.branch.pull.head_sha != change.head_sha,
            flipped=self._flips != flips,
            unsaid=() if self._story.loose else tuple(agents.unsaid()),
            spared=() if self._story.loose else tuple(unmet_troubles(block.trouble, world, published=published)),
        )

    def _world(self, block: ReviewBlock, agents: FakeAdvisorRunner, change: Change, number: int) -> MockWorld:
        """The present state of the story as a world in which one review runs."""
        push = self.branch.head
        world = MockWorld(self._clock, agents)
        world.reviews = number - 1
        world.source = FakeSource(change, dict(push.texts), checkout=None if push.bare else Bench())
        world.source.guidelines = self._story.config.guidelines
        world.repair, agents.write = block.repair, world.source.write
        world.pictures = FakePictures(push.pictures)
        world.journal = MemoryJournal(killed_at=block.trouble.killed_at_event)
        world.artifacts = MemoryArtifacts(full_at=block.trouble.disk_full_at_write)
        world.rules, world.environment = self._rules, dict(self._environment)
        world.threads, world.jobs = (lambda _: OneAfterTheOther()), block.jobs
        return world
