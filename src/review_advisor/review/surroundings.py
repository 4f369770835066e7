"""Looks up for a part what its executor would look up first."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

from review_advisor.core.facts.patches.around import partly_shown, room_for
from review_advisor.core.facts.shards import CHARACTERS_PER_TOKEN
from review_advisor.core.policy.exclusion import Exclusion, excluding_glob
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.roles.advisors import Briefing, Part
from review_advisor.core.roles.around_prompt import look_around
from review_advisor.core.roles.prompts import diff_length, shown_files
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS
from review_advisor.ports.review import Source


def looked_around(source: Source, briefing: Briefing, row: SurfacePolicy, part: Part, tree: str | None = None) -> Part:
    """The part with what stands around its hunks in the head, or in ``tree``. Once for all its calls: they begin alike.

    It has none on another surface, without a tree, or in a review by static checks, where nobody would read it.
    """
    policy = briefing.policy
    if not SURFACE_INPUTS[row.surface].looks_around or briefing.tree is None or policy.static is not None:
        return part
    files = shown_files(part.shard.files, briefing.change, briefing.scope)
    room = room_for(diff_length(files), int(policy.shard_tokens * CHARACTERS_PER_TOKEN))
    withheld = cache(partial(_is_withheld, policy.excluded))
    texts = (
        source.head_texts([file.path for file in partly_shown(files) if not withheld(file.path)], tree) if room else {}
    )
    search = partial(source.collect_uses, tree=tree)
    return replace(part, around=look_around(files, texts, search, room, withheld=withheld))


def _is_withheld(excluded: Exclusion, path: str) -> bool:
    """Whether the base's configuration leaves a file unread: also one that the change leaves alone."""
    return excluded.covers(path) or excluding_glob(excluded.globs, path) is not None
