"""What people and GitHub do on the pull request of a story, as the words that a YAML file may use."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from pydantic import Field, model_validator

from review_advisor.core.facts.pull_request import Permission
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.report.wording import counted
from review_advisor.mockworld.stories.story_change import Block, PushBlock
from review_advisor.mockworld.stories.story_expect import ExpectBlock

MAINTAINER = "maria"
FORK_LABEL = PublicationRules().fork_label


class Happening(Block):
    """Common to everything that happens."""

    expect: ExpectBlock = Field(default_factory=ExpectBlock, description="What must hold afterwards.")

    @property
    def words(self) -> str:
        """What happens, for readers: it follows the name of the step."""
        return ""


class Deed(Happening):
    """Somebody does something. Their permission is granted just before."""

    by: str = Field(default=MAINTAINER, min_length=1, description="Who does it.")
    may: Permission = Field(default=Permission.WRITE, description="Their permission in the repository.")

    @property
    def words(self) -> str:
        """Who does what."""
        return f" by {self.by} ({self.may.value}): {self.what}"

    @property
    @abstractmethod
    def what(self) -> str:
        """What they do, for readers."""


class PushStep(PushBlock, Happening):
    """A push. The first one opens the pull request."""

    @property
    def words(self) -> str:
        """Who pushes how much."""
        files = "the same files" if self.files is None else counted(len(self.files), "file")
        return f" by {self.by or 'the author'}: {files}"


class RenameStep(Happening):
    """A push that renames a file of the change and leaves everything else."""

    path: str = Field(min_length=1, description="The file.")
    to: str = Field(min_length=1, description="Its new path.")
    by: str = Field(default="", description="Who pushes; empty: the author.")

    @property
    def words(self) -> str:
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
