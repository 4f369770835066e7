"""Playing a story: its steps in order, each review through the real pipeline, everything remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import ParamSpec, TypeVar

from review_advisor.core.facts.change import Change, Spec
from review_advisor.core.facts.pictures import PictureDifference
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallStarted, Event
from review_advisor.core.policy.policy import RepairMode, Rules
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.report.report_text import headline
from review_advisor.mockworld.agents import Asked, FakeAdvisorRunner
from review_advisor.mockworld.editable_copies import Bench
from review_advisor.mockworld.forge import PullRequest, Push, Repository, User
from review_advisor.mockworld.lines import Killed
from review_advisor.mockworld.stories.roster import cast
from review_advisor.mockworld.stories.story import DEFAULT_FILE, Ended, ReviewBlock, Story
from review_advisor.mockworld.stories.story_change import PushBlock
from review_advisor.mockworld.stories.story_lines import Meanwhile
from review_advisor.mockworld.world import (
    FakeClock,
    FakePictures,
    FakeSource,
    MemoryArtifacts,
    MemoryJournal,
    MockWorld,
)
from review_advisor.ports.review import ArtifactError

NOTHING_ASKED = 2
NOT_TO_ITS_END = 12
P = ParamSpec("P")
T = TypeVar("T")


class OneAfterTheOther(Pool):
    """A pool that does each task at once: the money is divided as for parallel calls, the order is always the same."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it now. What a kill raises comes out here, as it would end the process."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 (handed on as the future's, like every pool does)
            future.set_exception(error)
        return future


@dataclass(frozen=True, slots=True)
class PlayedReview:
    """One review as it happened. ``document`` is None when nothing was decided; ``files`` is what was stored.

    ``wiki`` is what reached the repository's wiki, ``environment`` what held when it began. ``stale``: the head moved
    meanwhile; ``flipped``: a switch did. ``unsaid`` are lines that nobody asked for, unless the story is loose.
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
    asked: tuple[Asked, ...]
    events: tuple[Event, ...]
    document: OutcomeDocument | None
    files: Mapping[str, str]
    wiki: Mapping[str, str]
    ended: Ended
    exit_code: int | None
    because: tuple[str, ...]
    stale: bool
    flipped: bool
    unsaid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedStory:
    """A story that is over."""

    story: Story
    reviews: tuple[PlayedReview, ...]


def play(story: Story, reviews: int | None = None) -> PlayedStory:
    """Play ``story`` from its first step to its last, or its first ``reviews``.

    Two plays of one story are equal, on any machine.
    """
    stage = _Stage(story)
    return PlayedStory(story, tuple(islice(stage.reviews(), reviews)))


class _Stage:
    """The world of one story while it is played."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._clock = FakeClock()
        self._environment = dict(story.switches)
        self._rules = story.config.rules()
        self._flips = 0
        self._own: dict[str, str | None] = {}
        told = story.pull_request
        self._pull_request = PullRequest(
            repository=Repository(told.repository, told.own_repository, told.config_in_pyproject),
            number=told.number,
            title=told.title,
            body=told.body,
            author=User(told.author),
            spec=None if told.spec is None else Spec("docs/spec.md", told.spec),
            prior_fix_attempts=told.prior_fix_attempts,
        )
        if story.steps[0].push is None:
            self._push(PushBlock(files=(DEFAULT_FILE,)))

    def reviews(self) -> Iterator[PlayedReview]:
        """Take every step; what the reviews among them came to."""
        numbers = count(1)
        for step in self._story.steps:
            if step.push is not None:
                self._push(step.push)
            elif step.switches is not None:
                self._environment.update(step.switches)
            elif step.review is not None:
                yield self._review(step.review, next(numbers))

    def _push(self, told: PushBlock) -> None:
        before = self._pull_request.pushes[-1] if self._pull_request.pushes else Push(self._pull_request.author, ())
        by = User(told.by) if told.by else self._pull_request.author
        if told.files is None:
            push = replace(before, by=by)
        else:
            texts = {file.path: file.whole for file in told.files if file.whole is not None}
            pictures = tuple(picture.facts() for picture in told.pictures)
            push = Push(by, tuple(file.facts() for file in told.files), texts, pictures, told.bare)
        self._pull_request = self._pull_request.pushed(push, fix=told.fix)

    def _meanwhile(self, told: Meanwhile) -> None:
        self._flips += bool(told.switches)
        self._environment.update(told.switches)
        for name, value in told.switches.items():
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

    def _review(self, told: ReviewBlock, number: int) -> PlayedReview:
        agents = FakeAdvisorRunner(self._clock, lifelike=True)
        cast(agents, told, self._meanwhile)
        change, head, flips = self._pull_request.change(), self._pull_request.head_sha, self._flips
        world = self._world(told, agents, change, number)
        environment = dict(self._environment)
        try:
            over = _run(world)
        finally:
            self._take_back()
        for asked in agents.played:
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
            events=tuple(world.journal.events),
            document=over.document,
            files=world.artifacts.files,
            wiki=world.wiki.files,
            ended=over.ended,
            exit_code=over.exit_code,
            because=over.because,
            stale=self._pull_request.head_sha != head,
            flipped=self._flips != flips,
            unsaid=() if self._story.loose else tuple(agents.unsaid()),
        )

    def _world(self, told: ReviewBlock, agents: FakeAdvisorRunner, change: Change, number: int) -> MockWorld:
        """The present state of the story as a world in which one review runs."""
        push = self._pull_request.pushes[-1]
        world = MockWorld(self._clock, agents)
        world.reviews = number - 1
        world.source = FakeSource(change, dict(push.texts), checkout=None if push.bare else Bench(change))
        world.repair, agents.write = told.repair, world.source.write
        world.pictures = FakePictures(push.pictures)
        world.journal = MemoryJournal(killed_at=told.trouble.killed_at_event)
        world.artifacts = MemoryArtifacts(full_at=told.trouble.disk_full_at_write)
        world.rules, world.environment = self._rules, dict(self._environment)
        world.threads, world.jobs = (lambda _: OneAfterTheOther()), told.jobs
        return world


@dataclass(frozen=True, slots=True)
class _Over:
    """What a review came to."""

    ended: Ended
    exit_code: int | None
    because: tuple[str, ...]
    document: OutcomeDocument | None = None


def _run(world: MockWorld) -> _Over:
    """One review, and its folder. As in the product, a review whose folder cannot be written decides nothing."""
    artifacts = world.artifacts
    try:
        document = world.review()
        artifacts.write("report.txt", headline(document))  # the whole is written out by the promises that read it
        if document.repair is not None:
            artifacts.write(PATCH_FILE, document.repair.patch)
    except Killed:
        artifacts.files.clear()
        return _Over("died", None, ("the process was killed",))
    except ArtifactError as problem:
        artifacts.files.clear()
        asked = any(isinstance(event, CallStarted) for event in world.journal.events)
        return _Over("broken", NOT_TO_ITS_END if asked else NOTHING_ASKED, (str(problem),))
    return _Over(document.outcome.value, document.exit_code, document.because, document)
