"""What was used, by whom and of which model: tokens, and money as far as it was reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from review_advisor.core.outcome.events import CallEnded, CallStarted, Event
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.roles.calls import ModelUsage, Usage


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What one role used of one model, in one call or in many: ``unpriced`` of the calls reported no cost.

    ``usage.cost_usd`` is None where none did: nobody guesses. A call that used several models is one of each:
    ``unpriced_calls`` counts it once. The mid-flight advisor's ``calls`` are consults. ``shared``: in some call the
    executor and its consults used the same model, and their money is known only as one sum. That sum stands with the
    executor. If their tokens are known only as one sum, it stands there as well.
    """

    role: Role
    model: str
    calls: int
    usage: Usage
    unpriced: int = 0
    shared: bool = False


def role_costs(calls: Iterable[CallEnded]) -> tuple[RoleCost, ...]:
    """What these calls used, by role and model: whoever used it within them."""
    return together(each for call in calls for each in used_within(call))


def together(costs: Iterable[RoleCost]) -> tuple[RoleCost, ...]:
    """The sums of these costs, by role and model."""
    found: dict[tuple[Role, str], list[RoleCost]] = defaultdict(list)
    for cost in costs:
        found[cost.role, cost.model].append(cost)
    return tuple(
        RoleCost(
            role,
            model,
            calls=sum(each.calls for each in its),
            usage=total_usage(each.usage for each in its),
            unpriced=sum(each.unpriced for each in its),
            shared=any(each.shared for each in its),
        )
        for (role, model), its in sorted(found.items(), key=lambda item: (item[0][0].value, item[0][1]))
    )


def unpriced_calls(calls: Iterable[CallEnded]) -> int:
    """How many of these calls lack a part of their cost: each is one, whichever of its models nobody told it of."""
    return sum(any(each.unpriced for each in used_within(call)) for call in calls)


@dataclass(frozen=True, slots=True)
class CountedMoney:
    """What limits of money count: US dollars as they were reported, and the estimates of calls that reported none.

    ``untold``: what some call cost, nobody can even estimate; that is in neither.
    """

    reported_usd: float = 0.0
    estimated_usd: float = 0.0
    untold: bool = False

    @property
    def usd(self) -> float:
        """Both together."""
        return self.reported_usd + self.estimated_usd


def counted_money(events: Sequence[Event]) -> CountedMoney:
    """What the calls of these events count with; nobody knows what one that began and has no end did cost."""
    calls = [event for event in events if isinstance(event, CallEnded) and event.ended != "refused"]
    begun = {event.number for event in events if isinstance(event, CallStarted)}
    estimates = [call.estimated_usd for call in calls if call.usage.cost_usd is None]
    return CountedMoney(
        reported_usd=sum(max(0.0, call.usage.cost_usd or 0.0) for call in calls),
        estimated_usd=sum(max(0.0, usd or 0.0) for usd in estimates),
        untold=None in estimates or not begun <= {call.number for call in calls},
    )


MOST_USD = 1_000_000.0
"""Beyond what any shadow costs: a document that says more is not read."""


@dataclass(frozen=True, slots=True)
class ShadowCost:
    """What a shadow of the review has cost.

    While it is ``running``, ``usd`` is what it may spend: its run may be killed.
    ``unpriced`` of its ``calls`` reported no cost.
    """

    shadow: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    status: Literal["running", "finished", "capped", "stopped"]
    usd: Annotated[float, Field(ge=0, le=MOST_USD, allow_inf_nan=False)]
    calls: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    unpriced: Annotated[int, Field(ge=0, le=1_000_000)] = 0


@dataclass(frozen=True, slots=True)
class Turns:
    """The ``turns`` that the executor took in so many ``calls``: those of which they are known."""

    turns: int
    calls: int


def executor_turns(calls: Iterable[CallEnded]) -> Turns:
    """The executor's turns in these calls. A reply that an earlier run was given took none."""
    known = [call.turns for call in calls if call.role is Role.EXECUTOR and call.turns and not call.kept]
    return Turns(sum(known), len(known))


def used_within(call: CallEnded) -> Iterator[RoleCost]:
    """What each model used within a call, and as whom: an executor's subagent is the mid-flight advisor."""
    if call.ended == "refused":
        return
    by_model = call.by_model or (ModelUsage(call.resolved_model or call.requested_model, call.usage),)
    models = {each.model for each in by_model}
    foreign = [
        each.model for each in by_model if call.role is Role.EXECUTOR and call.resolved_model not in ("", each.model)
    ]
    nameless = sum(model not in models for model in call.consulted)
    for each in by_model:
        if each.model in foreign:
            consults = call.consulted.count(each.model) + (nameless if each.model == foreign[0] else 0)
            yield _used(Role.MID_FLIGHT, each.model, each.usage, max(1, consults))
        else:
            yield from _with_consults(call, each, nameless=0 if foreign else nameless)


def _with_consults(call: CallEnded, each: ModelUsage, *, nameless: int) -> Iterator[RoleCost]:
    """What a call used of its own model, and apart from that what its consults used of the same model.

    ``nameless`` are the consults whose model is not among those that were used: it failed, or has another name there.
    """
    whole, own = each.usage, _own(call, each.usage)
    consulted = Usage() if own is None else _difference(whole, own)
    consults = call.consulted.count(each.model)
    if consults or consulted != Usage():
        consults += nameless
    if not consults:
        yield _used(call.role, each.model, whole)
        return
    shared = own is None or whole.cost_usd is not None
    yield _used(call.role, each.model, whole if own is None else replace(own, cost_usd=whole.cost_usd), shared=shared)
    yield _used(Role.MID_FLIGHT, each.model, consulted, consults, shared=shared)


def _used(role: Role, model: str, usage: Usage, times: int = 1, *, shared: bool = False) -> RoleCost:
    """What a role used within one call. The cost of consults is not unknown where it stands with the executor."""
    stands_elsewhere = shared and role is Role.MID_FLIGHT
    unpriced = 0 if stands_elsewhere or usage.cost_usd is not None else times
    return RoleCost(role, model, times, usage, unpriced, shared)


def _own(call: CallEnded, whole: Usage) -> Usage | None:
    """The call's tokens without its consults'; None where they are not known, or are more than there are in all."""
    own = call.own
    if own is None or not all(0 <= some <= every for some, every in zip(_kinds(own), _kinds(whole), strict=True)):
        return None
    return own


def _difference(whole: Usage, part: Usage) -> Usage:
    """In tokens: money is not told by part."""
    return Usage(*(every - some for every, some in zip(_kinds(whole), _kinds(part), strict=True)))


def tokens(usage: Usage) -> int:
    """In, out, cache read and cache write."""
    return sum(_kinds(usage))


def prompt_tokens(usage: Usage) -> int:
    """All that was given to the model, whether it came from the cache, went into it, or neither."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def _kinds(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The sum; its cost is None only if none of them reported one."""
    every = tuple(usages)
    costs = [usage.cost_usd for usage in every if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in every),
        output_tokens=sum(usage.output_tokens for usage in every),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in every),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in every),
        cost_usd=sum(costs) if costs else None,
    )
