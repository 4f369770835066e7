"""What makes a golden set: ids that are unique, and a digest of everything in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.lab.golden_cases import (
    CommitsChange,
    FilesChange,
    GoldenCase,
    GoldenFile,
    GoldenLabel,
    GoldenSetError,
    NamedChange,
    PatchChange,
    golden_set,
)

CASE = GoldenCase(id="b", group="g", kind="faulty", change=FilesChange((GoldenFile("a.py", "x\n", "y\n"),)))


def test_cases_stand_in_the_order_of_their_ids() -> None:
    known = golden_set("own", "1", [CASE, replace(CASE, id="a")])
    assert [each.id for each in known.cases] == ["a", "b"]


def test_an_id_that_is_twice_is_refused() -> None:
    with pytest.raises(GoldenSetError, match="two cases that are called b"):
        golden_set("own", "1", [CASE, CASE])


@pytest.mark.parametrize(
    "other",
    [
        replace(CASE, title="t"),
        replace(CASE, exhaustive=True),
        replace(CASE, labels=(GoldenLabel("x"),)),
        replace(CASE, refuted=(GoldenLabel("x"),)),
        replace(CASE, change=FilesChange((GoldenFile("a.py", "x\n", "z\n"),))),
        replace(CASE, change=PatchChange("")),
        replace(CASE, change=NamedChange("x")),
        replace(CASE, change=CommitsChange("r", "a", "b")),
    ],
)
def test_the_digest_is_of_everything_in_the_cases(other: GoldenCase) -> None:
    digest = golden_set("own", "1", [CASE]).digest
    assert golden_set("again", "2", [CASE]).digest == digest
    assert golden_set("own", "1", [other]).digest != digest


def test_every_fault_is_known_of_a_clean_case_and_of_an_exhaustive_one() -> None:
    assert replace(CASE, kind="clean").knows_every_fault
    assert replace(CASE, exhaustive=True).knows_every_fault
    assert not CASE.knows_every_fault
    assert not replace(CASE, kind="hostile").knows_every_fault
