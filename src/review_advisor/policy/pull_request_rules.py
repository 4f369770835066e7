"""What the configuration says about pull requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from review_advisor.policy.policy import Mode, enforcing_name, is_shadow_name, shadow_name
from review_advisor.policy.thresholds import Confidence

Volume = Literal["quiet", "normal", "thorough"]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What holds for the comments of one review: the ``number`` of the complete review that it is, and the settings.

    ``least`` is the confidence that is enough. ``few`` says of findings, by id, how few members of
    a council raise them.
    """

    number: int
    volume: Volume
    least: float
    few: Mapping[str, str] = field(default_factory=dict)


ACTIONS_LOGIN = "github-actions[bot]"
"""The account of a workflow's own token."""


GivenName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]


Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$")]


Reviewer = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}(/[A-Za-z0-9._-]{1,100})?$")]


def _anybodys(login: str) -> str:
    if login.casefold() == ACTIONS_LOGIN:
        raise ValueError(
            f"{ACTIONS_LOGIN} commits whatever a workflow tells it to, and whoever pushes brings a workflow"
        )
    return login


BotLogin = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}\[bot\]$"), AfterValidator(_anybodys)]
"""A person's account has no brackets."""


SelfSettle = Literal["never", "admins", "writers"]
"""Who may dismiss findings in their own work, and override its review."""


_NO_REFERENCE = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|\.$|\.lock$|^-")


_WILDCARDS = frozenset("*?[")


def _exact(branch: str) -> str:
    if not _WILDCARDS.isdisjoint(branch):
        raise ValueError("name each branch exactly: whoever may push could make a branch that a wildcard matches")
    if branch.startswith("refs/") or _NO_REFERENCE.search(branch):
        raise ValueError("this is not the name of a branch, such as `release-1.x`")
    return branch


def _enforcing(check_name: str) -> str:
    if is_shadow_name(check_name):
        raise ValueError("a name that ends in (shadow) is that of shadow mode's check")
    return check_name


CheckName = Annotated[GivenName, AfterValidator(_enforcing)]


BranchName = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_exact)]


class PublicationRules(BaseModel):
    """What the bot writes on a pull request: the table ``github`` of the configuration.

    ``login`` is configured, never asked for, because a workflow's token may not ask who it is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    check_name: CheckName = Field(default="review-advisor", description="The check run to require.")
    login: Login = Field(
        default=ACTIONS_LOGIN,
        description="The account that the bot writes as: a GitHub App's is `name[bot]`.",
    )
    escalation_label: GivenName = Field(
        default="needs-human-review", description="The label of an escalated pull request."
    )
    fork_label: GivenName = Field(
        default="review-this-fork",
        description="The label by which a maintainer admits the head of a fork.",
    )
    reviewers: tuple[Reviewer, ...] = Field(
        default=(), description="Reviewers to request for an escalation: accounts, and teams as `org/team`."
    )
    volume: Volume = Field(default="normal", description="[How much](#volume) is posted on the diff.")
    least_confidence: Confidence = Field(
        default=0.6,
        description="Findings of less confidence are folded, except critical, high and blocking ones.",
    )
    most_usd: float = Field(
        default=50.0,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="US dollars for all reviews of a pull request; at the cap one ends, and another needs a request.",
    )
    repository_day_usd: float | None = Field(
        default=None,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="US dollars a day (UTC) for all reviews that pushes start: at the limit `begin` only warns.",
    )
    review: Literal["every_push", "opened", "on_request"] = Field(
        default="every_push",
        description="When a review starts: at each push, only when a pull request is opened, or never. Drafts wait.",
    )
    skip_paths: tuple[str, ...] = Field(
        default=(),
        description="Globs: no review if all changed paths match and none is critical or the bot's.",
    )
    skip_bases: tuple[BranchName, ...] = Field(
        default=(), description="Base branches whose pull requests are not reviewed."
    )
    skip_authors: tuple[BotLogin, ...] = Field(
        default=(),
        description="Bots, such as `dependabot[bot]`, whose own work is not reviewed.",
    )
    push_repairs: bool = Field(
        default=False, description="Push an accepted repair to the pull request's branch; needs a GitHub App."
    )
    self_settle: SelfSettle = Field(
        default="never",
        description="Who settles reviews of their own work: `never`, `admins` (for a single maintainer), `writers`.",
    )
    trusted_bases: tuple[BranchName, ...] = Field(
        default=(),
        description="Base branches whose own file applies to pull requests into them. Protect each.",
    )

    @property
    def counts_days(self) -> bool:
        """Whether checks tell what reviews have cost on one day."""
        return self.repository_day_usd is not None

    def narrowing(self, number: int) -> Narrowing:
        """What holds for the comments of the ``number``-th complete review."""
        return Narrowing(number, self.volume, self.least_confidence)

    def of_mode(self, mode: Mode) -> PublicationRules:
        """The rules by which the bot publishes in ``mode``: shadow mode has a check of its own."""
        name = self.enforcing_name
        return self.model_copy(update={"check_name": shadow_name(name) if mode == "shadow" else name})

    @property
    def is_shadow(self) -> bool:
        """Whether these are the rules of shadow mode. No configuration can name its check."""
        return is_shadow_name(self.check_name)

    @property
    def enforcing_name(self) -> str:
        """The name of the check that mode ``enforce`` publishes, and that a repository may require."""
        return enforcing_name(self.check_name)

    def is_ours(self, login: str) -> bool:
        """Whether this account is the bot's own."""
        return login.casefold() == self.login.casefold()
