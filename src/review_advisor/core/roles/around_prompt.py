"""What stands beside a part's diff, so that an executor need not look it up: chosen, cleaned, bounded, and told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from review_advisor.core.facts.change import FileChange
from review_advisor.core.facts.patches.around import (
    MOST_NAMES,
    NOTHING_AROUND,
    Around,
    Passage,
    UseCollector,
    Uses,
    changed_names,
    definitions_around,
    looked_into,
    partly_shown,
    passages_within,
    shown_lines,
    uses_within,
)
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.safety.fence import fence
from review_advisor.core.safety.shown_change import masked_text

AROUND = "AROUND"
_FOR_USES = 4
"""A quarter of the room is kept for uses, if definitions would take it all."""

Search = Callable[[UseCollector], bool]
"""Gives the collector every line of the head in which one of its names stands. False: not all of them."""


def look_around(
    files: Iterable[FileChange],
    texts: Mapping[str, str],
    search: Search,
    room: int,
    *,
    withheld: Callable[[str], bool] = lambda _path: False,
) -> Around:
    """What to show beside the diff of ``files`` in so many characters; ``texts`` are files of the head by their paths.

    A secret is recognised by all that stands around it, so it is marked before anything is cut. Nothing is shown of a
    path that is ``withheld``.
    """
    files = [file for file in looked_into(files) if not withheld(file.path)]
    if not files or not room:
        return NOTHING_AROUND
    partly = partly_shown(files)
    found = [
        definitions_around(file, masked_text(file.path, texts[file.path])) for file in partly if file.path in texts
    ]
    names = changed_names(files, found)
    for_uses = room // _FOR_USES if names else 0
    passages, left_lines = passages_within(found, room - for_uses)
    left = [f"{left_lines:,} lines of definitions"] if left_lines else []
    unread = sum(file.path not in texts for file in partly)
    if unread:
        left.append(f"the definitions in {unread:,} {'file' if unread == 1 else 'files'} not looked into")
    if len(names) > MOST_NAMES:
        left.append(f"uses of {len(names) - MOST_NAMES:,} more names")
    uses: tuple[Uses, ...] = ()
    if names:
        seen = {file.path: shown_lines(file) for file in files}
        for passage in passages:
            seen[passage.path] |= frozenset(range(passage.start, passage.end + 1))
        collector = UseCollector(
            names[:MOST_NAMES],
            [file.path for file in files],
            lambda path, line: line in seen.get(path, ()) or withheld(path),
        )
        whole = search(collector)
        uses, more = uses_within(collector.uses(), room - sum(map(_size, passages)))
        left += [f"{more:,} lines that use a name"] if more else []
        left += [] if whole else ["what the search for uses had not found when its time or its room was over"]
    return Around(passages, uses, tuple(left))


def _size(passage: Passage) -> int:
    return len(shown_path(passage.path)) + 30 + sum(len(line) + 2 for line in passage.lines)


def around_section(around: Around, nonce: str) -> str:
    """What stands beside the diff, fenced; empty without anything."""
    if not (around.passages or around.uses):
        return ""
    told = "\n".join((*map(_passage_text, around.passages), *map(_uses_text, around.uses)))
    left = f" Left out, read it in the tree if you need it: {'; '.join(around.left)}." * bool(around.left)
    return (
        "From the head, beside the diff, so that you need not look it up: other lines of the definitions in which the"
        " hunks stand, and lines that use a name of a changed definition. Quote evidence from the diff only." + left
    ) + f"\n{fence(AROUND, told, nonce, is_masked=True)}"


def _passage_text(passage: Passage) -> str:
    """No line of a file can pass for a header: each begins with a blank."""
    where = f"LINES {passage.start}-{passage.end} of {shown_path(passage.path)}"
    return "\n".join((where, *(f" {line}" for line in passage.lines)))


def _uses_text(uses: Uses) -> str:
    more = f", and {uses.more:,} lines more" if uses.more else ""
    return "\n".join(
        (
            f"USES of {uses.name}{more}",
            *(f" {shown_path(use.path)}:{use.line}: {masked_text(use.path, use.text)}" for use in uses.shown),
        )
    )
