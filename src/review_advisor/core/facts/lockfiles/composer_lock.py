"""Composer's ``composer.lock``."""

from __future__ import annotations

import json
import re
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

_SECTIONS = ("packages", "packages-dev")
_COMMIT = r"[0-9a-f]{40}"
_PLAIN = {
    "content-hash": re.compile("[0-9a-f]{32}"),
    "plugin-api-version": re.compile(r"[0-9]+(?:\.[0-9]+)+"),
}
"""Settings that change with every bump, or with every version of Composer."""
_REPOSITORY = re.compile(r"(https://[a-z0-9.-]+)/([A-Za-z0-9._-]+/[A-Za-z0-9._-]+?)(?:\.git)?")

_Name = Annotated[str, Field(pattern=r"^[a-z0-9](?:[_.-]?[a-z0-9]+)*/[a-z0-9](?:[_.-]{0,2}[a-z0-9]+)*$")]
_Words = Annotated[str, Field(max_length=2_000)]
_Range = Annotated[str, Field(pattern=r"^[0-9A-Za-z.*^~<>=!|,@_/ -]+$", max_length=500)]
_Needs = dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_./-]+$", max_length=200)], _Range]
_PART = r"[A-Za-z0-9_-][A-Za-z0-9_. -]*"
_Path = Annotated[str, Field(pattern=rf"^(?:\./)?(?:{_PART}(?:/{_PART})*/?)?$", max_length=500)]
_Paths = list[_Path]


class _Source(LockModel):
    type: Literal["git"]
    url: str
    reference: Annotated[str, Field(pattern=f"^{_COMMIT}$")]


class _Dist(LockModel):
    type: Literal["zip"]
    url: str
    reference: Annotated[str, Field(pattern=f"^{_COMMIT}$")]
    shasum: Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40})?$")]


class _Autoload(LockModel):
    """What of a package is loaded: its own files and no others."""

    psr_4: dict[_Words, _Path | _Paths] = Field(default_factory=dict, alias="psr-4")
    psr_0: dict[_Words, _Path | _Paths] = Field(default_factory=dict, alias="psr-0")
    classmap: _Paths = Field(default_factory=list)
    files: _Paths = Field(default_factory=list)
    exclude_from_classmap: list[_Words] = Field(default_factory=list, alias="exclude-from-classmap")


class _Extra(LockModel):
    branch_alias: dict[str, _Words] = Field(default_factory=dict, alias="branch-alias")


class _ComposerPackage(LockModel):
    """An entry. Composer plugins run while packages are installed, so any other type than a library is a doubt."""

    name: _Name
    version: Annotated[str, Field(pattern=r"^v?[0-9]+(?:\.[0-9]+)*(?:-[0-9A-Za-z.]+)?$", max_length=100)]
    source: _Source
    dist: _Dist
    type: Literal["library"]
    require: _Needs = Field(default_factory=dict)
    require_dev: _Needs = Field(default_factory=dict, alias="require-dev")
    conflict: _Needs = Field(default_factory=dict)
    suggest: dict[str, _Words] = Field(default_factory=dict)
    bin: _Paths = Field(default_factory=list)
    autoload: _Autoload | Annotated[list[str], Field(max_length=0)] = Field(default_factory=_Autoload)
    extra: _Extra = Field(default_factory=_Extra)
    notification_url: Literal["https://packagist.org/downloads/"] = Field(
        default="https://packagist.org/downloads/", alias="notification-url"
    )
    license: list[_Words] = Field(default_factory=list)
    authors: list[dict[str, _Words]] = Field(default_factory=list)
    description: _Words = ""
    homepage: _Words = ""
    keywords: list[_Words] = Field(default_factory=list)
    support: dict[str, _Words] = Field(default_factory=dict)
    funding: list[dict[str, _Words]] = Field(default_factory=list)
    time: _Words = ""


_RUNS = ("type", "bin", "autoload", "extra", "replace", "provide", "include-path", "target-dir")
"""What of a package is run, or stands in for another one: one version says the same of it everywhere."""


def read_composer_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package, and the settings of the file. Raises ``ValueError``."""
    return tuple(_entries(canonical_json(text)))


def _entries(top: Mapping[str, Any]) -> Iterator[LockEntry]:
    for key, value, first, last in heights(top, 2):
        if key in _SECTIONS and isinstance(value, list):
            for _, item, begins, ends in heights(value, first + 1):
                yield _package(key, item, begins, ends)
        else:
            plain = key in _PLAIN and _PLAIN[key].fullmatch(str(value)) is not None
            yield setting(key, first, last, f"{key} = {value}", plain=plain)


def _package(section: str, value: object, first: int, last: int) -> LockEntry:
    said = value if isinstance(value, dict) else {}
    name, version = str(said.get("name", "")), str(said.get("version", ""))
    source, dist = (table if isinstance(table := said.get(key), dict) else {} for key in ("source", "dist"))
    repository = _REPOSITORY.fullmatch(str(source.get("url", "")))
    doubts = list(faults(_ComposerPackage, value))
    if repository is None:
        doubts.append(f"its source is {json.dumps(source, sort_keys=True)}")
    elif repository[2].casefold() != name.casefold():
        doubts.append(f"its repository is {repository[0]}")
    if not _is_archive_of(dist, source):
        doubts.append(f"it is downloaded from {json.dumps(dist, sort_keys=True)}")
    shasum = str(dist.get("shasum", ""))
    return LockEntry(
        key=name,
        name=name,
        version=version,
        first=first,
        last=last,
        content=f"{section} {said!r}",
        sources=() if repository is None else (f"{repository[1]}/{repository[2]}",),
        digests=(str(source.get("reference", "")), str(dist.get("reference", "")), shasum),
        doubts=tuple(doubts),
        traits=json.dumps({key: said.get(key) for key in _RUNS}, sort_keys=True),
        offers=("checksum",) if shasum else (),
    )


def _is_archive_of(dist: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Whether it is the archive that GitHub makes of the very commit that the source names."""
    repository = _REPOSITORY.fullmatch(str(source.get("url", "")))
    if repository is None or repository[1] != "https://github.com":
        return False
    commit = source.get("reference")
    address = f"https://api.github.com/repos/{repository[2]}/zipball/{commit}"
    return (dist.get("url"), dist.get("reference")) == (address, commit)
