"""A case that is written down is read back as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review_advisor.lab.golden_cases import (
    CommitsChange,
    FilesChange,
    GoldenCase,
    GoldenFile,
    GoldenLabel,
    NamedChange,
    PatchChange,
    case_text,
    read_case,
)

COMMIT = "b" * 40
FILE = GoldenFile("src/a b.py", "one\ntwo\n", 'x = """a\\b"""\ntwo\n')
LABEL = GoldenLabel("It is x.\nReally.", "src/a b.py", 1, 2, "high", "logic")
CASE = GoldenCase(
    id="python/x", group="shop", kind="faulty", language="Python", change=FilesChange((FILE,)), labels=(LABEL,)
)


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        replace(CASE, title='A "title"', body="Several\nlines\n", spec="It says '''so'''.\n", exhaustive=True),
        replace(CASE, labels=(replace(LABEL, first_line=2, unchanged=True),)),
        replace(CASE, kind="clean", labels=()),
        replace(CASE, kind="hostile", canaries=("LGTM \u202e",)),
        replace(CASE, change=PatchChange("--- a/x\n+++ b/x\n", (GoldenFile("x", "y", None),))),
        replace(CASE, change=CommitsChange("o/r", COMMIT, COMMIT), refuted=(LABEL,)),
        replace(CASE, change=NamedChange("https://x/1"), labels=(GoldenLabel("w"),)),
    ],
)
def test_a_case_is_read_back_as_it_was(case: GoldenCase) -> None:
    assert read_case(case.id, case_text(case), "x") == case


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    case = replace(CASE, body=text, spec=f"{text}\n'")
    assert read_case(case.id, case_text(case), "x") == case


def test_code_stands_in_the_file_as_it_is() -> None:
    assert "after = '''\nx = \"\"\"a\\b\"\"\"\ntwo\n'''\n" in case_text(CASE)
