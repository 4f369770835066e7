"""What the base tree's ``.gitattributes`` say about the changed paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review_advisor.adapters.git.object_store import ObjectStore
from review_advisor.adapters.git.tree_entries import entries
from review_advisor.core.facts.tree_bounds import TreeBounds

_NAMES = ("linguist-generated", "linguist-vendored", "linguist-documentation")
_VALUES = {b"set": True, b"true": True, b"unset": False, b"false": False}
_INDEX = "attributes-index"


@dataclass(frozen=True, slots=True)
class Attributes:
    """The three linguist attributes; None where nothing is said."""

    generated: bool | None = None
    vendored: bool | None = None
    documentation: bool | None = None


def rules_of(store: ObjectStore, tree: str, bounds: TreeBounds) -> list[bytes]:
    """The rule files of ``tree``, as entries of an index. Raises ``SourceError`` for a tree beyond its bounds."""
    return [
        f"{entry.mode} {entry.name}\t".encode("ascii") + entry.path
        for entry in entries(store.git, tree, bounds)
        if entry.has_content and _is_rules(entry.path)
    ]


def attributes_by(store: ObjectStore, rules: Sequence[bytes], names: Sequence[bytes]) -> list[Attributes]:
    """The attributes of each name, in order, by these rules alone."""
    if not rules or not names:
        return [Attributes()] * len(names)
    # git 2.39 has no `check-attr --source`: an index that holds the tree's rule files does the same.
    use = {"GIT_INDEX_FILE": str(store.folder / _INDEX)}
    store.git.run("read-tree", "--empty", environment=use)
    store.git.run("update-index", "-z", "--index-info", stdin=_joined(rules), environment=use)
    answer = store.git.run("check-attr", "--cached", "-z", "--stdin", *_NAMES, stdin=_joined(names), environment=use)
    values = answer.split(b"\0")[2:-1:3]
    step = len(_NAMES)
    if len(values) != step * len(names):
        raise AssertionError(f"git check-attr answered {len(values)} times for {len(names)} paths")
    return [Attributes(*(_VALUES.get(value) for value in values[at : at + step])) for at in range(0, len(values), step)]


def _is_rules(name: bytes) -> bool:
    return name == b".gitattributes" or name.endswith(b"/.gitattributes")


def _joined(parts: Sequence[bytes]) -> bytes:
    return b"".join(part + b"\0" for part in parts)
