"""Findings of any reviewer, one JSON object a line."""

from __future__ import annotations

import json

import pytest

from review_advisor.lab.golden_cases import GoldenCase, GoldenSetError, NamedChange, golden_set
from review_advisor.lab.matching import RaisedFinding, read_finding_lines

SET = golden_set(
    "s", "", [GoldenCase(id=name, group="g", kind="faulty", change=NamedChange("x")) for name in ("go/a", "b")]
)


def test_a_line_is_a_finding_and_a_case_alone_is_a_review_without_one() -> None:
    first = {"case": "go/a", "text": "t", "file": "x.go", "first_line": 3, "severity": "high"}
    lines = [json.dumps(first), "", '{"case": "b"}', '{"case": "go/a", "text": "u", "first_line": 3, "last_line": 5}']
    assert read_finding_lines(lines, SET, "f") == {
        "go/a": [RaisedFinding("t", "x.go", 3, 3, "high"), RaisedFinding("u", "", 3, 5)],
        "b": [],
    }


@pytest.mark.parametrize(
    "line, said",
    [
        ("{", "f, line 1 is not valid JSON."),
        ("[" * 100_000, "f, line 1 is not valid JSON."),
        ("[]", "f, line 1 is no JSON object."),
        ("{}", "f, line 1: case: is missing."),
        ('{"case": "go/b"}', "f, line 1: the set has no case 'go/b'; did you mean 'go/a'?"),
        ('{"case": "b", "file": "x"}', "f, line 1: text is missing."),
        (
            '{"case": "b", "text": "t", "frist_line": 1}',
            "f, line 1: unknown key 'frist_line'; did you mean 'first_line'?",
        ),
        ('{"case": "b", "text": "t", "first_line": 2, "last_line": 1}', "f, line 1: last_line is before first_line."),
        ('{"case": "b", "text": "t", "first_line": "2"}', "f, line 1: first_line: should be a whole number."),
        ("", "f holds no finding."),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(line: str, said: str) -> None:
    with pytest.raises(GoldenSetError) as refused:
        read_finding_lines([line], SET, "f")
    assert str(refused.value) == said


def test_a_flood_of_findings_is_refused() -> None:
    with pytest.raises(GoldenSetError, match="more than 400 findings on b"):
        read_finding_lines(['{"case": "b", "text": "t"}'] * 401, SET, "f")


@pytest.mark.parametrize("path", ["src/pay.py", "./src/pay.py", "././src/pay.py"])
def test_a_path_is_the_same_with_a_point_before_it(path: str) -> None:
    ((found,),) = read_finding_lines([json.dumps({"case": "b", "text": "t", "file": path})], SET, "f").values()
    assert found.file == "src/pay.py"


@pytest.mark.parametrize("path", ["/home/me/src/pay.py", "../src/pay.py", "src/../pay.py", "C:/pay.py", "a\\pay.py"])
def test_a_path_that_is_of_no_repository_is_refused(path: str) -> None:
    with pytest.raises(GoldenSetError, match="f, line 1: file: a path "):
        read_finding_lines([json.dumps({"case": "b", "text": "t", "file": path})], SET, "f")
