"""Whether an event on a pull request begins a review, and what its check says if it does not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from typing import Literal

from review_advisor.core.facts.pull_request import PullRequest
from review_advisor.core.policy.budgets import LEAST_REVIEW_USD
from review_advisor.core.pull_request.memory import OPENS_BREAKER
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.state import State
from review_advisor.core.pull_request.waiting import (
    Waiting,
    authors_day_used_up,
    breaker_open,
    draft_waits,
    fork_waits,
    money_used_up,
    nobody_asked,
    rounds_used_up,
)


@dataclass(frozen=True, slots=True)
class Beginning:
    """``review``: one begins. ``waiting``: why not, for the check to say; None where there is nothing to say.

    ``drop_fork_label``: what a maintainer had let through is no longer what is there. ``most_usd`` is what is left to
    the pull request's reviews and to its author's day, which bounds this review; None where a person asked for it, who
    grants a whole one.
    """

    review: bool
    because: str
    waiting: Waiting | None = None
    drop_fork_label: bool = False
    most_usd: float | None = None


def beginning(
    pull_request: PullRequest,
    state: State | None,
    rules: PublicationRules,
    *,
    asked: bool,
    opening: bool = True,
    spent_usd: float = 0.0,
    author_usd: float = 0.0,
) -> Beginning:
    """The decision. ``asked``: somebody who may push asked for a review, by a label of this very head or by a command.

    A command means whatever head is there when it is heard. A fork is reviewed only when asked: a label that is still
    there may be older than what is there now. ``opening``: the event opens the pull request, and does not change it.
    ``spent_usd`` is what its reviews have cost, by whoever says the most, and ``author_usd`` what those reviews cost
    today that pushes to the author's pull requests started. Who asks for a review grants it.
    """
    if pull_request.state != "open":
        return Beginning(review=False, because=f"the pull request is {pull_request.state}")
    if asked:
        return Beginning(review=True, because="a person asked for it")
    if pull_request.from_fork:
        waiting, stale = fork_waits(rules, pull_request.head_sha), rules.fork_label in pull_request.labels
        return Beginning(review=False, because="its head is in a fork", waiting=waiting, drop_fork_label=stale)
    if pull_request.draft:
        return Beginning(review=False, because="it is a draft", waiting=draft_waits())
    if rules.review == "on_request" or (rules.review == "opened" and not opening):
        return Beginning(review=False, because="nobody asked for a review", waiting=nobody_asked(rules))
    failing = state.failing if state is not None else None
    if failing is not None and failing.head_sha == pull_request.head_sha and failing.times >= OPENS_BREAKER:
        waiting = breaker_open(failing.reason, failing.times)
        return Beginning(review=False, because="the same failure came again and again", waiting=waiting)
    used_up = _used_up(pull_request, state, rules, spent_usd, author_usd)
    if used_up is not None:
        return Beginning(review=False, because="its automatic reviews are used up", waiting=used_up)
    left_usd = min(_left(rules.most_usd, spent_usd), _left(rules.author_day_usd, author_usd))
    return Beginning(review=True, because="its head is to be reviewed", most_usd=left_usd)


def _used_up(
    pull_request: PullRequest, state: State | None, rules: PublicationRules, spent_usd: float, author_usd: float
) -> Waiting | None:
    """Why pushes start no further review: the rounds or the money of the pull request, or its author's money today."""
    match used_up_of(state.rounds if state is not None else 0, spent_usd, rules):
        case "rounds":
            return rounds_used_up(rules)
        case "money":
            return money_used_up(rules, spent_usd)
    if _left(rules.author_day_usd, author_usd) < LEAST_REVIEW_USD:
        return authors_day_used_up(rules, pull_request.author, author_usd)
    return None


def used_up_of(rounds: int, spent_usd: float, rules: PublicationRules) -> Literal["rounds", "money"] | None:
    """Which cap of a pull request pushes have used up; None while they start reviews."""
    if rounds >= rules.most_rounds:
        return "rounds"
    return "money" if _left(rules.most_usd, spent_usd) < LEAST_REVIEW_USD else None


def _left(most_usd: float | None, usd: float) -> float:
    """What is left under a cap; without one, everything."""
    return inf if most_usd is None else round(most_usd - usd, 2)


OPENING_ACTIONS = ("opened", "reopened", "ready_for_review")
"""What opens a pull request; a push, another base branch and the like change it."""
_QUEUED = re.compile(r"(?:refs/heads/)?gh-readonly-queue/.+/pr-([1-9][0-9]{0,9})-[0-9a-f]{40}")


def queued_pull_request(head_ref: str) -> int | None:
    """The number of the pull request that a merge queue's branch stands for; None if it is no such branch."""
    found = _QUEUED.fullmatch(head_ref)
    return int(found[1]) if found else None
