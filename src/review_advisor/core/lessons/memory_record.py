"""One entry of the memory, and the file of all of them: one line of JSON for each, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from review_advisor.core.facts.files.declared import DECLARED
from review_advisor.core.safety.fence import clean
from review_advisor.core.safety.legible import legible, read_json

MEMORY_FILE = f"{DECLARED}/memory.jsonl"
MOST_BYTES = 60_000
"""Bytes of the file: what a review reads of one file of the base, and some room."""
LONGEST_LESSON = 1_000
MemoryType = Literal["fact", "decision", "preference", "episode", "anti_pattern"]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class MemoryRecord(BaseModel):
    """What somebody approved. ``taught_by`` is the finding it comes from; empty if it comes from none.

    ``hits`` and ``false_hits`` count findings that rested on it and were right or wrong.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal["memory-record.v1"] = "memory-record.v1"
    id: str = Field(pattern=r"^[a-z0-9_]{1,60}$")
    type: MemoryType = "fact"
    content: str = Field(min_length=1, max_length=LONGEST_LESSON)
    source_run: str = Field("", max_length=200)
    source_excerpt: str = Field("", max_length=LONGEST_LESSON)
    confidence: float | None = Field(None, ge=0, le=1)
    approved_by: str = Field(min_length=1, max_length=100)
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    tags: tuple[Annotated[str, Field(max_length=40)], ...] = Field((), max_length=10)
    taught_by: str = Field("", max_length=200)
    hits: _Count = 0
    false_hits: _Count = 0

    def holds_at(self, moment: datetime) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or moment < self.expires_at


@dataclass(frozen=True, slots=True)
class ReadMemory:
    """The records of a memory by id, and each line that is none, in words."""

    records: tuple[MemoryRecord, ...] = ()
    problems: tuple[str, ...] = ()


def read_memory(text: str) -> ReadMemory:
    """Every record of the file. Of one id the first counts, and a line that cannot be read is a problem."""
    records: dict[str, MemoryRecord] = {}
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = MemoryRecord.model_validate(legible(read_json(line)))
        except ValidationError as error:
            wrong = ", ".join(sorted({str(each["loc"][0]) for each in error.errors() if each["loc"]}))
            problems.append(f"line {number} is no record: see {wrong}" if wrong else f"line {number} is no record")
        except ValueError:
            problems.append(f"line {number} is no JSON")
        else:
            if record.id in records:
                problems.append(f"line {number} has the id {record.id} again")
            records.setdefault(record.id, record)
    return ReadMemory(tuple(records[name] for name in sorted(records)), tuple(problems))


def memory_text(records: Iterable[MemoryRecord]) -> str:
    """The file of these records. Two people who add one each change different lines of it."""
    return "".join(f"{each.model_dump_json()}\n" for each in sorted(records, key=lambda each: each.id))


def cleaned(text: str) -> str:
    """The text of others as it is stored: without spare blanks, invisible characters shown, secrets gone."""
    return clean(" ".join(text.split()))
