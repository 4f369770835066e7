"""The event of the inline members of a council: what each of them advises. Nothing is decided by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.inline_calls import UnreadableCallsError, inline_calls
from review_advisor.core.answers.member_vote import ACTIONS
from review_advisor.core.council.voices import Voice
from review_advisor.core.outcome.steps.happened import OfCall


@dataclass(frozen=True, slots=True)
class Advised:
    """What one inline member said. ``votes`` are its weights, ``own`` its own fields as JSON, ``lost`` why nothing."""

    advisor: str
    votes: tuple[float, ...] = ()
    says: str = ""
    own: str = ""
    lost: str = ""

    @property
    def words(self) -> str:
        """Its advice in one line."""
        if self.lost:
            return f"no advice: {self.lost}"
        weights = ", ".join(f"{action} {weight:g}" for action, weight in zip(ACTIONS, self.votes, strict=False))
        return f"{weights}{f': {self.says}' if self.says else ''}{f' {self.own}' if self.own else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicesHeard(OfCall):
    """All inline members advised in one call. They have no vote."""

    kind: Literal["voices_heard"] = "voices_heard"
    voices: tuple[Advised, ...]


def advised(voice: Voice) -> Advised:
    """One voice as it is recorded."""
    try:
        says = inline_calls(voice.calls, ACTIONS).reasoning
    except UnreadableCallsError:
        says = ""
    return Advised(voice.advisor.id, voice.votes, says, voice.own, voice.lost)
