"""The parts of a prompt: each is fenced, bounded, and says what was cut."""

from dataclasses import replace

import pytest

from review_advisor.agents.prompts import (
    cuts,
    description,
    diff,
    earlier_section,
    nonce_of,
    not_shown,
    opening,
    scope_section,
    shown_files,
    spec_section,
    whole_change,
)
from review_advisor.change.change import Change, Earlier, EarlierFinding, FileChange, Status
from review_advisor.change.shards import Unsent
from review_advisor.mockworld.world import edited
from review_advisor.policy.scope import WHOLE, Scope
from review_advisor.safety.fence import fenced

FOUND = EarlierFinding("f-1", "a.py", 7, "seven is taken", "low", "open")
EARLIER = Earlier("c" * 40, "b" * 40, "0" * 16, True, True, frozenset({"b.py"}), (FOUND,))
FILES = (edited("a.py"), edited("b.py"), edited("c.py"))
CHANGE = Change("pr-7", files=FILES, earlier=EARLIER)


def test_what_there_is_nothing_to_say_of_takes_no_words() -> None:
    assert diff((), "n0", 0, 1) == ""
    assert not_shown((), "n0") == ""
    assert spec_section(Change("x"), "n0") == ""


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


# --- an earlier review ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", [None, replace(EARLIER, findings=())])
def test_without_earlier_findings_nothing_is_said_of_them(earlier: Earlier | None) -> None:
    assert earlier_section(replace(CHANGE, earlier=earlier), "n0") == ""


def test_earlier_findings_are_told_with_what_became_of_them() -> None:
    told = earlier_section(CHANGE, "n0")
    inside = fenced(told, "EARLIER", "n0")
    assert inside is not None
    for words in ("f-1", "a.py", "seven is taken", "open"):
        assert words in inside


def test_who_is_shown_the_whole_change_is_told_of_no_part() -> None:
    assert scope_section(WHOLE) == ""
    assert scope_section(Scope("c" * 40, ())).startswith(f"The commit {'c' * 40} of this pull request was reviewed")


def test_a_part_shows_the_files_that_differ_and_those_with_an_open_finding() -> None:
    assert shown_files(FILES, CHANGE, WHOLE) == FILES
    assert shown_files(FILES, CHANGE, Scope("c" * 40, ())) == FILES[:2]
    assert shown_files(FILES[1:], CHANGE, Scope("c" * 40, ())) == FILES[1:2]
