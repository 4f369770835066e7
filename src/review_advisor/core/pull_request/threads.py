"""Which of the bot's threads still say their finding, and which were left behind: pure readings of what stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from review_advisor.core.pull_request.markers import finding_in
from review_advisor.core.pull_request.standing import Thread


def finding_ids_ever_said(threads: Iterable[Thread]) -> frozenset[str]:
    """The findings that have a comment, wherever it stands by now."""
    return frozenset(_last(threads))


def finding_ids_with_thread(threads: Iterable[Thread]) -> frozenset[str]:
    """The open findings that need no new comment: their last thread stands on its lines, resolved or not."""
    return frozenset(name for name, last in _last(threads).items() if not last.outdated)


def finding_ids_with_open_thread(threads: Iterable[Thread]) -> frozenset[str]:
    """The findings whose last thread stands on its lines and is open."""
    return frozenset(name for name, last in _last(threads).items() if not (last.resolved or last.outdated))


def about(threads: Iterable[Thread], findings: Collection[str]) -> tuple[Thread, ...]:
    """The open threads about these findings."""
    return tuple(each for each in threads if finding_in(each.body) in findings and not each.resolved)


def left_behind(threads: Iterable[Thread], known: Collection[str]) -> tuple[Thread, ...]:
    """The open threads that lost their lines and are said elsewhere: in a later thread, or under another id.

    ``known`` are the ids of all findings there are.
    """
    every = tuple(threads)
    last = _last(every)
    outdated = [(each, finding_in(each.body)) for each in every if each.outdated and not each.resolved]
    return tuple(each for each, name in outdated if name is not None and (last[name] is not each or name not in known))


def _last(threads: Iterable[Thread]) -> dict[str, Thread]:
    return {name: each for each in threads if (name := finding_in(each.body)) is not None}
