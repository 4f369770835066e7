"""When the harness consults the advisor: profiles and their caps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from review_advisor.policy.roster import Advisor
from review_advisor.policy.surfaces import Surface

EscalationProfile = Literal["adr", "attrition", "harness"]


Handoff = Literal["human", "advisor_only"]
"""Who decides once the cap refuses a consult that is due."""


FIRST_THRESHOLD = 0.7


VERDICT = "verdict"
"""The category under which the threshold of a whole verdict stands."""


FAILURES_IN_A_ROW = 2


READINGS_OF_ONE_PLACE = 3


class ReasonKind(StrEnum):
    """Why the advisor is consulted. The order is the priority. That something is new is no reason."""

    CRITICAL_STEP = "critical_step"
    TOOL_FAILURE = "tool_failure"
    LOW_CONFIDENCE = "low_confidence"
    EXPLICIT = "explicit"
    MISSING_EVIDENCE = "missing_evidence"
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    REPEATED_READING = "repeated_reading"
    BEFORE_COMPLETION = "before_completion"
    RECONCILE = "reconcile"
    """Executor and advisor contradict one another: asked once, and never due by itself."""


_OF_ATTRITION = (
    ReasonKind.CRITICAL_STEP,
    ReasonKind.TOOL_FAILURE,
    ReasonKind.LOW_CONFIDENCE,
    ReasonKind.EXPLICIT,
)


_OF_HARNESS = tuple(kind for kind in ReasonKind if kind is not ReasonKind.RECONCILE)


@dataclass(frozen=True, slots=True)
class ProfileCaps:
    """What a profile consults for, and how often. ``turns`` are an executor's in one attempt; None for no bound.

    ``tokens`` are those that all consults of a review may use together; None for no bound.
    """

    kinds: tuple[ReasonKind, ...]
    consults: int
    turns: int | None = None
    tokens: int | None = None


PROFILES: Mapping[EscalationProfile, ProfileCaps | None] = {
    "adr": None,
    "attrition": ProfileCaps(_OF_ATTRITION, consults=4, tokens=12_000),
    "harness": ProfileCaps(_OF_HARNESS, consults=3, turns=3),
}
"""``adr`` is ADR-0059 as it stands: only the executor asks."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The confidence that is enough. An empty ``surface``, ``category`` or ``language`` means any."""

    value: float
    surface: Surface | Literal[""] = ""
    category: str = ""
    language: str = ""

    def holds_for(self, surface: Surface, category: str, language: str) -> bool:
        """Whether everything that it names is the case."""
        return (
            self.surface in ("", surface)
            and self.category.casefold() in ("", category.casefold())
            and self.language.casefold() in ("", language.casefold())
        )

    @property
    def names(self) -> tuple[int, bool, bool, bool]:
        """How much it names: of two that hold, the one that names more counts."""
        named = bool(self.surface), bool(self.category), bool(self.language)
        return (sum(named), *named)


@dataclass(frozen=True, slots=True)
class EscalationRules:
    """What the repository's configuration says on escalation."""

    profile: EscalationProfile = "adr"
    handoff: Handoff = "human"
    thresholds: tuple[Threshold, ...] = ()

    @property
    def caps(self) -> ProfileCaps | None:
        """What the profile allows a review with one judge; None where the harness never consults."""
        return PROFILES[self.profile]

    def caps_of(self, panel: Iterable[Advisor]) -> ProfileCaps | None:
        """The same for a council: consults and tokens once for each member that the repository has declared.

        One that a label or a path adds counts for nothing: the author may have caused it.
        """
        caps, members = self.caps, max(1, sum(not each.is_added for each in panel))
        if caps is None:
            return None
        tokens = None if caps.tokens is None else caps.tokens * members
        return replace(caps, consults=caps.consults * members, tokens=tokens)

    def threshold(self, surface: Surface, category: str, language: str = "") -> float:
        """The least confidence that is enough. Of equally exact thresholds the highest counts."""
        found = [each for each in self.thresholds if each.holds_for(surface, category, language)]
        if not found:
            return FIRST_THRESHOLD
        return max(found, key=lambda each: (each.names, each.value)).value


NO_ESCALATION = EscalationRules()
