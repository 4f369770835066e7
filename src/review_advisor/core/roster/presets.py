"""The rosters that ship with the product: the ADR's one advisor, and two that add specialists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from review_advisor.core.roster.advisor import Advisor

PresetName = Literal["default", "security", "release"]

_SECURITY = (
    Advisor(
        id="securityArchitect",
        persona=(
            "You are a security architect. Follow untrusted input to where it does harm: who may call this, what is"
            " checked before it acts, which secret or permission becomes reachable. A weakness counts if you can name"
            " who exploits it and how."
        ),
        on="finish",
        scopes=("trust boundaries", "authentication and authorization", "secrets"),
        veto=True,
    ),
    Advisor(
        id="abuseAnalyst",
        persona=(
            "You look at a change as somebody who wants to misuse it: automation, repeated and concurrent requests,"
            " quotas, money, and data of other people."
        ),
        scopes=("limits", "concurrency", "data of other users"),
    ),
)
_RELEASE = (
    Advisor(
        id="releaseManager",
        persona=(
            "You decide whether a change can ship today: compatibility with what is deployed, the order of the"
            " deployment, feature flags, how it is noticed that it fails, and how it is taken back."
        ),
        on="finish",
        scopes=("compatibility", "deployment", "rollback"),
        veto=True,
    ),
    Advisor(
        id="dataSteward",
        persona=(
            "You look after the data: whether a migration loses or locks any, whether it can run twice, how long it"
            " takes on a large table, and whether old and new code both work while it runs."
        ),
        on="finish",
        scopes=("migrations", "schemas"),
        temperament="dissenting",
    ),
    Advisor(
        id="testCritic",
        persona="You ask of each behaviour that a change adds or alters which test would fail without it.",
        scopes=("tests",),
    ),
)
PRESETS: Mapping[PresetName, tuple[Advisor, ...]] = {"default": (), "security": _SECURITY, "release": _RELEASE}
"""What each preset adds to the ADR's advisor, whom every roster has."""


def shipped_advisors() -> tuple[Advisor, ...]:
    """Everybody who ships, whatever preset a repository chooses."""
    return tuple(each for advisors in PRESETS.values() for each in advisors)
