"""Pipenv's ``Pipfile.lock``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from review_advisor.core.facts.lockfiles.lock_entries import (
    LockEntry,
    LockModel,
    canonical_json,
    faults,
    heights,
    setting,
)
from review_advisor.core.facts.lockfiles.toml_locks import Hash, normal_name

_SECTIONS = ("default", "develop")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")
_VERSION = (
    r"(?:[1-9][0-9]*!)?[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?(?:\+[a-z0-9.]+)?"
)
"""As Pipenv writes it: of the many spellings of a version one."""
_CONTENT_HASH = re.compile(r"\{'sha256': '[0-9a-f]{64}'\}")


class _Pinned(LockModel):
    version: Annotated[str, Field(pattern=rf"^=={_VERSION}$", max_length=200)]
    hashes: Annotated[list[Hash], Field(min_length=1)]
    index: Annotated[str, Field(max_length=200)] = ""
    markers: Annotated[str, Field(max_length=2_000)] = ""
    extras: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$")]] = Field(default_factory=list)


def read_pipfile_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package of the two usual sections; all else is a setting. Raises ``ValueError``."""
    return tuple(_entries(canonical_json(text)))


def _entries(top: Mapping[str, Any]) -> Iterator[LockEntry]:
    for key, value, first, last in heights(top, 2):
        if key == "_meta" and isinstance(value, dict):
            for name, item, begins, ends in heights(value, first + 1):
                plain = name == "hash" and _CONTENT_HASH.fullmatch(str(item)) is not None
                yield setting(f"_meta.{name}", begins, ends, f"{name} = {item}", plain=plain)
        elif key in _SECTIONS and isinstance(value, dict):
            for name, item, begins, ends in heights(value, first + 1):
                yield _package(key, name, item, begins, ends)
        else:
            yield setting(key, first, last, f"{key} = {value}")


def _package(section: str, name: str, value: object, first: int, last: int) -> LockEntry:
    said = value if isinstance(value, dict) else {}
    doubts = list(faults(_Pinned, value))
    alike = normal_name(name)
    if _NAME.fullmatch(name) is None:
        doubts.append(f"its name is {name!r}")
    hashes = said.get("hashes")
    return LockEntry(
        key=f"{section}/{alike}",
        name=alike,
        version=str(said.get("version", "")).removeprefix("=="),
        first=first,
        last=last,
        content=f"{name} {said!r}",
        sources=(f"the index {said['index']}" if said.get("index") else "the default index",),
        digests=tuple(sorted(map(str, hashes))) if isinstance(hashes, list) else (),
        doubts=tuple(doubts),
    )
