"""Tables of plain text."""

import pytest

from review_advisor.core.report.wording import table


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
