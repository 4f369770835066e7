"""The protocol's blocks in a model's final message: which stand there, and which are only text.

A block counts if it begins a line of the message's own text and carries the run's nonce. A block within a code fence,
indented code, a block quote, markup or a sentence is a quotation, and a block without the nonce may be one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from review_advisor.core.safety.legible import legible, read_json

MOST_BLOCKS = 40
"""Blocks that are read of one message; what stands behind them is noted and not read."""


class BlockTag(StrEnum):
    """What a block is for."""

    CONSULT = "ADVISOR_CONSULT"
    GUIDANCE = "ADVISOR_GUIDANCE"
    DONE = "EXECUTOR_DONE"
    PROPOSAL = "MEMORY_PROPOSAL"
    IMPROVEMENTS = "IMPROVEMENT_PROPOSALS"
    READINESS = "RELEASE_READINESS_REPORT"


OF_A_RUN = (BlockTag.CONSULT, BlockTag.GUIDANCE, BlockTag.DONE, BlockTag.PROPOSAL, BlockTag.READINESS)
"""The blocks of a task's run."""
_NONCE = re.compile(r"\bnonce\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'/]+))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TagBlock:
    """A block with its JSON object."""

    tag: BlockTag
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A block that stands there and cannot be read. ``error`` says why, without words of the message."""

    tag: BlockTag
    error: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """All blocks of a message, in their order. ``unread``: there may be more behind the first ``MOST_BLOCKS``."""

    found: tuple[TagBlock | Malformed, ...] = ()
    unread: bool = False

    def of(self, tag: BlockTag) -> tuple[TagBlock, ...]:
        """The readable blocks with this tag."""
        return tuple(each for each in self.found if isinstance(each, TagBlock) and each.tag is tag)

    @property
    def malformed(self) -> tuple[Malformed, ...]:
        """The others."""
        return tuple(each for each in self.found if isinstance(each, Malformed))


def block_form(tag: BlockTag, body: str, nonce: str) -> str:
    """A block as it has to stand in a message."""
    return f'<{tag} nonce="{nonce}">\n{body}\n</{tag}>'


def scan(message: str, nonce: str, tags: tuple[BlockTag, ...] = OF_A_RUN) -> Scanned:
    """The blocks with these ``tags`` that count in a final message. ``nonce`` is the run's, and not empty.

    A block that is not closed is malformed; whatever follows it is taken for its content.
    """
    if not nonce:
        raise ValueError("a run without a nonce cannot tell its blocks from quotations")
    found: list[TagBlock | Malformed] = []
    rest = message.replace("\r\n", "\n").replace("\r", "\n")
    while (opening := _first_opening(rest, nonce, tags)) is not None:
        if len(found) == MOST_BLOCKS:
            return Scanned(tuple(found), unread=True)
        tag = BlockTag(opening[1].upper())
        closing = re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(rest, opening.end())
        if closing is None:
            found.append(Malformed(tag, f"the block is not closed: </{tag}> is missing"))
            break
        found.append(_read(tag, rest[opening.end() : closing.start()]))
        rest = rest[closing.end() :]
    return Scanned(tuple(found))


@cache
def _openings(tags: tuple[BlockTag, ...]) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}<({'|'.join(tags)})\b([^<>]*)>", re.IGNORECASE | re.MULTILINE)


def _first_opening(text: str, nonce: str, tags: tuple[BlockTag, ...]) -> re.Match[str] | None:
    """The first opening tag with the nonce that begins a line of the text's own paragraphs.

    What a line is depends on the lines before it alone, so no more is parsed than up to a tag.
    """
    carrying = [each for each in _openings(tags).finditer(text) if _nonces(each[2]) == [nonce]]
    if not carrying:
        return None
    starts = [0, *(end.end() for end in re.finditer("\n", text))]
    lines = [bisect_right(starts, each.start(1)) - 1 for each in carrying]
    if lines[0] in _own_lines(text[: carrying[0].end()]):
        return carrying[0]
    own = _own_lines(text[: carrying[-1].end()])
    return next((each for each, line in zip(carrying, lines, strict=True) if line in own), None)


def _nonces(attributes: str) -> list[str]:
    return [double or single or bare for double, single, bare in _NONCE.findall(attributes)]


def _own_lines(text: str) -> frozenset[int]:
    """The numbers of the lines that are neither code, quotation nor markup."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - reviews know a task's events and read no message

    # Lists are left out: a block directly behind one is no quotation.
    markdown = MarkdownIt("zero", {"html": True}).enable(["code", "fence", "blockquote", "html_block"])
    spans: Iterator[list[int]] = (
        token.map
        for token in markdown.parse(text)
        if token.type == "paragraph_open" and token.level == 0 and token.map is not None
    )
    return frozenset(line for first, end in spans for line in range(first, end))


def _read(tag: BlockTag, body: str) -> TagBlock | Malformed:
    told = legible(_object_in(body))
    if isinstance(told, dict):
        return TagBlock(tag, told)
    return Malformed(tag, "the block's content is not one JSON object")


def _object_in(body: str) -> object:
    """The JSON of a body: the whole of it, or the one object that prose or a code fence surrounds."""
    text = body.strip()
    for candidate in (text, text[text.find("{") : text.rfind("}") + 1]):
        try:
            return read_json(candidate)
        except ValueError:
            continue
    return None
