"""Every budget: retries, consults, money and wall clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from review_advisor.change.shards import CHARACTERS_PER_TOKEN
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Authority, Surface

RETRIES_BY_BLAST: dict[BlastRadius, int] = {BlastRadius.LOW: 1, BlastRadius.MEDIUM: 2, BlastRadius.HIGH: 3}


USD_FOR_EACH_PART = 0.5


USD_FOR_1_000_TOKENS = 0.03
"""About twice what ``benchmarks/review_cost.py`` measures for one attempt of executor and judge, plan and consults
included: models differ in how long they think."""


MAX_CONSULTS = 5


MAX_CONSULTS_CEILING = 20


MAX_REFUNDS = 3


TOKENS_OF_ADVICE = 1_000
"""What the answer to a consult is taken to need before it is there: 80 words, its changes, and some thought."""


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


USD_OF_AN_UNTOLD_REVIEW = 2.3
"""What a review is taken to have cost that left no outcome: one attempt at a part of 60,000 tokens, by the above."""


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
    max_consult_tokens: int | None = None


def consult_estimate(characters: int) -> int:
    """About how many tokens a consult takes whose prompts have so many characters, with its answer."""
    return round(characters / CHARACTERS_PER_TOKEN) + TOKENS_OF_ADVICE


def consults_left(budgets: Budgets, used: int, failed: int) -> int:
    """How many consults the review may still start. Failed ones are refunded, up to ``max_refunds``."""
    return max(0, budgets.max_consults + min(failed, budgets.max_refunds) - used)


def may_be_refused(budgets: Budgets, used: int, failed: int, parts: int) -> bool:
    """Whether the cap may refuse a consult after these. ``used`` and ``failed`` are what the record tells.

    Parts run side by side: there a consult that fails is refunded only after the refusal of another.
    """
    return consults_left(budgets, used, failed if parts == 1 else 0) == 0


def attempts_of(retry_budgets: Iterable[int], *, blind: bool, panel: int = 1, opening: int = 0) -> int:
    """How often a part may be reviewed: once on each surface, and once more for each retry and for a blind look.

    Each member of a council costs as much as an attempt: it looks at the part by itself, and then judges. Each of the
    ``opening`` advisors that speak before the executor is allowed for once.
    """
    members = panel if panel > 1 else 0
    return sum(1 + retries for retries in retry_budgets) * (1 + members) + blind + opening


def review_usd(attempts: int, shards: int, tokens: int, max_usd: float, consults: int = 0) -> float:
    """Money for a review of so many ``tokens`` of diff that may take all its ``attempts``, never over ``max_usd``.

    Vetoes within the budget of retries are paid for, so that money does not turn them into an escalation. So are
    ``consults`` of the harness, each with one more turn of the executor over its part.
    """
    attempt = USD_FOR_EACH_PART * max(1, shards) + USD_FOR_1_000_TOKENS * tokens / 1_000
    return min(max_usd, round(attempts * attempt + consults * attempt / max(1, shards), 2))


def review_seconds(seconds: float, shards: int, *, panel: int = 1) -> float:
    """Wall clock of the review: ``seconds`` for one part and more for each further one, up to ``MAX_SECONDS``.

    Each member of a council counts like a further part.
    """
    members = panel if panel > 1 else 0
    return min(MAX_SECONDS, seconds + SECONDS_FOR_EACH_PART * (shards - 1 + members))


def most_at_a_time(parts: int, panel: int, opening: int) -> int:
    """How many calls of a review can run at the same time.

    The members of the panel judge each part side by side, and all ``opening`` advisors speak before the executor.
    """
    return max(parts * max(panel, 1), opening)


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


def allow(budgets: Budgets, spending: Spending, jobs: int, least_usd: float | None = None) -> Allowance | Refused:
    """Leave for the next call, or the refusal. Parallel calls share what is left in equal parts.

    ``least_usd`` is what the call costs at least, where that can be estimated: it gets no less, and with less it is not
    made, because the money would be spent without an answer.
    """
    left_seconds = budgets.review_seconds - spending.elapsed_seconds
    if left_seconds <= 0:
        return Refused("wall_clock", f"all {budgets.review_seconds:.0f} seconds are used")
    left_usd = budgets.max_usd - spending.spent_usd - spending.reserved_usd
    share = left_usd / max(1, jobs - spending.running)
    if share < SMALLEST_CALL_USD:
        return Refused("money", f"what is left of ${budgets.max_usd:.2f} is too little for another call")
    if least_usd is not None and left_usd < least_usd:
        told = f"it costs at least ${least_usd:.4f}, and of ${budgets.max_usd:.2f} are ${left_usd:.4f} left"
        return Refused("money", told)
    return Allowance(max(share, least_usd or 0.0), min(budgets.call_seconds, left_seconds))


def may_come_back(budgets: Budgets, spending: Spending, least_usd: float | None) -> bool:
    """Whether a call lacks money that calls in flight have reserved, and may not use up."""
    left_usd = budgets.max_usd - spending.spent_usd
    return least_usd is not None and left_usd - spending.reserved_usd < least_usd <= left_usd and spending.running > 0
