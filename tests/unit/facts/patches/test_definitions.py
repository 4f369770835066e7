"""Which definition a line stands in, and which name a line defines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.change import around as definitions
from review_advisor.change.around import defined_name, enclosing

PYTHON = '''\
import os

class Shop:
    """Sells."""

    @property
    def till(self) -> int:
        return 1

    def sell(
        self,
        cart: str,
    ) -> None:
        for each in cart:
            if each:
                pay(each)
        close()

OPEN = True
'''
BRACES = """\
namespace shop {
class Till {
  int count;

  void open(int key)
  {
    if (key) {
      turn(key);
    } else {
      wait();
    }
    ring();
  }
};
}
"""


def around(text: str, told: str) -> tuple[list[str], list[str]]:
    """The innermost definitions of the line that holds ``told``, whole, and the first lines of those around them."""
    lines = text.split("\n")
    (row,) = [number for number, line in enumerate(lines) if told in line]
    innermost, outer = enclosing(lines, [row])
    return ["\n".join(lines[each.start : each.end]) for each in innermost], [
        lines[row].strip() for row in sorted(outer)
    ]


@pytest.mark.parametrize(
    "line, name",
    [
        ("def sell(cart):", "sell"),
        ("    async def sell(self,", "sell"),
        ("class Shop(Base):", "Shop"),
        ("func (s *Shop) Sell(cart int) error {", "Sell"),
        ("pub(crate) fn sell<T>(cart: T) -> u8 {", "sell"),
        ("impl<T> Till for Shop<T> {", "Till"),
        ("export default class Shop extends Base {", "Shop"),
        ("export const sell = async (cart, till) => {", "sell"),
        ("  render(props) {", "render"),
        ("static inline struct cart *sell(struct till *t)", "sell"),
        ("  public void Sell(String cart) throws Broke {", "Sell"),
        ("std::string Shop::name() const {", "name"),
        ("def self.sell(cart)", "sell"),
        ("type Shop struct {", "Shop"),
    ],
)
def test_a_line_that_defines_something_names_it(line: str, name: str) -> None:
    assert defined_name(line) == name


@pytest.mark.parametrize(
    "line",
    [
        *("", "    return sell(cart)", "sell(cart)", "if (cart) {", "else if (sell(cart)) {", "total = sell(1)"),
        *("describe('a shop', () => {", "type of thing is sold", "from shop import sell", "@Override", "  class: red"),
        *("for each in sell(cart):", "-e", "--open-files-in-pager=touch", "object of"),
    ],
)
def test_any_other_line_defines_nothing(line: str) -> None:
    assert defined_name(line) is None


def test_the_innermost_definition_is_whole_and_those_around_it_are_named() -> None:
    innermost, outer = around(PYTHON, "pay(each)")
    assert innermost == [PYTHON[PYTHON.index("    def sell") : PYTHON.index("\n\nOPEN")]]
    assert outer == ["class Shop:"]


def test_a_decorator_belongs_to_its_definition() -> None:
    (found,), _ = around(PYTHON, "return 1")
    assert found.startswith("    @property\n")


def test_what_stands_in_no_definition_has_none_around_it() -> None:
    assert around(PYTHON, "OPEN = True") == ([], [])


def test_a_brace_of_its_own_line_belongs_to_the_definition_above() -> None:
    (found,), outer = around(BRACES, "wait();")
    assert found.startswith("  void open(int key)\n  {\n")
    assert found.endswith("    ring();\n  }")
    assert outer == ["class Till {"]


def test_a_change_behind_the_end_of_a_file_is_looked_at_in_its_last_line() -> None:
    assert enclosing(["def sell():", "    pay()"], [7])[0][0].name == "sell"
    assert enclosing([], [0]) == ((), frozenset())


@given(st.lists(st.text("ab (){}:\t\n=def", max_size=30), max_size=30), st.lists(st.integers(0, 40), max_size=8))
def test_a_definition_lies_within_its_file_and_begins_at_its_header(lines: list[str], changed: list[int]) -> None:
    innermost, outer = enclosing(lines, changed)
    for each in innermost:
        assert 0 <= each.start < each.body <= len(lines)
        assert each.start < each.end <= len(lines)
    assert all(0 <= row < len(lines) for row in outer)


def test_however_deep_lines_are_nested_each_is_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A staircase, in which every step is the header of the next, and every step changes."""
    asked: list[str] = []

    def counted(line: str) -> tuple[str, bool] | None:
        asked.append(line)
        return None

    monkeypatch.setattr(definitions, "_definition_in", counted)
    lines = [" " * depth + "if x:" for depth in range(390)]
    assert enclosing(lines, range(0, 390, 2)) == ((), frozenset())
    assert len(asked) <= len(lines)


def test_a_line_of_100_kb_is_looked_at_in_its_beginning_alone() -> None:
    long = "def sell(" + "a, " * 33_000 + "):"
    innermost, _ = enclosing([long, "    pay()"], [1])
    assert innermost[0].name == "sell"
    assert defined_name("a " * 50_000 + "def sell():") is None
