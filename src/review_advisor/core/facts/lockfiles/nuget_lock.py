"""NuGet's ``packages.lock.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from review_advisor.core.facts.lockfiles.lock_entries import (
    LockEntry,
    LockModel,
    canonical_json,
    faults,
    heights,
    setting,
)

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", max_length=200)]
_Version = Annotated[str, Field(pattern=r"^[0-9]+(?:\.[0-9]+){1,3}(?:-[0-9A-Za-z.-]+)?$", max_length=200)]
_Range = Annotated[str, Field(pattern=r"^[\[\](), 0-9A-Za-z.*+-]+$", max_length=200)]


class _NuGetPackage(LockModel):
    type: Literal["Direct", "Transitive", "CentralTransitive"]
    requested: _Range = ""
    resolved: _Version
    content_hash: Annotated[str, Field(alias="contentHash", pattern=r"^[A-Za-z0-9+/]{86}==$")]
    dependencies: dict[_Name, _Range] = Field(default_factory=dict)


def read_nuget_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package of every target framework. Raises ``ValueError``."""
    return tuple(_entries(canonical_json(text)))


def _entries(top: Mapping[str, Any]) -> Iterator[LockEntry]:
    for key, value, first, last in heights(top, 2):
        if key != "dependencies" or not isinstance(value, dict):
            yield setting(key, first, last, f"{key} = {value}")
            continue
        for framework, packages, begins, ends in heights(value, first + 1):
            has_packages = isinstance(packages, dict) and bool(packages)
            said_of_it = framework if has_packages else f"{framework}: {packages}"
            yield setting(f"the framework {framework}", begins, begins if has_packages else ends, said_of_it)
            for name, said, start, end in heights(packages, begins + 1) if has_packages else ():
                yield _package(framework, name, said, start, end)


def _package(framework: str, name: str, value: object, first: int, last: int) -> LockEntry:
    """A package of a feed, or a project of the repository, which says again what its own file says.

    NuGet takes names that differ only in case for the same.
    """
    said = value if isinstance(value, dict) else {}
    doubts = list(faults(_NuGetPackage, value))
    if said.get("type") == "Project":
        doubts = [f"it is a project of the repository: {said}"]
    version, digest = str(said.get("resolved", "")), str(said.get("contentHash", ""))
    digests = (digest,) if digest else ()
    alike, content = name.casefold(), f"{name} {said!r}"
    return LockEntry(
        f"{framework}/{alike}", alike, version, first, last, content, digests=digests, doubts=tuple(doubts)
    )
