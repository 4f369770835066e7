"""What the executor is shown after a push, and what is read first of a change that is too large for one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from review_advisor.change.change import Change, Earlier, EarlierFinding, FileChange, Status
from review_advisor.change.shards import shards
from review_advisor.mockworld.world import MockWorld, edited, renamed
from review_advisor.policy.policy import Rules
from review_advisor.policy.risk import Blast, BlastRadius
from review_advisor.policy.scope import (
    WHOLE,
    Scope,
    files_to_show,
    most_dangerous_first,
    policy_digest,
    review_scope,
    unseen_files,
)

POLICY = MockWorld().review().policy
FIRST, SECOND = edited("a.py"), FileChange(Status.RENAMED, "new.py", old_path="old.py")
EARLIER = Earlier("c" * 40, "b" * 40, policy_digest(POLICY), True, True, frozenset({"a.py"}), rules_sha="d" * 40)
CHANGE = Change(
    "pr-7", base_sha="b" * 40, head_sha="a" * 40, files=(FIRST, SECOND), rules_sha="d" * 40, earlier=EARLIER
)


def after(**earlier: Any) -> Change:
    return replace(CHANGE, earlier=replace(EARLIER, **earlier))


def test_the_first_review_is_of_the_whole_change() -> None:
    first = replace(CHANGE, earlier=None)
    assert review_scope(first, POLICY, 1) == WHOLE == Scope(None, ("this is the first review",))
    assert unseen_files(first) == files_to_show(first, Scope("c" * 40, ())) == (FIRST, SECOND)


def test_a_push_after_a_complete_review_brings_only_what_differs() -> None:
    scope = review_scope(CHANGE, POLICY, 1)
    assert scope == Scope("c" * 40, ("only the head has moved since a complete review",))
    assert files_to_show(CHANGE, scope) == (FIRST,)


HIGH = replace(POLICY, blast=Blast(BlastRadius.HIGH, ("more",)))
WHY_WHOLE: list[tuple[Change, Any, int, str]] = [
    (after(is_ancestor=False), POLICY, 1, "the history was rewritten since the last review"),
    (after(base_sha="e" * 40), POLICY, 1, "the base has moved since the last review"),
    (after(rules_sha="e" * 40), POLICY, 1, "the commit whose configuration holds is another one"),
    (after(rules_sha=""), POLICY, 1, "the commit whose configuration holds is another one"),
    (replace(CHANGE, rules_sha=None), POLICY, 1, "the commit whose configuration holds is another one"),
    (after(policy_digest="0" * 16), POLICY, 1, "the policy has changed since the last review"),
    (after(complete=False), POLICY, 1, "the last review was not complete"),
    (CHANGE, HIGH, 1, "the blast radius is high"),
    (CHANGE, POLICY, 2, "the change does not fit one call"),
    (after(paths=frozenset()), POLICY, 1, "nothing in the change differs since the last review"),
]


@pytest.mark.parametrize("change, policy, shards, why", WHY_WHOLE, ids=[row[3] for row in WHY_WHOLE])
def test_whatever_else_has_changed_the_whole_change_is_shown_again(
    change: Change, policy: Any, shards: int, why: str
) -> None:
    scope = review_scope(change, policy, shards)
    assert scope == Scope(None, (why,))
    assert files_to_show(change, scope) == (FIRST, SECOND)


def test_no_configuration_then_and_now_is_the_same_one() -> None:
    unknown = replace(after(rules_sha=""), rules_sha=None)
    assert review_scope(unknown, POLICY, 1).since == "c" * 40


@pytest.mark.parametrize("path", ["new.py", "old.py"])
def test_a_renamed_file_differs_under_either_name(path: str) -> None:
    assert unseen_files(after(paths=frozenset({path}))) == (SECOND,)


@pytest.mark.parametrize("status, shown", [("open", (FIRST, SECOND)), ("dismissed", (FIRST,))])
def test_a_file_with_an_open_finding_is_shown_again(status: Any, shown: tuple[FileChange, ...]) -> None:
    change = after(findings=(EarlierFinding("f-1", "new.py", 1, "t", "low", status),))
    assert files_to_show(change, Scope("c" * 40, ())) == shown


DOCS, TEST, LOCK, CODE = "a/notes.md", "a/test_it.py", "a/uv.lock", "z/app.py"


def order(*files: str) -> list[str]:
    change = Change("x", files=tuple(edited(path) for path in files))
    return [file.path for file in most_dangerous_first(change, Rules()).files]


def test_critical_files_come_first_then_code_then_what_runs_and_documents_last() -> None:
    assert order(DOCS, TEST, LOCK, CODE, "z/auth/login.py") == ["z/auth/login.py", CODE, LOCK, TEST, DOCS]


def test_the_bots_own_implementation_is_read_first_whatever_kind_it_is() -> None:
    assert order(DOCS, CODE, "CLAUDE.md") == ["CLAUDE.md", CODE, DOCS]


def test_equally_dangerous_files_keep_their_order() -> None:
    assert order("b.py", "a.py", "c.py") == ["b.py", "a.py", "c.py"]


def test_a_file_that_is_moved_out_of_a_critical_folder_is_critical() -> None:
    change = Change("x", files=(edited(CODE), renamed("auth/login.py", "notes.md")))
    assert [file.path for file in most_dangerous_first(change, Rules()).files] == ["notes.md", CODE]


def test_every_file_is_sent_whatever_the_order() -> None:
    change = Change("x", files=tuple(edited(path) for path in (DOCS, CODE, TEST)))
    there = most_dangerous_first(change, Rules())
    assert sorted(file.path for file in there.files) == sorted(file.path for file in change.files)
    parts, _ = shards(replace(there), 180)
    assert [part.files[0].path for part in parts] == [CODE, TEST, DOCS]
