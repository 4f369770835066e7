"""What a reader makes of a lock file: one entry for each package, and one for everything else that it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError


@dataclass(frozen=True, slots=True)
class LockEntry:
    """One package of a lock file, or one setting of the file itself.

    ``first`` and ``last`` are its lines, counted from 1. ``content`` is all that it says: entries that are equal in it
    are unchanged. ``sources`` are the registries and download hosts that it names, ``digests`` the hashes of what is
    installed. ``doubts`` is what a reviewer has to see unless the base says the same of this package; each holds the
    whole value that it is about. ``traits`` is what a version says of itself, the same in every place where it is
    installed; empty where the format has no such thing. ``offers`` is what no later version may lack unseen.
    """

    key: str
    name: str
    version: str
    first: int
    last: int
    content: str
    sources: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    traits: str = ""
    offers: tuple[str, ...] = ()
    setting: bool = False


LockReader = Callable[[str], tuple[LockEntry, ...]]
"""Reads a whole lock file. Raises ``ValueError`` where the text is not what the package manager writes."""


class LockModel(BaseModel):
    """What an entry may hold. An unknown key or another type is a doubt."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def faults(model: type[LockModel], value: object) -> tuple[str, ...]:
    """What of ``value`` the model does not know, each with the whole of what stands there."""
    try:
        model.model_validate(value)
    except ValidationError as error:
        return tuple(_fault(each["loc"], each["input"]) for each in error.errors(include_url=False))
    return ()


def _fault(where: tuple[int | str, ...], given: object) -> str:
    named = ".".join(map(str, where)) or "entry"
    return f"{named} = {json.dumps(given, ensure_ascii=False, sort_keys=True, default=str)}"


def setting(key: str, first: int, last: int, content: str, *, plain: bool = False) -> LockEntry:
    """A part of the file that is no package. Unless it is ``plain``, a reviewer sees every change of it."""
    return LockEntry(key, key, "", first, last, content, doubts=() if plain else (content,), setting=True)


def heights(value: Mapping[str, Any] | Sequence[Any], first: int) -> Iterator[tuple[str, Any, int, int]]:
    """The items of a JSON object, or of a list, whose first item stands on line ``first``.

    Each comes with its key, or its number in the list, and with its first and last line.
    """
    items = value.items() if isinstance(value, Mapping) else ((str(number), item) for number, item in enumerate(value))
    for key, item in items:
        last = first + _height(item) - 1
        yield key, item, first, last
        first = last + 1


def _height(value: object) -> int:
    if isinstance(value, dict) and value:
        return 2 + sum(map(_height, value.values()))
    if isinstance(value, list) and value:
        return 2 + sum(map(_height, value))
    return 1


def canonical_json(text: str) -> dict[str, Any]:
    """The object that ``text`` holds, written exactly as a package manager writes it, line by line.

    So nothing hides in it: no key twice, no escape, no odd space, no comment. Raises ``ValueError``.
    """
    value = json.loads(text)
    lines = text.split("\n", 2)
    indent = lines[1][: len(lines[1]) - len(lines[1].lstrip())] if len(lines) > 1 else ""
    if not isinstance(value, dict) or not indent or set(indent) not in ({" "}, {"\t"}):
        raise ValueError("no JSON object of one item a line")
    if json.dumps(value, indent=indent, ensure_ascii=False) != text.removesuffix("\n"):
        raise ValueError("not written as a package manager writes it")
    return value
