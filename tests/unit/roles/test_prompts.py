"""The parts of a prompt: each is fenced, bounded, and says what was cut."""

from dataclasses import replace

import pytest

from review_advisor.agents.prompts import (
    cuts,
    description,
    diff,
    nonce_of,
    not_shown,
    opening,
    whole_change,
)
from review_advisor.change.change import Change, FileChange, Status
from review_advisor.change.shards import Unsent
from review_advisor.safety.fence import fenced


def test_a_diff_says_which_part_it_is_and_what_is_not_shown() -> None:
    files = (FileChange(Status.ADDED, "a.py"),)
    form = "as git shows it; a line `@@ -OLD +NEW @@` tells the next line's numbers:\n"
    assert diff(files, "n0", 0, 1).startswith(f"The diff, {form}<<<UNTRUSTED DIFF n0\n")
    assert diff(files, "n0", 1, 3).startswith(f"Part 2 of 3 of the diff (the other parts are judged apart), {form}")
    told = not_shown((Unsent("a.py", "not", "too large"),), "n0")
    assert told.startswith("Of these files not everything is shown, judge what you see:\n")
    assert fenced(told, "NOT_SHOWN", "n0") == "a.py: too large"


def test_a_prompt_states_its_nonce_first() -> None:
    assert nonce_of(opening("run-1", "n0nce") + "\n\nwords") == "n0nce"


@pytest.mark.parametrize("text", ["", "hello", "x\n" + opening("run-1", "n0"), "/" + opening("run-1", "n0")])
def test_any_other_text_is_not_our_prompt(text: str) -> None:
    with pytest.raises(ValueError, match="does not start with"):
        nonce_of(text)


def test_what_nobody_said_about_a_change_is_not_shown() -> None:
    assert description(Change("x", title="T"), "n0").split("\n")[2:-1] == ["title: T"]


def test_a_body_too_long_is_cut_and_says_so_d3() -> None:
    text = description(Change("x", body="b" * 70_001), "n0")
    assert "[cut here: 1 more characters were not sent]" in text
    assert "cut here" not in description(Change("x", body="b" * 70_000), "n0")


def test_a_list_of_files_too_long_says_how_many_are_left_out_d3() -> None:
    change = Change("x", files=tuple(FileChange(Status.MODIFIED, f"f{n}.py") for n in range(303)))
    text = whole_change(change, "n0", change.files[301:])
    assert text.startswith("All 303 changed files (3 more are not listed here; their parts are judged apart):")
    assert [f"f{n}.py" in text for n in (0, 297, 298, 300, 301, 302)] == [True, True, False, False, True, True]
    assert "not listed" not in whole_change(replace(change, files=change.files[:300]), "n0", change.files[:1])
    assert "not listed" not in whole_change(change, "n0", change.files), "a part's own files are all listed"
    assert "not listed" not in whole_change(change, "n0")


@pytest.mark.parametrize("files, body, words", [(300, 70_000, 0), (301, 70_000, 1), (300, 70_001, 1), (301, 70_001, 2)])
def test_what_is_shortened_is_said_d3(files: int, body: int, words: int) -> None:
    listed = tuple(FileChange(Status.MODIFIED, f"f{n}.py") for n in range(files))
    assert len(cuts(Change("x", body="b" * body, files=listed))) == words
