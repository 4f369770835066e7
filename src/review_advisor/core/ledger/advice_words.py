"""What became of the advice of one run in words: each merge with the report, and each end of a recommendation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_HAVE_A_REPORT = ("reported", "escalated", "advice_open")


def told_advice(events: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """A line for each, in their order, as the report has them; none where the review itself consulted nobody.

    ``events`` are those of a run as JSON. What they quote comes from models: whoever prints it makes it safe.
    """
    named = dict(_findings(events))
    return tuple(line for event in events for line in _told(event, named))


def _findings(events: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in events:
        if event.get("kind") in _HAVE_A_REPORT:
            for each in event["report"]["findings"]:
                yield each["id"], f"'{each['title']}' at {each['path']}:{each['line']}"


def _told(event: Mapping[str, Any], named: Mapping[str, str]) -> Iterator[str]:
    if event.get("kind") == "recommended":
        merged = event["merged"]
        changed = [each for each in merged["wanted"] if each["before"] != each["after"]]
        told = [f"{named.get(each['what'], each['what'])}: {each['before']} -> {each['after']}" for each in changed]
        told += [f"refused: {words}" for words in merged["refused"]]
        told += [f"conflict: {merged['conflict']}"] if merged["conflict"] else []
        yield f"recommendation {event['recommendation']}: {'; '.join(told) or 'no change of the report'}"
    elif event.get("kind") == "disposed":
        why = f" ({event['reason']})" if event["reason"] else ""
        yield f"recommendation {event['recommendation']} is {event['disposition']}{why}"
