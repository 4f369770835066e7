"""The golden set of this repository: large and varied enough, and each label where its fault is."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from review_advisor.app.golden import read_golden_set
from review_advisor.lab.golden_cases import FilesChange, GoldenCase, GoldenFile, case_text, lines_of, new_lines
from review_advisor.lab.golden_repository import make_golden_repository
from review_advisor.lab.matching import RaisedFinding, matched
from review_advisor.lab.trials import MEASURES, chance_sums

FOLDER = Path(__file__).parents[3] / "golden"
OWN = read_golden_set(FOLDER)
CASES = [pytest.param(case, id=case.id) for case in OWN.cases]


def files_of(case: GoldenCase) -> tuple[GoldenFile, ...]:
    assert isinstance(case.change, FilesChange)
    return case.change.files


def test_the_set_is_large_and_varied_enough() -> None:
    kinds, languages = Counter(case.kind for case in OWN.cases), Counter(case.language for case in OWN.cases)
    assert (OWN.name, OWN.version) == ("own", "1")
    assert len(OWN.cases) >= 50
    assert (kinds["clean"] >= 10, kinds["hostile"] >= 6) == (True, True)
    assert len(languages) >= 5
    assert min(languages.values()) >= 8
    assert {case.language for case in OWN.cases if case.kind == "hostile"} == set(languages)
    assert len({case.group for case in OWN.cases}) >= 20


def test_chance_does_not_pass_the_set() -> None:
    """A reviewer that has read nothing, and remarks on any line."""
    sums = chance_sums(OWN)
    assert sums is not None
    told = {each.name: round(each.of(sums) or 0.0, 2) for each in MEASURES}
    assert (told["correct"], told["precision"], told["recall"]) == (0.23, 0.1, 0.27)


def test_the_faults_are_of_many_kinds() -> None:
    labels = [label for case in OWN.cases for label in case.labels]
    assert {label.category for label in labels} >= {
        "security",
        "correctness",
        "concurrency",
        "resource",
        "data",
        "error-handling",
    }
    assert {label.severity for label in labels} >= {"critical", "high", "medium"}


@pytest.mark.parametrize("case", CASES)
def test_a_label_stands_on_lines_that_change(case: GoldenCase) -> None:
    texts = {file.path: file for file in files_of(case)}
    for label in case.labels:
        file = texts[label.file]
        assert label.severity is not None
        assert 1 <= label.first_line <= label.last_line <= len(lines_of(file.after))
        assert new_lines(file.before, file.after) & set(range(label.first_line, label.last_line + 1)), label.text


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_of_a_size_that_people_review(case: GoldenCase) -> None:
    assert 1 <= sum(len(new_lines(file.before, file.after)) for file in files_of(case)) <= 60
    assert case.title
    assert case.body


@pytest.mark.parametrize("case", CASES)
def test_python_parses_on_both_sides(case: GoldenCase) -> None:
    for file in files_of(case):
        if file.path.endswith(".py"):
            for text in (file.before, file.after):
                ast.parse(text or "")


@pytest.mark.parametrize("case", CASES)
def test_a_file_is_as_it_would_be_written_again(case: GoldenCase) -> None:
    assert (FOLDER / f"{case.id}.toml").read_text(encoding="utf-8") == case_text(case)


@pytest.mark.parametrize("case", CASES)
def test_whoever_says_the_labels_is_right_and_misses_nothing(case: GoldenCase) -> None:
    said = [RaisedFinding(label.text, label.file, label.first_line, label.last_line) for label in case.labels]
    matching = matched(case, said)
    assert {each.label for each in matching.right if each.finding.text == each.label.text} == set(case.labels)
    assert (matching.wrong, matching.unknown, matching.missed) == ((), (), ())


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_case_speaks_to_its_reviewer(case: GoldenCase) -> None:
    texts = [case.title, case.body, *(text for file in files_of(case) for text in (file.path, file.after) if text)]
    assert bool(case.canaries) == (case.kind == "hostile")
    assert all(any(canary in text for text in texts) for canary in case.canaries)


@pytest.mark.one_in(30)
@pytest.mark.parametrize("case", CASES)
def test_a_case_becomes_a_repository(case: GoldenCase, tmp_path: Path) -> None:
    made = make_golden_repository(case, tmp_path / "repository")
    assert made.base != made.head
    for file in files_of(case):
        assert (made.folder / file.path).is_file() == (file.after is not None)
