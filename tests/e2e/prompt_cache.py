"""What of a request is marked for the API's cache of prompts, and what of it an earlier request has put there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tests.e2e.stub_api import Request

LOOKS_BACK = 20
"""Before a mark the API looks at the ends of so many blocks for an entry of its cache."""
MOST_MARKS = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """One request in characters: from the cache, put into it, and neither."""

    request: Request
    read: int
    written: int
    fresh: int

    @property
    def full_price(self) -> int:
        """What was not read from the cache."""
        return self.written + self.fresh


def prefixes(request: Request) -> list[str]:
    """The request up to the end of each block, without the marks, in the order in which it is cached."""
    return list(accumulate(json.dumps(_unmarked(block)) for block in _blocks(request.body)))


def marks(request: Request) -> list[int]:
    """The places of the marked blocks among all."""
    return [place for place, block in enumerate(_blocks(request.body)) if "cache_control" in block]


def our_mark(request: Request) -> int:
    """The place of the one block that is marked among the user's, and is not the last of all."""
    told = len(request.body.get("tools", [])) + len(request.body.get("system", []))
    (place,) = (mark for mark in marks(request)[:-1] if mark >= told)
    return place


def counted(requests: Sequence[Request]) -> Iterator[Counted]:
    """Each request, given what the earlier ones of its model have put into the cache."""
    kept: set[tuple[str, str]] = set()
    for request in requests:
        upto, marked = prefixes(request), marks(request)
        near = {place for mark in marked for place in range(max(0, mark - LOOKS_BACK), mark + 1)}
        read = max((len(upto[place]) for place in near if (request.model, upto[place]) in kept), default=0)
        last = len(upto[marked[-1]]) if marked else 0
        kept |= {(request.model, upto[mark]) for mark in marked}
        yield Counted(request, read, last - read, len(upto[-1]) - last)


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from body.get("tools", [])
    yield from body.get("system", [])
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name != "cache_control"}
