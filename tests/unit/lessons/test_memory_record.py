from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.agents.prompts import MemoryRecord, memory_text, read_memory

AT = datetime(2026, 5, 1, tzinfo=UTC)


def record(name: str = "mem_prop_1", **told: Any) -> MemoryRecord:
    return MemoryRecord.model_validate(
        {"id": name, "content": "The parser is slow.", "approved_by": "ada", "created_at": AT} | told
    )


@given(st.permutations(range(6)))
def test_the_file_of_the_same_records_is_the_same_in_any_order(order: list[int]) -> None:
    text = memory_text(record(f"m{number}") for number in order)
    assert text == memory_text(record(f"m{number}") for number in range(6))
    assert memory_text(read_memory(text).records) == text


@given(st.text())
def test_no_file_breaks_its_reader(text: str) -> None:
    found = read_memory(text)
    assert len(found.records) + len(found.problems) == len([line for line in text.split("\n") if line.strip()])


@pytest.mark.parametrize(
    "line, problem",
    [
        ("{", "line 1 is no JSON"),
        ("[]", "line 1 is no record"),
        ('{"id": "../x", "content": "", "approved_by": "ada"}', "line 1 is no record: see content, created_at, id"),
        (memory_text([record()]).replace("ada", "a" * 101), "line 1 is no record: see approved_by"),
    ],
)
def test_a_line_that_is_no_record_is_named(line: str, problem: str) -> None:
    assert read_memory(line).problems == (problem,)


def test_of_one_id_the_first_counts_and_the_second_is_named() -> None:
    found = read_memory(memory_text([record()]) + memory_text([record(content="Another.")]))
    assert [each.content for each in found.records] == ["The parser is slow."]
    assert found.problems == ("line 2 has the id mem_prop_1 again",)


def test_a_record_holds_until_it_expires() -> None:
    assert record().holds_at(AT)
    assert record(expires_at=AT + timedelta(days=1)).holds_at(AT)
    assert not record(expires_at=AT).holds_at(AT)
