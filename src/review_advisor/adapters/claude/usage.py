"""What the CLI says a call used: tokens and money, by model. What cannot be is nothing, and said to be impossible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from review_advisor.adapters.claude.fields import dict_of
from review_advisor.core.outcome.cost import total_usage
from review_advisor.core.roles.calls import ModelUsage, Usage

_MESSAGE_KEYS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_RESULT_KEYS = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
MOST_TOKENS = 10**12
MOST_USD = 1e6
"""More than this no call can use."""


class _ImpossibleError(ValueError):
    """A number that no count of tokens and no sum of money can be."""


@dataclass(frozen=True, slots=True)
class CallUsage:
    """What was used; ``own`` by the main loop alone, None where that is not known.

    ``impossible``: the CLI gave a number that cannot be, so that none of its numbers is taken.
    """

    usage: Usage
    by_model: tuple[ModelUsage, ...]
    own: Usage | None = None
    impossible: bool = False


def account(result: Mapping[str, Any] | None, messages: Iterable[Mapping[str, Any]], *, results: int) -> CallUsage:
    """The result's own numbers; without them, what the messages said, of which some are the ``main`` loop's.

    A result tells what the main loop used since the result before it: of several ``results`` the last is not enough.
    """
    result, every = result or {}, tuple(messages)
    try:
        reported = _reported(result)
        by_model = reported or _seen(every)
        total = replace(total_usage(each.usage for each in by_model), cost_usd=_usd(result, "total_cost_usd"))
        if reported:
            own = _usage(dict_of(result, "usage"), _MESSAGE_KEYS, None) if results == 1 else Usage()
        else:
            main = _seen(message for message in every if message["main"])
            own = total_usage(each.usage for each in main)
        return CallUsage(total, by_model, own if own != Usage() else None)
    except _ImpossibleError:
        return CallUsage(Usage(), (), impossible=True)


def _reported(result: Mapping[str, Any]) -> tuple[ModelUsage, ...]:
    found = []
    for model, entry in dict_of(result, "modelUsage").items():
        if isinstance(entry, dict):
            found.append(ModelUsage(str(model), _usage(entry, _RESULT_KEYS, _usd(entry, "costUSD"))))
    return tuple(found)


def _seen(messages: Iterable[Mapping[str, Any]]) -> tuple[ModelUsage, ...]:
    grouped: dict[str, list[Usage]] = {}
    for message in messages:
        grouped.setdefault(str(message["model"]), []).append(_usage(dict_of(message, "usage"), _MESSAGE_KEYS, None))
    return tuple(ModelUsage(model, total_usage(usages)) for model, usages in grouped.items())


def _usage(counts: Mapping[str, Any], keys: tuple[str, str, str, str], cost: float | None) -> Usage:
    read, written, from_cache, to_cache = (_tokens(counts, key) for key in keys)
    return Usage(read, written, from_cache, to_cache, cost)


def _tokens(counts: Mapping[str, Any], key: str) -> int:
    value = counts.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    if not 0 <= value <= MOST_TOKENS:
        raise _ImpossibleError(key)
    return value


def _usd(counts: Mapping[str, Any], key: str) -> float | None:
    value = counts.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not 0 <= value <= MOST_USD:  # also what is no number at all (NaN)
        raise _ImpossibleError(key)
    return float(value)
