"""The wait for a newer push, before a review of this one costs anything."""

from __future__ import annotations

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.ports.forge import Forge
from review_advisor.ports.review import Clock

_LOOK_SECONDS = 10.0


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
