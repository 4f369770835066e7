"""The events of a consult that the harness asks for: why, what was recommended, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.escalation.reasons import Reason
from review_advisor.core.escalation.recommendations import Disposition, Merged
from review_advisor.core.outcome.steps.happened import OfCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalated(OfCall):
    """After its call ``number`` the executor gave ``report``, and a consult of the harness was due.

    ``state`` is what it is about (``state_digest``). ``refused`` says why nobody was consulted; empty if the consult
    follows. ``advisor_alone``: it was refused by the cap, and the advisor's judgement alone decides from here on.
    """

    kind: Literal["escalated"] = "escalated"
    report: CheckedReport
    reasons: tuple[Reason, ...]
    state: str
    refused: str = ""
    advisor_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended(OfCall):
    """What the advisor recommends in the call ``number``, merged with the executor's report so far.

    ``proven`` are the ids of the findings whose drop or lower carries a quote of code that shows that they are wrong.
    ``repeated``: the same was recommended before and not applied, so a person decides.
    """

    kind: Literal["recommended"] = "recommended"
    recommendation: str
    merged: Merged
    proven: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOpen(OfCall):
    """After its call ``number`` the executor does not say what became of some advice, and is asked once.

    ``report`` is what it said so far, ``recommendations`` names what is open.
    """

    kind: Literal["advice_open"] = "advice_open"
    report: CheckedReport
    recommendations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disposed(OfCall):
    """What became of a recommendation by the executor's call ``number``, and why."""

    kind: Literal["disposed"] = "disposed"
    recommendation: str
    disposition: Disposition
    reason: str = ""
