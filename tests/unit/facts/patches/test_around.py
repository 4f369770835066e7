"""What stands beside a part's diff: chosen by nearness, within its room, and counted where it is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change.around import (
    LEAST_ROOM,
    LONGEST_USE,
    MOST_ROOM,
    MOST_USES,
    UseCollector,
    changed_names,
    definitions_around,
    most_room,
    passages_within,
    room_for,
    uses_within,
)
from review_advisor.change.change import FileChange, Hunk, Status

BODY = [f"    step_{number}()" for number in range(1, 11)]
TEXT = "\n".join(["import os", "", "def sell(cart):", *BODY, "", "def other():", "    pass", ""])


def changed(line: int, *lines: str, path: str = "src/shop.py") -> FileChange:
    """A file with one hunk at that line of the head."""
    shown = sum(each[:1] in ("+", " ") for each in lines)
    hunk = Hunk(line, shown, line, shown, "", lines)
    return FileChange(Status.MODIFIED, path, added=1, hunks=(hunk,))


FIFTH = changed(7, " " + BODY[3], "+" + BODY[4], " " + BODY[5])


def test_the_rest_of_a_definition_is_shown_and_the_hunk_is_not_shown_twice() -> None:
    passages, left = passages_within([definitions_around(FIFTH, TEXT)], 10_000)
    assert [(each.start, each.end) for each in passages] == [(3, 6), (10, 13)]
    assert passages[0].lines == ("def sell(cart):", *BODY[:3])
    assert left == 0


def test_without_room_the_signature_comes_before_the_body_and_the_rest_is_counted() -> None:
    passages, left = passages_within([definitions_around(FIFTH, TEXT)], 80)
    assert [each.lines for each in passages] == [("def sell(cart):",)]
    assert left == 7
    assert passages_within([definitions_around(FIFTH, TEXT)], 0) == ((), 8)


def test_of_a_long_definition_the_lines_near_a_hunk_are_shown() -> None:
    text = "\n".join(["def sell():", *(f"    step_{number}()" for number in range(2, 1_001))])
    passages, left = passages_within([definitions_around(changed(500, "+    step_500()"), text)], 100_000)
    assert [(each.start, each.end) for each in passages] == [(1, 1), (460, 499), (501, 540)]
    assert left == 1_000 - 82


def test_of_a_long_class_only_its_first_line_is_shown() -> None:
    text = "\n".join(["class Shop:", *(f"    field_{number} = 1" for number in range(2, 101))])
    passages, left = passages_within([definitions_around(changed(50, "+    field_50 = 1"), text)], 100_000)
    assert [(each.start, each.end) for each in passages] == [(1, 1)]
    assert left == 98


def test_windows_line_ends_are_not_shown() -> None:
    passages, _ = passages_within([definitions_around(FIFTH, TEXT.replace("\n", "\r\n"))], 10_000)
    assert passages[0].lines[0] == "def sell(cart):"


def test_a_definition_line_of_100_kb_is_cut_with_a_word() -> None:
    text = "def sell(" + "a, " * 33_334 + "):\n    pay()\n    pack()\n"
    passages, _ = passages_within([definitions_around(changed(3, "+    pack()"), text)], 10_000)
    assert max(len(line) for line in passages[0].lines) < 400
    assert "more characters]" in passages[0].lines[0]


@given(st.integers(0, 3_000), st.integers(1, 12), st.integers(0, 400))
def test_no_passage_takes_more_than_its_room(room: int, line: int, width: int) -> None:
    text = "\n".join(each + "x" * width for each in TEXT.split("\n"))
    passages, left = passages_within([definitions_around(changed(line, "+x"), text)], room)
    assert sum(len(each) + 1 for passage in passages for each in passage.lines) <= room
    assert left + sum(len(each.lines) for each in passages) <= len(text.split("\n"))


def test_names_that_went_or_changed_come_first_and_new_ones_last() -> None:
    file = changed(
        7,
        *("-def gone(a):", "+def altered(a, b):", "-def altered(a):", "+def fresh():", "+def __init__(self):"),
        *("+def -e():", "+def ab():", "+def naïve():"),
    )
    within = replace(definitions_around(FIFTH, TEXT), path="src/shop.py")
    assert changed_names([file], [within]) == ("gone", "altered", "sell", "fresh")


def test_nobody_looks_for_what_a_test_or_a_lock_file_defines() -> None:
    for path in ("tests/test_shop.py", "poetry.lock", "README.md"):
        assert changed_names([changed(1, "+def sell():", path=path)], []) == ()


def collected(*lines: tuple[str, int, str], names: tuple[str, ...] = ("sell", "buy")) -> UseCollector:
    collector = UseCollector(names, ["src/shop/till.py"], lambda path, line: (path, line) == ("src/shop/till.py", 1))
    for each in lines:
        collector.add(*each)
    return collector


def test_the_nearest_uses_come_first_code_before_tests_before_prose() -> None:
    found = collected(
        ("docs/a.md", 1, "sell"),
        ("tests/test_a.py", 1, "sell"),
        ("web/far.js", 1, "sell"),
        ("src/shop/cart.py", 9, "  sell(1)  "),
        ("src/shop/till.py", 1, "shown in the diff: sell"),
        ("src/shop/till.py", 7, "sell"),
    ).uses()
    (sell,) = found
    assert [(use.path, use.line) for use in sell.shown] == [
        ("src/shop/till.py", 7),
        ("src/shop/cart.py", 9),
        ("web/far.js", 1),
        ("tests/test_a.py", 1),
        ("docs/a.md", 1),
    ]
    assert (sell.shown[1].text, sell.more) == ("sell(1)", 0)


@pytest.mark.parametrize("path", ["poetry.lock", "dist/a.min.js", "vendor/a.go"])
def test_a_use_that_nobody_wrote_by_hand_is_none(path: str) -> None:
    assert collected((path, 1, "sell()")).uses() == ()


def test_a_part_of_a_word_is_no_use() -> None:
    assert collected(("a.py", 1, "resell sell_all sells"), ("a.py", 2, "x.sell(), buy")).uses()[0].shown[0].line == 2


def test_a_name_in_100_000_places_is_counted_and_a_few_are_kept() -> None:
    collector = collected(*(("a.py", line, "sell()") for line in range(1, 100_001)))
    (sell,) = collector.uses()
    assert [use.line for use in sell.shown] == list(range(1, MOST_USES + 1))
    assert sell.more == 100_000 - MOST_USES


def test_a_long_line_is_counted_and_not_shown() -> None:
    (sell,) = collected(("a.js", 1, "sell();" * LONGEST_USE)).uses()
    assert (sell.shown, sell.more) == ((), 1)


@given(st.integers(0, 800))
def test_uses_keep_within_their_room_and_the_others_are_counted(room: int) -> None:
    every = collected(*((f"src/{n}.py", n, f"{name}({n})") for n in range(1, 6) for name in ("sell", "buy"))).uses()
    kept, left = uses_within(every, room)
    assert sum(len(use.path) + len(use.text) for uses in kept for use in uses.shown) <= room
    assert left + sum(uses.more + len(uses.shown) for uses in kept) == 10


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_diff_and_what_stands_beside_it_keep_within_a_part(diff: int, part: int) -> None:
    room = room_for(diff, part)
    assert 0 <= room <= min(MOST_ROOM, max(LEAST_ROOM, diff // 4))
    assert room == 0 or diff + room <= part
    assert room <= most_room(diff, 1)
