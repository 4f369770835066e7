"""What stands around a hunk: enclosing definitions, and uses of changed names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import nsmallest
from itertools import groupby, pairwise

from review_advisor.change.change import SYMLINK_MODE, FileChange, Status
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import Kind, kind_of, kind_of_path

_LOOKED_AT = 400
"""So many characters of a line are looked at: no definition begins behind them."""

_FARTHEST = 5_000
"""So many lines below its first one the end of a definition is looked for."""

_LONGEST_SIGNATURE = 12
_MOST_DECORATORS = 8

_MOST_LOOKS = 200
"""So many changed places of one file are looked at."""

_MOST_BLANK = 10
_BLANK = _NONE = -1
_BRACKETS = ")]{}"

_CONTAINER_WORDS = (
    "class interface trait impl module namespace object protocol extension defmodule service struct enum record type"
)

_CONTAINERS = frozenset(_CONTAINER_WORDS.split())
_OTHER_WORDS = "def defp func fn function fun sub proc procedure message"
_KEYWORDS = "|".join(f"{_CONTAINER_WORDS} {_OTHER_WORDS}".split())

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z: ]{1,30}\))?"
    r"|virtual|override|inline|extern|unsafe|sealed|open|data|partial|declare|suspend|local|const|case)\s++){0,6}"
)

_NAME = r"[A-Za-z_][A-Za-z0-9_]{1,79}+"

_BY_KEYWORD = re.compile(
    rf"\s*+{_MODIFIERS}(?P<keyword>{_KEYWORDS})\b\*?\s*+(?:\([^()]{{0,100}}\)\s*+|<[^<>]{{0,100}}>\s*+)?"
    rf"(?:[A-Za-z_]\w{{0,79}}(?:\.|::))*(?P<name>{_NAME})"
)

_BY_VALUE = re.compile(
    rf"\s*+{_MODIFIERS}(?:let\s++|var\s++)?(?P<name>{_NAME})\s*+(?::[^=]{{0,100}})?=\s*+(?:async\s*+)?"
    rf"(?:function\b|\([^()]{{0,200}}\)\s*+(?::[^=]{{0,100}})?=>|{_NAME}\s*+=>)"
)

_BY_PARENTHESES = re.compile(
    rf"\s*+(?P<before>(?:[\w<>\[\],.&*:~?@]++\s++){{0,6}})[*&]*(?:\w++::)*(?P<name>{_NAME})\s*+\("
)

_NO_NAMES = (
    "if else elif for foreach while switch match case catch except finally do try with return throw raise await yield"
    " new assert delete typeof in of and or not is import from using lock print echo go defer unless until when then"
    " goto describe it test expect require"
)

_NO_DEFINITION = frozenset(_NO_NAMES.split())


@dataclass(frozen=True, slots=True)
class Definition:
    """The lines of one definition, by their indices from 0."""

    start: int
    body: int
    """The first line behind its signature."""
    end: int
    """The first line behind it."""
    name: str
    container: bool
    """It holds definitions itself: a class, a module."""


def defined_name(line: str) -> str | None:
    """The name that a line defines, as far as one can tell from the line alone."""
    found = _definition_in(line)
    return found[0] if found else None


def _definition_in(line: str) -> tuple[str, bool] | None:
    """The name, and whether it is a container's."""
    seen = line[:_LOOKED_AT].rstrip()
    found = _BY_KEYWORD.match(seen)
    if found and seen[found.end() :].lstrip()[:1] not in ("*", "&"):  # C: "struct cart *sell(...)"
        is_definition = found["name"] not in _NO_DEFINITION and _ends_openly(seen, found.end())
        return (found["name"], found["keyword"] in _CONTAINERS) if is_definition else None
    if found := _BY_VALUE.match(seen):
        return found["name"], False
    found = _BY_PARENTHESES.match(seen)
    if found is None or not _NO_DEFINITION.isdisjoint((*found["before"].split(), found["name"])):
        return None
    typed = bool(found["before"].strip()) and seen.endswith(")")
    return (found["name"], False) if typed or (seen.endswith("{") and '"' not in seen and "=>" not in seen) else None


def _ends_openly(line: str, name_end: int) -> bool:
    """Whether what stands behind the name can belong to a definition: prose such as "type of thing" does not."""
    rest = line[name_end:].lstrip()
    return (
        not rest or rest[0] in "([{<:=;,!" or line.endswith(("{", ":", ")", ",", "(", ";", "do")) or " extends " in rest
    )


def enclosing(lines: Sequence[str], changed: Iterable[int]) -> tuple[tuple[Definition, ...], frozenset[int]]:
    """The innermost definitions that the ``changed`` lines stand in, and the first lines of those around them.

    Lines are counted from 0; one behind the last stands for what was removed from the end.
    """
    depths = [_indent(line) if line.strip() else _BLANK for line in lines]
    headers = _headers(lines, depths)
    known = cache(lambda row: _definition_in(lines[row]))
    found: dict[int, Definition] = {}
    outer: set[int] = set()
    for row in _telling(depths, changed):
        if any(each.start <= row < each.end and not each.container for each in found.values()):
            continue
        around = [each for each in _chain(headers, row) if known(each)]
        if around:
            innermost, *others = around
            found[innermost] = _definition(lines, depths, innermost)
            outer.update(others)
    return tuple(found[row] for row in sorted(found)), frozenset(outer - set(found))


def _telling(depths: Sequence[int], changed: Iterable[int]) -> Iterator[int]:
    """Of each run of changed lines the first, the last, and those that are indented less than all before them."""
    rows = sorted({min(row, len(depths) - 1) for row in changed}) if depths else []
    looks, before, depth = 0, -2, 0
    for row, behind in pairwise([*rows, len(depths) + 1]):
        begins, ends = row != before + 1, behind != row + 1
        above = next((each for each in range(row, max(-1, row - _MOST_BLANK), -1) if depths[each] != _BLANK), None)
        if above is not None and (begins or ends or depths[row] < depth) and (ends or above == row):
            looks += 1
            yield above
        depth = depths[row] if begins or depth == _BLANK else min(depth, depths[row])
        before = row
        if looks >= _MOST_LOOKS:
            return


def _headers(lines: Sequence[str], depths: Sequence[int]) -> list[int]:
    """For each line the one under which it is indented; none for a blank line, and for one that stands at the top.

    A line that begins with a bracket goes on with what stands as deep above it: the end of a signature of several
    lines, or a brace of its own.
    """
    found = []
    open_: list[int] = []
    for row, depth in enumerate(depths):
        if depth == _BLANK:
            found.append(_NONE)
            continue
        closes = lines[row].lstrip()[0] in _BRACKETS
        while open_ and (depths[open_[-1]] > depth or (depths[open_[-1]] == depth and not closes)):
            open_.pop()
        found.append(open_[-1] if open_ else _NONE)
        if not closes:
            open_.append(row)
    return found


def _chain(headers: Sequence[int], row: int) -> Iterator[int]:
    """The line and its headers, the innermost first."""
    while row != _NONE:
        yield row
        row = headers[row]


def _definition(lines: Sequence[str], depths: Sequence[int], header: int) -> Definition:
    name, container = _definition_in(lines[header]) or ("", False)
    start, depth = header, depths[header]
    while start > max(0, header - _MOST_DECORATORS) and lines[start - 1].lstrip().startswith(("@", "#[")):
        start -= 1
    end = header + 1
    for row in range(header + 1, min(len(lines), header + _FARTHEST)):
        if _BLANK < depths[row] <= depth:
            line = lines[row].strip()
            if line[0] in ")]{":
                end = row + 1
                continue
            end = row + 1 if line[0] == "}" or line.rstrip(";") == "end" else end
            break
        end = row + 1 if depths[row] != _BLANK else end
    signature = range(header, min(end, header + _LONGEST_SIGNATURE))
    last = next((row for row in signature if lines[row].rstrip().endswith((":", "{", "=>"))), header)
    return Definition(start, last + 1, end, name, container)


def _indent(line: str) -> int:
    blank = line[: len(line) - len(line.lstrip(" \t"))][:_LOOKED_AT]
    return len(blank.expandtabs(8))


LEAST_ROOM = 4_000
SHARE_OF_DIFF = 4

MOST_ROOM = 24_000
"""In characters: a quarter of the diff, but never less than the least and never more than the most."""

MOST_NAMES = 20

MOST_USES = 6
"""Of one name."""

LONGEST_USE = 400
"""A longer line that uses a name is counted, and not shown: it is data, or was written by a machine."""

LARGEST_FILE = 500_000
"""In bytes: of a larger file no definitions are looked for."""

MOST_BYTES = 2_000_000
"""Of all files of a part together, and of what a search for names may say."""

_LONGEST_LINE = 300
_LONGEST_CONTAINER = 40
_LONGEST_DEFINITION = 150

_NEAREST = 40
"""Of a longer definition so many lines before a hunk and behind it are shown."""

_MOST_NEAR = 50
_MOST_KEPT = 64
_SHOWN_KINDS = (Kind.CODE, Kind.TESTS, Kind.DOCS)
_CHANGED_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")


def room_for(diff_characters: int, shard_characters: int) -> int:
    """How many characters may stand beside a part's diff of so many, within what one part may have."""
    wanted = min(MOST_ROOM, max(LEAST_ROOM, diff_characters // SHARE_OF_DIFF))
    return max(0, min(wanted, shard_characters - diff_characters))


def most_room(diff_characters: int, parts: int) -> int:
    """The most that may stand beside the diffs of so many parts together."""
    return min(parts * MOST_ROOM, max(parts * LEAST_ROOM, diff_characters // SHARE_OF_DIFF))


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file of the head that the diff does not show; ``start`` counts from 1."""

    path: str
    start: int
    lines: tuple[str, ...]

    @property
    def end(self) -> int:
        """Its last line."""
        return self.start + len(self.lines) - 1


@dataclass(frozen=True, slots=True)
class Use:
    """One line of the head in which a name stands."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Uses:
    """Where one name is used, the nearest first, and in how many ``more`` lines."""

    name: str
    shown: tuple[Use, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Around:
    """What is shown beside a part's diff. ``left`` says in our words what was left out."""

    passages: tuple[Passage, ...] = ()
    uses: tuple[Uses, ...] = ()
    left: tuple[str, ...] = ()


NOTHING_AROUND = Around()


# --- definitions ------------------------------------------------------------------------------------------------------


def looked_into(files: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Those of ``files`` whose definitions are worth a look: code and tests, as text at the head."""
    return tuple(
        file
        for file in files
        if file.hunks and not file.binary and file.new_mode != SYMLINK_MODE and kind_of(file) in (Kind.CODE, Kind.TESTS)
    )


def partly_shown(files: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Those of them of which the head holds more than the diff: a new file stands in it whole."""
    return tuple(file for file in looked_into(files) if file.status not in (Status.ADDED, Status.DELETED))


def shown_lines(file: FileChange) -> frozenset[int]:
    """The numbers of the head's lines that the diff shows."""
    return frozenset(row for hunk in file.hunks for row in range(hunk.new_start, hunk.new_start + hunk.new_count))


def _changed_rows(file: FileChange) -> Iterator[int]:
    """The indices of added lines, and of the line behind each removed one."""
    for hunk in file.hunks:
        row = max(0, hunk.new_start - 1)
        for line in hunk.lines:
            if line[:1] in ("+", "-"):
                yield row
            row += line[:1] in ("+", " ")


@dataclass(slots=True)
class Definitions:
    """What stands around the hunks of one file: lines by their indices, what matters most apart from the rest."""

    path: str
    lines: Sequence[str]
    signatures: frozenset[int]
    """The first lines of every definition around a hunk."""
    bodies: tuple[tuple[int, ...], ...]
    """The other lines of the innermost definitions."""
    names: tuple[str, ...]
    """The names of the innermost definitions."""
    left: int
    """How many lines of the innermost definitions are too far from a hunk."""


def definitions_around(file: FileChange, text: str) -> Definitions:
    """What of ``text``, the file at the head, stands around its hunks and is not in them."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    visible = {number - 1 for number in shown_lines(file)}
    innermost, outer = enclosing(lines, _changed_rows(file))
    signatures = {row for each in innermost for row in range(each.start, each.body)} | outer
    bodies, left = [], 0
    taken = signatures | visible
    for each in innermost:
        rest = [row for row in range(each.body, each.end) if row not in taken]
        near = _near(each, rest, visible)
        left += len(rest) - len(near)
        taken.update(near)
        bodies.append(tuple(near))
    names = tuple(each.name for each in innermost if not each.container)
    return Definitions(file.path, lines, frozenset(signatures - visible), tuple(filter(None, bodies)), names, left)


def _near(definition: Definition, rest: Sequence[int], visible: Collection[int]) -> list[int]:
    """All lines of a short definition; of a longer one those near a hunk, of a long container none."""
    if len(rest) <= (_LONGEST_CONTAINER if definition.container else _LONGEST_DEFINITION):
        return list(rest)
    if definition.container:
        return []
    seen = sorted(row for row in visible if definition.start <= row < definition.end)
    edges = [row for row in seen if row - 1 not in visible or row + 1 not in visible]
    wanted = {near for row in edges for near in range(row - _NEAREST, row + _NEAREST + 1)}
    return [row for row in rest if row in wanted]


def passages_within(found: Iterable[Definitions], room: int) -> tuple[tuple[Passage, ...], int]:
    """The signatures of all definitions, then whole bodies in their order, as far as there is room; the lines left."""
    every = list(found)
    left = sum(each.left for each in every)
    taken: list[set[int]] = [set() for _ in every]
    wanted = [(number, tuple(sorted(each.signatures))) for number, each in enumerate(every)]
    wanted += [(number, body) for number, each in enumerate(every) for body in each.bodies]
    for number, rows in wanted:
        size = _size(every[number], rows)
        if rows and size <= room:
            taken[number].update(rows)
            room -= size
        else:
            left += len(rows)
    return tuple(each for one, rows in zip(every, taken, strict=True) for each in _passages(one, rows)), left


def _size(found: Definitions, rows: Sequence[int]) -> int:
    runs = 1 + sum(later != row + 1 for row, later in pairwise(rows))
    return (
        len(shown_path(found.path))
        + 30 * runs
        + sum(2 + min(len(found.lines[row]), _LONGEST_LINE + 40) for row in rows)
    )


def _passages(found: Definitions, rows: Iterable[int]) -> Iterator[Passage]:
    for _, run in groupby(enumerate(sorted(rows)), key=lambda pair: pair[1] - pair[0]):
        these = [row for _, row in run]
        yield Passage(found.path, these[0] + 1, tuple(_clipped(found.lines[row]) for row in these))


def _clipped(line: str) -> str:
    left = len(line) - _LONGEST_LINE
    return line if left <= 0 else f"{line[:_LONGEST_LINE]} [cut: {left:,} more characters]"


# --- names ------------------------------------------------------------------------------------------------------------


def changed_names(files: Iterable[FileChange], around: Iterable[Definitions]) -> tuple[str, ...]:
    """The names whose uses are worth a look: of definitions that are removed or altered, changed within, and new.

    Nobody uses what a test defines.
    """
    files = [file for file in looked_into(files) if kind_of(file) is Kind.CODE]
    code = {file.path for file in files}
    removed: list[str] = []
    added: list[str] = []
    for line in (line for file in files for line in file.signed_lines):
        if (name := defined_name(line[1:])) is not None:
            (added if line[0] == "+" else removed).append(name)
    within = [name for each in around if each.path in code for name in each.names]
    return tuple(name for name in dict.fromkeys([*removed, *within, *added]) if _is_telling(name))


def _is_telling(name: str) -> bool:
    """Whether a search for a name finds mostly uses of it; ``__init__`` and the like stand everywhere."""
    return _CHANGED_NAME.fullmatch(name) is not None and not (name.startswith("__") and name.endswith("__"))


_Ranked = tuple[tuple[int, int], str, int, str]


@dataclass(slots=True)
class UseCollector:
    """Takes lines in which one of ``names`` stands, in any order, and keeps the nearest of each name."""

    names: tuple[str, ...]
    near: Sequence[str]
    """The paths that count as near."""
    passes_over: Callable[[str, int], bool] = lambda _path, _line: False
    """Whether a line, by its path and number, does not count."""
    _kept: dict[str, list[_Ranked]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    _path: str = ""
    _rank: tuple[int, int] | None = None
    _word: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        self._word = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(map(re.escape, self.names))})(?![A-Za-z0-9_])")

    def add(self, path: str, line: int, text: str) -> None:
        """Take one line."""
        if path != self._path:
            self._path, self._rank = path, _rank(path, self.near)
        if self._rank is None or self.passes_over(path, line):
            return
        for name in dict.fromkeys(self._word.findall(text)):
            self._counts[name] += 1
            if len(text) <= LONGEST_USE:
                kept = self._kept.setdefault(name, [])
                kept.append((self._rank, path, line, text.strip()))
                if len(kept) > _MOST_KEPT:
                    kept[:] = nsmallest(MOST_USES, kept)

    def uses(self) -> tuple[Uses, ...]:
        """What was kept, in the order of the names; a name that nobody uses is left out."""
        found: list[Uses] = []
        for name in filter(self._counts.__getitem__, self.names):
            kept = nsmallest(MOST_USES, self._kept.get(name, ()))
            nearest = tuple(Use(path, line, text) for _, path, line, text in kept)
            found.append(Uses(name, nearest, self._counts[name] - len(nearest)))
        return tuple(found)


def _rank(path: str, near: Sequence[str]) -> tuple[int, int] | None:
    """Code before tests before prose, and what is near first; None for what nobody wrote by hand."""
    kind = kind_of_path(path)
    return (_SHOWN_KINDS.index(kind), _distance(path, near)) if kind in _SHOWN_KINDS else None


def _distance(path: str, near: Sequence[str]) -> int:
    """0 in one of the files, 1 beside one, and more the farther the folders are apart."""
    if path in near:
        return 0
    folders = path.split("/")[:-1]
    return 1 + min((_apart(folders, each.split("/")[:-1]) for each in near[:_MOST_NEAR]), default=0)


def _apart(one: Sequence[str], other: Sequence[str]) -> int:
    """How many steps lead from one folder to the other."""
    shared = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return len(one) + len(other) - 2 * shared


def uses_within(every: Iterable[Uses], room: int) -> tuple[tuple[Uses, ...], int]:
    """The uses of each name, the names in their order, as far as there is room; and how many lines are left out."""
    kept, left = [], 0
    for uses in every:
        fitting: list[Use] = []
        room -= len(uses.name) + 30
        for use in uses.shown:
            size = len(shown_path(use.path)) + len(use.text) + 12
            if size <= room:
                fitting.append(use)
                room -= size
        if fitting:
            kept.append(Uses(uses.name, tuple(fitting), uses.more + len(uses.shown) - len(fitting)))
        else:
            left += uses.more + len(uses.shown)
    return tuple(kept), left
