import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.forge_text.judge import PARSER, offences, tokens, words

from review_advisor.safety.markdown import (
    behind_gutter,
    code,
    code_block,
    gives_orders,
    is_exact,
    phrase,
    plain,
    plain_line,
    prose,
    quote,
    shortened,
)

SHA = "0123456789abcdef0123456789abcdef01234567"
FRAGMENTS = (
    *"`~*_[]()<>!#@$|&;:/\\-+=.\"' \n\t",
    *("```", "~~~", "``", "```suggestion\n", "\n```\n", "    ", "\n\n", "> ", "- ", "1. ", "---", "===", "\r\n", "\r"),
    *("@ada", "@org/team", "ada@example.org", "#12", "GH-12", "owner/repo#12", "fixes #12", SHA, SHA[:7], "CVE-2026-1"),
    *(
        "https://evil.example/x",
        "www.evil.example",
        "_www.evil.example_",
        "//evil.example",
        "github.com/o/r/issues/1",
        "mailto:a@b.example",
    ),
    *("![x](y)", "[a](b)", "[a]: b", "[^1]", "<a href=x>", "<img src=x>", "<!--", "-->", "</details>", "<http://a.b>"),
    *("<!-- review-advisor:summary -->", "<!-- review-advisor:state 00 00 -->", "/advisor review", "::error::x"),
    *("##[error]x", "&lt;", "&#64;ada", "&commat;ada", "$x$", "$$", "$`x`$", "\u200b", "\u202e", "\ud800", "\ufe0f"),
    *("😀", "é", "漢字", "שלום", "word", "1", "a\nb", "|-|-|", ":-", "\x00", "\x1b[31m", "\u2028", "\xa0", "\u3000"),
)
HOSTILE = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=14).map("".join)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("ask @ada", "mention"),
        ("`x`@ada", "mention"),
        ("\\@ada", "mention"),
        ("fixes #12", "issue"),
        ("see &#35;12", "issue"),
        (f"since {SHA}", "commit"),
        ("http://evil.example", "address"),
        ("$x$", "formula"),
        ("/advisor review", "slash command"),
        ("[a](b)", "link_open"),
        ("![a](b)", "image"),
        ("<!-- review-advisor:summary -->", "html"),
        ("a <b>b</b>", "html"),
        ("# Approved", "heading_open"),
        ("x\n---", "heading_open"),
        ("a | b\n--|--", "table_open"),
        ("> x", "blockquote_open"),
        ("```mermaid\nx", "fence of mermaid"),
    ],
)
def test_the_judge_sees_what_a_raw_text_would_do(text: str, kind: str) -> None:
    assert any(each.startswith(kind) for each in offences(text))


@given(HOSTILE)
@example("@`ada`")
@example("`a`@ada`b`")
@example("$`\\href{https://evil.example}{x}`$")
@example("a\\\n===\n:-\n1) x\n    indented")
@example("- ```\n  @ada\n- ~~~")
@example("- ::error::x")
def test_prose_is_words_code_and_lists_and_nothing_that_anybody_acts_on(text: str) -> None:
    assert offences(prose(text)) == []


@given(HOSTILE)
def test_a_phrase_ends_no_line_of_ours(text: str) -> None:
    line = f"- said: {phrase(text)}\n- next"
    assert offences(line) == []
    assert [token.type for token in PARSER.parse(line)].count("list_item_open") == 2
    heading = PARSER.parse(f"### {phrase(text)}\nafter")
    assert [token.type for token in heading if token.level == 0 and token.type.endswith("_open")] == [
        "heading_open",
        "paragraph_open",
    ]


@given(HOSTILE)
def test_prose_stays_within_its_quotation_and_within_details(text: str) -> None:
    parsed = PARSER.parse(f"<details><summary>x</summary>\n\n{quote(prose(text))}\n\n</details>\n\nafter")
    top = [token.type for token in parsed if token.level == 0 and not token.type.endswith("_close")]
    assert top == ["html_block", "blockquote_open", "html_block", "paragraph_open"]


@given(HOSTILE)
def test_a_block_of_code_ends_where_we_end_it(text: str) -> None:
    parsed = PARSER.parse(f"{code_block(text, 'suggestion')}\n\nafter")
    assert [token.type for token in parsed if token.level == 0][:2] == ["fence", "paragraph_open"]
    shown = plain(text).removesuffix("\n")
    assert parsed[0].content.removesuffix("\n") == behind_gutter(shown)
    assert parsed[0].info == ("" if gives_orders(shown) else "suggestion")


@given(HOSTILE)
def test_a_span_of_code_is_one_span(text: str) -> None:
    spans = [
        token
        for token in tokens(f"a {code(text, most=len(text) * 10)} b")
        if token.type not in ("inline", "paragraph_open")
    ]
    assert [token.type for token in spans] == ["text", "code_inline", "text", "paragraph_close"]
    assert spans[1].content.strip() == " ".join(plain(text).split())


@given(HOSTILE)
def test_no_raw_text_holds_a_mark_of_ours_or_html(text: str) -> None:
    mark = re.compile(r"<!--\s*review-advisor", re.IGNORECASE)
    for made in (prose(text), phrase(text), code(text), code_block(text), plain(text)):
        assert not mark.search(made)


@given(HOSTILE.map(lambda text: text.replace("`", "").replace("~", "")))
def test_no_word_is_lost(text: str) -> None:
    assert "".join(words(phrase(text)).split()) == "".join(plain(text).split())


@pytest.mark.parametrize(
    "text, made",
    [
        ("Ask @ada, or @org/team.", "Ask `@ada`, or `@org/team`."),
        ("(fixes #12)", "(fixes `#12`)"),
        ("see https://evil.example/x.", "see `https://evil.example/x`."),
        ("_www.evil.example_ ~~www.evil.example", "`_www.evil.example_` `~~www.evil.example`"),
        ("![x](https://evil.example/x.png)", "`![x](https://evil.example/x.png`)"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"),
        ("/advisor review", "`/advisor` review"),
        ("since 0123456 it fails", "since `0123456` it fails"),
        ("use `a | b` here", "use `a | b` here"),
        ("snake_case and *stars*", "snake\\_case and \\*stars\\*"),
        ("**Note**: the `**` of **kwargs, 2**3", "**Note**: the `**` of \\*\\*kwargs, 2\\*\\*3"),
        ("**see `x` and @ada now** **www**.x", "**see `x` and `@ada` now** `**www**.x`"),
        ("**a * b** **", "\\*\\*a \\* b\\*\\* \\*\\*"),
        ("see x#*12, evil.example:*//x", "see `x#*12`, `evil.example:*//x`"),
        ("# Approved", "\\# Approved"),
        ("1. one", "1\\. one"),
        ("* one\n* two\nthree", "- one\n- two\n\nthree"),
        ("```py\nx = 1\n```", "```\nx = 1\n```"),
        ("```suggestion\nx", "```\nx\n```"),
        ("emoji ⚠\ufe0f 👩\u200d🚀 漢字 שלום é", "emoji ⚠ 👩🚀 漢字 שלום é"),
        ("hid\u200bden\u202e", "hid&lt;U+200B&gt;den&lt;U+202E&gt;"),
        ("half \ud83d", "half ?"),
        ("ghp_" + "a" * 36, "\\[secret: GitHub token\\]\\_\\[\\*\\]"),
    ],
)
def test_what_comes_of_a_text(text: str, made: str) -> None:
    assert prose(text) == made


def test_a_path_is_one_span_whatever_it_holds() -> None:
    assert code("a`b.py") == "``a`b.py``"
    assert code("`") == "`` ` ``"
    assert code("a\nb") == "`a b`"


def test_what_is_cut_is_said_and_lines_stay_whole() -> None:
    text = "\n".join(f"line {n}" for n in range(100))
    cut = shortened(text, 200)
    assert cut.split("\n")[-1] == f"[cut here: {len(text) - len(cut.rpartition(chr(10))[0])} more characters]"
    assert cut.split("\n")[-2] in text.split("\n")
    assert shortened("x" * 50, 10) == "x" * 10 + " [cut here: 40 more characters]"
    assert plain_line("many words " * 40, 20) == "many words many wor…"
    assert len(prose("&" * 200_000)) < 25_000


def test_only_what_is_shown_to_the_last_character_is_exact() -> None:
    assert is_exact("    return x  # @ada #12 ```\n")
    for changed in ("a\r\nb", "a\u200bb", "⚠\ufe0f", "::error::x", "<!-- review-advisor:summary -->", "\ud800"):
        assert not is_exact(changed)


@pytest.mark.parametrize("text, quoted", [("", ">"), ("a", "> a"), ("a\n\nb", "> a\n>\n> b"), ("a\n", "> a\n>")])
def test_each_line_of_a_quotation_is_marked(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(
    "text, most, made",
    [
        ("", 0, ""),
        ("abc", 3, "abc"),
        ("abcd", 3, "abc [cut here: 1 more characters]"),
        ("abc\ndefghij", 8, "abc\ndefg\n[cut here: 3 more characters]"),
        ("abcd\nefghij", 8, "abcd\nefg\n[cut here: 3 more characters]"),
        ("abcde\nfghij", 8, "abcde\n[cut here: 6 more characters]"),
        ("x" * 2_000, 1_000, "x" * 1_000 + " [cut here: 1,000 more characters]"),
    ],
)
def test_a_text_is_cut_at_a_lines_end_only_in_its_second_half(text: str, most: int, made: str) -> None:
    assert shortened(text, most) == made


@pytest.mark.parametrize(
    "text, made",
    [
        *((f"{sign} x", f"\\{sign} x") for sign in "#+=:"),
        ("--- x", "\\--- x"),
        ("1. x", "1\\. x"),
        ("12) x", "12\\) x"),
        ("123456. x", "123456\\. x"),
        ("1 x", "1 x"),
        ("x 1. # y", "x 1. # y"),
    ],
)
def test_the_beginning_of_a_line_opens_no_block(text: str, made: str) -> None:
    assert phrase(text) == made


@pytest.mark.parametrize("make, most", [(prose, 4_000), (code_block, 4_000), (phrase, 600), (code, 300)])
def test_a_text_is_cut_after_as_many_characters_as_its_place_takes(make: Callable[[str], str], most: int) -> None:
    assert "cut here" not in make("x" * most)
    assert "cut here: 1 more characters" in make("x" * (most + 1))
