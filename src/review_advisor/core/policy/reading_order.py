"""In which order the parts of a large change are read: what a ceiling leaves unread is the least dangerous."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.facts.change import Change, FileChange
from review_advisor.core.facts.files.kinds import Kind, kind_of
from review_advisor.core.policy.policy import Rules, watched_paths

_AFTER_CRITICAL = (
    (Kind.CODE,),
    (Kind.LOCK, Kind.GENERATED, Kind.VENDORED),
    (Kind.TESTS,),
    (Kind.DOCS,),
)
"""Files of these kinds come after the critical ones, in this order."""


def most_dangerous_first(change: Change, rules: Rules) -> Change:
    """The same change with its files in the order of reading: critical paths and the bot's own implementation first.

    Files of one rank keep their order, so the parts are the same each time.
    """
    watched = watched_paths(change, rules)

    def rank(file: FileChange) -> int:
        if not watched.isdisjoint(file.paths):
            return 0
        kind = kind_of(file)
        return next(place for place, kinds in enumerate(_AFTER_CRITICAL, 1) if kind in kinds)

    return replace(change, files=tuple(sorted(change.files, key=rank)))
