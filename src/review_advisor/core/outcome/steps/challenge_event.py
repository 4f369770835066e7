"""The event of a refuter: what it says of one finding for which the executor rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.challenge import Challenge
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
