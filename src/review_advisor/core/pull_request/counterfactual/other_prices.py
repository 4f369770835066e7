"""The calls of a stored review at other prices, by the tokens that they told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from review_advisor.core.metrics.prices import Price, Unpriced, cost, price_on
from review_advisor.core.outcome.cost import tokens
from review_advisor.core.outcome.events import CallEnded, Event
from review_advisor.core.pull_request.counterfactual.would_ask import Unknown
from review_advisor.core.roles.calls import ModelUsage, Usage


def for_the_past(prices: Iterable[Price]) -> tuple[Price, ...]:
    """A list of prices to come, to be tried on runs of the past: before a model's first day that day's price holds."""
    dated = sorted(prices, key=lambda price: price.since)
    first = {price.model: price for price in reversed(dated)}
    return tuple(replace(each, since=date.min) if first[each.model] is each else each for each in dated)


def at_other_prices(events: Iterable[Event], prices: Sequence[Price]) -> tuple[list[Event], tuple[Unknown, ...]]:
    """The events with each call at these prices, and what has none. What an earlier run paid stays that run's.

    A call that told neither tokens nor money stays without a cost.
    """
    unknown: list[str] = []
    told: list[Event] = []
    for event in events:
        is_paid = isinstance(event, CallEnded) and event.ended != "refused" and not event.kept
        told.append(_recosted(event, prices, unknown) if isinstance(event, CallEnded) and is_paid else event)
    return told, tuple(Unknown(why) for why in dict.fromkeys(unknown))


def _recosted(call: CallEnded, prices: Sequence[Price], unknown: list[str]) -> CallEnded:
    used = call.by_model or (ModelUsage(call.resolved_model or call.requested_model, call.usage),)
    again = tuple(ModelUsage(each.model, _at(each, call.at.date(), prices, unknown)) for each in used)
    if all(each.usage.cost_usd is None for each in again):
        return call
    whole = replace(call.usage, cost_usd=sum(each.usage.cost_usd or 0.0 for each in again))
    return replace(call, usage=whole, by_model=again if call.by_model else ())


def _at(used: ModelUsage, day: date, prices: Sequence[Price], unknown: list[str]) -> Usage:
    usage = used.usage
    if not tokens(usage):
        if usage.cost_usd:
            unknown.append(f"a call of {used.model} told its cost and no tokens")
        return usage
    price = price_on(used.model, day, prices)
    if price is None:
        unknown.append(f"the list has no price of {used.model}")
        return usage
    kinds = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    return replace(usage, cost_usd=cost(Unpriced(used.model, day, 1, *kinds), price))
