"""Where a host, a source or a second hash may stand in the lock file of each format."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from tests.attacks.further_lock_files import FORMATS
from tests.attacks.lock_files import TARGET, bumped, sha256, sha512

HOSTS = (
    "10.0.0.1",
    "203.0.113.7",
    "10.0.0.1:8080",
    "2001:db8::1",
    "::1",
    "fe80::",
    "2001:0db8:0:0:0:0:0:1",
    "[2001:db8::1]",
    "[2001:db8::1]:8080",
    "::ffff:10.0.0.1",
    "https://10.0.0.1",
    "https://[2001:db8::1]:8080",
    "user@10.0.0.1",
)
SOURCES = (
    "https://[2001:db8::1]/x.tgz",
    "http://10.0.0.1:8080/x.tgz",
    "10.0.0.1/x.tgz",
    "//10.0.0.1/x.tgz",
    "//[2001:db8::1]/x.tgz",
    "https:evil.example/x.tgz",
    "https:/evil.example/x.tgz",
    "user@[2001:db8::1]:x",
    "user@10.0.0.1:x",
    "user@evil:x",
    "ssh:evil",
    "file:x.tgz",
    "FILE:x.tgz",
    "file:../x",
    "file:/x",
    "file:///x",
    "link:x",
    "link:../x",
    "portal:../x",
    "workspace:x",
    "patch:x",
    "exec:./x",
)
_WORDS: Mapping[str, str] = {
    "package-lock.json": r'"license": "(MIT)"',
    "npm-shrinkwrap.json": r'"resolved": "([^"]+)"',
    "yarn.lock": r'resolved "([^"]+)"',
    "berry/yarn.lock": r'resolution: "([^"]+)"',
    "pnpm-lock.yaml": r"engines: \{node: '([^']+)'",
    "Cargo.lock": r'source = "([^"]+)"',
    "poetry.lock": r'description = "([^"]+)"',
    "uv.lock": r'marker = "([^"]+)"',
    "go.sum": r"(v1\.1\.0) h1",
    "composer.lock": r'"description": "([^"]+)"',
    "Pipfile.lock": r'"markers": "([^"]+)"',
}
"""Of each format a place in a package that holds any words; where there is none, its address."""
VERSIONS = ("poetry.lock", "uv.lock", "composer.lock", "Pipfile.lock")
"""Formats of ecosystems that have versions of four numbers."""


def placed(path: str, named: str) -> tuple[str, str]:
    """A bump in which a package names a host or a source: the line, and the whole lock file."""
    head = FORMATS[path](bumped)
    package = next(found for found in re.finditer(rf"pkg[-_]{TARGET}\b", head))
    place = re.compile(_WORDS[path]).search(head, package.start())
    assert place is not None
    head = f"{head[: place.start(1)]}{named}{head[place.end(1) :]}"
    begins = head.rfind("\n", 0, place.start(1)) + 1
    return head[begins : head.index("\n", place.start(1))], head


_NAME, _FIRST, _OTHER = f"pkg-{TARGET}", "pkg-2", sha512("something else")
_TARBALL = "https://npm.example/{0}/-/{0}-1.1.0.tgz"


def _before(path: str, where: str, *lines: str) -> tuple[str, tuple[str, str]]:
    return path, (where, "".join(f"{line}\n" for line in lines) + where)


TWICE: Mapping[str, tuple[str, tuple[str, str]]] = {
    "a new version with two hashes": _before(
        "package-lock.json",
        f'    "node_modules/{_NAME}": {{\n',
        f'    "node_modules/pkg-1/node_modules/{_NAME}": {{',
        '      "version": "1.1.0",',
        f'      "resolved": "{_TARBALL.format(_NAME)}",',
        f'      "integrity": "{_OTHER}"',
        "    },",
    ),
    "version 1: a new version with two hashes": _before(
        "npm-shrinkwrap.json",
        f'        "{_FIRST}": {{\n',
        f'        "{_NAME}": {{',
        '          "version": "1.1.0",',
        f'          "resolved": "{_TARBALL.format(_NAME)}",',
        f'          "integrity": "{_OTHER}"',
        "        },",
    ),
    "yarn: a new version with two hashes": _before(
        "yarn.lock",
        f"{_NAME}@^1, ",
        f"{_NAME}@^1.0.9:",
        '  version "1.1.0"',
        f'  resolved "{_TARBALL.format(_NAME)}#{"a" * 40}"',
        f"  integrity {_OTHER}\n",
    ),
    "berry: a new version with two hashes": _before(
        "berry/yarn.lock",
        f'"{_NAME}@npm:^1.0.0, ',
        f'"{_NAME}@npm:^1.0.9":',
        "  version: 1.1.0",
        f'  resolution: "{_NAME}@npm:1.1.0"',
        "  bin:\n    run: ./bin/run.js",
        f"  checksum: 10c0/{hashlib.sha512(b'something else').hexdigest()}",
        "  languageName: node\n  linkType: hard\n",
    ),
    "pnpm: a new version with two hashes": _before(
        "pnpm-lock.yaml",
        f"  {_NAME}@1.1.0:\n    res",
        f"  {_NAME}@1.1.0(pkg-1@1.0.0):",
        f"    resolution: {{integrity: {_OTHER}}}\n",
    ),
    "pipenv: a new version with two hashes": _before(
        "Pipfile.lock",
        '        "zz-own": {\n',
        f'        "{_NAME}": {{',
        '            "hashes": [',
        f'                "sha256:{sha256("something else")}"',
        '            ],\n            "version": "==1.1.0"',
        "        },",
    ),
}
"""Attacks on the formats in which a version may stand in several places: in each with a hash of its own."""
