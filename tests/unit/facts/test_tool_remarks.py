"""What other tools found, read from their SARIF logs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from review_advisor import __version__
from review_advisor.change.tool_remarks import MOST_REMARKS, NotSarifError, ToolRemark, on_files, read_sarif
from review_advisor.github.sarif import sarif_json
from review_advisor.mockworld.agents import finding, reject
from review_advisor.mockworld.world import MockWorld
from review_advisor.policy.surfaces import Role


def result(uri: Any = "src/app.py", line: Any = 3, text: Any = "not closed", rule: Any = "R1") -> dict[str, Any]:
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}
    return {"ruleId": rule, "message": {"text": text}, "locations": [{"physicalLocation": place}]}


def log(*results: Any, name: Any = "checker") -> str:
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": name}}, "results": list(results)}]})


def test_a_result_is_read_with_its_tool_and_place() -> None:
    assert read_sarif(log(result())) == (ToolRemark("checker", "R1", "src/app.py", 3, "not closed"),)


def test_our_own_log_can_be_read() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, reject(finding("src/app.py", 7, "value = 7")))
    (one,) = read_sarif(sarif_json(world.review(), __version__))
    assert (one.tool, one.path, one.line) == ("review-advisor", "src/app.py", 7)


@pytest.mark.parametrize(
    "uri, path",
    [("./src/a%20b.py", "src/a b.py"), ("file:///etc/passwd", None), ("/etc/passwd", None), (None, None), ("", None)],
)
def test_only_places_in_the_repository_count(uri: Any, path: str | None) -> None:
    assert [each.path for each in read_sarif(log(result(uri)))] == ([path] if path else [])


@pytest.mark.parametrize("odd", [None, 1, "x", [], {"locations": [None]}, {"locations": "x"}, {"message": 1}])
def test_an_odd_result_takes_nothing_else_with_it(odd: Any) -> None:
    assert len(read_sarif(log(odd, result(line="x", text=None, rule=7)))) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runs": 1}', "[" * 100_000])
def test_what_is_no_log_is_refused(text: str) -> None:
    with pytest.raises(NotSarifError):
        read_sarif(text)


def test_much_is_cut() -> None:
    remarks = read_sarif(log(*[result(text="x" * 1_000)] * (MOST_REMARKS + 1)))
    assert (len(remarks), len(remarks[0].message)) == (MOST_REMARKS, 300)


def test_those_on_other_files_are_left_out() -> None:
    remarks = read_sarif(log(result("a.py"), result("b.py")))
    assert [each.path for each in on_files(remarks, ["b.py"])] == ["b.py"]
