"""No line that we write begins as another bot's command, whatever it was made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.forge_text.bots import ORDERS, obeyed
from tests.unit.forge_text.judge import offences, words

from review_advisor.safety.markdown import (
    MOST_PROSE,
    code,
    code_block,
    gives_order,
    is_exact,
    own_command,
    phrase,
    plain_text,
    prose,
    quote,
)

MARKS = ("", " ", "\t", "> ", "- ", "* ", "1. ", "2) ", "> - ", "**", "# ", "~~", "\u2028", "\x85", "\x0b", "\r", "_")
FRAMES = ("{}", "```\n{}\n```", "~~~\n{}\n~~~", "a\n{}\nb", "- {}", "`{}", "<details>\n{}\n</details>", "|{}|")
lines = st.builds(lambda mark, order: mark + order, st.sampled_from(MARKS), st.sampled_from(ORDERS))
texts = st.lists(
    st.one_of(lines, st.builds(str.format, st.sampled_from(FRAMES), lines), st.text(max_size=20)), max_size=8
)


ALONE = """
    @all-contributors @allcontributors @bors @claude @codecov @coderabbitai @codex @copilot @cursor @dependabot
    @gemini-code-assist @greptileai @homu @k8s-ci-robot @mergify @mergifyio @openshift-ci @packit @renovate @rultor
    @rustbot atlantis bors delegate+ delegate= digger homu jenkins LGTM r=ada r= r+ r? recheck retest terrateam
    .deploy .help .lock .noop .unlock .wcid /merge !merge
"""
PHRASES = (
    *("@nobody-knows do it", "add to allowlist", "add to whitelist", "I have read the CLA", "merge it", "ok to test"),
    *("r= ada-b", "retest this", "test this", "trigger: build"),
)


def test_every_known_command_is_known_here() -> None:
    for order in ORDERS:
        assert gives_order(order)
        assert gives_order(f"  > - {order}"), order


def test_a_line_that_begins_with_this_alone_may_be_obeyed() -> None:
    for order in (*ALONE.split(), *PHRASES):
        assert gives_order(order), order
        assert gives_order(f"{order} now"), order
        assert not gives_order(f"the {order}"), order


@given(texts.map("\n".join))
def test_no_line_is_obeyed_in_whatever_it_is_written(text: str) -> None:
    for made in (prose(text), phrase(text), code(text), code_block(text), code_block(text, "diff"), quote(prose(text))):
        assert obeyed(made) == []
    for made in (f"- {phrase(text)}", f"> {phrase(text)}", plain_text(text, 500), f"| {phrase(text)} |"):
        assert obeyed(made) == []


@given(texts.map("\n".join))
def test_what_is_disarmed_is_still_only_words(text: str) -> None:
    assert offences(prose(text)) == []
    assert offences(code_block(text)) == []


def test_a_command_is_read_as_the_words_it_is() -> None:
    for order in ORDERS:
        assert words(prose(order)).strip("`") == order
        assert code_block(f"{order}\nx = 1") == f"```\n| {order}\n| x = 1\n```"
        assert not is_exact(f"x = 1\n{order}\n"), "one click must not put a gutter into a file"


@pytest.mark.parametrize(
    "line",
    [
        "@property",
        "@Injectable()",
        "@app.route('/lgtm')",
        "#!/usr/bin/env python3",
        "/usr/bin/env python3",
        "// retest",
        "!important;",
        "if (!merge) return;",
        "borstal = 1",
        "r = 1",
        "The value is lost.",
        "@@ -1,2 +1,3 @@",
        ".deploying { color: red }",
    ],
)
def test_ordinary_lines_stay_as_they_are(line: str) -> None:
    assert is_exact(line)
    assert code_block(line, "suggestion") == f"```suggestion\n{line}\n```"


def test_our_own_command_can_be_copied() -> None:
    assert own_command("/advisor review") == "```\n/advisor review\n```"


def test_a_text_of_nothing_but_marks_takes_no_time() -> None:
    assert not gives_order("- " * MOST_PROSE + "x")
