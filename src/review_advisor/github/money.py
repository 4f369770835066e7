"""What the reviews of pull requests have cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from review_advisor.github.state import RecentPullRequest, RecentWork, State, day_in, is_check_of
from review_advisor.policy.budgets import USD_OF_AN_UNTOLD_REVIEW
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument, counted_money


@dataclass(frozen=True, slots=True, order=True)
class DaySpent:
    """The US dollars of one ``day``, such as ``2026-01-31``; without a day nothing is counted.

    Where two accounts differ, the greater one holds: that of the later day, or of the larger amount on one day.
    """

    day: str = ""
    usd: float = 0.0

    def plus(self, usd: float) -> DaySpent:
        """This day's sum with one more amount; nothing where nothing is counted."""
        return DaySpent(self.day, round(self.usd + max(0.0, usd), 4)) if self.day else self


UNCOUNTED = DaySpent()


def day_of(now: datetime) -> str:
    """The day of a moment."""
    return now.date().isoformat()


def changed_since(now: datetime) -> datetime:
    """Since when a pull request has changed of which a review may have cost something today.

    A review that began before midnight is paid after it.
    """
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)


def newest(today: str, *days: DaySpent) -> DaySpent:
    """What is known of ``today``: nothing that tells of a day to come counts."""
    return max((each for each in days if each.day == today), default=DaySpent(today))


@dataclass(frozen=True, slots=True)
class SpentToday:
    """What the reviews of all pull requests have cost today, as their check runs say.

    A review that is under way counts with an estimate, and so does a pull request that a reset of its branch has closed
    today: it has no head any more that could tell. ``whole``: no pull request that changed lately was left out.
    """

    usd: float = 0.0
    whole: bool = True


def spent_today(work: RecentWork, today: str, is_ours: Callable[[str], bool]) -> SpentToday:
    """The sum over ``work``. ``is_ours`` says whether an account is the bot's."""
    return SpentToday(round(sum(_usd(each, today, is_ours) for each in work.pull_requests), 2), work.whole)


def alert_about(today: SpentToday, rules: PublicationRules) -> str:
    """What the maintainers should know of the day's money, in one line; empty for nothing. It stops no review."""
    sentences = []
    if rules.repository_day_usd is not None and today.usd >= rules.repository_day_usd:
        sentences.append(
            f"The reviews that pushes started today (UTC) have cost about {today.usd:,.2f} USD of"
            f" {rules.repository_day_usd:,.2f} (github.repository_day_usd). No review is stopped for that."
        )
    if not today.whole:
        sentences.append(
            "More pull requests changed lately than are listed, so that what reviews cost today is not all known."
        )
    return " ".join(sentences)


def _may_hide(pull_request: RecentPullRequest, today: str) -> bool:
    """Whether a pull request without a commit may have cost something today.

    The push that took its commits has closed it. Later comments change it, and not when it was closed.
    """
    closed = pull_request.closed_at
    return closed is not None and day_of(closed) == today and not pull_request.from_fork


def _usd(pull_request: RecentPullRequest, today: str, is_ours: Callable[[str], bool]) -> float:
    if pull_request.checks is None:
        return USD_OF_AN_UNTOLD_REVIEW if _may_hide(pull_request, today) else 0.0
    ours = [
        each
        for each in pull_request.checks
        if is_check_of(pull_request.number, each.external_id) and is_ours(f"{each.app}[bot]")
    ]
    amounts = [(found[1], each.in_progress) for each in ours if (found := day_in(each.external_id))[0] == today]
    under_way = USD_OF_AN_UNTOLD_REVIEW if any(in_progress for _, in_progress in amounts) else 0.0
    return max((amount for amount, _ in amounts), default=0.0) + under_way


@dataclass(frozen=True, slots=True)
class PaidSoFar:
    """What the reviews of a pull request have cost, as far as its check runs say: in all, and ``today``.

    Nothing is counted by days where ``today`` has none.
    """

    usd: float = 0.0
    today: DaySpent = UNCOUNTED


NOTHING = PaidSoFar()


class Counted(TypedDict):
    """What a pull request has cost so far; fields of ``State``."""

    spent_usd: float
    estimated_usd: float
    counted: str
    day: str
    day_usd: float


def with_cost(
    before: State | None, document: OutcomeDocument, spent: PaidSoFar = NOTHING, *, asked: bool = False
) -> Counted:
    """What the reviews cost together once this one is over. A run is counted once.

    A call that reported no cost counts with its estimate. What nobody can estimate counts once, as what one attempt at
    a part of full size may cost: a call that is killed must not be free. No amount is below 0. Of what the state says
    and what is known without it (``spent``), the larger amount counts. A review that a person ``asked`` for adds
    nothing to the day.
    """
    earlier, today = so_far(before, spent)
    estimated = before.estimated_usd if before is not None else 0.0
    counted = document.run_id
    if before is not None and is_counted(before, document.run_id):
        counted = before.counted
    else:
        money = counted_money(document.events)
        estimate = money.estimated_usd + (USD_OF_AN_UNTOLD_REVIEW if money.untold else 0.0)
        usd = money.reported_usd + estimate
        today = today if asked else today.plus(usd)
        earlier, estimated = round(earlier + usd, 4), round(estimated + estimate, 4)
    return Counted(spent_usd=earlier, estimated_usd=estimated, counted=counted, day=today.day, day_usd=today.usd)


def so_far(state: State | None, spent: PaidSoFar) -> tuple[float, DaySpent]:
    """What a state and the check runs together say, in all and today."""
    if state is None:
        return spent.usd, spent.today
    known = DaySpent(state.day, state.day_usd)
    today = newest(spent.today.day, known, spent.today) if spent.today.day else known
    return max(spent.usd, state.spent_usd), today


def is_counted(before: State, run_id: str) -> bool:
    """Whether what a run cost is in the sum: of the review that stands, or of the one that was overtaken last."""
    return run_id in (before.run_id, before.counted)
