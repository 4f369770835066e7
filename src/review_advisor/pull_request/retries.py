"""The waits for a forge: before what nobody answered is looked after once more, and for a newer push."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.ports.forge import Forge, ForgeUnavailable
from review_advisor.ports.review import Clock

WAITS = (2.0, 10.0, 30.0)
"""Seconds before each further look, after a request without an answer; more where the forge asks for more."""
LAGS = WAITS[:2]
"""Seconds before each further look, where an answer may lag behind what happened."""
MOST_WAITED = 120.0
"""The longest wait that a forge may ask for; a longer one is not waited for at all."""

_LOOK_SECONDS = 10.0
"""Between two looks whether a newer push came, before a review of this one costs anything."""

T = TypeVar("T")
P = ParamSpec("P")


class Retry:
    """Waits for a forge. What is asked within something else is asked again as a part of that, and not by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._within = False

    def retried(self, look_and_write: Callable[[], T]) -> T:
        """What ``look_and_write`` comes to. Raises ``ForgeError`` once the forge stays silent."""
        if self._within:
            return look_and_write()
        self._within = True
        try:
            return self._tried(look_and_write)
        finally:
            self._within = False

    def _tried(self, look_and_write: Callable[[], T]) -> T:
        for seconds in WAITS:
            try:
                return look_and_write()
            except ForgeUnavailable as silent:
                if silent.wait > MOST_WAITED:
                    raise
                self._clock.sleep(max(seconds, silent.wait))
        return look_and_write()

    def poll_until(self, look: Callable[[], T], believed: Callable[[T], bool]) -> T:
        """What ``look`` finds: at once where that is ``believed``, and after some waits whatever it is."""
        found = look()
        for seconds in LAGS:
            if believed(found):
                break
            self._clock.sleep(seconds)
            found = look()
        return found


def retried(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that looks and writes: all of it is done again while the forge stays silent, by the ``retry`` it has."""

    @wraps(method)
    def again(writer: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        retry: Retry = writer.retry
        return retry.retried(lambda: method(writer, *args, **kwargs))

    return again


def settled_head(forge: Forge, clock: Clock, number: int, seconds: float) -> PullRequest:
    """The pull request as it is after so many seconds, or as soon as its head moves. Raises ``ForgeError``."""
    seen = forge.pull_request(number)
    now, left = seen, seconds
    while left > 0 and now.head_sha == seen.head_sha:
        step = min(left, _LOOK_SECONDS)
        clock.sleep(step)
        left -= step
        now = forge.pull_request(number)
    return now
