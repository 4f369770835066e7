"""Lock files as Composer and Pipenv write them, and ordinary bumps of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.attacks.lock_files import BY_PATH, PACKAGES, Version, sha256


def commit(text: str) -> str:
    """The name of the commit that a version of a Composer package is."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def composer(version: Version, packages: int = PACKAGES, *, is_sealed: bool = True) -> str:
    """As a private mirror writes it, with hashes of its archives, or as Packagist does, without."""

    def entry(name: str, stands: str, shasum: str) -> dict[str, Any]:
        is_at = commit(name + stands)
        place = f"https://api.github.com/repos/{name}/zipball/{is_at}"
        return {
            "name": name,
            "version": stands,
            "source": {"type": "git", "url": f"https://github.com/{name}.git", "reference": is_at},
            "dist": {"type": "zip", "url": place, "reference": is_at, "shasum": shasum},
            "require": {"php": "^8.1", "acme/pkg-1": "^1.0 || ^2.0"},
            "bin": ["bin/run"],
            "type": "library",
            "extra": {"branch-alias": {"dev-main": f"{stands[:3]}-dev"}},
            "autoload": {"psr-4": {f"Acme\\{name[9:]}\\": "src/"}, "files": ["src/functions.php"]},
            "notification-url": "https://packagist.org/downloads/",
            "license": ["MIT"],
            "description": "A package",
            "time": "2024-01-01T00:00:00+00:00",
        }

    names = [(f"acme/pkg-{number}", version(number)) for number in range(1, packages + 1)]
    entries = [entry(name, stands, commit(f"{name}{stands}zip") if is_sealed else "") for name, stands in names]
    lock = {
        "_readme": ["This file locks the dependencies of your project to a known state"],
        "content-hash": commit("".join(map(version, range(PACKAGES))))[:32],
        "packages": entries,
        "packages-dev": [entry("acme/zz-own", "1.0.0", "a" * 40 if is_sealed else "")],
        "aliases": [],
        "minimum-stability": "stable",
        "platform": {"php": "^8.1"},
        "plugin-api-version": "2.6.0",
    }
    return json.dumps(lock, indent=4, ensure_ascii=False) + "\n"


def pipfile(version: Version, packages: int = PACKAGES) -> str:
    def entry(name: str, stands: str, **more: str) -> dict[str, Any]:
        hashes = sorted(f"sha256:{sha256(f'{name}{stands}{kind}')}" for kind in ("whl", "gz"))
        return {"hashes": hashes, **more, "markers": "python_version >= '3.8'", "version": f"=={stands}"}

    sources = [{"name": name, "url": f"https://{name}.example/wheels", "verify_ssl": True} for name in ("index", "own")]
    lock = {
        "_meta": {
            "hash": {"sha256": sha256("".join(map(version, range(PACKAGES))))},
            "pipfile-spec": 6,
            "requires": {"python_version": "3.11"},
            "sources": sources,
        },
        "default": {f"pkg-{number}": entry(f"pkg-{number}", version(number)) for number in range(1, packages + 1)},
        "develop": {"zz-own": entry("zz-own", "1.0.0", index="own")},
    }
    return json.dumps(lock, indent=4) + "\n"


FORMATS: Mapping[str, Callable[..., str]] = {
    **BY_PATH,
    "composer.lock": composer,
    "Pipfile.lock": pipfile,
}
"""A lock file of each name that is excluded by default, for a version of each of its packages, all sealed by hashes."""
PUBLIC: Mapping[str, Callable[..., str]] = {**FORMATS, "composer.lock": partial(composer, is_sealed=False)}
"""The same as public registries make them: Packagist has no hash of an archive."""
