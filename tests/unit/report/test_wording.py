"""How numbers are put into words, lines made safe for a terminal, and tables drawn."""

import pytest

from review_advisor.safety.wording import and_unknown, counted, counted_findings, printable_line, table


@pytest.mark.parametrize(
    "rows, width, text",
    [
        ([("a", "b"), ("long", "c")], None, "a     b\nlong  c\n"),
        ([("a", "b"), ("long", "")], None, "a     b\nlong\n"),
        ([("", ""), ("x", "y")], None, "\nx  y\n"),
        ([("a", "x" * 12)], 5, f"a  {'x' * 12}\n"),
        ([("a", "x" * 13)], 5, f"a  {'x' * 9}...\n"),
        ([("a", "x" * 17)], 20, f"a  {'x' * 17}\n"),
        ([("a", "x" * 18)], 20, f"a  {'x' * 14}...\n"),
    ],
)
def test_columns_are_in_line_the_last_one_gives_way_and_no_line_ends_with_a_space(
    rows: list[tuple[str, str]], width: int | None, text: str
) -> None:
    assert table(rows, width) == text


@pytest.mark.parametrize(
    "kept, merged, refused, words",
    [
        (0, 0, 0, "0 findings"),
        (1, 0, 0, "1 finding"),
        (2, 1, 0, "2 findings (1 merged into them)"),
        (2, 0, 3, "2 findings (3 refused)"),
        (1_000, 1_001, 1_002, "1,000 findings (1,001 merged into them, 1,002 refused)"),
    ],
)
def test_findings_are_counted_with_what_became_of_the_others(kept: int, merged: int, refused: int, words: str) -> None:
    assert counted_findings(kept, merged, refused) == words


def test_a_sum_says_what_it_lacks() -> None:
    assert [counted(number, "file") for number in (0, 1, 2, 1_000)] == ["0 files", "1 file", "2 files", "1,000 files"]
    assert [and_unknown(number) for number in (0, 1, 2)] == ["", ", and 1 call unknown", ", and 2 calls unknown"]
    assert and_unknown(1, "consult") == ", and 1 consult unknown"


def test_a_line_for_a_terminal_holds_nothing_that_acts() -> None:
    assert printable_line(" a\n b\x1b[2J\u202e ") == "a b\\x1b[2J\\u202e"
