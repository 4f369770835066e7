"""How much effort each role's model makes, by blast radius. Where nothing is set, the CLI decides as before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.surfaces import Role

Effort = Literal["low", "medium", "high", "xhigh", "max"]
"""The words that the pinned CLI's ``--effort`` takes. It ignores any other with a warning, so none may reach it."""
GivenEffort = Effort | Literal[""]
"""Empty where the configuration says nothing: the CLI gets no such argument."""
EffortTable = Mapping[Role, Mapping[BlastRadius, Effort]]


def effort_of(table: EffortTable, role: Role, radius: BlastRadius) -> GivenEffort:
    """What the table says for a role in a review of this blast radius."""
    return table.get(role, {}).get(radius, "")
