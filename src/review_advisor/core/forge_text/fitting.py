"""Texts within GitHub's limits: sections give way in a stated order, whole blocks at a time, and say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol, Self

LEFT_OUT = "*The rest is left out: a text here has a limit.*"
_FENCE = re.compile(r"`{3,}")


class Order(IntEnum):
    """What gives way where there is no room: the highest first, and ``NEVER`` not at all."""

    NEVER = 0
    WHY = 1
    SURFACES = 2
    FINDINGS = 3
    HELD_BACK = 4
    NOT_PLACED = 5
    NOTES = 6
    VETOES = 7
    COVERAGE = 8
    REFUSED = 9
    PICTURES = 10
    REPAIR = 11
    SETTLED = 12
    TRANSCRIPT = 13
    KNOWLEDGE = 14
    HOW = 15


class Shrinks(Protocol):
    """A piece of a text that can be made shorter."""

    @property
    def gives_way(self) -> Order:
        """Its turn where there is no room."""

    @property
    def text(self) -> str:
        """The piece as it stands; empty where there is nothing to say."""

    def without(self, over: int) -> Self:
        """The piece with ``over`` less by ``size``, or as short as it can be."""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks of safe Markdown between ``head`` and ``tail``; without a block there is no section.

    A section gives way from its end on. ``what`` names the blocks in the sentence that says how many are missing.
    """

    blocks: tuple[str, ...]
    head: str = ""
    tail: str = ""
    gives_way: Order = Order.NEVER
    what: str = "paragraphs"
    between: str = "\n"
    missing: int = 0

    @property
    def text(self) -> str:
        """The section as it stands."""
        if not self.blocks and not self.missing:
            return ""
        said = (f"\n*{self.missing} more {self.what} are left out: a text here has a limit.*",) if self.missing else ()
        body = self.between.join((*self.blocks, *said))
        return "\n\n".join(each for each in (self.head, body, self.tail) if each)

    def without(self, over: int) -> Self:
        """The section without as many of its last blocks as take up ``over``, and the room for saying so."""
        said = replace(self, missing=len(self.blocks))
        freed = size(self.text) - size(said.text)
        keep = len(self.blocks)
        while keep and freed < over:
            keep -= 1
            freed += size(self.blocks[keep]) + len(self.between)
        return replace(self, blocks=self.blocks[:keep], missing=len(self.blocks) - keep)


def size(text: str) -> int:
    """How long a text is by the strictest reading of GitHub's limits: in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def fitted(sections: Sequence[Shrinks], most: int) -> str:
    """All sections in their order, at most ``most`` long by ``size``."""
    kept = list(sections)
    for index in sorted(range(len(kept)), key=lambda each: -kept[each].gives_way):
        over = size(_joined(kept)) - most
        if over <= 0:
            break
        if kept[index].gives_way:
            kept[index] = kept[index].without(over)
    return _joined(kept)


def _joined(sections: Sequence[Shrinks]) -> str:
    return "\n\n".join(text for section in sections if (text := section.text))


def details(title: str, *blocks: str, gives_way: Order, what: str, between: str = "\n") -> Section:
    """A section that a reader opens; ``title`` is our own."""
    head = f"<details><summary>{title}</summary>"
    return Section(blocks, head, "</details>", gives_way=gives_way, what=what, between=between)


def cut(markdown: str, most: int) -> str:
    """Markdown of ours, at most ``most`` long by ``size``: it ends with a line, and what is open there is closed."""
    if size(markdown) <= most:
        return markdown
    lines = markdown.split("\n")
    used, fence, depth = 0, "", 0
    kept = ""
    for number, line in enumerate(lines, start=1):
        used += size(line) + 1
        if used > most:
            break
        fence, depth = _open_after(line, fence, depth)
        closed = "\n\n".join(
            ("\n".join((*lines[:number], *([fence] if fence else []))), *["</details>"] * depth, LEFT_OUT)
        )
        kept = closed if size(closed) <= most else kept
    return kept


def _open_after(line: str, fence: str, depth: int) -> tuple[str, int]:
    """The fence that is open after a line, if one is, and how many sections that a reader opens."""
    mark = _FENCE.match(line)
    if fence:
        return ("" if mark is not None and mark[0] == line and len(line) >= len(fence) else fence), depth
    if mark is not None:
        return mark[0], depth
    return "", depth + line.startswith("<details>") - line.startswith("</details>")
