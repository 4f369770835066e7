"""What becomes of a proposal for the memory of a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from review_advisor.agents.answers import complaints
from review_advisor.agents.prompts import MEMORY_FILE, MOST_BYTES, MemoryRecord, ReadMemory, cleaned, memory_text

_WORDS = ("content", "source_run", "source_excerpt")


class MemoryRefusedError(Exception):
    """The memory stays as it is. One sentence for the user."""


def approved(
    proposal: Mapping[str, Any], by: str, taught_by: str, now: datetime, redact: Callable[[str], str]
) -> MemoryRecord:
    """The record that an approved proposal becomes. Raises ``MemoryRefusedError``, also where it holds a secret.

    ``taught_by`` is the finding that the user names; empty: the proposal's own.
    """
    taught_by = taught_by or str(proposal.get("source_finding") or "")
    said = {name: str(proposal.get(name) or "") for name in _WORDS}
    said["source_run"] = said["source_run"] or str(proposal.get("run_id") or "")
    named = proposal.get("tags")
    tags = [str(tag) for tag in named] if isinstance(named, list) else []
    for text in (*said.values(), *tags, by, taught_by):
        if redact(text) != text:
            raise MemoryRefusedError("The proposal holds what looks like a secret: take it out and propose it again.")
    try:
        return MemoryRecord.model_validate(
            {
                **{name: cleaned(text) for name, text in said.items()},
                "id": proposal.get("id"),
                "type": proposal.get("type") or "fact",
                "confidence": proposal.get("confidence"),
                "approved_by": cleaned(by),
                "created_at": now,
                "expires_at": _moment(proposal.get("expires_at")),
                "tags": tuple(map(cleaned, tags)),
                "taught_by": cleaned(taught_by),
            }
        )
    except ValidationError as error:
        raise MemoryRefusedError(f"The proposal is no record of the memory: {complaints(error)}.") from None


def with_record(memory: ReadMemory, record: MemoryRecord) -> str:
    """The file with this record. Raises ``MemoryRefusedError`` for an id that is there, and for a full memory."""
    if any(each.id == record.id for each in memory.records):
        raise MemoryRefusedError(f"{record.id} is in {MEMORY_FILE} already.")
    text = memory_text((*memory.records, record))
    if len(text.encode()) > MOST_BYTES:
        raise MemoryRefusedError(f"{MEMORY_FILE} has room for {MOST_BYTES:,} bytes: reject entries first.")
    return text


def with_uses(memory: ReadMemory, counted: Mapping[str, tuple[int, int]]) -> str:
    """The file with these hits and false hits, each pair from where more findings are known.

    That may be another ledger, which the file was counted by. Of the same number of findings the pair counts that knows
    more of them to be wrong.
    """

    def told(each: MemoryRecord) -> MemoryRecord:
        pairs = ((each.hits, each.false_hits), counted.get(each.id, (0, 0)))
        hits, false_hits = max(pairs, key=lambda pair: (sum(pair), pair[1]))
        return each.model_copy(update={"hits": hits, "false_hits": false_hits})

    return memory_text(map(told, memory.records))


def without_record(memory: ReadMemory, name: str) -> str:
    """The file without the record of this id. Raises ``MemoryRefusedError`` if there is none."""
    _named(memory, name)
    return memory_text(each for each in memory.records if each.id != name)


def with_expired(memory: ReadMemory, name: str, now: datetime) -> str:
    """The file in which this record has expired: it stays, and no prompt shows it. Raises ``MemoryRefusedError``."""
    if not _named(memory, name).holds_at(now):
        raise MemoryRefusedError(f"{name} has expired already.")
    ended = {"expires_at": now}
    return memory_text(each.model_copy(update=ended) if each.id == name else each for each in memory.records)


def _named(memory: ReadMemory, name: str) -> MemoryRecord:
    found = next((each for each in memory.records if each.id == name), None)
    if found is None:
        raise MemoryRefusedError(f"{MEMORY_FILE} has no entry {cleaned(name)}.")
    return found


def _moment(told: object) -> datetime | None:
    if told in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(told))
    except ValueError:
        raise MemoryRefusedError("The proposal's expires_at is no date: write it as 2027-01-31.") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
