"""How long a text and a list on a page may be."""

from __future__ import annotations

from review_advisor.ledger.page_entries import page_lines, page_text


def test_a_text_of_20_000_characters_is_told_whole_and_one_more_is_left_out() -> None:
    assert page_text("x" * 20_000) == "x" * 20_000
    note = "[1 more characters are left out here; `runs export` writes them all]"
    assert page_text("x" * 20_001) == f"{'x' * 20_000}\n{note}"


def test_a_list_of_500_lines_is_told_whole_and_one_more_is_left_out() -> None:
    assert page_lines(["x"] * 500) == ["x"] * 500
    assert page_lines(["x"] * 501) == [*["x"] * 500, "[1 more are left out here; `runs export` writes them all]"]
