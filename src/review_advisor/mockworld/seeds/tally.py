"""Counting what seeded worlds came to: each fault, whom it struck, and how that review ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from review_advisor.core.outcome.events import KnowledgeStored, Repaired, Voted
from review_advisor.core.policy.surfaces import Surface
from review_advisor.mockworld.promises.played_review import fault_of
from review_advisor.mockworld.seeds.review_lines import PLACES, REFUSED
from review_advisor.mockworld.stories.stage import PlayedReview

Cell = tuple[str, str, str]
"""Fault, role, outcome."""

OUTCOMES = ("approved", "changes_requested", "escalated", "stopped", "broken", "died")
DECIDED = OUTCOMES[:4]
STOPS = ("credit_gone", "auth_gone", "model_not_found", "interrupted")
ENDING = frozenset({*STOPS, "killed"})
HARMLESS = ("garbage", "misshapen", "prose", "two_answers", "slow", "stale_head")
BESIDES = {
    "stale_head": DECIDED,
    "flipped_switch": DECIDED,
    "repair_accepted": DECIDED,
    "repair_refused": DECIDED,
    "repair_withdrawn": DECIDED[:3],
    "pictures_shown": DECIDED,
    "pictures_not_shown": DECIDED,
    "knowledge_stored": DECIDED[:2],
    "council_voted": DECIDED,
    "ran_in_shadow": DECIDED[:3],
    "shadow_mode": DECIDED,
}
"""What can happen that is no fault, and how such a review can end."""
NO_FAULT = "none"
WHOLE = "-"
ENOUGH = 20_000
"""From so many worlds on, a possible cell with nothing in it is a fault of the simulation."""


def cells_of(review: PlayedReview) -> set[Cell]:
    """The cells that a review counts in. A review that was killed or not stored counts for that alone."""
    if review.ended == "broken":
        return {("disk_full", WHOLE, "broken")}
    if review.ended == "died":
        struck = next((asked.call.role.value for asked in review.asked if fault_of(asked) == "killed"), WHOLE)
        inner = any(each.line and each.line.fault == "killed" for asked in review.asked for each in asked.advice)
        return {("killed", "mid_flight" if inner else struck, "died")}
    found: set[Cell] = {(fault, role, review.ended) for fault, role in _faults(review)}
    for happened, name in ((review.stale, "stale_head"), (review.flipped, "flipped_switch")):
        if happened:
            found.add((name, WHOLE, review.ended))
    found = found or {(NO_FAULT, WHOLE, review.ended)}
    return found | {(name, WHOLE, review.ended) for name in _besides(review)}


def _besides(review: PlayedReview) -> set[str]:
    """What happened in a review that is no fault."""
    found = {f"repair_{event.result}" for event in review.events if isinstance(event, Repaired)}
    if any(isinstance(event, KnowledgeStored) for event in review.events):
        found.add("knowledge_stored")
    if any(isinstance(event, Voted) for event in review.events):
        found.add("council_voted")
    if review.asked_in_shadow:
        found.add("ran_in_shadow")
    if review.rules.mode == "shadow":
        found.add("shadow_mode")
    if any(asked.call.surface is Surface.VISUAL_GATE for asked in review.asked):
        found.add("pictures_shown")
    elif review.pictures:
        found.add("pictures_not_shown")
    return found


def _faults(review: PlayedReview) -> Iterator[tuple[str, str]]:
    for asked in review.asked:
        heard = [each.line.fault for each in asked.advice if each.line is not None and each.line.fault]
        yield from ((fault, "mid_flight") for fault in heard)
        fault = fault_of(asked)
        if fault and not ENDING.intersection(heard):  # the call was over before its own fault came
            yield fault, asked.call.role.value


def possible_cells() -> tuple[Cell, ...]:
    """Every cell that can occur, in the order of the table: who is struck how, and what may come of it."""
    found: list[Cell] = []
    for role, fault in sorted(PLACES, key=lambda place: (place[1], place[0])):
        found += [(fault, role, outcome) for outcome in _possible(fault, role)]
    found.append(("killed", WHOLE, "died"))
    found.append(("disk_full", WHOLE, "broken"))
    found += [(NO_FAULT, WHOLE, outcome) for outcome in DECIDED if outcome != "stopped"]
    found += [(name, WHOLE, outcome) for name, outcomes in BESIDES.items() for outcome in outcomes]
    return tuple(found)


def _possible(fault: str, role: str) -> tuple[str, ...]:
    """What of a review that met the fault can come: without its report, a part is never approved."""
    if fault == "killed":
        return ("died",)
    if fault in STOPS:
        return ("stopped",)
    if role == "executor" and fault not in HARMLESS:
        return ("escalated",) if fault in REFUSED else ("escalated", "stopped")
    return DECIDED


def empty_cells(counts: Counter[Cell]) -> tuple[Cell, ...]:
    """The possible cells in which nothing was counted."""
    return tuple(cell for cell in possible_cells() if not counts[cell])


def table(counts: Counter[Cell]) -> str:
    """The counts: a line for each fault and role; a dot where nothing can be."""
    possible = set(possible_cells())
    rows = list(dict.fromkeys((fault, role) for fault, role, _ in [*possible_cells(), *sorted(counts)]))
    lines = [f"{'fault':<20}{'struck':<13}" + "".join(f"{outcome:>19}" for outcome in OUTCOMES)]
    for fault, role in rows:
        cells = [
            str(counts[fault, role, outcome]) if (fault, role, outcome) in possible or counts[fault, role, outcome]
            else "." for outcome in OUTCOMES
        ]  # fmt: skip
        lines.append(f"{fault:<20}{role:<13}" + "".join(f"{cell:>19}" for cell in cells))
    return "\n".join(line.rstrip() for line in lines)
