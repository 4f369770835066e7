"""Random lives: what people and GitHub do around the reviews of a pull request, and what befalls its publications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from review_advisor.core.facts.pull_request import Permission
from review_advisor.mockworld.seeds.dice import Dice
from review_advisor.mockworld.stories.story import ReviewBlock, StepBlock
from review_advisor.mockworld.stories.story_change import FileBlock
from review_advisor.mockworld.stories.story_events import (
    FORK_LABEL,
    MAINTAINER,
    CloseStep,
    CommandStep,
    CommentStep,
    LabelStep,
    PendingStep,
    PublishStep,
    PushStep,
    QueueStep,
    ReactStep,
    RenameStep,
    ResolveStep,
)

PEOPLE = (MAINTAINER, "grace", "eve")
LEAVES: tuple[tuple[Permission, float], ...] = ((Permission.WRITE, 6), (Permission.READ, 3), (Permission.ADMIN, 1))
COMMENTS = ("Looks good.", "/advisor", "> /advisor review", "/advisor approve")
LABELS = (FORK_LABEL, "needs-human-review", "bug")
TROUBLES = ("publisher_killed_at", "second_publisher_at", "answer_lost_at")
MOST_WRITES = 5
"""A publication has about as many writes; trouble at a later one does not come."""


def pushed(dice: Dice, push: PushStep, before: Sequence[FileBlock]) -> StepBlock:
    """A further push: mostly onto the head, now and then in its place, or a rename."""
    if before and dice.chance(0.2):
        file = dice.pick(before)
        return StepBlock(rename=RenameStep(path=file.path, to=f"moved/{file.path}"))
    return StepBlock(force_push=push) if dice.chance(0.2) else StepBlock(push=push)


def troubled(dice: Dice, review: ReviewBlock) -> list[StepBlock]:
    """A review whose publication may be killed or disturbed, and perhaps started again."""
    name = dice.pick(TROUBLES) if dice.chance(0.4) else ""
    trouble = review.trouble.model_copy(update={name: dice.whole(1, MOST_WRITES)} if name else {})
    steps = [StepBlock(review=review.model_copy(update={"trouble": trouble}))]
    again = dice.chance(0.7 if name == TROUBLES[0] else 0.2)
    return [*steps, StepBlock(publish=PublishStep())] if again else steps


def lived(dice: Dice, review: ReviewBlock) -> list[StepBlock]:
    """What happens after a review."""
    happenings = Happenings(dice, [finding.title for line in review.executor for finding in line.findings])
    return [happenings.one() for _ in range(dice.weighted(((0, 40), (1, 40), (2, 20))))]


def ended(dice: Dice) -> list[StepBlock]:
    """The end of the pull request, where there is one."""
    if not dice.chance(0.4):
        return []
    merged = dice.chance(0.7)
    close = CloseStep(merged=merged, reverted=merged and dice.chance(0.2), after_days=dice.whole(0, 10))
    return [StepBlock(close=close)]


class Happenings:
    """What people and the merge queue do, knowing the titles of a review's findings."""

    def __init__(self, dice: Dice, titles: Sequence[str]) -> None:
        self._dice = dice
        self._titles = titles

    def one(self) -> StepBlock:
        """One thing that happens."""
        happening: Callable[[], StepBlock] = self._dice.weighted(
            (
                (self._command, 40),
                (self._comment, 12),
                (self._label, 12),
                (self._reaction, 6),
                (self._resolution, 6),
                (self._draft, 12),
                (self._queue, 12),
            )
        )
        return happening()

    def _who(self) -> dict[str, Any]:
        return {"by": self._dice.pick(PEOPLE), "may": self._dice.weighted(LEAVES)}

    def _command(self) -> StepBlock:
        told = self._who()
        if self._titles and self._dice.chance(0.5):
            return StepBlock(command=CommandStep(says="dismiss", finding=self._dice.pick(self._titles), **told))
        return StepBlock(command=CommandStep(says="override" if self._dice.chance(0.5) else "review", **told))

    def _comment(self) -> StepBlock:
        return StepBlock(comment=CommentStep(says=self._dice.pick(COMMENTS), **self._who()))

    def _label(self) -> StepBlock:
        how = "put" if self._dice.chance(0.7) else "take"
        told = {how: self._dice.pick(LABELS), **self._who()}
        return StepBlock(label=LabelStep(**told))

    def _reaction(self) -> StepBlock:
        if not self._titles:
            return self._comment()
        thumb: Literal["up", "down"] = "up" if self._dice.chance(0.5) else "down"
        return StepBlock(react=ReactStep(finding=self._dice.pick(self._titles), thumb=thumb, **self._who()))

    def _resolution(self) -> StepBlock:
        if not self._titles:
            return self._comment()
        return StepBlock(resolve=ResolveStep(finding=self._dice.pick(self._titles), **self._who()))

    def _draft(self) -> StepBlock:
        return StepBlock(pending=PendingStep(by=self._dice.pick(PEOPLE)))

    def _queue(self) -> StepBlock:
        return StepBlock(queue=QueueStep())
