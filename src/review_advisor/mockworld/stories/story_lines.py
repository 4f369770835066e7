"""What each role says in a story, as the words that a YAML file may use."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from review_advisor.core.answers.answers import Confidence
from review_advisor.mockworld.editable_copies import Edit, EditVerb
from review_advisor.mockworld.stories.story_change import Block, PushBlock, StorySwitches

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
        """The same as the bench takes it."""
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
