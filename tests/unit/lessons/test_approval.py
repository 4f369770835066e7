from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.lessons.test_memory_record import AT, record

from review_advisor.agents.prompts import MemoryRecord, ReadMemory, memory_text, read_memory
from review_advisor.safety.secrets import redact
from review_advisor.tasks.memory import (
    MemoryRefusedError,
    approved,
    with_expired,
    with_record,
    with_uses,
    without_record,
)

PROPOSAL = {"id": "mem_prop_2", "type": "decision", "content": "Use  UTC.", "source_run": "run-1", "tags": ["time"]}


def decided(by: str = "ada", finding: str = "F1", **told: Any) -> MemoryRecord:
    return approved(PROPOSAL | told, by, finding, AT, redact)


def test_an_approved_proposal_says_who_approved_it_and_what_taught_it() -> None:
    made = decided(expires_at="2027-01-31", approved_by="the model itself", hits=9)
    assert (made.content, made.approved_by, made.taught_by, made.hits) == ("Use UTC.", "ada", "F1", 0)
    assert (made.created_at, made.expires_at) == (AT, datetime(2027, 1, 31, tzinfo=UTC))
    (read,) = read_memory(with_record(ReadMemory(), made)).records
    assert read == made


@pytest.mark.parametrize("place", ["content", "source_excerpt", "tags", "source_run"])
def test_a_proposal_with_a_secret_is_refused(place: str) -> None:
    secret = "ghp_" + "a1B2" * 9
    with pytest.raises(MemoryRefusedError, match="looks like a secret"):
        approved(PROPOSAL | {place: [secret] if place == "tags" else secret}, "ada", "", AT, redact)


@pytest.mark.parametrize(
    "told",
    [
        {"id": "../../x"},
        {"id": None},
        {"type": "law"},
        {"content": ""},
        {"content": "x" * 1_001},
        {"confidence": 2},
        {"expires_at": "soon"},
        {"tags": ["t"] * 11},
        {"by": ""},
    ],
)
def test_what_is_no_record_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(MemoryRefusedError, match=r"^The proposal.+\.$"):
        decided(**told)


def test_what_is_stored_is_visible_and_one_line() -> None:
    text = with_record(ReadMemory(), decided(content="a\u202eb\nc\u2028d"))
    assert text.count("\n") == 1
    assert "\u202e" not in text
    assert "<U+202E>" in text


def test_an_id_is_there_once() -> None:
    with pytest.raises(MemoryRefusedError, match="mem_prop_1 is in"):
        with_record(ReadMemory((record(),)), record())


def test_a_full_memory_takes_no_more() -> None:
    full = ReadMemory(tuple(record(f"m{number}", content="x" * 1_000) for number in range(47)))
    with pytest.raises(MemoryRefusedError, match="reject entries first"):
        with_record(full, record(source_excerpt="x" * 1_000, content="y" * 1_000))


def test_a_rejected_entry_goes_and_an_expired_one_stays() -> None:
    memory = ReadMemory((record(), record("other")))
    assert without_record(memory, "other") == memory_text([record()])
    (ended, _) = read_memory(with_expired(memory, "mem_prop_1", AT)).records
    assert not ended.holds_at(AT)
    with pytest.raises(MemoryRefusedError, match="has no entry x"):
        without_record(memory, "x")
    with pytest.raises(MemoryRefusedError, match="has no entry x"):
        with_expired(memory, "x", AT)
    with pytest.raises(MemoryRefusedError, match="expired already"):
        with_expired(ReadMemory((ended,)), ended.id, AT)


PAIR = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(PAIR, PAIR)
def test_hits_and_false_hits_are_always_of_the_same_findings(known: tuple[int, int], counted: tuple[int, int]) -> None:
    def after(first: tuple[int, int], then: tuple[int, int]) -> tuple[int, int]:
        entry = record(hits=first[0], false_hits=first[1])
        (told,) = read_memory(with_uses(ReadMemory((entry,)), {entry.id: then})).records
        return told.hits, told.false_hits

    pair = after(known, counted)
    assert pair in (known, counted)
    assert sum(pair) == max(sum(known), sum(counted)), "another ledger may know of more"
    assert pair == after(counted, known) == after(pair, counted)


def test_what_was_right_and_is_proved_wrong_is_wrong() -> None:
    entry = record(hits=2)
    (told,) = read_memory(with_uses(ReadMemory((entry,)), {entry.id: (0, 2)})).records
    assert (told.hits, told.false_hits) == (0, 2)
