"""What a story expects after a step: of the review, of the agents, and of what stands on GitHub."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from review_advisor.core.observation.labels import LabelName, Value
from review_advisor.core.pull_request.state import FindingStatus
from review_advisor.core.shadow.shadow_decision import ShadowDecision
from review_advisor.mockworld.stories.story_change import Block

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
    in_shadow: dict[str, ShadowDecision] | None = Field(
        default=None, description="What each shadow would have decided, by its id."
    )
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
