"""A prompt as the CLI reads it: one user message of several blocks, with our own mark for the cache. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from review_advisor.core.safety.frame import whole


def user_message(blocks: Sequence[str]) -> bytes:
    """One line for ``--input-format stream-json``. Behind all blocks but the last stands a mark for the cache.

    The CLI passes the mark through and sets its own behind the last block, so that a later call which begins with the
    same blocks reads them from the cache. In ASCII: other readers of lines than ours end one at U+2028, too.
    """
    first, *rest = blocks
    content: list[dict[str, Any]] = [{"type": "text", "text": whole(text)} for text in (_safe_start(first), *rest)]
    if rest:
        content[-2]["cache_control"] = {"type": "ephemeral"}
    message = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(message).encode("ascii") + b"\n"


def _safe_start(text: str) -> str:
    """A prompt that begins with "/" would be a command to the CLI, and an empty one an error."""
    return text if text.strip() and not text.lstrip().startswith("/") else f"Request:\n{text}"
