"""The checklist of the systems that came before: every item has code and a test that exist, or says when it comes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import tables
from tests.project.test_docs import defined, wrong_words

ROOT = Path(__file__).parents[2]
CHECKLIST: dict[str, Any] = tables.read_checklist()
ITEMS, ABSENT = CHECKLIST["items"], CHECKLIST["absent"]
LISTS: dict[str, dict[str, str]] = CHECKLIST["lists"]
WHOLE = {"0": 98, "1": 53, "2": 111}
"""The systems of which every item has its row, and how many there are."""


def order(item: str) -> tuple[int, ...]:
    return tuple(map(int, item.split(".")))


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_has_words_code_and_a_test_that_exist(item: str) -> None:
    assert set(ITEMS[item]) == {"words", "where", "test"}
    assert ITEMS[item]["words"].strip()
    assert (ROOT / ITEMS[item]["where"]).exists()
    assert_there(ITEMS[item]["test"])


def test_items_stand_in_the_order_of_their_numbers_and_none_is_both_there_and_absent() -> None:
    for listed in (ITEMS, ABSENT):
        assert all(re.fullmatch(r"[012]\.\d{1,3}", item) for item in listed)
        assert list(listed) == sorted(listed, key=order)
    assert ITEMS.keys() & ABSENT.keys() == set()


@pytest.mark.parametrize("system", WHOLE)
def test_every_item_of_a_system_has_its_row(system: str) -> None:
    numbers = {order(item)[1] for item in (*ITEMS, *ABSENT) if item.startswith(f"{system}.")}
    assert numbers == set(range(1, WHOLE[system] + 1))


def test_an_absent_item_says_why_it_does_not_come() -> None:
    said = {**ABSENT, **CHECKLIST["absent_commands"]}
    assert {name: why for name, why in said.items() if not re.match(r"no: \S", why)} == {}


DEFECTS = [f"0.{number}" for number in range(91, 99)] + ["1.10"] + [f"2.{number}" for number in range(103, 112)]


@pytest.mark.parametrize("item", DEFECTS)
def test_each_verified_defect_has_a_test_that_names_it(item: str) -> None:
    file, _, test = ITEMS[item]["test"].partition("::")
    body = (ROOT / file).read_text(encoding="utf-8").partition(f"def {test}(")[2].partition("\ndef ")[0]
    assert f"Defect {item}" in body


def test_every_failure_mode_anti_pattern_and_evaluation_item_has_its_scenario() -> None:
    listed = {"failure_modes": 5, "anti_patterns": 6, "evaluation": 7, "failure_scenarios": 38}
    assert {name: len(its) for name, its in LISTS.items()} == listed
    for its in LISTS.values():
        for shown in its.values():
            assert_there(shown)


FIGURES = ("93%", "93 %", "8-12%", "8 to 12 %", "91.0", "~15%", "15-30%", "11800", "11.8k")
"""What the pack says of itself: it contradicts itself, and nobody measured it here."""


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_no_page_repeats_a_figure_that_nobody_measured_here(page: Path) -> None:
    """Defect 0.98: two tables of the pack give one figure two values. Ours come from commands."""
    measured = page.name == "benchmarks.md"
    told = page.read_text(encoding="utf-8")
    assert measured or [figure for figure in FIGURES if figure in told] == []


@pytest.mark.parametrize("theirs", CHECKLIST["commands"])
def test_a_command_line_of_advisor_harness_has_ours_and_a_test(theirs: str) -> None:
    row = CHECKLIST["commands"][theirs]
    assert theirs.startswith("maa ")
    assert wrong_words([word for word in shlex.split(row["ours"]) if word != "--version"]) == []
    assert_there(row["test"])


def assert_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert name in defined(ROOT / file), test
