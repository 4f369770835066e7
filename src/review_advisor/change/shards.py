"""A change cut into parts that fit one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from review_advisor.change.change import EXECUTABLE_MODE, SUBMODULE_MODE, Change, FileChange, Hunk
from review_advisor.change.diff_text import hunk_length, lines_length, path_length, place_length
from review_advisor.change.kinds import MEDIA

CHARACTERS_PER_TOKEN = 3.5
LONGEST_SPEC = 100_000

_FILE_FRAME = 40
"""A file's lines above its diff and in the list of files take so much beside its paths."""

_HUNK_FRAME = 100
"""More than the header of any hunk takes."""

Item = TypeVar("Item")

Extent = Literal["partly", "not", "unchecked", "waived", "excluded"]
"""How far something was not read: by a model, or, in a review by static checks, by any rule."""

MAY_BE_APPROVED: tuple[Extent, ...] = ("waived", "excluded")
"""What the base's configuration, or whoever runs the review, has let pass unread."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One part. ``index`` counts from 0; ``files`` may hold a file's hunks in part."""

    index: int
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Unsent:
    """A file of which something cannot be read, and why. See ``MAY_BE_APPROVED``."""

    path: str
    extent: Extent
    why: str


EXTENT_WORDS: dict[str, str] = {
    "partly": "read in part",
    "not": "not read",
    "unchecked": "not checked",
    "waived": "not checked, which is allowed",
    "excluded": "not read",
}


def shards(change: Change, shard_tokens: int) -> tuple[tuple[Shard, ...], tuple[Unsent, ...]]:
    """Cut ``change`` so that each part's rendered diff stays within about ``shard_tokens``.

    At least one shard always comes back, so that an empty change is reviewed too. What cannot be sent is
    named: a line longer than a whole part, binary content other than media, the content of a submodule, and
    the rest of a specification that is too long.
    """
    room = int(shard_tokens * CHARACTERS_PER_TOKEN)
    pieces: list[FileChange] = []
    unsent: list[Unsent] = list(_spec_gap(change))
    for file in change.files:
        sendable, missing = _sendable(file, room)
        unsent += missing
        pieces += _pieces(sendable, room)
    return tuple(Shard(index, files) for index, files in enumerate(_packed(pieces, _size, room))), tuple(unsent)


def _packed(items: Iterable[Item], size: Callable[[Item], int], room: int) -> Iterator[tuple[Item, ...]]:
    """The items in their order, as many together as there is room for. At least one pack comes back."""
    pack: list[Item] = []
    used = 0
    for item in items:
        more = size(item)
        if pack and used + more > room:
            yield tuple(pack)
            pack, used = [], 0
        pack.append(item)
        used += more
    yield tuple(pack)


def tokens_of(files: Iterable[FileChange]) -> int:
    """About how many tokens the diff of these files has."""
    return round(sum(map(_size, files)) / CHARACTERS_PER_TOKEN)


def unsent_of(shard: Shard, unsent: tuple[Unsent, ...]) -> tuple[Unsent, ...]:
    """What of one shard's files cannot be sent."""
    paths = {file.path for file in shard.files}
    return tuple(each for each in unsent if each.path in paths)


def _size(file: FileChange) -> int:
    return _frame(file) + sum(map(hunk_length, file.hunks))


def _frame(file: FileChange) -> int:
    """What a file takes beside its hunks: its path stands above its diff and, with the earlier one, in the list."""
    return _FILE_FRAME + 2 * path_length(file.path) + path_length(file.old_path or "")


def _spec_gap(change: Change) -> Iterator[Unsent]:
    if change.spec is not None and len(change.spec.text) > LONGEST_SPEC:
        yield Unsent(f"specification {change.spec.origin}", "partly", f"longer than {LONGEST_SPEC} characters")


def _sendable(file: FileChange, room: int) -> tuple[FileChange, list[Unsent]]:
    """What of a file can be sent. A NUL byte makes a script binary to git, but not to its interpreter."""
    if file.binary and not _is_harmless_media(file):
        return file, [Unsent(file.path, "not", "binary content that is not an image, a sound, a font or a document")]
    if file.new_mode == SUBMODULE_MODE:
        return file, [Unsent(file.path, "not", "a submodule: its content is not part of the change")]
    longest = room - _frame(file) - _HUNK_FRAME
    hunks = tuple(hunk for hunk in file.hunks if max(map(len, hunk.lines), default=longest) <= longest)
    if len(hunks) == len(file.hunks):
        return file, []
    extent: Literal["partly", "not"] = "partly" if hunks else "not"
    return replace(file, hunks=hunks), [Unsent(file.path, extent, f"a line longer than {longest} characters")]


def _is_harmless_media(file: FileChange) -> bool:
    return file.new_mode != EXECUTABLE_MODE and all(MEDIA.matches(path) for path in file.paths)


def must_be_read(change: Change, paths: Iterable[str]) -> tuple[Unsent, ...]:
    """The binary files among ``paths`` (critical ones, and the bot's own): no one may approve them unread."""
    these = frozenset(paths)
    return tuple(
        Unsent(file.path, "not", "binary content where every change must be read")
        for file in change.files
        if file.binary and _is_harmless_media(file) and any(path in these for path in file.paths)
    )


def _pieces(file: FileChange, room: int) -> Iterator[FileChange]:
    if _size(file) <= room:
        yield file
        return
    budget = room - _frame(file)
    hunks = (part for whole in file.hunks for part in _split(whole, budget))
    yield from (replace(file, hunks=pack) for pack in _packed(hunks, hunk_length, budget))


def _split(hunk: Hunk, budget: int) -> Iterator[Hunk]:
    if hunk_length(hunk) <= budget:
        yield hunk
        return
    last = place_length(hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count)
    old, new = hunk.old_start, hunk.new_start
    lines: list[str] = []
    text = 0
    for line in hunk.lines:
        text += len(line)
        if lines and lines_length(len(lines) + 1, text, place_length(old, new), last) > budget:
            part = _part(hunk, old, new, lines)
            yield part
            old, new = old + part.old_count, new + part.new_count
            lines, text = [], len(line)
        lines.append(line)
    yield _part(hunk, old, new, lines)


def _part(hunk: Hunk, old: int, new: int, lines: list[str]) -> Hunk:
    old_count = sum(line[:1] in (" ", "-") for line in lines)
    new_count = sum(line[:1] in (" ", "+") for line in lines)
    return Hunk(old, old_count, new, new_count, hunk.section, tuple(lines))
