"""The weights that an advisor gives to the actions, as the JSON text of its field ``calls`` (act 017).

The text comes from a model that has read the change. It is read strictly: what is not clearly a vote is none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from review_advisor.core.safety.legible import legible

MOST_OF_A_VOTE = 100.0
_LONGEST = 4_000
_TOOL = "_tool"
_REASONING = ("_reasoningForCall", "_why")


@dataclass(frozen=True, slots=True)
class InlineCalls:
    """One advisor's weights, 0 to 100, in the order of the actions; ``reasoning`` is what it says of its choice."""

    weights: tuple[float, ...]
    reasoning: str = ""


class UnreadableCallsError(ValueError):
    """The text is no vote; a few words of our own say why."""


def inline_calls(text: str, actions: Sequence[str]) -> InlineCalls:
    """The vote in ``text`` over ``actions``. An action that it does not name has the weight 0.

    ``_tool`` may name the chosen action, which then has to have the highest weight. Raises ``UnreadableCallsError``.
    """
    said = _object(text)
    unknown = said.keys() - {*actions, _TOOL, *_REASONING}
    if unknown:
        raise UnreadableCallsError(f"calls name something else than {', '.join(actions)}")
    weights = tuple(_weight(said.get(action, 0)) for action in actions)
    if not any(weights):
        raise UnreadableCallsError("calls give no action a weight above 0")
    chosen = said.get(_TOOL)
    if chosen is not None and (chosen not in actions or weights[actions.index(chosen)] < max(weights)):
        raise UnreadableCallsError(f"{_TOOL} is not the action with the highest weight")
    reasons = (said[key] for key in _REASONING if isinstance(said.get(key), str))
    return InlineCalls(weights, legible(next(reasons, "")))


def severest_calls(texts: Sequence[object], actions: Sequence[str]) -> str:
    """One vote that is as severe as each of ``texts``; empty if one of them is no vote that can be read.

    ``actions`` are mildest first: the mildest gets its lowest weight, each other one its highest.
    """
    try:
        votes = [inline_calls(text if isinstance(text, str) else "", actions).weights for text in texts]
    except UnreadableCallsError:
        return ""
    mildest, *others = zip(*votes, strict=True)
    return json.dumps(dict(zip(actions, (min(mildest), *map(max, others)), strict=True)))


def _object(text: str) -> dict[str, Any]:
    if len(text) > _LONGEST:
        raise UnreadableCallsError("calls are too long")
    try:
        said = json.loads(text, object_pairs_hook=_each_key_once)
    except UnreadableCallsError:
        raise
    except (ValueError, RecursionError):
        raise UnreadableCallsError("calls are no JSON text") from None
    if not isinstance(said, dict):
        raise UnreadableCallsError("calls are no JSON object")
    return said


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise UnreadableCallsError("calls name an action twice")
    return dict(pairs)


def _weight(value: object) -> float:
    """A weight; NaN and infinity are outside the bounds like any other wrong number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_OF_A_VOTE:
        raise UnreadableCallsError(f"calls give a weight that is no number from 0 to {MOST_OF_A_VOTE:.0f}")
    return float(value)
