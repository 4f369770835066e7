"""Limits: sections that give way in order, and texts that are cut."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.forge_text.judge import PARSER

from review_advisor.github.sections import LEFT_OUT, Order, Section, cut, details, fitted, size

FIRST = Section(("one", "two"), "head", gives_way=Order.FINDINGS, what="things")
LAST = Section(("three", "four"), gives_way=Order.COVERAGE, what="files")
KEPT = Section(("always here",))
FENCED = st.builds(
    lambda lines: "\n".join(["`````", *lines, "`````"]),
    st.lists(st.sampled_from(["a line", "````", "<details>", "</details>", "x" * 70]), max_size=4),
)


def test_with_room_everything_stands_in_its_order() -> None:
    assert fitted((FIRST, LAST, KEPT, Section(())), 1_000) == "head\n\none\ntwo\n\nthree\nfour\n\nalways here"


def test_the_later_in_the_order_gives_way_first_and_says_so() -> None:
    text = fitted((FIRST, replace(LAST, blocks=tuple("x" * 50 for _ in range(9))), KEPT), 250)
    assert text.startswith("head\n\none\ntwo\n\n" + "x" * 50)
    assert "*6 more files are left out: a text here has a limit.*" in text
    assert text.endswith("always here")


def test_what_may_be_opened_can_also_be_closed() -> None:
    section = details("Things", *("x" * 90 for _ in range(9)), gives_way=Order.SETTLED, what="things")
    text = fitted((section, KEPT), 200)
    assert text.startswith("<details><summary>Things</summary>\n\n\n*9 more things are left out")
    assert "\n\n</details>\n\nalways here" in text


@given(
    st.lists(
        st.builds(
            Section,
            blocks=st.lists(st.text("aé😀", max_size=60), max_size=12).map(tuple),
            head=st.text("h", max_size=5),
            gives_way=st.sampled_from([each for each in Order if each is not Order.NEVER]),
        ),
        max_size=6,
    ),
    st.integers(600, 3_000),
)
def test_the_limit_holds(sections: list[Section], most: int) -> None:
    assert size(fitted((*sections, KEPT), most)) <= most


@given(
    st.lists(
        st.sampled_from(["words", "> said", "> ```", "- item", "", "é" * 9])
        | FENCED
        | st.builds("<details><summary>T</summary>\n\n{}\n\n</details>".format, FENCED),
        max_size=30,
    ),
    st.integers(120, 400),
)
def test_a_cut_text_ends_with_everything_closed(blocks: list[str], most: int) -> None:
    whole = "\n\n".join(blocks)
    text = cut(whole, most)
    assert size(text) <= most
    if size(whole) <= most:
        assert text == whole
        return
    assert text.endswith(f"\n\n{LEFT_OUT}")
    *_, last = PARSER.parse(text)
    assert last.type == "paragraph_close", "no code is open: the last words are words"
    html = [token.content for token in PARSER.parse(text) if token.type == "html_block"]
    assert sum("<details>" in each for each in html) == sum("</details>" in each for each in html)


def test_a_section_is_closed_only_where_a_line_begins_with_its_end() -> None:
    said = "<details><summary>T</summary>\n\nwords about </details>"
    assert cut(f"{said}\n{'x' * 500}", 200) == f"{said}\n\n</details>\n\n{LEFT_OUT}"
