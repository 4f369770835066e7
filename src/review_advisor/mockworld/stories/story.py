"""A story: the life of one pull request, told in YAML and checked before it is played."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from review_advisor.core.facts.files.critical import CRITICAL_PATHS_ADR, CriticalPaths
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.budgets import CALL_SECONDS, REVIEW_SECONDS
from review_advisor.core.policy.escalation_rules import EscalationProfile, EscalationRules
from review_advisor.core.policy.mode import Mode
from review_advisor.core.policy.outage_rules import OutageRules
from review_advisor.core.policy.policy import RepairMode, Rules
from review_advisor.core.roster.advisor import DEFAULT_ROSTER, Advisor, Roster
from review_advisor.core.shadow.shadow_rule import Shadow, ShadowPart, ShadowRule
from review_advisor.mockworld.stories.story_change import Block, FileBlock, StorySwitches
from review_advisor.mockworld.stories.story_events import (
    CloseStep,
    CommandStep,
    CommentStep,
    Happening,
    LabelStep,
    PendingStep,
    PublishStep,
    PushStep,
    QueueStep,
    ReactStep,
    RenameStep,
    ResolveStep,
)
from review_advisor.mockworld.stories.story_lines import (
    AdviceLine,
    ExecutorLine,
    JudgementLine,
    PlanLine,
    SurfaceName,
    VoteLine,
)
from review_advisor.mockworld.world import STATED_USD

AtLeastOne = Annotated[int, Field(ge=1)]
DEFAULT_FILE = FileBlock(path="src/app.py", added=30)


class AdvisorBlock(Block):
    """A declared advisor that judges."""

    id: str = Field(description="Its id.")
    persona: str = Field(default="You look at the change with your own eyes.", description="Who it is.")
    weight: float = Field(default=1.0, ge=0, le=100, description="How much its vote counts in the mean.")
    veto: bool = Field(default=False, description="Whether its block counts by itself.")
    model: str = Field(default="", description="Its model; empty: the advisor's.")
    inline: bool = Field(default=False, description="Whether it only advises, in one call with the others that do.")

    def advisor(self) -> Advisor:
        """The same as the pipeline takes it."""
        told = self.model_dump()
        return Advisor(on="finish", **told)


class ShadowBlock(Block):
    """A judge, an executor, a surface or the whole bot that runs on every review of the story in shadow."""

    id: str = Field(description="Its id.")
    part: ShadowPart = Field(default="judge", description="What runs in shadow.")
    surfaces: tuple[SurfaceName, ...] = Field(default=(), description="Its surfaces; none: all.")
    model: str = Field(default="", description="Its model; empty: the review's.")
    max_calls: int = Field(default=6, ge=1, le=200, description="The most calls on one review.")
    max_usd: float = Field(default=1.0, gt=0, le=100, description="The most money on one review.")

    def shadow(self) -> Shadow:
        """The same as the pipeline takes it."""
        return Shadow(ShadowRule(percent=100, **self.model_dump()))


class ConfigBlock(Block):
    """The repository's configuration, as far as it changes a review."""

    critical_paths: tuple[str, ...] | None = Field(
        default=None, description="Globs of critical paths, instead of the default."
    )
    adr_folders: tuple[str, ...] = Field(default=Rules().adr_folders, description="Folders of decision records.")
    fail_on: Literal["verdict", "degraded"] = Field(default="verdict", description="`degraded`: see the configuration.")
    shard_tokens: int = Field(default=60_000, ge=150, le=400_000, description="Tokens of diff in one call.")
    low_usd: float = Field(default=STATED_USD[BlastRadius.LOW], gt=0, description="Money at low blast radius.")
    medium_usd: float = Field(default=STATED_USD[BlastRadius.MEDIUM], gt=0, description="The same for medium.")
    high_usd: float = Field(default=STATED_USD[BlastRadius.HIGH], gt=0, description="The same for high.")
    max_usd: float = Field(default=30.0, gt=0, description="The most that one review may spend.")
    call_seconds: float = Field(default=CALL_SECONDS, ge=1, description="Wall clock of one call.")
    review_seconds: float = Field(default=REVIEW_SECONDS, ge=1, description="Wall clock of the review.")
    wiki_folder: str | None = Field(default=None, description="Where knowledge entries are stored; null: nowhere.")
    config_path: str | None = Field(default=None, description="The file that the configuration was read from.")
    metadata_blind: bool = Field(default=False, description="Whether each diff is judged alone first.")
    mode: Mode = Field(default="enforce", description="`shadow`: reviews are shown, and nothing is enforced.")
    escalation: EscalationProfile = Field(default="adr", description="When the review itself consults the advisor.")
    outage_wait_minutes: float = Field(
        default=0, ge=0, le=60, description="The wait before a lost judge is asked again."
    )
    fallback_models: tuple[str, ...] = Field(default=(), description="Models that judge in an outage.")
    advisors: tuple[AdvisorBlock, ...] = Field(
        default=(), description="Advisors that judge beside the ADR's: together they are a council."
    )
    refuter: bool = Field(default=False, description="Whether each blocking finding is put to a refuter.")
    shadow: tuple[ShadowBlock, ...] = Field(default=(), max_length=10, description="What runs in shadow.")
    guidelines: dict[str, str] = Field(
        default_factory=dict,
        description="The team's own rules: files at the base, such as `REVIEW.md`, with their text.",
    )

    def rules(self) -> Rules:
        """The same as the pipeline takes it."""
        own = self.critical_paths
        return Rules(
            critical_paths=CRITICAL_PATHS_ADR if own is None else CriticalPaths(globs=own),
            adr_folders=self.adr_folders,
            usd_by_blast={
                BlastRadius.LOW: self.low_usd,
                BlastRadius.MEDIUM: self.medium_usd,
                BlastRadius.HIGH: self.high_usd,
            },
            max_usd=self.max_usd,
            call_seconds=self.call_seconds,
            review_seconds=self.review_seconds,
            shard_tokens=self.shard_tokens,
            fail_on_degraded=self.fail_on == "degraded",
            config_path=self.config_path,
            wiki_folder=self.wiki_folder,
            metadata_blind=self.metadata_blind,
            mode=self.mode,
            refuter=self.refuter,
            escalation=EscalationRules(self.escalation),
            outage=OutageRules(self.outage_wait_minutes * 60, self.fallback_models),
            roster=Roster((*DEFAULT_ROSTER.advisors, *(each.advisor() for each in self.advisors))),
        )


class PullRequestBlock(Block):
    """The pull request that the story is about."""

    number: AtLeastOne = Field(default=7, description="Its number; artefacts are filed under `pr-<number>`.")
    title: str = Field(default="Add a value", description="Its title.")
    body: str = Field(default="It is needed.", description="Its description.")
    author: str = Field(default="ada", description="Who opened it.")
    spec: str | None = Field(default=None, description="The text of the specification it links.")
    draft: bool = Field(default=False, description="Whether it is a draft.")
    fork: bool = Field(default=False, description="Whether its head is in the author's fork.")
    prior_fix_attempts: int = Field(default=0, ge=0, description="Fix attempts before the story begins.")
    repository: str = Field(default="acme/shop", description="Where it is.")
    own_repository: bool = Field(default=False, description="Whether that is the bot's own repository.")
    config_in_pyproject: bool = Field(default=False, description="Whether `pyproject.toml` configures the bot.")


class TroubleBlock(Block):
    """What goes wrong at a place that is counted, from 1, and not at a line."""

    credit_gone_at_call: AtLeastOne | None = Field(default=None, description="The credit is spent at this call.")
    auth_gone_at_call: AtLeastOne | None = Field(default=None, description="The credential is refused at this call.")
    killed_at_event: AtLeastOne | None = Field(default=None, description="The process is killed at this event.")
    disk_full_at_write: AtLeastOne | None = Field(default=None, description="The disk is full at this artefact.")
    publisher_killed_at: AtLeastOne | None = Field(
        default=None, description="The job that publishes is killed before this write to GitHub."
    )
    second_publisher_at: AtLeastOne | None = Field(
        default=None, description="Before this write to GitHub another job publishes the same outcome."
    )
    answer_lost_at: AtLeastOne | None = Field(
        default=None, description="GitHub's answer to this write is lost, the write is not."
    )


class ReviewBlock(Happening):
    """The review that is due, or one more of the present head. A role without a line agrees with everything."""

    pre_flight: tuple[PlanLine, ...] = Field(default=(), description="What pre-flight says, in order.")
    executor: tuple[ExecutorLine, ...] = Field(default=(), description="What the executor says, in order.")
    mid_flight: tuple[AdviceLine, ...] = Field(default=(), description="What the advisor says to consults, in order.")
    post_verify: tuple[JudgementLine, ...] = Field(default=(), description="What post-verify says, in order.")
    votes: tuple[VoteLine, ...] = Field(default=(), description="How members of a council vote, each in its order.")
    in_shadow: tuple[JudgementLine, ...] = Field(default=(), description="What the judges in shadow say, in order.")
    trouble: TroubleBlock = Field(default=TroubleBlock(), description="What goes wrong at a counted place.")
    repair: RepairMode = Field(default="suggest", description="Whether a vetoed approval may be repaired.")
    jobs: int = Field(default=1, ge=1, le=16, description="Calls at a time that the money is divided for.")


BEGINNING = ("push", "force_push", "rename", "comment", "command", "label")
"""The steps that may begin a review."""


class StepBlock(Block):
    """One thing that happens: exactly one of its keys."""

    push: PushStep | None = Field(default=None, description="A push; the first one opens the pull request.")
    force_push: PushStep | None = Field(default=None, description="The branch is made anew from the base.")
    rename: RenameStep | None = Field(default=None, description="A push that renames a file.")
    review: ReviewBlock | None = Field(default=None, description="The review that is due, and its publication.")
    publish: PublishStep | None = Field(default=None, description="The last publication again.")
    comment: CommentStep | None = Field(default=None, description="A comment.")
    command: CommandStep | None = Field(default=None, description="A command to the bot.")
    label: LabelStep | None = Field(default=None, description="A label is put on or taken off.")
    react: ReactStep | None = Field(default=None, description="A reaction to a finding.")
    resolve: ResolveStep | None = Field(default=None, description="The thread of a finding is resolved.")
    pending: PendingStep | None = Field(default=None, description="A person's own draft review.")
    queue: QueueStep | None = Field(default=None, description="The merge queue asks for its check.")
    close: CloseStep | None = Field(default=None, description="The end, and what is observed.")
    switches: StorySwitches | None = Field(default=None, description="Variables for the next reviews.")
    mode: Mode | None = Field(default=None, description="The base's configuration says this mode from now on.")

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {given: {}}
        return (
            {key: {} if value is None else value for key, value in given.items()} if isinstance(given, dict) else given
        )

    @model_validator(mode="after")
    def _one(self) -> StepBlock:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"a step is exactly one of {', '.join(StepBlock.model_fields)}")
        if self.happening is not None and self.happening.expect.begins is not None and self.kind not in BEGINNING:
            raise ValueError(
                f"a {self.kind} step never begins a review: only {', '.join(BEGINNING)} may expect `begins`"
            )
        return self

    @property
    def kind(self) -> str:
        """The word for what happens."""
        return next(iter(self.model_fields_set))

    @property
    def happening(self) -> Happening | None:
        """What happens; None where switches or a mode are set."""
        found = getattr(self, self.kind)
        return found if isinstance(found, Happening) else None


class Story(Block):
    """A story. It begins with a push of thirty lines of code unless its first step is a push."""

    story: str = Field(min_length=1, description="What it shows, in one line.")
    about: str = Field(default="", description="More about it, for readers.")
    pull_request: PullRequestBlock = Field(default=PullRequestBlock(), description="The pull request.")
    config: ConfigBlock = Field(default=ConfigBlock(), description="The repository's configuration.")
    switches: StorySwitches = Field(default_factory=dict, description="Environment variables from the start.")
    steps: tuple[StepBlock, ...] = Field(min_length=1, description="What happens, in order.")
    published: bool = Field(default=True, description="Whether the bot runs on the pull request, or reviews only.")
    loose: bool = Field(default=False, description="Lines, reviews and troubles that do not come are no fault.")

    @model_validator(mode="after")
    def _has_the_bot(self) -> Story:
        strange = [step.kind for step in self.steps if step.kind not in UNPUBLISHED]
        if strange and not self.published:
            raise ValueError(f"a story that is not published has no {strange[0]}")
        return self


UNPUBLISHED = ("push", "force_push", "rename", "review", "switches")
"""What can happen where the bot does not run."""
