"""Known attacks on the lock files of Bundler, Composer, Pipenv, NuGet, Gradle and Mix."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attacks.further_lock_files import GEMS, OWN_GEMS, commit, composer, content_hash
from tests.attacks.lock_files import TARGET, bumped, sha256

_NAME, _UNCHANGED = f"pkg-{TARGET}", f"pkg-{TARGET + 1}"
_EVIL = "https://evil.example/"

# Bundler
_GEM = f"    {_NAME} (1.1.0)\n"
_GEM_SUM = f"  {_NAME} (1.1.0) sha256={sha256(_NAME + '1.1.0')}\n"
_SAME_SUM = sha256(f"{_UNCHANGED}1.0.0")
_EVIL_GEMS = f"GEM\n  remote: {_EVIL}\n  specs:\n{_GEM}"
_NEXT_GEMS = f"GEM\n  remote: {GEMS}\n  specs:\n"
_FIRST_GEM = "    pkg-1 (1.0.0)\n      pkg-1 (~> 1.0, >= 1.0.1)\n      zz-own\n"
_SOURCE = "{}\n  remote: https://gems.example/evil.git\n  revision: " + "a" * 40 + "\n  specs:\n    evil (1.0.0)\n\n"

# Composer
_AT = commit(f"acme/{_NAME}1.1.0")
_GIT = f"https://github.com/acme/{_NAME}.git"
_ZIP = f"https://api.github.com/repos/acme/{_NAME}/zipball/{_AT}"
_SAME_AT = commit(f"acme/{_UNCHANGED}1.0.0")
_SHASUM = f'"shasum": "{"a" * 40}"'


_HEAD = composer(bumped)


def _from(address: str) -> str:
    """What an entry says from the address of its archive on, up to its licence."""
    begins = _HEAD.index(address)
    return _HEAD[begins : _HEAD.index('"license"', begins)]


_REST, _SAME_REST = _from(_ZIP), _from(f"acme/{_UNCHANGED}/zipball")


# Pipenv
_PIN = f'"pkg-{TARGET}": {{\n            "hashes": [\n'
_FIRST, _SECOND = sorted(f"sha256:{sha256(f'{_NAME}1.1.0{kind}')}" for kind in ("whl", "gz"))
_HASHES = f'            "hashes": [\n                "{_FIRST}",\n                "{_SECOND}"\n            ],\n'
_PINNED = f"""{_HASHES}            "markers": "python_version >= '3.8'",\n            "version": "==1.1.0"\n"""
_SAME_WHEEL = sha256(f"{_UNCHANGED}1.0.0whl")

# NuGet
_CONTENT = content_hash(f"{TARGET} 1.1.0")
_NUGET = f'        "resolved": "1.1.0",\n        "contentHash": "{_CONTENT}",\n'
_SAME_CONTENT = content_hash(f"{TARGET + 1} 1.0.0")
_SAME_NUGET = (
    f'      "Acme.Pkg{TARGET + 1}": {{\n        "type": "Transitive",\n        "resolved": "1.0.0",\n'
    f'        "contentHash": "{_SAME_CONTENT}",\n'
)

# Mix
_HEX = f'  "pkg_{TARGET}": {{:hex, :pkg_{TARGET}, "1.1.0", '
_INNER, _OUTER = sha256(f"pkg_{TARGET}1.1.0"), sha256(f"pkg_{TARGET}1.1.0o")
_REPOSITORY = f'"hexpm", "{_OUTER}"'
_SAME_HEX = f'"{sha256(f"pkg_{TARGET + 1}1.0.0")}", [:mix]'

FURTHER_ATTACKS: Mapping[str, tuple[str, tuple[str, str]]] = {
    # Bundler
    "gems: another registry": ("Gemfile.lock", (f"  remote: {GEMS}\n", f"  remote: {_EVIL}\n")),
    "gems: another registry from one gem on": ("Gemfile.lock", (_GEM, f"\n{_EVIL_GEMS}")),
    "gems: a registry beside the one that stands there": (
        "Gemfile.lock",
        (f"  remote: {GEMS}\n", f"  remote: {OWN_GEMS}\n  remote: {GEMS}\n"),
    ),
    "gems: another place of a known host": ("gems.locked", (f"  remote: {GEMS}\n", f"  remote: {GEMS}evil/\n")),
    "gems: http": ("Gemfile.lock", (f"  remote: {GEMS}\n", f"  remote: {GEMS.replace('https', 'http')}\n")),
    "gems: a gem of the other registry": (
        "Gemfile.lock",
        (f"\n{_NEXT_GEMS}{_FIRST_GEM}", f"{_FIRST_GEM}\n{_NEXT_GEMS}"),
    ),
    "gems: a git source": ("Gemfile.lock", ("\nPLATFORMS\n", f"\n{_SOURCE.format('GIT')}PLATFORMS\n")),
    "gems: a plugin": ("Gemfile.lock", ("\nPLATFORMS\n", f"\n{_SOURCE.format('PLUGIN SOURCE')}PLATFORMS\n")),
    "gems: a folder": (
        "Gemfile.lock",
        ("\nPLATFORMS\n", "\nPATH\n  remote: vendor/evil\n  specs:\n    evil (1.0)\n\nPLATFORMS\n"),
    ),
    "gems: no checksum": ("Gemfile.lock", (_GEM_SUM, "")),
    "gems: an empty checksum": ("Gemfile.lock", (_GEM_SUM, f"  {_NAME} (1.1.0)\n")),
    "gems: a weaker checksum": ("Gemfile.lock", (_GEM_SUM, f"  {_NAME} (1.1.0) md5={'a' * 32}\n")),
    "gems: two checksums": ("Gemfile.lock", (_GEM_SUM, f"{_GEM_SUM[:-1]},sha256={'a' * 64}\n")),
    "gems: another checksum for one version": ("Gemfile.lock", (_SAME_SUM, sha256("something else"))),
    "gems: no checksum any more for a version that stays": (
        "Gemfile.lock",
        (f"  {_UNCHANGED} (1.0.0) sha256={_SAME_SUM}\n", ""),
    ),
    "gems: two checksums on two lines": ("Gemfile.lock", (_GEM_SUM, f"{_GEM_SUM}{_GEM_SUM[:-65]}{'a' * 64}\n")),
    "gems: a dependency from any source": ("Gemfile.lock", ("  zz-own (~> 1.0)!\n", "  zz-own (~> 1.0)\n")),
    "gems: checksums by another name": ("Gemfile.lock", ("\nCHECKSUMS\n", "\nSUMS\n")),
    "gems: another platform of one version": (
        "gems.locked",
        (f"    {_UNCHANGED} (1.0.0)\n", f"    {_UNCHANGED} (1.0.0)\n    {_UNCHANGED} (1.0.0-x86_64-linux)\n"),
    ),
    "gems: a gem twice": ("Gemfile.lock", (_GEM, f"{_GEM}{_GEM}")),
    "gems: a dependency from its own source": ("Gemfile.lock", ("  pkg-1 (~> 1.0)\n", "  pkg-1 (~> 1.0)!\n")),
    "gems: an older Bundler": ("Gemfile.lock", ("   2.6.2\n", "   1.17.0\n")),
    "gems: a comment": ("Gemfile.lock", (_GEM, f"{_GEM}      # reviewed\n")),
    # Composer
    "composer: another repository": ("composer.lock", (_GIT, _GIT.replace("acme", "evil"))),
    "composer: a new package from the repository of another": (
        "composer.lock",
        (f'"name": "acme/{_NAME}"', '"name": "acme/fresh"'),
    ),
    "composer: a repository by ssh": ("composer.lock", (_GIT, f"git@github.com:evil/{_NAME}.git")),
    "composer: the archive of another repository": ("composer.lock", (_ZIP, _ZIP.replace("acme", "evil"))),
    "composer: the archive of another commit": ("composer.lock", (_ZIP, _ZIP.replace(_AT, "d" * 40))),
    "composer: another host": ("composer.lock", (_ZIP, _ZIP.replace("api.github.com", "api.github.com.evil.example"))),
    "composer: http": ("composer.lock", (_ZIP, _ZIP.replace("https", "http"))),
    "composer: an escape": ("composer.lock", (_ZIP, _ZIP.replace("/", "\\/"))),
    "composer: a branch as its commit": (
        "composer.lock",
        (f'{_GIT}",\n                "reference": "{_AT}"', f'{_GIT}",\n                "reference": "main"'),
    ),
    "composer: no commit": (
        "composer.lock",
        (f'{_GIT}",\n                "reference": "{_AT}"', f'{_GIT}"'),
    ),
    "composer: another commit for one version": (
        "composer.lock",
        (
            f'/{_UNCHANGED}/zipball/{_SAME_AT}",\n                "reference": "{_SAME_AT}"',
            f'/{_UNCHANGED}/zipball/{"d" * 40}",\n                "reference": "{"d" * 40}"',
        ),
    ),
    "composer: no checksum any more": ("composer.lock", (_SHASUM, '"shasum": ""')),
    "composer: a folder": ("composer.lock", (_REST, _REST.replace(_ZIP, "packages/evil"))),
    "composer: a mirror": (
        "composer.lock",
        (
            _REST,
            _REST.replace(
                '"shasum": ""',
                f'"shasum": "",\n                "mirrors": [\n                    "{_EVIL}"\n                ]',
            ),
        ),
    ),
    "composer: a plugin, which runs when it is installed": (
        "composer.lock",
        (_REST, _REST.replace('"library"', '"composer-plugin"')),
    ),
    "composer: a file of another package is loaded": (
        "composer.lock",
        (_REST, _REST.replace('"src/functions.php"', '"../evil/run.php"')),
    ),
    "composer: an absolute path is loaded": ("composer.lock", (_REST, _REST.replace('"src/"', '"/tmp/"'))),
    "composer: other files of one version are loaded": (
        "composer.lock",
        (_SAME_REST, _SAME_REST.replace('"src/functions.php"', '"tests/run.php"')),
    ),
    "composer: other commands of one version": (
        "composer.lock",
        (_SAME_REST, _SAME_REST.replace('"bin/run"', '"bin/php"')),
    ),
    "composer: a class that a framework runs": (
        "composer.lock",
        (
            _REST,
            _REST.replace(
                '                }\n            },\n            "autoload"',
                '                },\n                "laravel": {\n                    "providers": [\n'
                '                        "Evil"\n                    ]\n                }\n'
                '            },\n            "autoload"',
            ),
        ),
    ),
    "composer: a package that replaces others": (
        "composer.lock",
        (
            _REST,
            _REST.replace(
                '            "bin"',
                '            "replace": {\n                "acme/pkg-1": "*"\n            },\n            "bin"',
            ),
        ),
    ),
    "composer: an install path": (
        "composer.lock",
        (_REST, _REST.replace('            "bin"', '            "target-dir": "../../public",\n            "bin"')),
    ),
    "composer: an alias of a version": ("composer.lock", ('"aliases": []', '"aliases": [\n        "dev-main"\n    ]')),
    "composer: less stable versions": (
        "composer.lock",
        ('"minimum-stability": "stable"', '"minimum-stability": "dev"'),
    ),
    "composer: a platform that is not there": ("composer.lock", ('"php": "^8.1"\n    }', '"php": "^5.0"\n    }')),
    # Pipenv
    "pipenv: another index": (
        "Pipfile.lock",
        (_PIN, _PIN.replace('"hashes"', '"index": "own",\n            "hashes"')),
    ),
    "pipenv: the index of a package is dropped": ("Pipfile.lock", ('            "index": "own",\n', "")),
    "pipenv: another address of the index": ("Pipfile.lock", ("https://index.example", "https://index.evil.example")),
    "pipenv: another place of a known host": ("Pipfile.lock", ("own.example/wheels", "own.example/evil")),
    "pipenv: an index that nobody can vouch for": (
        "Pipfile.lock",
        (
            'own.example/wheels",\n                "verify_ssl": true',
            'own.example/wheels",\n                "verify_ssl": false',
        ),
    ),
    "pipenv: a git source": (
        "Pipfile.lock",
        (_HASHES, f'            "git": "https://github.com/evil/x.git",\n            "ref": "{"a" * 40}",\n'),
    ),
    "pipenv: a folder": ("Pipfile.lock", (_HASHES, '            "editable": true,\n            "path": "evil",\n')),
    "pipenv: an archive": (
        "Pipfile.lock",
        (_PIN, _PIN.replace('"hashes"', f'"file": "{_EVIL}x.whl",\n            "hashes"')),
    ),
    "pipenv: no hash": ("Pipfile.lock", (_HASHES, '            "hashes": [],\n')),
    "pipenv: no hashes at all": ("Pipfile.lock", (_HASHES, "")),
    "pipenv: md5": ("Pipfile.lock", (f"{_FIRST}", f"md5:{'a' * 32}")),
    "pipenv: another hash for one version": ("Pipfile.lock", (_SAME_WHEEL, sha256("something else"))),
    "pipenv: one hash more for one version": (
        "Pipfile.lock",
        (
            f'"pkg-{TARGET + 1}": {{\n            "hashes": [\n',
            f'"pkg-{TARGET + 1}": {{\n            "hashes": [\n                "sha256:{sha256("e")}",\n',
        ),
    ),
    "pipenv: a package twice, by two spellings of its name": (
        "Pipfile.lock",
        (
            f'        "pkg-{TARGET + 1}": {{\n',
            (
                f'        "pkg_{TARGET + 1}": {{\n            "hashes": [\n                "sha256:{sha256("e")}"\n'
                '            ],\n            "version": "==1.0.0"\n        },\n'
                f'        "pkg-{TARGET + 1}": {{\n'
            ),
        ),
    ),
    "pipenv: a bump to another spelling of the same version": (
        "Pipfile.lock",
        (_PINNED, _PINNED.replace("==1.1.0", "==1.00")),
    ),
    "pipenv: a version that Pipenv spells otherwise": (
        "Pipfile.lock",
        (_PINNED, _PINNED.replace("==1.1.0", "==1.0.0-0")),
    ),
    "pipenv: any version": ("Pipfile.lock", (_PINNED, _PINNED.replace("==1.1.0", "*"))),
    "pipenv: a section of its own": (
        "Pipfile.lock",
        (
            '    "develop": {\n',
            '    "deploy": {\n        "evil": {\n            "version": "==1"\n        }\n    },\n    "develop": {\n',
        ),
    ),
    # NuGet
    "nuget: no hash": ("packages.lock.json", (f'        "contentHash": "{_CONTENT}",\n', "")),
    "nuget: a weaker hash": ("packages.lock.json", (_CONTENT, "2jmj7l5rSw0yVb/vlWAYkK/YBwk=")),
    "nuget: another hash for one version": (
        "packages.lock.json",
        (content_hash(f"{TARGET + 1} 1.0.0"), content_hash("something else")),
    ),
    "nuget: a project in the place of a package": (
        "packages.lock.json",
        (f'"type": "Transitive",\n{_NUGET}', '"type": "Project",\n'),
    ),
    "nuget: a source": ("packages.lock.json", (_NUGET, f'        "source": "{_EVIL}",\n{_NUGET}')),
    "nuget: a package twice": (
        "packages.lock.json",
        (
            f'      "Acme.Pkg{TARGET}": {{\n',
            f'      "Acme.Pkg{TARGET}": {{\n        "type": "Transitive"\n      }},\n      "Acme.Pkg{TARGET}": {{\n',
        ),
    ),
    "nuget: another hash for one version, by another spelling of its name": (
        "packages.lock.json",
        (
            _SAME_NUGET,
            _SAME_NUGET.replace("Acme.Pkg", "acme.pkg").replace(_SAME_CONTENT, content_hash("something else")),
        ),
    ),
    "nuget: another hash for one version, by another spelling of it": (
        "packages.lock.json",
        (
            _SAME_NUGET,
            _SAME_NUGET.replace("1.0.0", "1.0.0.0").replace(_SAME_CONTENT, content_hash("something else")),
        ),
    ),
    "nuget: an escape": ("packages.lock.json", (f'"Acme.Pkg{TARGET}": {{', f'"Acme\\u002ePkg{TARGET}": {{')),
    "nuget: another framework": ("packages.lock.json", ('"net8.0": {\n', '"net8.0": {},\n    "net8.0/evil": {\n')),
    "nuget: another project of the repository": (
        "packages.lock.json",
        ('          "Acme.Pkg1": "[1.0.0, )"\n', '          "Evil": "[1.0.0, )"\n'),
    ),
    # Gradle
    "gradle: a version that changes what it is": (
        "gradle.lockfile",
        (f"{_NAME}:1.1.0=", f"{_NAME}:1.1.0-SNAPSHOT="),
    ),
    "gradle: any version": ("gradle.lockfile", (f"{_NAME}:1.1.0=", f"{_NAME}:1.+=")),
    "gradle: a module twice": (
        "gradle.lockfile",
        (f"com.acme:{_NAME}:", f"com.acme:{_NAME}:1.1.0=evilClasspath\ncom.acme:{_NAME}:"),
    ),
    "gradle: a configuration that is locked no more": (
        "gradle.lockfile",
        ("empty=annotationProcessor\n", "empty=\n"),
    ),
    "gradle: a comment": ("gradle.lockfile", (f"com.acme:{_NAME}:", f"# reviewed and safe\ncom.acme:{_NAME}:")),
    "gradle: an address": ("gradle.lockfile", (f"com.acme:{_NAME}:", f"{_EVIL}x.jar\ncom.acme:{_NAME}:")),
    # Mix
    "mix: a git source": (
        "mix.lock",
        (_HEX, f'  "evil": {{:git, "https://github.com/evil/x.git", "{"a" * 40}", []}},\n{_HEX}'),
    ),
    "mix: a folder": ("mix.lock", (_HEX, f'  "evil": {{:path, "../evil"}},\n{_HEX}')),
    "mix: an alias": ("mix.lock", (f"{{:hex, :pkg_{TARGET}, ", "{:hex, :evil, ")),
    "mix: code": ("mix.lock", (_HEX, f'  "evil": System.cmd("id", []),\n{_HEX}')),
    "mix: code in front of the map": ("mix.lock", ("%{\n", 'System.cmd("id", []); %{\n')),
    "mix: no hash": ("mix.lock", (f'"{_INNER}"', '""')),
    "mix: no hash of the archive": ("mix.lock", (_REPOSITORY, '"hexpm"')),
    "mix: another hash for one version": ("mix.lock", (_SAME_HEX, f'"{sha256("else")}", [:mix]')),
    "mix: another repository": ("mix.lock", (_REPOSITORY, _REPOSITORY.replace("hexpm", "hexpm:evil"))),
    "mix: the repository of a package is dropped": ("mix.lock", ('"hexpm:acme"', '"hexpm"')),
    "mix: another way to build one version": (
        "mix.lock",
        (_SAME_HEX, _SAME_HEX.replace("[:mix]", "[:make]")),
    ),
    "mix: a package twice": (
        "mix.lock",
        (
            _HEX,
            f'  "pkg_{TARGET}": {{:hex, :pkg_{TARGET}, "6.6.6", "{_INNER}", [:mix], [], "hexpm", "{_OUTER}"}},\n{_HEX}',
        ),
    ),
    "mix: a comment": ("mix.lock", (_HEX, f"  # reviewed\n{_HEX}")),
}
"""For each attack the lock file, and what the attacker writes into an ordinary bump instead of what."""
