"""The surface table of ADR-0059."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Surface(StrEnum):
    """What kind of review runs on a change. Order is the order of running."""

    PR_REVIEW = "pr_review"
    PRE_MERGE_SPEC_CHECK = "pre_merge_spec_check"
    ADR_REVIEW = "adr_review"
    VISUAL_GATE = "visual_gate"
    WIKI_INGEST = "wiki_ingest"
    RELEASE_READINESS = "release_readiness"


class Role(StrEnum):
    """Who is asked."""

    PRE_FLIGHT = "pre_flight"
    EXECUTOR = "executor"
    MID_FLIGHT = "mid_flight"
    POST_VERIFY = "post_verify"
    RETRO = "retro"

    @property
    def advisor(self) -> str:
        """The id of the one advisor that a role has as long as no other is declared: the role's own name."""
        return self.value


REVIEW_ROLES = (Role.PRE_FLIGHT, Role.EXECUTOR, Role.MID_FLIGHT, Role.POST_VERIFY)
"""Those of a review. ``retro`` looks at a run after its end and is none of them."""


ADVISOR_ROLES = (Role.PRE_FLIGHT, Role.MID_FLIGHT, Role.POST_VERIFY)
"""Whoever advises or judges the executor."""


class Authority(StrEnum):
    """What a post-verify veto may do."""

    VETO = "veto"
    ADVISORY = "advisory"


class PreFlightRule(StrEnum):
    """When a surface gets a plan."""

    COMPOSITE = "composite trigger"
    REUSE = "reuses pr_review's plan"
    ALWAYS = "always"
    NEVER = "no"


@dataclass(frozen=True, slots=True)
class SurfaceDefaults:
    """One row of the table. ``retries``: whether a veto hands back to the executor at all.

    ``after_a_verdict``: it runs only if the surfaces before it ended in a verdict of the machines.
    ``repair``: a vetoed approval may be handed back with leave to repair the head. ``optional``: its own switch
    turns off its executor, too, so that the surface does not run at all. ``of_a_change``:
    it is part of reviews; the other ones have a command of their own.
    """

    applies_when: str
    pre_flight: PreFlightRule
    mid_flight: bool
    authority: Authority
    retries: Literal["blast radius", "one shot", "none"]
    after_a_verdict: bool = False
    repair: bool = False
    optional: bool = False
    of_a_change: bool = True


SURFACE_DEFAULTS: dict[Surface, SurfaceDefaults] = {
    Surface.PR_REVIEW: SurfaceDefaults(
        "always", PreFlightRule.COMPOSITE, True, Authority.VETO, "blast radius", repair=True
    ),
    Surface.PRE_MERGE_SPEC_CHECK: SurfaceDefaults(
        "the change links a spec", PreFlightRule.REUSE, True, Authority.VETO, "blast radius"
    ),
    Surface.ADR_REVIEW: SurfaceDefaults(
        "a record under the ADR folders is new or decides anew",
        PreFlightRule.ALWAYS,
        False,
        Authority.VETO,
        "one shot",
        optional=True,
    ),
    Surface.VISUAL_GATE: SurfaceDefaults(
        "before and after images are there",
        PreFlightRule.NEVER,
        False,
        Authority.VETO,
        "one shot",
    ),
    Surface.WIKI_INGEST: SurfaceDefaults(
        "the review yields knowledge entries",
        PreFlightRule.NEVER,
        False,
        Authority.ADVISORY,
        "none",
        after_a_verdict=True,
    ),
    Surface.RELEASE_READINESS: SurfaceDefaults(
        "`review-advisor release-readiness`",
        PreFlightRule.ALWAYS,
        True,
        Authority.VETO,
        "one shot",
        of_a_change=False,
    ),
}


REVIEW_SURFACES = tuple(surface for surface, row in SURFACE_DEFAULTS.items() if row.of_a_change)
"""Those that can run on a change under review."""
