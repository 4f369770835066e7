"""The money of calls: estimated, allowed and counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from review_advisor.agents.calls import AgentCall, tokens
from review_advisor.change.shards import CHARACTERS_PER_TOKEN
from review_advisor.policy.budgets import Allowance, Budgets, Refused, Spending, allow, may_come_back
from review_advisor.policy.prices import Price, Unpriced, cost, price_on
from review_advisor.policy.surfaces import Role
from review_advisor.safety.stop import ModelUsage, Receipt

ANSWER_TOKENS: Mapping[Role, int] = {
    Role.PRE_FLIGHT: 600,
    Role.EXECUTOR: 1_500,
    Role.MID_FLIGHT: 400,
    Role.POST_VERIFY: 800,
}
"""Of a usual answer, without thought and without what is written to read files."""


class CallEstimates:
    """Estimates the calls of one review by ``prices``; not thread-safe.

    An estimate leaves out what nobody knows before a call: turns that read files, thought, and the CLI's own prompt.
    """

    def __init__(self, prices: Iterable[Price]) -> None:
        self._prices = tuple(prices)
        self._resolved: dict[str, str] = {}
        self._made: set[int] = set()

    def least_usd(self, call: AgentCall, today: date) -> float | None:
        """US dollars; None where the list has no price of the model.

        The price of exactly the name that is asked for counts. A short name of a model, such as ``opus``, that has none
        counts with the cheapest model that it may mean until a call was answered by one. What an earlier call of the
        role has sent already is taken to be read from the cache.
        """
        first, last = _tokens(*call.blocks[:-1]), _tokens(call.system_prompt, *call.blocks[-1:])
        is_read = self._key(call) in self._made
        fresh = last + (0 if is_read else first)
        return self._usd(call.role, call.model, fresh, first if is_read else 0, today)

    def fresh_usd(self, role: Role, model: str, characters: int, today: date) -> float | None:
        """The same for a question of so many characters of which the cache holds nothing."""
        return self._usd(role, model, round(characters / CHARACTERS_PER_TOKEN), 0, today)

    def _usd(self, role: Role, model: str, fresh: int, read: int, today: date) -> float | None:
        used = Unpriced(model, today, 1, fresh, ANSWER_TOKENS.get(role, 0), read, 0)
        return min((cost(used, price) for price in self._prices_of(model, today)), default=None)

    def told_usd(self, requested: str, receipt: Receipt, today: date) -> float | None:
        """What the tokens that a call told cost, in US dollars; None where it told none of a model with a price.

        A model that has no price counts with that of the model that was ``requested``. Money that is told of one of
        several models counts as it is.
        """
        by_model = receipt.by_model or (ModelUsage(receipt.resolved_model or requested, receipt.usage),)
        told = [self._used_usd(each, requested, today) for each in by_model]
        known = [usd for usd in told if usd is not None]
        return sum(known) if known else None

    def _used_usd(self, used: ModelUsage, requested: str, today: date) -> float | None:
        usage = used.usage
        if usage.cost_usd is not None or not tokens(usage):
            return usage.cost_usd
        prices = self._prices_of(used.model, today) or self._prices_of(requested, today)
        kinds = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        return min((cost(Unpriced(used.model, today, 1, *kinds), each) for each in prices), default=None)

    def knows(self, model: str, today: date) -> bool:
        """Whether the list has a price of ``model``, by which its calls can be estimated."""
        return bool(self._prices_of(model, today))

    def binds(self, model: str, today: date) -> bool:
        """Whether a limit of money binds calls that report no cost: by the price of ``model``, which is not 0."""
        rates = [(each.input, each.output) for each in self._prices_of(model, today)]
        return bool(rates) and all(map(any, rates))

    def made(self, call: AgentCall) -> None:
        """Take note of a call that is made now."""
        self._made.add(self._key(call))

    def answered(self, requested: str, resolved: str) -> None:
        """Take note of the model that answered to the name ``requested``, if it has a price."""
        if any(each.model == resolved for each in self._prices):
            self._resolved[requested] = resolved

    def _prices_of(self, requested: str, today: date) -> list[Price]:
        """The price of exactly this name, or of the model that answered to it, or those of all that it may mean."""
        for named in (requested, self._resolved.get(requested, requested)):
            price = price_on(named, today, self._prices)
            if price is not None:
                return [price]
        meant = {each.model for each in self._prices if _may_mean(requested, each.model)}
        return [price for each in meant if (price := price_on(each, today, self._prices)) is not None]

    def _key(self, call: AgentCall) -> int:
        return hash((call.role, call.model, call.system_prompt, call.blocks[:-1]))


def _may_mean(short: str, model: str) -> bool:
    return bool(short) and model.startswith(f"claude-{short}-")


def _tokens(*texts: str) -> int:
    return round(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


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
