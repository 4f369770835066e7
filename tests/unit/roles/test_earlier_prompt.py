"""What the executor is told of an earlier review; nothing where there was none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.core.facts.change import Change
from review_advisor.core.facts.earlier_review import Earlier, EarlierFinding
from review_advisor.core.policy.scope import WHOLE, Scope
from review_advisor.core.roles.earlier_prompt import earlier_section, scope_section, shown_files
from review_advisor.core.roles.prompts import EARLIER as EARLIER_LABEL
from review_advisor.core.safety.fence import fenced
from review_advisor.mockworld.world import edited

FOUND = EarlierFinding("f-1", "a.py", 7, "seven is taken", "low", "open")
EARLIER = Earlier("c" * 40, "b" * 40, "0" * 16, True, True, frozenset({"b.py"}), (FOUND,))
FILES = (edited("a.py"), edited("b.py"), edited("c.py"))
CHANGE = Change("pr-7", files=FILES, earlier=EARLIER)


@pytest.mark.parametrize("earlier", [None, replace(EARLIER, findings=())])
def test_without_earlier_findings_nothing_is_said_of_them(earlier: Earlier | None) -> None:
    assert earlier_section(replace(CHANGE, earlier=earlier), "n0") == ""


def test_earlier_findings_are_told_with_what_became_of_them() -> None:
    told = earlier_section(CHANGE, "n0")
    inside = fenced(told, EARLIER_LABEL, "n0")
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
