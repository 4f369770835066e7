"""The events of judges without a vote: a refuter of findings, and the inline members of a council."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.challenge import Challenge
from review_advisor.core.answers.inline_calls import UnreadableCallsError, inline_calls
from review_advisor.core.answers.member_vote import ACTIONS
from review_advisor.core.council.voices import Voice
from review_advisor.core.outcome.steps.happened import OfCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged(OfCall):
    """The refuter answered about ``finding``, an id. ``proven``: the quote of its answer stands in code at the head."""

    kind: Literal["challenged"] = "challenged"
    finding: str
    challenge: Challenge
    proven: bool = False

    @property
    def refutes(self) -> bool:
        """Whether the finding is refuted."""
        return self.challenge.verdict == "refuted" and self.proven

    @property
    def words(self) -> str:
        """What it comes to, in a few words."""
        if self.challenge.verdict == "refuted" and not self.proven:
            return "refuted without proof, so it stands"
        return "stands" if self.challenge.verdict == "unsure" else self.challenge.verdict


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
    """All inline members advised in one call. Nothing is decided by it."""

    kind: Literal["voices_heard"] = "voices_heard"
    voices: tuple[Advised, ...]


def advised(voice: Voice) -> Advised:
    """One voice as it is recorded."""
    try:
        says = inline_calls(voice.calls, ACTIONS).reasoning
    except UnreadableCallsError:
        says = ""
    return Advised(voice.advisor.id, voice.votes, says, voice.own, voice.lost)
