"""A comment on the diff as it stands later, with what people did with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reaction:
    """Somebody's thumb, up or down; ``login`` is empty where the forge does not say whose."""

    login: str
    up: bool


@dataclass(frozen=True, slots=True)
class StandingRemark:
    """The first comment of a thread on the diff. Its text and its names are hostile.

    ``edited_by`` is whoever edited it last; empty if nobody did. It was made on ``line`` (from ``start_line`` on) of
    ``path`` at ``commit``, on the old side if ``removed``; ``commit`` is empty and ``line`` 0 where the forge has
    forgotten them. ``resolved_by`` is empty where the forge does not say. ``uncounted``: there are more reactions than
    were read.
    """

    author: str
    body: str
    edited_by: str
    path: str
    commit: str
    start_line: int
    line: int
    removed: bool
    resolved: bool
    resolved_by: str
    reactions: tuple[Reaction, ...] = ()
    uncounted: bool = False
