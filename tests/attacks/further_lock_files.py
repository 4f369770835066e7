"""Lock files as Bundler, Composer, Pipenv, NuGet, Gradle and Mix write them, and ordinary bumps of them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.attacks.lock_files import BY_PATH, PACKAGES, Version, sha256

GEMS, OWN_GEMS = "https://gems.example/", "https://own.example/gems/"
FRAMEWORK = "net8.0"


def commit(text: str) -> str:
    """The name of the commit that a version of a Composer package is."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def content_hash(text: str) -> str:
    """NuGet's hash of a package."""
    return base64.b64encode(hashlib.sha512(text.encode()).digest()).decode()


def gemfile(version: Version, packages: int = PACKAGES) -> str:
    gems = [(f"pkg-{number}", version(number)) for number in range(1, packages + 1)]
    lines = [f"GEM\n  remote: {OWN_GEMS}\n  specs:\n    zz-own (1.0.0)\n\nGEM\n  remote: {GEMS}\n  specs:\n"]
    lines.extend(f"    {name} ({stands})\n      pkg-1 (~> 1.0, >= 1.0.1)\n      zz-own\n" for name, stands in gems)
    lines.append(
        "\nPLATFORMS\n  ruby\n  x86_64-linux\n\nDEPENDENCIES\n  pkg-1 (~> 1.0)\n  zz-own (~> 1.0)!\n\nCHECKSUMS\n"
    )
    checked = [*gems, ("zz-own", "1.0.0")]
    lines.extend(f"  {name} ({stands}) sha256={sha256(name + stands)}\n" for name, stands in checked)
    return "".join([*lines, "\nRUBY VERSION\n   ruby 3.3.0p0\n\nBUNDLED WITH\n   2.6.2\n"])


def composer(version: Version, packages: int = PACKAGES) -> str:
    def entry(name: str, stands: str, shasum: str = "") -> dict[str, Any]:
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

    entries = [entry(f"acme/pkg-{number}", version(number)) for number in range(1, packages + 1)]
    lock = {
        "_readme": ["This file locks the dependencies of your project to a known state"],
        "content-hash": commit("".join(map(version, range(PACKAGES))))[:32],
        "packages": entries,
        "packages-dev": [entry("acme/zz-own", "1.0.0", "a" * 40)],
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


def nuget(version: Version, packages: int = PACKAGES) -> str:
    def entry(number: int) -> dict[str, Any]:
        stands = version(number)
        how = {"type": "Direct", "requested": "[1.0.0, )"} if number == 1 else {"type": "Transitive"}
        needs = {"dependencies": {"Acme.Pkg1": "1.0.0"}}
        return {**how, "resolved": stands, "contentHash": content_hash(f"{number} {stands}"), **needs}

    found: dict[str, Any] = {f"Acme.Pkg{number}": entry(number) for number in range(1, packages + 1)}
    found["shop.core"] = {"type": "Project", "dependencies": {"Acme.Pkg1": "[1.0.0, )"}}
    return json.dumps({"version": 1, "dependencies": {FRAMEWORK: found}}, indent=2)


def gradle(version: Version, packages: int = PACKAGES) -> str:
    lines = [
        "# This is a Gradle generated file for dependency locking.",
        "# Manual edits can break the build and are not advised.",
        "# This file is expected to be part of source control.",
    ]
    users = "compileClasspath,runtimeClasspath"
    lines.extend(f"com.acme:pkg-{number}:{version(number)}={users}" for number in range(1, packages + 1))
    return "\n".join([*lines, "empty=annotationProcessor\n"])


def mix(version: Version, packages: int = PACKAGES) -> str:
    def line(name: str, stands: str, repository: str) -> str:
        needs = '[{:pkg_1, "~> 1.0 or ~> 2.0", [hex: :pkg_1, repo: "hexpm", optional: false]}]'
        inner, outer = sha256(f"{name}{stands}"), sha256(f"{name}{stands}o")
        return f'  "{name}": {{:hex, :{name}, "{stands}", "{inner}", [:mix], {needs}, "{repository}", "{outer}"}},\n'

    lines = [line(f"pkg_{number}", version(number), "hexpm") for number in range(1, packages + 1)]
    return "".join(["%{\n", *lines, line("zz_own", "1.0.0", "hexpm:acme"), "}\n"])


FORMATS: Mapping[str, Callable[..., str]] = {
    **BY_PATH,
    "Gemfile.lock": gemfile,
    "gems.locked": gemfile,
    "composer.lock": composer,
    "Pipfile.lock": pipfile,
    "packages.lock.json": nuget,
    "gradle.lockfile": gradle,
    "mix.lock": mix,
}
"""A lock file of each name that is excluded by default, for a version of each of its packages."""
