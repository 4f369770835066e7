"""What is asked of runs by several questions, as SQL on the table of runs: each condition has its one home here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from review_advisor.core.ledger.moments import microseconds
from review_advisor.core.ledger.periods import Period

JUDGED = "status NOT IN ('stopped', 'unfinished', 'nothing_to_review')"
"""It ended with a verdict."""
PAID_ELSEWHERE = """
    (EXISTS (
        SELECT 1 FROM chains JOIN calls ON calls.chain = chains.id
        WHERE chains.run_id = kept.paid_by AND calls.reply = kept.reply AND NOT calls.kept
    ) OR EXISTS (
        SELECT 1 FROM kept AS before WHERE before.paid_by = kept.paid_by AND before.reply = kept.reply
        AND (before.chain, before.number) < (kept.chain, kept.number)
    ))
"""
"""Of a row of ``kept``: another run counts for its reply, the one that paid for it or else the first that got it."""


def statement(*words: str) -> str:
    """SQL made of words of our own, such as the names of tables. Values go into it as parameters only."""
    return " ".join(words)


def of_repository(mark: str = "?") -> str:
    """Of the repository whose name is bound to ``mark``: GitHub takes any spelling, so a ledger may hold several."""
    return f"repository IN (SELECT id FROM repositories WHERE name = {mark} COLLATE NOCASE)"  # noqa: S608 (our own names)


def within(period: Period) -> dict[str, Any]:
    """What a period asks: each condition with the value for its mark; None asks for nothing."""
    return {
        "chain >= ?": period.since and microseconds(period.since),
        "chain < ?": period.until and microseconds(period.until),
        of_repository(): period.repository,
    }


def all_of(asked: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The conditions that ask for something as one, and the values for its marks."""
    given = {condition: bindable(value) for condition, value in asked.items() if value is not None}
    return " AND ".join(given) or "1", list(given.values())


def where_within(period: Period) -> tuple[str, list[Any]]:
    """The same for a period."""
    return all_of(within(period))


def bindable(value: Any) -> Any:
    """Words of a command line may hold half characters, which no database takes."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
