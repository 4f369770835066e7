"""Every budget's one home: retries, consults, money, wall clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS, Authority, Surface

RETRIES_BY_BLAST: dict[BlastRadius, int] = {BlastRadius.LOW: 1, BlastRadius.MEDIUM: 2, BlastRadius.HIGH: 3}
USD_FOR_EACH_PART = 0.5
USD_FOR_1_000_TOKENS = 0.03
"""About twice what ``benchmarks/review_cost.py`` measures for one attempt of executor and judge, plan and consults
included: models differ in how long they think."""
MAX_CONSULTS = 5
MAX_CONSULTS_CEILING = 20
MAX_REFUNDS = 3
CALL_SECONDS = 600.0
REVIEW_SECONDS = 1800.0
SECONDS_FOR_EACH_PART = 150.0
MAX_SECONDS = 3000.0
"""With this the review job of the shipped workflow, which may take 60 minutes, has ten left for all else."""
JOBS = 4
MOST_JOBS = 16
SMALLEST_CALL_USD = 0.01
LEAST_REVIEW_USD = 0.25
"""With less than a small review costs, none begins: it would only be paid in order to be refused."""
REJECTION_RETRIES = 1
MOST_REPAIRED_FILES = 10
MOST_REPAIRED_LINES = 400


def post_verify_retry_budget(blast: BlastRadius, authority: Authority) -> int:
    """How often a veto hands back to the executor: low 1, medium 2, high 3; advisory never (ADR-0059, R-2)."""
    return RETRIES_BY_BLAST[blast] if authority is Authority.VETO else 0


def surface_retry_budget(surface: Surface, blast: BlastRadius, authority: Authority) -> int:
    """The same for one surface: a one-shot surface has no retry loop even when the guard forces its authority."""
    if SURFACE_DEFAULTS[surface].retries != "blast radius":
        return 0
    return post_verify_retry_budget(blast, authority)


@dataclass(frozen=True, slots=True)
class Budgets:
    """What one review may spend."""

    max_usd: float
    call_seconds: float = CALL_SECONDS
    review_seconds: float = REVIEW_SECONDS
    max_consults: int = MAX_CONSULTS
    max_refunds: int = MAX_REFUNDS


def consults_left(budgets: Budgets, used: int, failed: int) -> int:
    """How many consults the review may still start. Failed ones are refunded, up to ``max_refunds``."""
    return max(0, budgets.max_consults + min(failed, budgets.max_refunds) - used)


def attempts_of(retry_budgets: Iterable[int], *, blind: bool) -> int:
    """How often a part may be reviewed: once on each surface, and once more for each retry and for a blind look."""
    return sum(1 + retries for retries in retry_budgets) + blind


def review_usd(attempts: int, shards: int, tokens: int, max_usd: float) -> float:
    """Money for a review of so many ``tokens`` of diff that may take all its ``attempts``, never over ``max_usd``.

    Vetoes within the budget of retries are paid for, so that money does not turn them into an escalation.
    """
    attempt = USD_FOR_EACH_PART * max(1, shards) + USD_FOR_1_000_TOKENS * tokens / 1_000
    return min(max_usd, round(attempts * attempt, 2))


def review_seconds(seconds: float, shards: int, max_seconds: float) -> float:
    """Wall clock of the review: ``seconds`` for one part and more for each further one, up to ``max_seconds``.

    A ceiling below ``seconds`` takes nothing away from them.
    """
    return max(seconds, min(max_seconds, seconds + SECONDS_FOR_EACH_PART * (shards - 1)))


RefusalReason = Literal["money", "wall_clock", "size"]
"""Which cap it was."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that one of our own caps did not allow, or cut short: it brought no answer."""

    reason: RefusalReason
    detail: str


@dataclass(slots=True)
class Spending:
    """What a review has used so far: money spent, money reserved by calls in flight, and time."""

    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    running: int = 0
    elapsed_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """Leave for one call: its money is reserved until it ends."""

    max_usd: float
    timeout_seconds: float


def allow(budgets: Budgets, spending: Spending, jobs: int) -> Allowance | Refused:
    """Leave for the next call, or the refusal. Parallel calls share what is left in equal parts."""
    left_seconds = budgets.review_seconds - spending.elapsed_seconds
    if left_seconds <= 0:
        return Refused("wall_clock", f"the review's {budgets.review_seconds:.0f} seconds are over")
    left_usd = budgets.max_usd - spending.spent_usd - spending.reserved_usd
    share = left_usd / max(1, jobs - spending.running)
    if share < SMALLEST_CALL_USD:
        return Refused("money", f"what is left of the review's ${budgets.max_usd:.2f} is too little for another call")
    return Allowance(share, min(budgets.call_seconds, left_seconds))
