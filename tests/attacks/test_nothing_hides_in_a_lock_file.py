"""Lock files are left unread by default; what an attacker writes into one is read all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.attacks.further_lock_files import FORMATS, PUBLIC
from tests.attacks.lock_attacks import ATTACKS, attacked
from tests.attacks.lock_files import TARGET, bumped, changed, go, old
from tests.attacks.lock_places import HOSTS, SOURCES, TWICE, VERSIONS, placed
from tests.scenarios.reading import is_shown, shown

from review_advisor.change.change import FileChange
from review_advisor.change.lock_formats import DEFAULT_EXCLUDE
from review_advisor.change.lockfiles import hosts_in, incoming, lock_entries, lock_format
from review_advisor.mockworld.world import DEFAULT_CHANGE, MockWorld
from review_advisor.policy.exclusion import excluding_glob
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome


@pytest.fixture
def world() -> Iterator[MockWorld]:
    world = MockWorld()
    yield world
    world.finish()


def review(world: MockWorld, path: str, base: str, head: str) -> tuple[FileChange, OutcomeDocument]:
    file = changed(path, base, head)
    world.source.texts = {path: head}
    world.source.stated = replace(DEFAULT_CHANGE, files=(*DEFAULT_CHANGE.files, file))
    return file, world.review()


def test_every_default_has_a_lock_file_here() -> None:
    assert {path.rpartition("/")[2] for path in FORMATS} == set(DEFAULT_EXCLUDE)
    assert {path for path, _ in ATTACKS.values()} == set(FORMATS)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("path", FORMATS)
def test_an_ordinary_bump_is_named_and_not_sent_and_may_be_approved(world: MockWorld, path: str) -> None:
    file, document = review(world, path, FORMATS[path](old), FORMATS[path](bumped))
    assert document.outcome is Outcome.APPROVED
    assert document.policy.excluded.read_anyway == ()
    (unread,) = [each for each in document.coverage if each.read == "excluded"]
    assert unread.path == path
    assert f"excluded by configuration; +{file.added:,} -{file.removed:,} lines" in unread.why
    assert "read all the same" not in unread.why
    for call in (*world.calls(Role.EXECUTOR), *world.calls(Role.POST_VERIFY)):
        assert "1.1.0" not in shown(call, "DIFF")
        assert f"{path} (" in shown(call, "NOT_READ")
        assert "packages new: none" in shown(call, "NOT_READ")


def test_an_ordinary_bump_of_what_no_hash_seals_is_read(world: MockWorld) -> None:
    packagist = PUBLIC["composer.lock"]
    _, document = review(world, "composer.lock", packagist(old), packagist(bumped))
    (file,) = document.policy.excluded.files
    assert file.brings.doubts[0] == "acme/pkg-2: no hash of its content seals version 1.1.0"
    assert (file.hunks, len(file.brings.read)) == (31, 30), "all but the hash of the manifest"
    (call,) = world.calls(Role.EXECUTOR)
    assert shown(call, "DIFF").count('"version": "1.1.0"') == 30


@pytest.mark.one_in(12)
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_an_attacker_hides_in_a_bump_is_put_before_the_reviewers(world: MockWorld, attack: str) -> None:
    path, base, head = attacked(attack)
    _, document = review(world, path, base, head)
    excluded = document.policy.excluded
    assert excluded.read_anyway or excluded.files[0].brings.doubts
    ordinary = set(FORMATS[path](bumped).split("\n"))
    hidden = [line.removesuffix("\r") for line in head.split("\n") if line not in ordinary]
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        (call,) = world.calls(role)
        read = shown(call, "DIFF").partition(f"FILE {path}\n")[2]
        assert "@@" in read
        assert [line for line in hidden if line.isprintable() and line.isascii() and line not in read] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("path", FORMATS)
def test_versions_that_are_older_than_at_the_base_are_put_before_the_reviewers(world: MockWorld, path: str) -> None:
    """A known hole comes back with the version that has it."""
    _, document = review(world, path, FORMATS[path](bumped), FORMATS[path](old))
    excluded = document.policy.excluded
    assert excluded.read_anyway or "is older than at the base" in "".join(excluded.files[0].brings.doubts)
    for role in (Role.EXECUTOR, Role.POST_VERIFY):
        (call,) = world.calls(role)
        assert shown(call, "DIFF").partition(f"FILE {path}\n")[2].count("1.0.0") >= 30


@pytest.mark.every_case
def test_no_version_is_too_long_to_be_looked_at(world: MockWorld) -> None:
    """In time that grows with the square of the length, this one would take hours."""
    long, digest = f"1.0.1{'.0' * 500_000}x", f"h1:{'A' * 43}="
    base = FORMATS["go.sum"](old)
    _, document = review(world, "go.sum", base, f"{base}example.com/m v{long} {digest}\n")
    (read,) = document.policy.excluded.read_anyway
    assert read.why == "a line of it is longer than 2000 characters"
    known = f"{base}example.com/m v{long} {digest}\n"
    _, document = review(world, "go.sum", known, f"{known}example.com/m v1.0.2 {digest}\n")
    assert document.policy.excluded.files


@pytest.mark.parametrize("name", DEFAULT_EXCLUDE)
def test_no_folder_is_a_lock_file(name: str) -> None:
    assert excluding_glob(DEFAULT_EXCLUDE, f"tools/{name}/helper.py") is None
    assert excluding_glob(DEFAULT_EXCLUDE, f"tools/{name}/{name}") == name
    assert excluding_glob((*DEFAULT_EXCLUDE, "tools/"), f"tools/{name}/helper.py") == "tools/"


def test_of_a_bump_only_the_hunk_is_read_in_which_something_is_unusual(world: MockWorld) -> None:
    _, document = review(world, *attacked("another host"))
    (file,) = document.policy.excluded.files
    assert (file.hunks, len(file.brings.read)) == (30, 1)
    assert document.policy.code_lines == 30, "no line of it counts"
    (call,) = world.calls(Role.EXECUTOR)
    told = shown(call, "NOT_READ")
    assert "pkg-30: nothing at the base comes from https://npm.example.evil" in told
    assert "the host npm.example.evil is new to the file" in told
    (unread,) = [each for each in document.coverage if each.read == "excluded"]
    assert unread.why.endswith("; 1 of its 30 hunks were read all the same")


@pytest.mark.one_in(12)
@pytest.mark.parametrize("path", FORMATS)
@pytest.mark.parametrize("named", [*HOSTS, *SOURCES])
def test_no_host_and_no_source_hides_in_a_word_of_a_package(path: str, named: str) -> None:
    """By number, with and without a port, in the place that the format leaves for words, or for an address."""
    line, head = placed(path, named)
    file = changed(path, FORMATS[path](old), head)
    found = incoming(file, head)
    # Where it is a sentence, all of the file is read.
    assert isinstance(found, str) or any(f"+{line}" in file.hunks[number].lines for number in found.read)


@pytest.mark.parametrize("named", HOSTS)
def test_a_number_of_a_host_that_code_connects_to_is_read(named: str) -> None:
    """What a repository excludes besides lock files runs."""
    base = "".join(f"x{n} = {n}\n" for n in range(60))
    head = base.replace("x30 = 30\n", f'x30 = connect("{named}", port=80)\n')
    found = incoming(changed("generated/client.py", base, head), head)
    assert not isinstance(found, str)
    assert (found.read, len(found.hosts)) == ((0,), 1)


@pytest.mark.parametrize("attack", TWICE)
def test_a_new_version_with_two_hashes_is_read_in_both_places(attack: str) -> None:
    path, base, head = attacked(attack)
    file = changed(path, base, head)
    found = incoming(file, head)
    assert not isinstance(found, str)
    (doubt,) = found.doubts
    name, _, why = doubt.partition(": ")
    assert why == "version 1.1.0 has several hashes in the file"
    read = [file.hunks[number] for number in found.read]
    form = lock_format(path, head)
    assert form is not None
    places = [each for each in lock_entries(form, head) if each.name == name]
    assert len(places) == 2
    for place in places:
        assert any(hunk.new_start <= place.last and place.first < hunk.new_start + hunk.new_count for hunk in read)


@pytest.mark.parametrize("path", VERSIONS)
def test_a_version_of_four_numbers_is_no_host(path: str) -> None:
    head = FORMATS[path](lambda _: "4.8.0.77")
    found = incoming(changed(path, FORMATS[path](lambda _: "4.8.0.76"), head), head)
    assert not isinstance(found, str)
    assert (found.doubts, found.changed) == ((), 60)
    assert "4.8.0.77" not in found.hosts


def test_a_hash_of_go_that_begins_like_an_address_is_none(world: MockWorld) -> None:
    digest = f"h1://{'Za' * 20}A="
    assert hosts_in(f"{digest}@evil.example/x") == ["evil.example"]
    head = FORMATS["go.sum"](bumped).replace(go(bumped).split("\n")[2 * TARGET - 1].split(" ")[2], digest)
    _, document = review(world, "go.sum", FORMATS["go.sum"](old), head)
    assert document.policy.excluded.files[0].brings.doubts == ()


@pytest.mark.parametrize(
    "line, hosts",
    [
        ('"::1@evil.example.com:repo"', ["evil.example.com", "::1"]),
        ("git+::1.1.1.1://evil.example/x", ["evil.example", "1.1.1.1"]),
        ("resolved ::ffff:6.6.6.6", ["6.6.6.6"]),
        ("https://10.0.0.1:80/x 10.0.0.2:80", ["10.0.0.1:80", "10.0.0.2"]),
        ("https://[2001:db8::1]:80/x fe80::1", ["[2001:db8::1", "fe80::1"]),
    ],
)
def test_no_bare_address_hides_the_host_beside_it(line: str, hosts: list[str]) -> None:
    assert hosts_in(line) == hosts


def test_a_file_of_which_nothing_is_shown_names_no_fact(world: MockWorld) -> None:
    world.review()
    (call,) = world.calls(Role.EXECUTOR)
    assert not is_shown(call, "NOT_READ")
