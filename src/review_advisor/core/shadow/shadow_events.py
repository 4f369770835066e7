"""What happens in a shadow, as values. It is a chain of its own in the ledger, beside that of the review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.steps.happened import Happened
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.shadow.shadow_rule import ShadowPart

ShadowStatus = Literal["finished", "capped", "stopped"]
"""How it ended: with every question, at its own cap of calls, money or time, or by a failure or an interrupt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowBegan(Happened):
    """The first event. ``of_run`` is the review whose outcome was decided before. ``setup`` says who runs, in words.

    ``because`` says why it is due. ``max_calls`` and ``max_usd`` are its own caps.
    """

    kind: Literal["shadow_began"] = "shadow_began"
    run_id: str
    shadow: str
    part: ShadowPart
    setup: str
    of_run: str
    because: str
    repository: str | None = None
    pull_request: int | None = None
    head_sha: str | None = None
    max_calls: int = 0
    max_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCalled(Happened):
    """One of its calls is over, or was refused by its cap."""

    kind: Literal["shadow_called"] = "shadow_called"
    call: CallEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowDecided(Happened):
    """What it would have decided on one part of a surface, beside what was decided there.

    ``verdict`` is the real executor's. ``real_objects`` and ``shadow_objects`` say whether the review, and the shadow,
    do not accept the verdict; of a shadow executor, whether each rejects the change. Of a surface that the review left
    out, they say whether the review, and the review together with it, do not approve; the verdict is then the review's.
    ``shadow_objects`` is None for an answer that did not come. ``missed`` are the ids of the real executor's critical
    and high findings that a shadow executor does not have.
    """

    kind: Literal["shadow_decided"] = "shadow_decided"
    surface: Surface
    shard: int
    verdict: Literal["approve", "reject"]
    real_objects: bool
    shadow_objects: bool | None
    because: str
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowAdvised(Happened):
    """What it advised on one consult of the review, beside the ``real`` advice: what each changes in the report.

    ``real_stops`` and ``stops`` say whether they call a person; ``stops`` is None for an answer that did not come.
    """

    kind: Literal["shadow_advised"] = "shadow_advised"
    surface: Surface
    shard: int
    attempt: int
    real_stops: bool
    stops: bool | None
    real: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowReviewed(Happened):
    """What a whole review in shadow came to, beside the ``real`` one: what each concludes, as its exit code says.

    ``outcome`` is None where an answer that its verdict needs did not come. ``missed`` are the ids of the real review's
    critical and high findings that it does not have, ``besides`` its own that the real one does not have, in words.
    """

    kind: Literal["shadow_reviewed"] = "shadow_reviewed"
    real: Outcome
    outcome: Outcome | None
    because: str
    missed: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowEnded(Happened):
    """The last event. Without it the run was killed while its shadow was at work.

    ``last``: what stopped it would stop every other one as well.
    """

    kind: Literal["shadow_ended"] = "shadow_ended"
    status: ShadowStatus
    because: str = ""
    last: bool = False


ShadowSaid = ShadowDecided | ShadowAdvised | ShadowReviewed
"""What it would have decided."""
ShadowEvent = Annotated[
    ShadowBegan | ShadowCalled | ShadowDecided | ShadowAdvised | ShadowReviewed | ShadowEnded,
    Field(discriminator="kind"),
]
