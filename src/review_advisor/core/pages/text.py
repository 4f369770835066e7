"""How a text of a run is shown on a page: without what cannot be seen, and no longer than a page can bear."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from review_advisor.core.safety.fence import clean

LONGEST_TEXT = 20_000
"""Characters of one text; what is left out stands in the ledger."""
MOST_LINES = 500
"""Lines of one list."""


def page_text(text: str) -> str:
    """``text`` without secrets, with invisible and bidi characters as ``<U+XXXX>``, clipped with a note."""
    left = len(text) - LONGEST_TEXT
    if left <= 0:
        return clean(text)
    return f"{clean(text[:LONGEST_TEXT])}\n[{left} more characters are left out here; `runs export` writes them all]"


def page_lines(texts: Iterable[str]) -> list[str]:
    """The same for the lines of a list, which is clipped with a note, too."""
    lines = list(texts)
    shown = [page_text(line) for line in lines[:MOST_LINES]]
    left = len(lines) - MOST_LINES
    return shown if left <= 0 else [*shown, f"[{left} more are left out here; `runs export` writes them all]"]


def page_block(block: str | tuple[str, ...]) -> str | list[str]:
    """The same for a text or a list of lines."""
    return page_text(block) if isinstance(block, str) else page_lines(block)


def without_empty(**fields: Any) -> Mapping[str, Any]:
    """The fields that say something: an empty text, list or object, None and False are left out."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}
