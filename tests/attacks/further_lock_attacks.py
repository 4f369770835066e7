"""Known attacks on the lock files of Composer and Pipenv."""

from __future__ import annotations

from collections.abc import Mapping

from tests.attacks.further_lock_files import commit, composer
from tests.attacks.lock_files import TARGET, bumped, sha256

_NAME, _UNCHANGED = f"pkg-{TARGET}", f"pkg-{TARGET + 1}"
_EVIL = "https://evil.example/"

# Composer
_AT = commit(f"acme/{_NAME}1.1.0")
_GIT = f"https://github.com/acme/{_NAME}.git"
_ZIP = f"https://api.github.com/repos/acme/{_NAME}/zipball/{_AT}"
_SAME_AT = commit(f"acme/{_UNCHANGED}1.0.0")
_SHASUM = f'"shasum": "{"a" * 40}"'
_ZIPPED = f'"shasum": "{commit(f"acme/{_NAME}1.1.0zip")}"'


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

FURTHER_ATTACKS: Mapping[str, tuple[str, tuple[str, str]]] = {
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
                _ZIPPED,
                f'{_ZIPPED},\n                "mirrors": [\n                    "{_EVIL}"\n                ]',
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
    "composer: a commit of a fork, without a checksum": (
        "composer.lock",
        (
            f'{_AT}",\n                "shasum": "{commit(f"acme/{_NAME}1.1.0zip")}"',
            f'{_AT}",\n                "shasum": ""',
        ),
    ),
    "composer: one more file is loaded": (
        "composer.lock",
        (_REST, _REST.replace('"src/functions.php"', '"src/functions.php",\n                    "src/run.php"')),
    ),
    "composer: one more command": (
        "composer.lock",
        (_REST, _REST.replace('"bin/run"', '"bin/run",\n                "bin/more"')),
    ),
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
}
"""For each attack the lock file, and what the attacker writes into an ordinary bump instead of what."""
