"""The names that git gives to contents and trees: what both sides of MockWorld mean by one is then the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

FOLDER_MODE = "40000"


def blob_name(content: bytes) -> str:
    """The name of a file's content."""
    return _name("blob", content)


def tree_name(entries: Mapping[str, tuple[str, str]]) -> str:
    """The name of a tree, told by whole paths: each has a mode and the name of a blob."""
    here: dict[str, tuple[str, str]] = {}
    folders: dict[str, dict[str, tuple[str, str]]] = {}
    for path, entry in entries.items():
        first, _, rest = path.partition("/")
        if rest:
            folders.setdefault(first, {})[rest] = entry
        else:
            here[first] = entry
    here |= {name: (FOLDER_MODE, tree_name(inside)) for name, inside in folders.items()}
    lines = sorted((_bytes(name, folder=name in folders), mode, name, of) for name, (mode, of) in here.items())
    return _name(
        "tree", b"".join(f"{mode} ".encode() + _bytes(name) + b"\0" + bytes.fromhex(of) for _, mode, name, of in lines)
    )


def _bytes(name: str, *, folder: bool = False) -> bytes:
    """Git sorts a folder as if its name ended in a slash."""
    return name.encode("utf-8", "surrogateescape") + (b"/" if folder else b"")


def _name(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
