"""npm's lock files, versions 1 to 3: ``package-lock.json`` and ``npm-shrinkwrap.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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

NPM_NAME = r"(?:@[A-Za-z0-9~_-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~_-][A-Za-z0-9._~-]*"
NPM_VERSION = r"[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?"
NPM_RANGE = r"[0-9A-Za-z.^~<>=|*+_ -]*"
SHA512 = r"sha512-[A-Za-z0-9+/]{86}=="

_FOLDERS = re.compile(r"(?:(?!\.\.?/)[A-Za-z0-9@._~+ -]+/)*")
PackageName = Annotated[str, Field(pattern=f"^{NPM_NAME}$", max_length=214)]
Range = Annotated[str, Field(pattern=f"^{NPM_RANGE}$", max_length=500)]
_Version = Annotated[str, Field(pattern=f"^{NPM_VERSION}$", max_length=200)]
_Needs = dict[PackageName, Range]
_Command = Annotated[str, Field(pattern=r"^[A-Za-z0-9._@-]+$")]
_File = Annotated[str, Field(pattern=r"^(?:\./)?[A-Za-z0-9_@-][A-Za-z0-9_@.+-]*(?:/[A-Za-z0-9_@-][A-Za-z0-9_@.+-]*)*$")]
_Digest = Annotated[str, Field(pattern=f"^{SHA512}$")]


class _Placed(LockModel):
    """What entries of every version of the format may say."""

    version: _Version | None = None
    resolved: str | None = None
    integrity: _Digest | None = None
    dev: bool = False
    optional: bool = False
    peer: bool = False


class _NpmPackage(_Placed):
    """An entry of ``packages``."""

    name: PackageName | None = None
    link: bool = False
    dev_optional: bool = Field(default=False, alias="devOptional")
    has_install_script: Literal[False] = Field(default=False, alias="hasInstallScript")
    license: object = None
    funding: object = None
    deprecated: str = ""
    engines: dict[str, str] | list[str] | None = None
    os: list[str] | None = None
    cpu: list[str] | None = None
    libc: list[str] | None = None
    bin: dict[_Command, _File] | None = None
    workspaces: list[str] | None = None
    dependencies: _Needs | None = None
    dev_dependencies: _Needs | None = Field(default=None, alias="devDependencies")
    optional_dependencies: _Needs | None = Field(default=None, alias="optionalDependencies")
    peer_dependencies: _Needs | None = Field(default=None, alias="peerDependencies")
    peer_dependencies_meta: dict[PackageName, dict[str, bool]] | None = Field(
        default=None, alias="peerDependenciesMeta"
    )


class _NpmDependency(_Placed):
    """An entry of ``dependencies``, as versions 1 and 2 have them."""

    requires: _Needs | None = None


def read_npm_lock(text: str) -> tuple[LockEntry, ...]:
    """Every package, and the settings of the file. Raises ``ValueError``."""
    return tuple(_entries(canonical_json(text)))


def _entries(top: Mapping[str, Any]) -> Iterator[LockEntry]:
    for key, value, first, last in heights(top, 2):
        if key == "packages" and isinstance(value, dict):
            for place, item, begins, ends in heights(value, first + 1):
                entry = _package(place, item, begins, ends)
                owner = place.partition("node_modules/")[0].removesuffix("/")
                outside = (
                    () if owner in value else (f"it is installed in {owner}, which is no package of the repository",)
                )
                yield replace(entry, doubts=(*entry.doubts, *outside))
        elif key == "dependencies" and isinstance(value, dict):
            yield from _dependencies(value, first + 1, "dependencies")
        else:
            yield setting(key, first, last, f"{key} = {value}", plain=key in ("name", "version", "requires"))


def _package(place: str, value: object, first: int, last: int) -> LockEntry:
    """A package below ``node_modules``, or a place of the repository itself, which says again what stands there."""
    installed = place.rpartition("node_modules/")[2] if "node_modules/" in place else ""
    said = value if isinstance(value, dict) else {}
    alias = said.get("name")
    found = list(faults(_NpmPackage, value))
    if installed and alias not in (None, installed):
        found.append(f"it is installed as {installed}, and is {alias}")
    if said.get("link"):
        found.append(f"it is a link to {said.get('resolved')}")
    folder = place.rpartition("node_modules/")[0] if installed else place and f"{place}/"
    if _FOLDERS.fullmatch(folder) is None:
        found.append(f"it stands in {place}")
    if not installed:
        found.append(f"it is the repository's own package {alias} in {place or 'its root'}")
        if "resolved" in said:
            found.append(f"{place or 'the repository itself'} is taken from {said['resolved']}")
        name, version = str(alias or place), str(said.get("version", ""))
        return LockEntry(f"packages/{place}", name, version, first, last, repr(said), doubts=tuple(found))
    traits = json.dumps({key: said.get(key) for key in ("bin", "os", "cpu", "libc")}, sort_keys=True)
    entry = LockEntry(f"packages/{place}", installed, "", first, last, repr(said), traits=traits)
    return _downloaded(entry, said, found)


def _dependencies(value: Mapping[str, Any], first: int, above: str) -> Iterator[LockEntry]:
    for name, item, begins, ends in heights(value, first):
        said = dict(item) if isinstance(item, dict) else {}
        inner = said.pop("dependencies", None)
        found = faults(_NpmDependency, said if isinstance(item, dict) else item)
        yield _downloaded(LockEntry(f"{above}/{name}", name, "", begins, ends, repr(said)), said, found)
        if isinstance(inner, dict):
            below = next(at for what, _, at, _ in heights(item, begins + 1) if what == "dependencies")
            yield from _dependencies(inner, below + 1, f"{above}/{name}/dependencies")
        elif inner is not None:
            raise ValueError("dependencies that are no object")


def _downloaded(entry: LockEntry, said: Mapping[str, Any], found: Iterable[str]) -> LockEntry:
    """The entry with its version, where it comes from, and what is unusual about that."""
    doubts = list(found)
    version, resolved, digest = (str(said.get(each, "")) for each in ("version", "resolved", "integrity"))
    if re.fullmatch(NPM_NAME, entry.name) is None:
        doubts.append(f"its name is {entry.name!r}")
    origin = npm_registry(resolved, entry.name, version)
    if origin is None:
        doubts.append(f"it is taken from {resolved or 'an unstated place'}")
    if not digest:
        doubts.append("it has no integrity")
    return replace(
        entry,
        version=version,
        sources=() if origin is None else (origin,),
        digests=(digest,) if digest else (),
        doubts=tuple(doubts),
    )


def npm_registry(resolved: str, name: str, version: str) -> str | None:
    """The registry that a package of this name and version is downloaded from; None for another kind of address."""
    tail = f"/{name}/-/{name.rpartition('/')[2]}-{version.partition('+')[0]}.tgz"
    found = re.fullmatch(r"https://[a-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~-]+)*", resolved.removesuffix(tail))
    return found[0] if found is not None and resolved.endswith(tail) and "/-/" not in found[0] else None
