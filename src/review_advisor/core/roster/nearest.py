"""What to say of a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_of(word: str, known: Iterable[str]) -> str:
    """The nearest known word as a question, or all of them."""
    by_small = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), list(by_small), n=1, cutoff=0.5)
    return (
        f"did you mean {by_small[near[0]]!r}?" if near else f"known: {', '.join(sorted(by_small.values())) or 'none'}."
    )
