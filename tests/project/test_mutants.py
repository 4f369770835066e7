"""Every fault of ``make mutants`` still fits the sources, and the tests named with it exist."""

from pathlib import Path

import mutants
import pytest
from mutant_list import MUTANTS, Mutant

FEWEST = 25


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_fault_still_fits_the_sources_and_its_tests_exist(mutant: Mutant) -> None:
    text = (mutants.ROOT / "src" / "review_advisor" / mutant.file).read_text(encoding="utf-8")
    broken = mutants.applied(mutant, text)
    assert broken is not None, "its old text has to stand in the file exactly once"
    compile(broken, mutant.file, "exec")
    assert broken != text
    assert mutant.tests
    assert mutants.tests_there(mutant, mutants.ROOT)


def test_there_are_enough_and_none_twice() -> None:
    assert len({mutant.fault for mutant in MUTANTS}) == len(MUTANTS) >= FEWEST


def test_a_test_that_does_not_exist_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_one() -> None: ...\n")
    found = [
        mutants.tests_there(Mutant("", "", "", "", (name,)), tmp_path)
        for name in ("test_it.py::test_one", "test_it.py::test_o", "test_it.py::test_two", "gone.py::test_one")
    ]
    assert found == [True, False, False, False]


def test_old_text_that_stands_twice_or_never_is_noticed() -> None:
    mutant = Mutant("", "", "a", "b", ())
    assert [mutants.applied(mutant, text) for text in ("xay", "aa", "x")] == ["xby", None, None]
