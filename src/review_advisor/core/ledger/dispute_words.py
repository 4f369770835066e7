"""The disagreements of one run in words: what the executor said, what its advisor answered, and what followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_VERIFIED, _RULED = "verified", "ruled"


def dispute_lines(events: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """A few lines for each judgement that disagrees, in their order; none where nobody disagreed.

    ``events`` are those of a run as JSON. What they quote comes from models: whoever prints it makes it safe.
    """
    lines: list[str] = []
    open_parts: set[tuple[str, int]] = set()
    for event in events:
        part = (str(event.get("surface", "")), int(event.get("shard", 0)))
        if event.get("kind") == _VERIFIED:
            told = list(_judgement(event))
            lines += told
            if told:
                open_parts.add(part)
        elif event.get("kind") == _RULED and part in open_parts:
            open_parts.remove(part)
            lines.append(f"  then: {event['ruling']['move']}, because {event['ruling']['because']}")
    return tuple(lines)


def _judgement(event: Mapping[str, Any]) -> Iterator[str]:
    judged = event["judged"]
    result = judged["result"]
    if result["verdict"] != "VETO" and not result["disagreements"]:
        return
    number = int(judged["number"])
    part = f", part {event['shard'] + 1}" if event.get("shard") else ""
    verdict = "vetoes" if result["verdict"] == "VETO" else "confirms"
    said = f"the executor says {judged['executor_verdict']}, the advisor {verdict} it"
    yield f"{event['surface']}{part}, attempt {number + 1}: {said}: {result['reasoning'] or 'no reason given'}"
    for at, each in enumerate(result["disagreements"], start=1):
        yield f"  d{number}.{at}, {each['severity']}: {each['executor_claim']}; answer: {each['advisor_assessment']}"
    if result.get("suggested_fix_direction"):
        yield f"  asked for: {result['suggested_fix_direction']}"
