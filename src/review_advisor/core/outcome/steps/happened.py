"""What every event has: its moment, and where in the review it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.calls import CallNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """Common to all events. ``at`` is the moment, with its zone."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Happened):
    """An event of one part of one surface. ``attempt`` and ``shard`` count from 0."""

    surface: Surface
    attempt: int = 0
    shard: int = 0

    @property
    def place(self) -> tuple[Surface, int, int]:
        """Its surface, attempt and part."""
        return self.surface, self.attempt, self.shard


@dataclass(frozen=True, slots=True, kw_only=True)
class OfCall(Step):
    """An event of one call. ``number`` is the call's: the calls of a review count from 1 as they start or are refused.

    It is 0 for what belongs to no call, and in streams that were recorded before calls had numbers. ``prompts`` is the
    version of the prompt texts (``Instructions.version``); empty where there is no call, and in older streams.
    """

    number: CallNumber = 0
    prompts: str = ""
