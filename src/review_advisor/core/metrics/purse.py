"""The money of the calls of one review, task or vote: each is estimated, allowed, and counted when it has ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from review_advisor.core.metrics.call_estimate import CallEstimates
from review_advisor.core.metrics.prices import Price
from review_advisor.core.policy.budgets import Allowance, Budgets, Refused, Spending, allow, may_come_back
from review_advisor.core.roles.calls import AgentCall, Receipt


class Purse:
    """What the budgets leave for the next call; not thread-safe. ``jobs`` calls share it, which run at a time."""

    def __init__(self, budgets: Budgets, prices: Iterable[Price], jobs: int = 1) -> None:
        self._budgets = budgets
        self._jobs = jobs
        self._estimates = CallEstimates(prices)
        self._spending = Spending()
        self._made: dict[int, tuple[float | None, date]] = {}
        self._running: set[int] = set()

    @property
    def running(self) -> int:
        """Calls that are allowed and have not ended."""
        return self._spending.running

    def may_come_back(self, call: AgentCall, today: date) -> bool:
        """Whether ``call`` lacks money that only running calls can give back."""
        return may_come_back(self._budgets, self._spending, self._estimates.least_usd(call, today))

    def reserve(
        self, call: AgentCall, elapsed_seconds: float, today: date, *, jobs: int | None = None
    ) -> Allowance | Refused:
        """Leave for ``call``, whose money is then reserved until it is settled; or why it has none.

        ``jobs`` says how many calls share the money now, where that varies.
        """
        self._spending.elapsed_seconds = elapsed_seconds
        least = self._estimates.least_usd(call, today)
        allowance = allow(self._budgets, self._spending, jobs or self._jobs, least)
        if isinstance(allowance, Allowance):
            self._estimates.made(call)
            self._made[call.number] = (least, today)
            self._running.add(call.number)
            self._spending.reserved_usd += allowance.max_usd
            self._spending.running += 1
        return allowance

    def estimate(self, call: AgentCall, receipt: Receipt) -> float | None:
        """What an allowed call counts with that reported no cost; None where it did, or where nobody can tell.

        It is what the call was estimated at before it was made, or the price of the tokens that it told, if that is
        more. A call without a receipt did not run.
        """
        if receipt.usage.cost_usd is not None:
            return None
        if receipt == Receipt():
            return 0.0
        least, day = self._made[call.number]
        known = [usd for usd in (least, self._estimates.told_usd(call.model, receipt, day)) if usd is not None]
        return max(known, default=None)

    def settle(self, call: AgentCall, receipt: Receipt) -> None:
        """Count what ``call`` cost, which was allowed ``call.max_usd``, and give back the rest.

        One that reports no cost counts with its estimate: otherwise no limit would ever bind it. Raises ``ValueError``
        for a call that is not running: it is settled once.
        """
        if call.number not in self._running:
            raise ValueError(f"call {call.number} was settled before, or was never allowed")
        self._running.remove(call.number)
        self._estimates.answered(call.model, receipt.resolved_model)
        cost = receipt.usage.cost_usd
        self._spending.spent_usd += (self.estimate(call, receipt) or 0.0) if cost is None else cost
        self._spending.reserved_usd -= call.max_usd
        self._spending.running -= 1
