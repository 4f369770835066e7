"""A story of `stories/`, played by the workflow's own commands against GitHub's API: it ends as its file says."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from tests.adapters.git_remote import NAME
from tests.adapters.pull_request_world import MAINTAINER, Actions, WorkflowRun
from tests.project.workflow_files import ROOT

from review_advisor.change.pull_request import Permission
from review_advisor.github.state import finding_in
from review_advisor.mockworld.github import Contents
from review_advisor.mockworld.github_records import Pull
from review_advisor.mockworld.snapshot import Snapshot, snapshot
from review_advisor.mockworld.spoken_lines import report_line
from review_advisor.mockworld.stage import PlayedStep, PlayedStory
from review_advisor.mockworld.story import CloseStep, CommandStep, PushStep, ResolveStep, ReviewBlock, StepBlock, Story
from review_advisor.mockworld.story_file import Loader
from review_advisor.mockworld.trace import OF_REVIEWS, clicks_since_red, differences
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.observed import ObservedLabel

pytestmark = pytest.mark.every_case  # `make test` runs the ones of their kind

ROLES = {"ReviewPlan": "pre_flight", "ReviewReport": "executor", "PostVerifyResult": "post_verify"}
RULES = PublicationRules()


def as_told() -> Any:
    """The story, as its file has it."""
    return yaml.load((ROOT / "stories" / "whole_life.yaml").read_text(encoding="utf-8"), Loader=Loader)


@dataclass
class ThroughTheDoor:
    """Plays the steps of a story. ``due`` is the run that has begun and not yet reviewed."""

    actions: Actions
    story: Story
    pull: Pull | None = None
    due: WorkflowRun | None = None
    paths: frozenset[str] = frozenset()
    steps: list[PlayedStep] = field(default_factory=list)
    outcomes: list[tuple[str, list[str]]] = field(default_factory=list)

    def play(self) -> PlayedStory:
        """Every step, and what stood on GitHub after it."""
        self.actions.github.grants(NAME, self.story.pull_request.author, Permission.WRITE)
        self.actions.main_becomes(dict(self.story.config.guidelines))
        for number, told in enumerate(self.story.steps, 1):
            began, observed = self._step(told)
            pull = self._pull
            stands = snapshot(self.actions.github, pull, RULES)
            self.steps.append(PlayedStep(number, told, pull.head_sha, begins=began, stands=stands, observed=observed))
        return PlayedStory(self.story, (), tuple(self.steps), (), self.actions.github, self._pull)

    @property
    def _pull(self) -> Pull:
        assert self.pull is not None
        return self.pull

    def _step(self, told: StepBlock) -> tuple[bool, tuple[ObservedLabel, ...]]:
        match told.happening:
            case PushStep() as push:
                return self._pushed(push), ()
            case ReviewBlock() as review:
                self._reviewed(review)
            case CommandStep() as command:
                return self.actions.said(self._pull, self._words(command), by=command.by).began, ()
            case ResolveStep() as resolve:
                (thread,) = [
                    each
                    for each in self.actions.threads(self._pull)
                    if finding_in(each.comments[0].body) == self._id_of(resolve.finding)
                ]
                self.actions.github.resolves(thread, by=resolve.by)
            case CloseStep() as close:
                return False, self._closed(close)
            case other:
                raise AssertionError(f"the door plays no {type(other).__name__}")
        return False, ()

    def _pushed(self, push: PushStep) -> bool:
        files = push.files or ()
        contents: dict[str, str | bytes | None] = dict.fromkeys(self.paths)
        contents |= {each.path: "".join(f"{each.line(n)}\n" for n in range(1, each.added + 1)) for each in files}
        self.paths = frozenset(each.path for each in files)
        self.due = self._opened(contents) if self.pull is None else self._moved(self.pull, contents)
        return self.due.begin().began

    def _opened(self, contents: Contents) -> WorkflowRun:
        about = self.story.pull_request
        self.pull = self.actions.opens(contents, by=about.author, title=about.title, number=about.number)
        return self.actions.starts("opened", self.pull, by=about.author)

    def _moved(self, pull: Pull, contents: Contents) -> WorkflowRun:
        self.actions.pushes(pull, contents)
        return self.actions.starts("synchronize", pull, by=pull.author)

    def _reviewed(self, told: ReviewBlock) -> None:
        assert self.due is not None
        self.actions.models.executor_says(*map(report_line, told.executor))
        self.due.review().publish()
        outcome = json.loads(self.due.outcome.read_text(encoding="utf-8"))["outcome"]
        self.outcomes.append((outcome, [ROLES[each.question] for each in self.due.asked]))

    def _words(self, told: CommandStep) -> str:
        about = self._pull.head_sha if told.says == "override" else self._id_of(told.finding)
        return f"/advisor {told.says} {about} {told.reason}"

    def _id_of(self, title: str) -> str:
        (found,) = [each.id for each in self.actions.state(self._pull).findings if each.title == title]
        return found

    def _closed(self, told: CloseStep) -> tuple[ObservedLabel, ...]:
        """The model writes down that it is merged as of so long ago that it is judged."""
        assert told.merged
        self.actions.merges(self._pull)
        ran = self.actions.closed(self._pull, by=told.by)
        done = ran.observe("--event", ran.place / "event.json", "--json")
        assert done.code == 0, done.err
        return tuple(ObservedLabel(**each) for each in json.loads(done.out)["labels"])


def on_github_alone(told: Any) -> Story:
    """The story without what it expects of its reviews: nothing here looks into one."""
    for step in told["steps"]:
        for happening in step.values():
            expect = happening.get("expect", {})
            for name in OF_REVIEWS & expect.keys():
                del expect[name]
    return Story.model_validate(told)


@pytest.fixture
def life(actions: Actions) -> tuple[ThroughTheDoor, PlayedStory]:
    door = ThroughTheDoor(actions, on_github_alone(as_told()))
    return door, door.play()


def stands(step: PlayedStep) -> Snapshot:
    """What stood after it."""
    assert step.stands is not None
    return step.stands


def test_the_whole_life_of_a_pull_request_is_the_same_over_http(life: tuple[ThroughTheDoor, PlayedStory]) -> None:
    door, played = life
    assert differences(played) == ()
    told = [step.review.expect for step in Story.model_validate(as_told()).steps if step.review is not None]
    assert door.outcomes == [(each.outcome, list(each.asked or ())) for each in told]
    assert played.pull.merged
    assert clicks_since_red(played, played.steps[-1]) <= 4
    said = Counter(each.finding for each in stands(played.steps[-1]).comments)
    assert set(said.values()) == {1}
    assert {step.block.command.by for step in played.steps if step.block.command is not None} == {MAINTAINER}


@pytest.mark.one_of_its_kind
def test_what_the_file_says_otherwise_is_noticed_over_http(actions: Actions) -> None:
    told = as_told()
    *_, close = told["steps"]
    close["close"]["expect"] |= {"clicks": 3, "comments_per_finding": 2, "title": "Approved"}
    close["close"]["expect"]["observed"]["thread"] = "resolved_by_bot"
    found = differences(ThroughTheDoor(actions, on_github_alone(told)).play())
    assert [words.partition(": ")[2].partition(",")[0] for words in found] == [
        "expected a check with 'Approved' in its title",
        "expected to observe thread: resolved_by_bot",
        "expected a finding to have 2 comments at most",
        "expected 3 clicks since the check first failed",
    ]
