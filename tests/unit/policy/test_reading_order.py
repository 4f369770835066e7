"""What is read first of a change that is too large for one call."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.shards import shards
from review_advisor.core.policy.policy import Rules
from review_advisor.core.policy.reading_order import most_dangerous_first
from review_advisor.mockworld.world import edited, renamed

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
