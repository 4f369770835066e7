"""What the page of a run says of a call, of a role that did not run, and of a review's beginning."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from review_advisor.ledger.page_entries import call_json, entry_of
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, KnowledgeStored, PolicyFrozen, RoleSkipped

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
CALL = CallEnded(
    at=AT,
    surface=Surface.PR_REVIEW,
    number=1,
    role=Role.EXECUTOR,
    advisor="executor",
    ended="lost",
    reason="timeout",
    detail="it was too slow",
    notes=("a was cut", "b was cut"),
    requested_model="haiku",
    session_id="s-1",
    tool_failures=2,
    kept=True,
)


def test_a_call_is_told_with_why_and_what_was_kept() -> None:
    entry = entry_of(CALL)
    assert entry.facts == (
        ("why", "timeout"),
        ("cut or set right", "a was cut; b was cut"),
        ("reply", "kept by an earlier run of this review, which paid for it"),
        ("failed tools in a row", "2"),
        ("session", "s-1"),
    )
    assert (entry.blocks, entry.call) == ((("", "it was too slow"),), CALL)
    plain = entry_of(replace(CALL, kept=False, tool_failures=0, notes=(), reason="", session_id=""))
    assert {value for _, value in plain.facts} == {""}


def test_a_call_is_told_with_its_turns() -> None:
    assert call_json(replace(CALL, turns=7))["turns"] == 7


@pytest.mark.parametrize(
    "ended, words, tone",
    [
        ("answered", "answered", ""),
        ("lost", "gave no answer", "warn"),
        ("refused", "was not asked", "warn"),
        ("cut_short", "was cut short", "warn"),
        ("stopped", "could not be asked", "warn"),
    ],
)
def test_the_end_of_a_call_has_its_words(ended: Any, words: str, tone: str) -> None:
    entry = entry_of(replace(CALL, ended=ended))
    assert entry.title.endswith(f" {words}")
    assert entry.tone == tone
    assert entry_of(replace(CALL, ended=ended, blind=True)).title == f"{entry.title}, of the diff alone"


@pytest.mark.parametrize("switch, told", [("HYDRAFLOW_OFF", "HYDRAFLOW_OFF"), (None, "")])
def test_a_role_that_did_not_run_names_its_switch(switch: str | None, told: str) -> None:
    skipped = RoleSkipped(
        at=AT, surface=Surface.PR_REVIEW, role=Role.PRE_FLIGHT, because=("it is off",), disabled_by=switch
    )
    entry = entry_of(skipped)
    assert (entry.facts, entry.blocks) == ((("switched off by", told),), (("Why", ("it is off",)),))


def test_a_stored_fact_says_where_it_is() -> None:
    stored = KnowledgeStored(
        at=AT, surface=Surface.WIKI_INGEST, title="Values", name="values.md", not_in_repository="no folder"
    )
    entry = entry_of(stored)
    assert entry.title == "Stored for the wiki: Values"
    assert entry.facts == (("as", "values.md"), ("not in the repository", "no folder"))


def test_a_review_begins_with_what_it_is_about() -> None:
    first = MockWorld().review().events[0]
    assert isinstance(first, PolicyFrozen)
    since = replace(first, scope=replace(first.scope, since="c" * 40), shards=3, priced_by="prices.toml")
    budgets = first.policy.budgets
    assert entry_of(since).facts == (
        ("files", str(len(first.files))),
        ("changed lines of code", str(first.policy.code_lines)),
        ("parts", "3"),
        ("blast radius", first.policy.blast.radius.value),
        ("budget", f"${budgets.max_usd:.2f}, {budgets.max_consults} consults"),
        ("judged since", "c" * 40),
        ("own prices", "prices.toml"),
    )
