"""What of a lock file is put before the reviewers: nothing of an ordinary bump, and every key that nobody knows."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.further_lock_files import FORMATS
from tests.attacks.lock_files import changed, npm, old, pnpm, sha512, yarn

from review_advisor.change.lock_trees import MOST_CHARACTERS, read_tree
from review_advisor.change.lockfiles import LONGEST_ENTRIES, Incoming, incoming

FEW = 6
KEYS = {
    "package-lock.json": ('      "license": "MIT"', '      "{}": "x",\n      "license": "MIT"'),
    "npm-shrinkwrap.json": ('      "requires": {', '      "{}": "x",\n      "requires": {{'),
    "yarn.lock": ("  integrity ", '  {} "x"\n  integrity '),
    "berry/yarn.lock": ("  linkType: hard", "  {}: x\n  linkType: hard"),
    "pnpm-lock.yaml": ("    engines: ", "    {}: x\n    engines: "),
    "Cargo.lock": ('source = "', '{} = "x"\nsource = "'),
    "poetry.lock": ("optional = false", '{} = "x"\noptional = false'),
    "uv.lock": ("dependencies = [", '{} = "x"\ndependencies = ['),
    "composer.lock": ('            "require": {', '            "{}": "x",\n            "require": {{'),
    "Pipfile.lock": ('            "markers": ', '            "{}": "x",\n            "markers": '),
}
"""Of each format with keys the place of a further one."""
HARMLESS = {
    "package-lock.json": ('"license": "MIT"', '"license": "{}"'),
    "npm-shrinkwrap.json": ('"pkg-1": "^1.0.0"', '"{}": "^1.0.0"'),
    "yarn.lock": ('pkg-1 "^1.0.0"', '{} "^1.0.0"'),
    "berry/yarn.lock": ('pkg-1: "npm:^1.0.0"', '{}: "npm:^1.0.0"'),
    "pnpm-lock.yaml": ("{node: '>=18'}", "{{node: '{}'}}"),
    "Cargo.lock": ('"pkg-1"', '"{}"'),
    "poetry.lock": ('description = "A package"', 'description = "{}"'),
    "uv.lock": ('{ name = "pkg-1",', '{{ name = "{}",'),
    "composer.lock": ('"description": "A package"', '"description": "{}"'),
    "Pipfile.lock": ("python_version >= '3.8'", "{}"),
}
"""Of each format a value that runs nothing, and where another one stands in its place."""
words = st.text("abcdefghijklmnopqrstuvw", min_size=9, max_size=12)
numbers = st.lists(st.integers(0, 40), min_size=3, max_size=3)


def found(path: str, base: str, head: str) -> Incoming | str:
    return incoming(changed(path, base, head), head)


def doubts(path: str, base: str, head: str) -> tuple[str, ...]:
    made = found(path, base, head)
    return (made,) if isinstance(made, str) else made.doubts


@pytest.mark.parametrize("path", FORMATS)
@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=FEW, max_size=FEW))
def test_an_ordinary_bump_with_sealed_hashes_gives_no_doubt(
    path: str, pairs: list[tuple[list[int], list[int]]]
) -> None:
    olds, news = ([".".join(map(str, side(pair))) for pair in pairs] for side in (min, max))
    base, head = (FORMATS[path](lambda number, each=each: each[number % FEW], FEW) for each in (olds, news))
    if base != head:
        assert doubts(path, base, head) == ()


@pytest.mark.parametrize("path", KEYS)
@settings(max_examples=10, deadline=None)
@given(words)
def test_a_key_that_nobody_knows_is_a_doubt(path: str, key: str) -> None:
    base = FORMATS[path](old, FEW)
    place, further = KEYS[path]
    key = f"unknown{key}"
    assert any(key in doubt for doubt in doubts(path, base, base.replace(place, further.format(key), 1)))


@pytest.mark.parametrize("path", HARMLESS)
@settings(max_examples=10, deadline=None)
@given(words)
def test_another_value_of_a_harmless_key_is_none(path: str, value: str) -> None:
    base = FORMATS[path](old, FEW)
    place, other = HARMLESS[path]
    assert doubts(path, base, base.replace(place, other.format(value), 1)) == ()


def test_a_word_for_git_that_stands_in_a_hash_by_chance_is_no_source() -> None:
    hashed = sha512("x")
    for path, form in (("package-lock.json", npm), ("yarn.lock", yarn), ("pnpm-lock.yaml", pnpm)):
        base, head = form(old, FEW), form(lambda _: "1.1.0", FEW)
        lucky = re.sub(r"sha512-[A-Za-z0-9+/]{86}==", f"{hashed[:20]}git+{hashed[24:]}", head, count=1)
        assert doubts(path, base, lucky) == ()


def test_of_each_changed_package_the_versions_the_source_and_the_hashes_are_facts() -> None:
    made = found("package-lock.json", npm(old, 2), npm(lambda _: "1.1.0", 2))
    assert isinstance(made, Incoming)
    before, after = (sha512(f"pkg-1 {version}")[:20] for version in ("1.0.0", "1.1.0"))
    assert made.entries[0] == (f"pkg-1 1.0.0 -> 1.1.0; source https://npm.example; integrity {before}... -> {after}...")


def test_a_removed_package_is_a_fact() -> None:
    lock = json.loads(npm(old, 3))
    del lock["packages"]["node_modules/pkg-2"]
    made = found("package-lock.json", npm(old, 3), json.dumps(lock, indent=2) + "\n")
    assert isinstance(made, Incoming)
    assert (made.entries, made.changed) == (("pkg-2 1.0.0 -> removed",), 0)


def test_the_keys_that_differ_in_a_package_are_facts() -> None:
    base = npm(old, 3)
    made = found(
        "package-lock.json", base, base.replace('"license": "MIT"', '"optional": true,\n      "license": "GPL"', 1)
    )
    assert isinstance(made, Incoming)
    assert [entry.rpartition("; ")[2] for entry in made.entries] == ["keys license, optional"]


@pytest.mark.parametrize(
    "path, place, further, doubt, key",
    [
        (
            "pnpm-lock.yaml",
            "        version: 1.0.0\n",
            "      evil:\n        specifier: '*'\n        version: 1.0.0\n",
            "importers .: dependencies.evil.specifier = *",
            "dependencies.evil.specifier",
        ),
        (
            "package-lock.json",
            '"version": "1.0.0",\n      "dependencies": {\n',
            '        "evil": "*",\n',
            "shop: dependencies.evil = *",
            "dependencies.evil",
        ),
    ],
)
def test_what_the_repository_itself_takes_and_drops_is_a_doubt_and_a_fact(
    path: str, place: str, further: str, doubt: str, key: str
) -> None:
    without = FORMATS[path](old, FEW)
    more = without.replace(place, place + further, 1)
    gone = f"{doubt.partition(' = ')[0].replace(': ', ': it has no ')}, unlike at the base"
    for base, head, why in ((without, more, doubt), (more, without, gone)):
        made = found(path, base, head)
        assert isinstance(made, Incoming)
        assert why in made.doubts
        assert any(f"keys {key}" in entry for entry in made.entries)


def test_a_new_importer_of_pnpm_is_a_doubt_and_so_is_one_that_is_gone() -> None:
    one = pnpm(old, FEW)
    two = one.replace("packages:\n", "  own/x:\n    dependencies:\n      pkg-1:\n        specifier: '*'\n"
    "        version: 1.0.0\n\npackages:\n", 1)  # fmt: skip
    assert "importers own/x: it stands in importers/own/x" in doubts("pnpm-lock.yaml", one, two)
    assert "importers own/x is gone" in doubts("pnpm-lock.yaml", two, one)


NEW = {
    "package-lock.json": (
        '    "node_modules/pkg-2": {\n',
        (
            '    "node_modules/@x/linux-x64": {{\n      "version": "9.9.9",\n{}'
            '      "resolved": '
            '"https://npm.example/@x/linux-x64/-/linux-x64-9.9.9.tgz",\n'
            '      "cpu": [\n        "x64"\n'
            '      ],\n      "optional": true,\n      "os": [\n        "linux"\n      ]\n    }},\n'
        ),
        f'      "integrity": "{sha512("x")}",\n',
    ),
    "pnpm-lock.yaml": (
        "  pkg-2@1.0.0:\n    resolution",
        "  '@x/linux-x64@9.9.9':\n{}    cpu: [x64]\n    os: [linux]\n    libc: [glibc]\n\n",
        f"    resolution: {{integrity: {sha512('x')}}}\n",
    ),
    "berry/yarn.lock": (
        '"pkg-2@npm',
        (
            '"@x/linux-x64@npm:9.9.9":\n  version: 9.9.9\n  resolution: "@x/linux-x64@npm:9.9.9"\n{}'
            "  conditions: os=linux & cpu=x64 & libc=glibc\n  languageName: node\n  linkType: hard\n\n"
        ),
        f"  checksum: 10c0/{'a' * 128}\n",
    ),
}
"""Of each format a new package for one platform, and its hash."""


@pytest.mark.parametrize("path", NEW)
def test_a_new_package_for_one_platform_is_a_doubt_only_without_a_hash(path: str) -> None:
    place, package, seal = NEW[path]
    base = FORMATS[path](old, FEW)
    sealed, open_ = (base.replace(place, package.format(each) + place, 1) for each in (seal, ""))
    assert doubts(path, base, sealed) == ()
    assert "@x/linux-x64: no hash of its content seals version 9.9.9" in doubts(path, base, open_)


@pytest.mark.parametrize("path", NEW)
def test_other_platforms_of_a_version_that_is_at_the_base_are_a_doubt(path: str) -> None:
    place, package, seal = NEW[path]
    plain = FORMATS[path](old, FEW)
    base = plain.replace(place, package.format(seal) + place, 1)
    head = base.replace("linux & cpu", "aix & cpu").replace('"linux"', '"aix"').replace("os: [linux]", "os: [aix]")
    assert any("aix" in doubt for doubt in doubts(path, base, head))


def test_where_the_facts_have_no_room_their_number_is_one() -> None:
    made = found("Cargo.lock", FORMATS["Cargo.lock"](old, 900), FORMATS["Cargo.lock"](lambda _: "1.1.0", 900))
    assert isinstance(made, Incoming)
    assert sum(map(len, made.entries[:-1])) <= LONGEST_ENTRIES
    named, more = len(made.entries) - 1, made.entries[-1]
    assert more == f"and {900 - named} more, which the diff of the file names"


@pytest.mark.parametrize(
    "before,after",
    [
        ("2.0.0", "1.0.0"),
        ("1.2.0", "1.2.0-rc.1"),
        ("1.10.0", "1.9.0"),
    ],
)
def test_an_older_version_is_a_doubt_although_an_older_copy_is_in_the_file(before: str, after: str) -> None:
    """The copy in ``pkg-1`` stays."""

    def lock(version: str) -> str:
        lines = json.loads(npm(lambda number: version if number == 2 else "1.0.0", 3))
        copy = dict(json.loads(npm(lambda _: "0.1.0", 3))["packages"]["node_modules/pkg-2"])
        lines["packages"]["node_modules/pkg-1/node_modules/pkg-2"] = copy
        return json.dumps(lines, indent=2) + "\n"

    assert f"pkg-2: version {after} is older than at the base" in doubts("package-lock.json", lock(before), lock(after))


@pytest.mark.parametrize(
    "line_break", ["\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
@pytest.mark.parametrize("path", FORMATS)
def test_a_line_break_that_hunks_do_not_count_makes_all_of_the_file_read(path: str, line_break: str) -> None:
    base = FORMATS[path](old, FEW)
    assert isinstance(found(path, base, base.replace("pkg-3", f"pkg-3{line_break}", 1)), str)


@pytest.mark.parametrize("syntax", ["json", "toml", "yaml", "yarn", "lines"])
def test_a_text_that_is_too_long_or_nested_too_deeply_is_not_parsed(syntax: str) -> None:
    deep = {"json": '{"a":' * 90_000, "toml": "a = " + "[" * 90_000, "yaml": "a: " + "[" * 90_000}
    for text in (f"{deep.get(syntax, 'x')}\n", "x" * (MOST_CHARACTERS + 1)):
        with pytest.raises((ValueError, RecursionError)):
            read_tree(text if syntax != "lines" else "x" * (MOST_CHARACTERS + 1), syntax)
