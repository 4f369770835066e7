"""The marked block of AGENTS.md: put in once, whatever stands around it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from review_advisor.tasks.run_files import BLOCK, END, SKILL, START, MarksError, with_block

WORDS = st.text().filter(lambda text: START not in text and END not in text)


@given(before=WORDS, after=WORDS)
@example(before="\r", after="")
def test_writing_the_block_again_changes_nothing_and_keeps_every_other_word(before: str, after: str) -> None:
    once = with_block(before, BLOCK)
    assert once.startswith(before)
    assert with_block(once, BLOCK) == once
    around = with_block(f"{before}{START}\nold words\n{END}{after}", BLOCK)
    assert around.startswith(f"{before}{START}")
    assert around.endswith(f"{END}{after}")
    assert around.replace("\r\n", "\n") == f"{before}{BLOCK.rstrip()}{after}".replace("\r\n", "\n")
    assert with_block(around, BLOCK) == around


@given(before=WORDS, after=WORDS, ends=st.sampled_from(["\n", "\r\n"]))
def test_the_block_has_the_line_ends_of_the_file(before: str, after: str, ends: str) -> None:
    lines = before.replace("\r", "").split("\n")
    text = ends.join([*lines, f"{START}", "old words", f"{END}{after}"])
    block = ends.join(BLOCK.rstrip().split("\n"))
    assert with_block(text, BLOCK) == ends.join([*lines, f"{block}{after}"])


@pytest.mark.parametrize(
    "text",
    [START, END, f"{END}{START}", f"{START}{START}{END}", f"{START}{END}{END}", f"{START}{END}{START}{END}"],
)
def test_broken_marks_are_an_error_and_no_guess(text: str) -> None:
    with pytest.raises(MarksError, match="do not stand once each"):
        with_block(text, BLOCK)


def test_block_and_skill_carry_the_marks_once() -> None:
    for text in (BLOCK, SKILL):
        assert (text.count(START), text.count(END)) == (1, 1)
