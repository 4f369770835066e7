"""What a story may say."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from review_advisor.change.change import REGULAR_MODE, SUBMODULE_MODE, SYMLINK_MODE, FileChange, Hunk, Status
from review_advisor.change.kinds import CRITICAL_PATHS_ADR, CriticalPaths
from review_advisor.change.picture_pairs import PictureDifference, PictureState
from review_advisor.change.pull_request import Permission
from review_advisor.github.state import FindingStatus
from review_advisor.mockworld.copies import Edit, EditVerb
from review_advisor.policy.budgets import CALL_SECONDS, REVIEW_SECONDS
from review_advisor.policy.escalation_rules import EscalationProfile, EscalationRules
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.policy import Mode, RepairMode, Rules
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.roster import DEFAULT_ROSTER, Advisor, Roster
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.switches import (
    FAIL_AS_VETO,
    FORCE_ON,
    MASTER,
    MAX_CONSULTS_VARIABLE,
    ROLE_SWITCHES,
    read_switches,
    surface_switch,
)
from review_advisor.policy.thresholds import Confidence
from review_advisor.review.observed import LabelName, Value
from review_advisor.safety.stated_values import nearest_of
from review_advisor.safety.wording import counted

SWITCH_NAMES = (
    MASTER,
    *ROLE_SWITCHES.values(),
    *map(surface_switch, Surface),
    FAIL_AS_VETO,
    FORCE_ON,
    MAX_CONSULTS_VARIABLE,
    *(f"HYDRAFLOW_{place}_{who}_MODEL" for place in ("REVIEW", *(s.value.upper() for s in Surface))
      for who in ("ADVISOR", "EXECUTOR")),
)  # fmt: skip

_MODES = {"file": REGULAR_MODE, "symlink": SYMLINK_MODE, "submodule": SUBMODULE_MODE}
_ABSENT = "000000"


def _as_text(given: Any) -> Any:
    """YAML's own yes and no, and numbers, as the environment would hold them."""
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given) if isinstance(given, int) else given


def _known(given: dict[str, str]) -> dict[str, str]:
    for name in given:
        if name not in SWITCH_NAMES:
            raise ValueError(f"no variable is called {name}; {nearest_of(name, SWITCH_NAMES)}")
    if given:
        read_switches(given)
    return given


StorySwitches = Annotated[dict[str, Annotated[str, BeforeValidator(_as_text)]], AfterValidator(_known)]
"""Environment variables by name. Unknown names and values that mean nothing are refused."""


class Block(BaseModel):
    """Common to all blocks of a story: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileBlock(Block):
    """One changed file. Its lines are made from `text`."""

    path: str = Field(min_length=1, description="Its path at the head.")
    status: Status = Field(default=Status.MODIFIED, description="What happened to it.")
    old_path: str | None = Field(default=None, description="Where it was before a rename or copy.")
    added: int = Field(default=0, ge=0, le=200_000, description="Added lines.")
    removed: int = Field(default=0, ge=0, le=200_000, description="Removed lines.")
    text: str = Field(default="value = {n}", description="What line n reads; `{n}` is its number.")
    hunks: int = Field(default=1, ge=1, le=1_000, description="Into how many hunks the added lines fall.")
    binary: bool = Field(default=False, description="Whether git calls it binary.")
    kind: Literal["file", "symlink", "submodule"] = Field(default="file", description="What stands there.")
    generated: bool | None = Field(default=None, description="The base tree's `linguist-generated` attribute.")
    vendored: bool | None = Field(default=None, description="The base tree's `linguist-vendored` attribute.")
    whole: str | None = Field(
        default=None, description="Its whole text at the head (the check of ADR records reads it)."
    )

    def facts(self) -> FileChange:
        """The file as git would tell it."""
        there = _MODES[self.kind]
        return FileChange(
            status=self.status,
            path=self.path,
            old_path=self.old_path,
            old_mode=_ABSENT if self.status is Status.ADDED else there,
            new_mode=_ABSENT if self.status is Status.DELETED else there,
            added=0 if self.binary else self.added,
            removed=0 if self.binary else self.removed,
            binary=self.binary,
            hunks=() if self.binary else tuple(self._hunks()),
            generated=self.generated,
            vendored=self.vendored,
        )

    def line(self, number: int) -> str:
        """Line ``number`` of the added ones, from 1."""
        return self.text.replace("{n}", str(number))

    def _hunks(self) -> list[Hunk]:
        """The removed lines stand in the first hunk, as ``-old``; hunks are a hundred lines apart."""
        removed = tuple(f"-{self.text.replace('{n}', f'old {n}')}" for n in range(1, self.removed + 1))
        pieces = min(self.hunks, max(1, self.added))
        cuts = [self.added * piece // pieces for piece in range(pieces + 1)]
        found = []
        for piece, (first, last) in enumerate(pairwise(cuts)):
            gone = removed if piece == 0 else ()
            lines = (*gone, *(f"+{self.line(n)}" for n in range(first + 1, last + 1)))
            if lines:
                start = first + 1 + 100 * piece
                found.append(Hunk(start, len(gone), start, last - first, "", lines))
        return found


class PictureBlock(Block):
    """One pair of pictures, before and after, as the comparison of pixels found it."""

    name: str = Field(min_length=1, description="The picture's path.")
    state: PictureState = Field(default="differs", description="What the comparison says.")
    pixels: int = Field(default=7, ge=0, description="How many pixels differ.")
    partly: bool = Field(default=False, description="Whether not all that differs is shown.")
    why: str = Field(default="", description="What must be known beside the state.")

    def facts(self) -> PictureDifference:
        """The pair as the pipeline is given it, with two crops where something is to be seen."""
        seen = self.state in ("differs", "added", "removed")
        crops = (f"{self.name}-1-before.png", f"{self.name}-1-after.png") if seen else ()
        pixels = self.pixels if seen else 0
        return PictureDifference(self.name, self.state, pixels, crops, self.why, partly=self.partly and seen)


class PushBlock(Block):
    """A push to the pull request."""

    by: str = Field(default="", description="Who pushes; empty: the author.")
    files: tuple[FileBlock, ...] | None = Field(
        default=None, description="The whole change at the new head; left out: the same files, another head."
    )
    bare: bool = Field(default=False, description="It is a bare patch: there is no tree to read or to repair.")
    pictures: tuple[PictureBlock, ...] = Field(default=(), description="Pairs of pictures, before and after.")


RoleName = Literal["pre_flight", "executor", "mid_flight", "post_verify"]

StoryEnd = Literal["nothing_to_review", "approved", "changes_requested", "escalated", "stopped", "broken", "died"]
"""How a review of a story ends: as the product's four outcomes; ``broken`` when its folder could not be written,
``died`` when its process was killed. In the last two nothing was decided."""

Flag = Literal["degraded", "recovered", "exhausted", "advisor_disabled", "lost", "stale"]
RepairResult = Literal["accepted", "withdrawn", "refused"]

CheckState = Literal["success", "neutral", "failure", "action_required", "cancelled", "in_progress", "none"]
"""What the check of a head concludes. ``none``: there is no check."""

Count = Annotated[int, Field(ge=0)]
NonEmpty = Annotated[str, Field(min_length=1)]


class ExpectBlock(Block):
    """What must hold after the step. What is left out is not looked at."""

    outcome: StoryEnd | None = Field(default=None, description="How the review ends.")
    exit_code: int | None = Field(default=None, description="The exit code; a killed process has none.")
    asked: tuple[RoleName, ...] | None = Field(default=None, description="The roles that were asked, in order.")
    calls: dict[RoleName, Count] = Field(
        default_factory=dict, min_length=1, description="Calls by role; granted consults under `mid_flight`."
    )
    reads: frozenset[str] | None = Field(default=None, description="The files that this review itself reads.")
    flags: frozenset[Flag] | None = Field(default=None, description="Exactly these flags are set.")
    repairs: tuple[RepairResult, ...] | None = Field(default=None, description="What became of its repairs, in order.")
    because: NonEmpty | None = Field(default=None, description="Words that one of the reasons holds.")
    begins: bool | None = Field(default=None, description="Whether the step begins a review.")
    check: CheckState | None = Field(default=None, description="The check of the head, or of the merge queue's commit.")
    shadow: CheckState | None = Field(default=None, description="The check of shadow mode on the same commit.")
    title: NonEmpty | None = Field(default=None, description="Words in the title of the check of the present mode.")
    comments: Count | None = Field(default=None, description="How many comments the bot has made in the diff so far.")
    open: Count | None = Field(default=None, description="How many of them are open and stand on their lines.")
    comments_per_finding: Count | None = Field(
        default=None, description="How many comments in the diff the finding with the most has had so far."
    )
    clicks: Count | None = Field(
        default=None, description="What people other than the author have done since a review first failed the check."
    )
    findings: dict[str, FindingStatus] | None = Field(
        default=None, description="Every finding that the bot remembers, by title."
    )
    summary: NonEmpty | None = Field(default=None, description="Words in the summary comment.")
    labels: frozenset[str] | None = Field(default=None, description="Exactly these labels are on.")
    answer: str | None = Field(default=None, description="Words in the bot's answer; empty: it does not answer.")
    observed: dict[LabelName, Value] = Field(
        default_factory=dict, min_length=1, description="What is observed of the closed pull request."
    )


MAINTAINER = "maria"
FORK_LABEL = PublicationRules().fork_label


class Happening(Block):
    """Common to everything that happens."""

    expect: ExpectBlock = Field(default_factory=ExpectBlock, description="What must hold afterwards.")

    @property
    def description(self) -> str:
        """What happens, for readers: it follows the name of the step."""
        return ""


class Deed(Happening):
    """Somebody does something. Their permission is granted just before."""

    by: str = Field(default=MAINTAINER, min_length=1, description="Who does it.")
    may: Permission = Field(default=Permission.WRITE, description="Their permission in the repository.")

    @property
    def description(self) -> str:
        """Who does what."""
        return f" by {self.by} ({self.may.value}): {self.what}"

    @property
    @abstractmethod
    def what(self) -> str:
        """What they do, for readers."""


class PushStep(PushBlock, Happening):
    """A push. The first one opens the pull request."""

    @property
    def description(self) -> str:
        """Who pushes how much."""
        files = "the same files" if self.files is None else counted(len(self.files), "file")
        return f" by {self.by or 'the author'}: {files}"


class RenameStep(Happening):
    """A push that renames a file of the change and leaves everything else."""

    path: str = Field(min_length=1, description="The file.")
    to: str = Field(min_length=1, description="Its new path.")
    by: str = Field(default="", description="Who pushes; empty: the author.")

    @property
    def description(self) -> str:
        """What is called otherwise now."""
        return f" {self.path} to {self.to}"


class CommentStep(Deed):
    """Somebody comments on the pull request."""

    says: str = Field(min_length=1, description="The comment.")

    @property
    def what(self) -> str:
        """The comment."""
        return self.says


class CommandStep(Deed):
    """Somebody gives the bot a command in a comment."""

    says: Literal["review", "dismiss", "explain", "override", "help"] = Field(description="The command.")
    finding: str = Field(default="", description="The title of the finding that it is about.")
    reason: str = Field(default="it is meant", description="The reason that is given.")

    @model_validator(mode="after")
    def _takes_them(self) -> CommandStep:
        if self.finding and self.says not in ("dismiss", "explain"):
            raise ValueError(f"the command {self.says} takes no finding")
        if "reason" in self.model_fields_set and self.says not in ("dismiss", "override"):
            raise ValueError(f"the command {self.says} takes no reason")
        return self

    @property
    def what(self) -> str:
        """The command."""
        return f"{self.says} {self.finding!r}" if self.finding else self.says


class LabelStep(Deed):
    """Somebody puts a label on, or takes it off."""

    put: str = Field(default="", description="The label that is put on.")
    take: str = Field(default="", description="The label that is taken off.")

    @model_validator(mode="after")
    def _one(self) -> LabelStep:
        if bool(self.put) is bool(self.take):
            raise ValueError("a label is either put or taken")
        return self

    @property
    def what(self) -> str:
        """Which label."""
        return f"put on {self.put}" if self.put else f"take off {self.take}"


class ReactStep(Deed):
    """Somebody reacts to the bot's comment on a finding."""

    finding: str = Field(min_length=1, description="The finding's title.")
    thumb: Literal["up", "down"] = Field(description="Up: it is right.")

    @property
    def what(self) -> str:
        """Which thumb."""
        return f"thumb {self.thumb} for {self.finding!r}"


class ResolveStep(Deed):
    """Somebody resolves the thread of the bot's comment on a finding."""

    finding: str = Field(min_length=1, description="The finding's title.")

    @property
    def what(self) -> str:
        """Which thread."""
        return f"the thread of {self.finding!r}"


class PendingStep(Deed):
    """Somebody writes a review of their own and does not submit it."""

    says: str = Field(default="a draft", description="What it says so far.")

    @property
    def what(self) -> str:
        """What it says so far."""
        return self.says


class QueueStep(Happening):
    """The merge queue makes a commit of the pull request, and asks for its check."""


class PublishStep(Happening):
    """The job that published last is started again, with the same outcome."""


class CloseStep(Deed):
    """The pull request is closed, and what became of its findings is observed."""

    merged: bool = Field(default=True, description="Whether it is merged.")
    after_days: int = Field(default=0, ge=0, le=365, description="How many days later it is observed.")
    reverted: bool = Field(default=False, description="Whether a later commit reverts the merge.")

    @model_validator(mode="after")
    def _reverts_a_merge(self) -> CloseStep:
        if self.reverted and not self.merged:
            raise ValueError("only a merge can be reverted")
        return self

    @property
    def what(self) -> str:
        """How it ends."""
        reverted = ", reverted" if self.reverted else ""
        return (
            f"{'merged' if self.merged else 'not merged'}{reverted}, observed after {counted(self.after_days, 'day')}"
        )


Fault = Literal[
    "crash",
    "silent",
    "truncated",
    "server_error",
    "rate_limited",
    "crashed_again",
    "timeout",
    "garbage",
    "misshapen",
    "prose",
    "two_answers",
    "model_refused",
    "output_limit",
    "bad_request",
    "call_budget",
    "too_long",
    "unguarded_consult",
    "credit_gone",
    "auth_gone",
    "model_not_found",
    "interrupted",
    "killed",
    "slow",
    "stale_head",
]

FAULTS: tuple[Fault, ...] = get_args(Fault)

SLOW = 100.0
"""Seconds from which an answer is called slow."""

SurfaceName = Literal["pr_review", "pre_merge_spec_check", "adr_review", "visual_gate", "wiki_ingest"]
StoryUsd = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]
StorySeconds = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class Meanwhile(Block):
    """What happens in the world while an agent works."""

    switches: StorySwitches = Field(
        default_factory=dict, description="Variables that are set; the running review must not notice."
    )
    push: PushBlock | None = Field(default=None, description="A push: the head that is under review is now stale.")


class SpokenLine(Block):
    """Common to the lines of all roles. A bare word is short for `says`, or for `fault`."""

    fault: Fault | None = Field(default=None, description="What goes wrong instead of, or besides, the answer.")
    surface: SurfaceName | None = Field(default=None, description="Say it on this surface only.")
    seconds: StorySeconds = Field(default=1.0, description="How long it takes. Past the call's time it is a timeout.")
    cost_usd: StoryUsd | None = Field(default=0.0, description="What the call reports to have cost; null: nothing.")
    meanwhile: Meanwhile | None = Field(default=None, description="What happens in the world in the meantime.")
    opens: tuple[str, ...] | None = Field(
        default=None, description="The crops that it opens as pictures; null: all that it is shown."
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"fault": given} if given in FAULTS else {"says": given}
        return given


class PlanLine(SpokenLine):
    """Pre-flight speaks."""

    says: Literal["plan"] = Field(default="plan", description="It plans the review.")
    risk: str = Field(default="a risk", description="The plan's risk summary.")
    focus: tuple[str, ...] = Field(default=(), description="Paths to look at.")
    signals: tuple[str, ...] = Field(default=(), description="What must go to a human.")


class FindingBlock(Block):
    """One finding of the executor, or of the advisor that it consults."""

    path: str = Field(description="The file it is about.")
    line: int = Field(ge=0, description="The line it names.")
    evidence: str = Field(description="The quote; it must stand in the change to be believed.")
    severity: Literal["critical", "high", "medium", "low"] = Field(default="high", description="How bad it is.")
    title: str = Field(default="a fault", description="What it says.")
    confidence: Confidence = Field(default=0.9, description="How sure it is.")
    rule: str = Field(default="", description="The team's rule that it cites, such as `REVIEW.md:2`.")


class EvidenceBlock(Block):
    """The executor's answer to one disagreement."""

    disagreement: str = Field(description="Its id: `d<attempt>.<n>`, attempts from 0, n from 1.")
    path: str = Field(description="The file the quote is from.")
    evidence: str = Field(description="The quote that settles it.")
    position: Literal["accepted", "contested"] = Field(default="contested", description="Whether it gives in.")


class KnowledgeBlock(Block):
    """A knowledge entry that the executor offers for the wiki."""

    title: str = Field(description="Its title.")
    path: str = Field(description="The file that shows it.")
    evidence: str = Field(description="The quote that shows it.")
    body: str = Field(default="It has been so for years.", description="What is worth remembering.")


class EditBlock(Block):
    """An edit of the executor, if it has leave to repair."""

    path: str = Field(min_length=1, description="The file.")
    does: EditVerb = Field(default="writes", description="What it does to it.")
    added: int = Field(default=1, ge=0, le=200_000, description="Lines that are added at its end.")
    removed: int = Field(default=0, ge=0, le=200_000, description="Lines that are taken out.")
    text: str = Field(default="mended = {n}", description="What line n reads; `{n}` is its number.")

    def edit(self) -> Edit:
        """The edit as the bench takes it."""
        return Edit(self.does, tuple(self.text.replace("{n}", str(n)) for n in range(1, self.added + 1)), self.removed)


class ExecutorLine(SpokenLine):
    """The executor speaks."""

    says: Literal["approve", "reject"] = Field(default="approve", description="Its verdict.")
    summary: str = Field(default="", description="Its summary; empty: a short one.")
    findings: tuple[FindingBlock, ...] = Field(default=(), description="What it found.")
    answers: tuple[EvidenceBlock, ...] = Field(default=(), description="Its answers to an earlier veto.")
    knowledge: tuple[KnowledgeBlock, ...] = Field(default=(), description="What it would remember.")
    edits: tuple[EditBlock, ...] = Field(default=(), description="What it edits, where it may repair.")
    asks: tuple[str, ...] = Field(default=(), description="What it asks the advisor before, one consult each.")
    confidence: Confidence = Field(default=0.9, description="How sure it is of its verdict.")
    failures: int = Field(default=0, ge=0, le=100, description="How many of its tool calls fail in a row.")
    applies: tuple[str, ...] = Field(default=(), description="The recommendations it says it applied, such as `r1`.")
    overrides: dict[str, str] = Field(default_factory=dict, description="Those it overrode, each with its reason.")


class AdviceLine(SpokenLine):
    """The advisor answers a consult."""

    says: Literal["advise", "stop"] = Field(default="advise", description="Advice, or the signal to call a human.")
    action: str = Field(default="look again", description="What it advises.")
    verdict: Literal["approve", "reject"] | None = Field(default=None, description="The verdict that it recommends.")
    findings: tuple[FindingBlock, ...] = Field(default=(), description="What the report lacks, by its own judgement.")
    risk_flags: tuple[str, ...] = Field(default=(), description="Risks that it names.")


class JudgementLine(SpokenLine):
    """Post-verify speaks."""

    says: Literal["confirm", "veto"] = Field(default="confirm", description="Whether the verdict is right.")
    reasoning: str = Field(default="", description="Why; empty: a short reason.")
    points: tuple[str, ...] = Field(default=(), description="Its disagreements: blocking in a veto, else concerns.")
    direction: str | None = Field(default=None, description="Where it would look for the fix.")


class VoteLine(SpokenLine):
    """A member of the council judges the executor's verdict, and votes about the change."""

    says: Literal["vote"] = Field(default="vote", description="It votes.")
    advisor: str = Field(description="The member's id; the ADR's advisor is `hydraflow-review-advisor`.")
    on: Literal["approve", "reject"] = Field(default="approve", description="The executor's verdict, which it judges.")
    approve: float = Field(default=0, ge=0, le=100, description="The weight of an approval.")
    request_changes: float = Field(default=0, ge=0, le=100, description="The weight of a request for changes.")
    block: float = Field(default=0, ge=0, le=100, description="The weight of a block.")
    reasoning: str = Field(default="", description="Why; empty: a short reason.")
    points: tuple[str, ...] = Field(default=(), description="Its blocking disagreements.")


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
        """The block as the pipeline takes it."""
        values = self.model_dump()
        return Advisor(on="finish", **values)


class ConfigBlock(Block):
    """The repository's configuration, as far as it changes a review."""

    critical_paths: tuple[str, ...] | None = Field(
        default=None, description="Globs of critical paths, instead of the default."
    )
    adr_folders: tuple[str, ...] = Field(default=Rules().adr_folders, description="Folders of decision records.")
    fail_on: Literal["verdict", "degraded"] = Field(default="verdict", description="`degraded`: see the configuration.")
    shard_tokens: int = Field(default=60_000, ge=150, le=400_000, description="Tokens of diff in one call.")
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
    guidelines: dict[str, str] = Field(
        default_factory=dict,
        description="The team's own rules: files at the base, such as `REVIEW.md`, with their text.",
    )

    def rules(self) -> Rules:
        """The block as the pipeline takes it."""
        own = self.critical_paths
        return Rules(
            critical_paths=CRITICAL_PATHS_ADR if own is None else CriticalPaths(globs=own),
            adr_folders=self.adr_folders,
            max_usd=self.max_usd,
            call_seconds=self.call_seconds,
            review_seconds=self.review_seconds,
            shard_tokens=self.shard_tokens,
            fail_on_degraded=self.fail_on == "degraded",
            config_path=self.config_path,
            wiki_folder=self.wiki_folder,
            metadata_blind=self.metadata_blind,
            mode=self.mode,
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
