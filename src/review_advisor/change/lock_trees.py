"""A lock file as a tree whose nodes know their lines, whatever its syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from review_advisor.safety.stated_values import read_toml

MOST_CHARACTERS = 8_000_000
"""A longer lock file is not parsed."""

MOST_DEPTH = 40

ITEM = "[]"
"""Stands for the key of an item of a list."""

BETWEEN = "\0"
"""Stands between the keys of a path."""

_OTHER_BREAK = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Parsers count some of these as ends of lines; hunks count line feeds alone."""

_BLOCK = re.compile(r"\[(?!package\.)")
_YARN_LINE = re.compile(r'("?)([^\s"]+?)\1(?::| ("?)([^"\\]*)\3)')
_GO_LINE = re.compile(r"(\S+) (\S+?)(/go\.mod)? (\S+)")


@dataclass(slots=True)
class Node:
    """A value and its lines, counted from 1. ``value`` is None where it has keys or items of its own."""

    first: int
    last: int
    value: str | None = None
    children: list[tuple[str, Node]] = field(default_factory=list)

    def leaves(self, path: str | None = None, without: str = "") -> Iterator[tuple[str, str]]:
        """The path and the value of each scalar. An item of a list that has a name, or begins with one, shows it."""
        if self.value is not None or not self.children:
            yield path or "", self.value or ""
        for key, child in self.children:
            if key != without:
                part = f"{ITEM}{child.label}" if key == ITEM else key
                yield from child.leaves(part if path is None else f"{path}{BETWEEN}{part}")

    @property
    def label(self) -> str:
        """What tells this item of a list from others."""
        named = (
            (self.value or "").partition(" ")
            if self.value
            else next(((child.value or "", " ", "") for key, child in self.children if key == "name"), ("", "", ""))
        )
        return f" {named[0]}" if named[1] and BETWEEN not in named[0] else ""


def read_tree(text: str, syntax: str) -> Node:
    """The tree of a lock file.

    Raises ``ValueError`` for a text that is too long or nested too deeply, says one key twice, refers to another part
    of itself, or has values whose lines are not certain, such as by another line break than a line feed.
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError("too long")
    if _OTHER_BREAK.search(text):
        raise ValueError("a line break that is no line feed")
    return {"json": _json, "toml": _toml, "yaml": _yaml, "yarn": _yarn, "lines": _go}[syntax](text)


def _node(value: Any, first: int, last: int = 0, depth: int = 0) -> Node:
    """The tree of a value. Its items stand on a line each, or all of it on the lines ``first`` to ``last``."""
    if depth > MOST_DEPTH:
        raise ValueError("nested too deeply")
    node = Node(first, last or first)
    if not isinstance(value, dict | list) or not value:
        node.value = value if isinstance(value, str) else json.dumps(value, default=str)
        return node
    at = first
    for key, item in value.items() if isinstance(value, dict) else ((ITEM, each) for each in value):
        child = _node(item, first if last else at + 1, last, depth + 1)
        _add(node, key, child, None if isinstance(value, dict) else ITEM)
        at = child.last
    node.last = last or at + 1
    return node


def _add(parent: Node, key: str, child: Node, item: str | None = None) -> None:
    if item is None and (BETWEEN in key or key.startswith(ITEM)):
        raise ValueError("a key that no package manager writes")
    parent.children.append((key, child))
    parent.last = max(parent.last, child.last)


def _json(text: str) -> Node:
    """Written exactly as a package manager writes it, an item a line: no key stands twice, every line is certain."""
    value = json.loads(text)
    lines = text.split("\n", 2)
    indent = lines[1][: len(lines[1]) - len(lines[1].lstrip())] if len(lines) > 1 else ""
    if not isinstance(value, dict) or not indent or set(indent) not in ({" "}, {"\t"}):
        raise ValueError("no JSON object of one item a line")
    if json.dumps(value, indent=indent, ensure_ascii=False) != text.removesuffix("\n"):
        raise ValueError("not written as a package manager writes it")
    return _node(value, 1)


def _toml(text: str) -> Node:
    """Block by block, each parsed alone: without a text of several lines, no block ends within a value."""
    if '"""' in text or "'''" in text:
        raise ValueError("a text of several lines")
    lines = text.split("\n")
    packages, root = Node(1, 1), Node(1, len(lines))
    for begins, ends in pairwise([0, *(at for at, line in enumerate(lines) if at and _BLOCK.match(line)), len(lines)]):
        while ends > begins + 1 and not lines[ends - 1]:
            ends -= 1  # noqa: PLW2901 - blank lines belong to no block
        table = read_toml("\n".join(lines[begins:ends]))
        if lines[begins] == "[[package]]":
            (package,) = table["package"]
            _add(packages, ITEM, _node(package, begins + 1, ends), ITEM)
        else:
            for key, value in table.items():
                _add(root, key, _node(value, begins + 1, ends))
    _add(root, "package", packages)
    return _unrepeated(root)


def _yaml(text: str) -> Node:
    """One document of plain values. Each key stands once, nothing has an alias, an anchor or a tag."""
    import yaml  # noqa: PLC0415 - most reviews have no such lock file

    root = Node(1, 1)
    above: list[tuple[Node, bool]] = [(root, False)]
    key: str | None = ITEM
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if event.start_mark is None or event.end_mark is None:
                raise ValueError("a value whose lines are not certain")
            first, last = event.start_mark.line + 1, event.end_mark.line + 1
            match event:
                case yaml.AliasEvent() | yaml.DocumentStartEvent(explicit=True):
                    raise ValueError("an alias, or several documents")
                case yaml.CollectionEndEvent():
                    ended, _ = above.pop()
                    parent, is_map = above[-1]
                    parent.last = max(parent.last, ended.last)
                    key = None if is_map else ITEM
                case yaml.ScalarEvent() | yaml.CollectionStartEvent():
                    if event.anchor is not None or event.tag is not None or len(above) > MOST_DEPTH:
                        raise ValueError("an anchor, a tag, or nested too deeply")
                    value = event.value if isinstance(event, yaml.ScalarEvent) else None
                    parent, is_map = above[-1]
                    if key is None:
                        if value is None or value == "<<" or first != last:
                            raise ValueError("a key that is no plain word")
                        key = value
                        continue
                    node = Node(first, first if value is None else last, value)
                    _add(parent, key, node, None if is_map else ITEM)
                    if value is None:
                        is_map = isinstance(event, yaml.MappingStartEvent)
                        above.append((node, is_map))
                    key = None if is_map else ITEM
    except yaml.YAMLError as error:
        raise ValueError("no YAML") from error
    if len(root.children) != 1:
        raise ValueError("not one document")
    return _unrepeated(root.children[0][1])


def _yarn(text: str) -> Node:
    """Version 1: a heading, two blanks more for each level, and a key with its value behind a blank."""
    root = Node(1, 1)
    above = [root]
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        depth, odd = divmod(len(line) - len(line.lstrip(" ")), 2)
        if odd or depth >= min(len(above), 3):
            raise ValueError("a line that Yarn does not write")
        del above[depth + 1 :]
        if not depth and line.endswith(":"):
            key, value = line.removesuffix(":").replace('"', ""), None
        elif depth and (found := _YARN_LINE.fullmatch(line.strip(" "))) is not None:
            key, value = found[2], found[4]
        else:
            raise ValueError("a line that Yarn does not write")
        node = Node(number, number, value)
        _add(above[-1], key, node)
        for each in above:
            each.last = number
        if value is None:
            above.append(node)
    return _unrepeated(root)


def _go(text: str) -> Node:
    """A module, a version and a hash on each line. The file ``go.mod`` of a module has a hash of its own."""
    root = Node(1, 1)
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        found = _GO_LINE.fullmatch(line)
        node = Node(number, number, None if found else line)
        if found is not None:
            fields = {"module": f"{found[1]}{found[3] or ''}", "version": found[2], "hash": found[4]}
            node.children = [(key, Node(number, number, value)) for key, value in fields.items()]
        _add(root, line.rpartition(" ")[0] if found else f"the line {line!r}", node)
    return _unrepeated(root)


def _unrepeated(node: Node) -> Node:
    """The node itself, which says no key twice, at any depth: of two values one is obeyed."""
    keys = [key for key, _ in node.children if key != ITEM]
    if len(set(keys)) != len(keys):
        raise ValueError("a key stands twice")
    for _, child in node.children:
        _unrepeated(child)
    return node
