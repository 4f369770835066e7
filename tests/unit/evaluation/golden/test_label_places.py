"""Where labels may stand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from review_advisor.core.evaluation.golden.golden_case import GoldenFile, GoldenLabel
from review_advisor.core.evaluation.golden.label_places import misplaced_label

FILES = (GoldenFile("a.py", "one\ntwo\n", "one\nthree\n"), GoldenFile("gone.py", "one\n", None))
LABEL = GoldenLabel("It is three.", "a.py", 2, 2)


@pytest.mark.parametrize(
    "label",
    [
        LABEL,
        replace(LABEL, first_line=1),
        replace(LABEL, first_line=1, last_line=1, unchanged=True),
        replace(LABEL, first_line=0, last_line=0),
        GoldenLabel("Only words."),
    ],
)
def test_a_label_stands_on_a_changed_line_or_says_that_it_does_not(label: GoldenLabel) -> None:
    assert misplaced_label([LABEL, label], FILES) is None


@pytest.mark.parametrize(
    "label, says",
    [
        (replace(LABEL, file="b.py"), "label 2 is about b.py, which is not there after the change"),
        (replace(LABEL, file="gone.py"), "label 2 is about gone.py, which is not there after the change"),
        (replace(LABEL, last_line=3), "label 2 is about line 3 of a.py, which has fewer lines"),
        (replace(LABEL, unchanged=True), "label 2 is about lines of a.py that change, and says unchanged"),
        (replace(LABEL, first_line=1, last_line=1), "label 2 is about lines of a.py that do not change: correct them"),
    ],
)
def test_any_other_is_named(label: GoldenLabel, says: str) -> None:
    assert (misplaced_label([LABEL, label], FILES) or "").startswith(says)
