"""Where a quote stands: every place, the nearest, which of how many, and in time that is linear in file and quote."""

import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import steps

from review_advisor.agents.answers import KnowledgeEntry, ReportedFinding, ReviewReport
from review_advisor.agents.evidence import Knowledge, Place, Places, ShownChange, occurrences, sides
from review_advisor.change.change import FileChange, Hunk, Status
from review_advisor.change.redaction import Redactor

WORDS = st.sampled_from(["a", "b", "ab", "ba", "aa"])
LINES = st.lists(st.tuples(st.sampled_from(" +-"), WORDS), max_size=24)


def bare(text: str) -> str:
    return " ".join(text.split())


def read(lines: Sequence[tuple[str, str]]) -> Hunk:
    return Hunk(1, 0, 1, 0, "", tuple(sign + text for sign, text in lines))


def by_hand(lines: Sequence[tuple[str, str]], quote: Sequence[str], other: str) -> list[tuple[int, int]]:
    """Each place's first and last line on one side, by looking at every window of it. ``other`` marks the other."""
    side = [(sign, text) for sign, text in lines if sign != other]
    found = []
    for start in range(len(side) - len(quote) + 1):
        window = side[start : start + len(quote)]
        if "\n".join(quote) in "\n".join(text for _, text in window) and _ends(window, quote):
            changed = [start + at + 1 for at, (sign, _) in enumerate(window) if sign != " "]
            if changed and other == "-":
                found.append((start + 1, start + len(quote)))
            elif changed:
                found.append((changed[0], changed[-1]))
    return found


def _ends(window: Sequence[tuple[str, str]], quote: Sequence[str]) -> bool:
    texts = [text for _, text in window]
    if len(quote) == 1:
        return quote[0] in texts[0]
    return texts[0].endswith(quote[0]) and texts[1:-1] == list(quote[1:-1]) and texts[-1].startswith(quote[-1])


def spans(places: Places, last: int) -> list[tuple[int, int]]:
    found = dict.fromkeys((each.line, each.end_line) for each in map(places.nearest, range(last + 1)))
    return list(found)


@given(LINES, st.lists(WORDS, min_size=1, max_size=5))
def test_every_place_is_found_and_no_other(lines: list[tuple[str, str]], quote: list[str]) -> None:
    for side, other in zip(sides([read(lines)], bare), "-+", strict=True):
        places, expected = side.places(quote), by_hand(lines, quote, other)
        assert len(places) == len(expected)
        if expected:
            assert spans(places, len(lines) + 1) == list(dict.fromkeys(expected))
            ranks = [places.rank(places.nearest(line)) for line in range(len(lines) + 2)]
            assert sorted(set(ranks)) == list(range(1, len(expected) + 1))


@pytest.mark.every_case
def test_every_place_is_found_in_each_small_file() -> None:
    """Chance seldom makes a file in which a quote of several lines stands twice."""
    quotes = [quote for size in (2, 3) for quote in product(["a", "b", "ab"], repeat=size)]
    for texts in product(["a", "b", "ab", "ba"], repeat=5):
        lines = [("+", text) for text in texts]
        now, _ = sides([read(lines)], bare)
        for quote in quotes:
            places, expected = now.places(quote), by_hand(lines, quote, "-")
            assert len(places) == len(expected)
            assert not expected or spans(places, 6) == expected


def test_of_two_places_as_near_the_first_counts() -> None:
    now, _ = sides([read([("+", "x"), ("+", "y"), ("+", "x")])], bare)
    assert [now.places(["x"]).nearest(line).line for line in (0, 1, 2, 3, 9)] == [1, 1, 1, 3, 3]


# --- memory -----------------------------------------------------------------------------------------------------------


def test_the_sides_of_a_large_file_take_little_more_than_its_text() -> None:
    """Objects for its lines would take four times as much."""
    hunk = read([("+", f"the value of number {number} is {number * 7}") for number in range(20_000)])
    tracemalloc.start()
    try:
        both = sides([hunk], bare)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(both[0].places(["number 7 is 49"])) == 1
    assert held < 2 * len(hunk.text)


def test_parts_that_are_judged_side_by_side_read_the_lines_of_a_file_once() -> None:
    read_lines = Counter[str]()
    ready = Barrier(4)

    class Reading(Redactor):
        def redact(self, text: str) -> str:
            read_lines[text] += 1
            return text

    hunk = read([("+", f"line number {number}") for number in range(5_000)])
    whole = ShownChange([FileChange(Status.ADDED, "a.txt", added=5_000, hunks=(hunk,))], redactor=Reading())

    def learn(_part: int) -> bool:
        ready.wait()
        entry = KnowledgeEntry(title="t", body="b", path="a.txt", evidence="line number 7")
        return isinstance(whole.learned(entry), Knowledge)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(learn, range(4)))
    assert read_lines["line number 4000"] == 1


# --- time -------------------------------------------------------------------------------------------------------------


class Counted(Sequence[int]):
    """A sequence that counts how often one of its members is looked at."""

    def __init__(self, members: Sequence[int]) -> None:
        self.members, self.looks = members, 0

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, at: Any) -> Any:
        self.looks += 1
        return self.members[at]


@pytest.mark.parametrize("pattern", [[0] * 300, [0] * 299 + [1], [1] + [0] * 299, [0, 1] * 150])
def test_a_pattern_is_looked_for_in_one_pass(pattern: list[int]) -> None:
    sequence, wanted = Counted([0] * 3_000), Counted(pattern)
    list(occurrences(sequence, wanted))
    assert sequence.looks <= len(sequence) + 1
    assert wanted.looks <= 4 * (len(sequence) + len(wanted))


def test_of_many_places_the_nearest_is_found_by_looking_at_few() -> None:
    numbers = Counted(range(4_000))
    places = Places(range(4_000), numbers, lambda start: Place(start, start, start, removed=False))
    assert places.nearest(3_900).line == 3_900
    assert numbers.looks <= 20


def equal_lines(size: int, findings: int = 1) -> Callable[[], object]:
    """Findings in a file of equal lines, whose quotes are a seventh of it."""
    file = FileChange(Status.ADDED, "a.py", hunks=(Hunk(0, 0, 1, size, "", ("+x = 1",) * size),))
    quote = "\n".join(["x = 1"] * (size // 7))
    remarks = tuple(
        ReportedFinding(path="a.py", line=number, evidence=quote, severity="low", category="c", title="t", confidence=1)
        for number in range(findings)
    )
    report = ReviewReport(verdict="approve", summary="s", confidence=1, findings=remarks)
    return lambda: ShownChange((file,)).check(report)


def test_the_time_to_look_a_quote_up_grows_as_the_file_and_the_quote_do() -> None:
    once, twice = steps(equal_lines(1_500)), steps(equal_lines(3_000))  # no other test has files of these sizes
    assert twice < 2.5 * once


def test_many_findings_with_one_quote_take_one_search() -> None:
    one, many = steps(equal_lines(1_400)), steps(equal_lines(1_400, findings=100))
    assert many < 3 * one
