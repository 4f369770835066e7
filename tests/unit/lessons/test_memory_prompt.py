import json
from datetime import timedelta

from tests.unit.lessons.test_memory_record import AT, record

from review_advisor.agents.prompts import (
    NO_LESSONS,
    Lessons,
    MemoryRecord,
    cited_lessons_section,
    lessons_of,
    lessons_section,
    memory_text,
)
from review_advisor.change.guidelines import BaseText
from review_advisor.safety.fence import fenced


def lessons(*records: MemoryRecord) -> Lessons:
    return lessons_of(BaseText(memory_text(records)), AT)


def test_the_newest_twenty_are_shown_and_the_others_are_named() -> None:
    found = lessons(*(record(f"m{n:02}", created_at=AT + timedelta(days=n)) for n in range(22)))
    assert [each.id for each in found.given] == [f"m{n:02}" for n in range(21, 1, -1)]
    assert [words.split()[2] for words in found.left] == ["m01", "m00"]
    assert "m00" in lessons_section(found, "nonce"), "the executor hears of what it is not shown"


def test_contents_are_bounded_together() -> None:
    found = lessons(*(record(f"m{n:02}", content="x" * 1_000) for n in range(12)))
    assert (len(found.given), len(found.left)) == (8, 4)


def test_what_expired_is_not_shown() -> None:
    assert lessons(record(expires_at=AT)) == NO_LESSONS


def test_without_an_entry_a_prompt_is_as_it_was() -> None:
    assert lessons_section(NO_LESSONS, "nonce") == ""
    assert cited_lessons_section(NO_LESSONS, ["m1"], "nonce") == ""


def test_each_entry_names_its_id_and_what_taught_it() -> None:
    section = lessons_section(lessons(record(taught_by="F3", hits=2)), "nonce")
    (shown,) = json.loads(fenced(section, "MEMORY", "nonce") or "")
    assert shown == {
        "id": "mem_prop_1",
        "type": "fact",
        "content": "The parser is slow.",
        "taught_by": "F3",
        "hits": 2,
    }


def test_an_id_that_begins_another_one_is_not_cited_by_it() -> None:
    found = lessons(record("mem_prop_1"), record("mem_prop_12"))
    section = cited_lessons_section(found, ["It is slow (mem_prop_12)."], "nonce")
    (shown,) = json.loads(fenced(section, "CITED_MEMORY", "nonce") or "")
    assert shown["id"] == "mem_prop_12"


def test_a_judge_sees_what_a_finding_cites_and_nothing_else() -> None:
    found = lessons(record(), record("other"))
    assert cited_lessons_section(found, ["a plain finding"], "nonce") == ""
    section = cited_lessons_section(found, ["It is slow (mem_prop_1)."], "nonce")
    assert "mem_prop_1" in section
    assert "other" not in section


def test_a_memory_that_cannot_be_read_is_named() -> None:
    problem = lessons_of(BaseText(problem="it is a symbolic link"), AT)
    assert problem.left == (".review-advisor/memory.jsonl, which is not read: it is a symbolic link",)
    assert lessons_of(BaseText("{\n"), AT).left == ("line 1 is no JSON of .review-advisor/memory.jsonl",)
