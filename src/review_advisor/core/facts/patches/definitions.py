"""Which definition a line stands in, and which name a line defines: by indentation and by words of many languages.

A wrong guess shows a reviewer too much or too little of a file. It decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

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
    """The lines of one definition, by their indices from 0; ``end`` is behind the last, ``body`` behind its signature.

    A ``container`` holds definitions itself: a class, a module.
    """

    start: int
    body: int
    end: int
    name: str
    container: bool


def defined_name(line: str) -> str | None:
    """The name that a line defines, as far as one can tell from the line alone."""
    found = _definition_in(line)
    return found[0] if found else None


def _definition_in(line: str) -> tuple[str, bool] | None:
    """The name, and whether it is a container's."""
    seen = line[:_LOOKED_AT].rstrip()
    found = _BY_KEYWORD.match(seen)
    if found and seen[found.end() :].lstrip()[:1] not in ("*", "&"):  # C: "struct cart *sell(...)"
        said = found["name"] not in _NO_DEFINITION and _ends_openly(seen, found.end())
        return (found["name"], found["keyword"] in _CONTAINERS) if said else None
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
