"""SARIF 2.1.0: what the standard asks for, and what must never be in it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.forge_text.sarif_standard import SCHEMA, offences
from tests.unit.forge_text.stories import STORIES, rejecting, remark, told

from review_advisor.github.sarif import relative_uri, sarif, sarif_json
from review_advisor.mockworld.agents import reject
from review_advisor.mockworld.world import MockWorld, deleted
from review_advisor.policy.surfaces import Role


def run_of(log: dict[str, Any]) -> dict[str, Any]:
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.one_in(4)
@pytest.mark.parametrize("story", STORIES)
def test_every_kind_of_review_keeps_to_the_standards_own_schema(story: str) -> None:
    assert offences(sarif_json(told(STORIES[story]), "1.2.3")) == []


@pytest.mark.parametrize(
    "category, rule",
    [
        ("Naming", "naming"),
        (" (naming) ", "naming"),
        ("Error -- handling!", "error-handling"),
        ("x" * 61, "x" * 60),
        ("漢字", "finding"),
    ],
)
def test_the_rule_of_a_category_is_named_in_plain_letters(category: str, rule: str) -> None:
    document = told(rejecting(remark(7)))
    found = tuple(replace(each, category=category) for each in document.findings)
    run = run_of(sarif(replace(document, findings=found), "1"))
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == [rule]
    assert run["results"][0]["ruleId"] == rule


def test_a_run_says_what_every_reader_of_it_needs() -> None:
    run = run_of(sarif(told(), "1.2.3"))
    assert run["tool"]["driver"] == {"name": "review-advisor", "version": "1.2.3", "rules": []}
    assert run["automationDetails"] == {"id": "review-advisor/"}
    assert run["columnKind"] == "unicodeCodePoints"
    assert list(run["originalUriBaseIds"].values()) == [{"description": {"text": "The root of the repository."}}]
    assert (run["results"], run["invocations"]) == ([], [{"executionSuccessful": True, "exitCode": 0}])
    assert run["properties"]["outcome"] == "approved"
    assert run["properties"]["runId"] == "run-1"


def test_the_log_is_json_that_a_person_can_read() -> None:
    document = told(rejecting(remark(7, title="der Wert ist größer")))
    text = sarif_json(document, "1")
    assert text == json.dumps(sarif(document, "1"), indent=2, ensure_ascii=False) + "\n"
    assert "größer" in text
    assert '\n  "version": ' in text


def test_the_schema_is_the_one_that_oasis_published() -> None:
    digest = hashlib.sha256(SCHEMA.read_bytes()).hexdigest()
    assert f"`{digest}`" in SCHEMA.with_name("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "fault",
    [
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0].update(rank=101),
        lambda run: run["results"][0].update(severity="high"),
        lambda run: run["results"][0].update(ruleIndex=1),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="/etc/passwd"),
        lambda run: run["invocations"][0].pop("executionSuccessful"),
        lambda run: run["tool"].pop("driver"),
    ],
)
def test_a_file_that_does_not_keep_to_it_is_noticed(fault: Callable[[dict[str, Any]], object]) -> None:
    log = sarif(told(rejecting(remark(7), remark(8, "low", category="naming"))), "1")
    assert offences(json.dumps(log)) == []
    fault(run_of(log))
    assert offences(json.dumps(log))


def test_a_finding_is_told_with_its_stable_id_and_its_lines() -> None:
    finding = remark(7, "critical", body="It clashes.", category="Input Handling")
    document = told(rejecting(finding, remark(8, "low")))
    run = run_of(sarif(document, "1.2.3"))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["input-handling", "correctness"]
    worst, least = run["results"]
    assert (worst["level"], least["level"]) == ("error", "note")
    assert worst["message"]["text"] == "value 7 is taken\n\nIt clashes."
    assert worst["partialFingerprints"] == {"findingId/v1": document.findings[0].id}
    assert worst["locations"][0]["physicalLocation"]["region"] == {"startLine": 7, "endLine": 7}
    assert worst["rank"] == 90.0


def test_a_finding_about_security_carries_githubs_number() -> None:
    """GitHub reads it from the rule, and there the worst of its findings counts."""
    found = (remark(7, "high", category="security"), remark(8, "low", category="security"), remark(9, "critical"))
    rules = {rule["id"]: rule for rule in run_of(sarif(told(rejecting(*found)), "1"))["tool"]["driver"]["rules"]}
    assert rules["security"]["properties"] == {"tags": ["security"], "security-severity": "8.0"}
    assert "properties" not in rules["correctness"]


def test_a_suggestion_that_can_be_committed_is_a_fix() -> None:
    run = run_of(sarif(told(rejecting(remark(7, suggestion="    value = 77\n"))), "1"))
    (fix,) = run["results"][0]["fixes"]
    assert fix["artifactChanges"][0]["replacements"] == [
        {"deletedRegion": {"startLine": 7, "endLine": 7}, "insertedContent": {"text": "    value = 77"}}
    ]
    corrected = run_of(sarif(told(rejecting({**remark(7, suggestion="value = 77"), "line": 99})), "1"))
    assert "fixes" not in corrected["results"][0]


def test_a_removed_line_is_no_region_of_the_file_as_it_is() -> None:
    def tell(world: MockWorld) -> None:
        world.change(deleted("src/app.py"))
        world.agents.script(Role.EXECUTOR, reject(remark(7)))

    (result,) = run_of(sarif(told(tell), "1"))["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


@pytest.mark.parametrize(
    "story, successful, code", [("approved", True, 0), ("changes requested", True, 10), ("stopped", False, 12)]
)
def test_a_review_that_stopped_never_reads_as_nothing_found(story: str, successful: bool, code: int) -> None:
    run = run_of(sarif(told(STORIES[story]), "1"))
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (successful, code)
    notifications = invocation.get("toolExecutionNotifications", [])
    assert [each["message"]["text"] for each in notifications] == ([] if successful else ["the credit is spent"])


@pytest.mark.parametrize(
    "path, uri",
    [
        ("src/app.py", "src/app.py"),
        ("/etc/passwd", "etc/passwd"),
        ("../../up.py", "up.py"),
        ("a b#c?d.py", "a%20b%23c%3Fd.py"),
        ("http://evil.example/x", "http%3A/evil.example/x"),
        ("c:\\x.py", "c%3A%5Cx.py"),
        ("é/漢.py", "%C3%A9/%E6%BC%A2.py"),
        ("half\ud83d.py", "half%3F.py"),
    ],
)
def test_a_path_is_a_relative_address_that_stays_in_the_repository(path: str, uri: str) -> None:
    assert relative_uri(path) == uri


def test_text_from_outside_is_cleaned() -> None:
    document = told(rejecting(remark(7)))
    finding = replace(document.findings[0], title="hid\u200bden ghp_" + "a" * 36, body="\x1b[31m")
    text = json.dumps(sarif(replace(document, findings=(finding,)), "1"), ensure_ascii=False)
    assert "hid<U+200B>den [secret: GitHub token]" in text
    assert "\x1b" not in text


def test_a_rules_help_names_who_says_it() -> None:
    """A static check is no language model, and a model is called by its name."""
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, reject(remark(1)))
    world.switch("HYDRAFLOW_REVIEW_EXECUTOR_MODEL", "haiku")
    (rule,) = run_of(sarif(world.review(), "1"))["tool"]["driver"]["rules"]
    assert rule["help"]["text"].startswith("Found by the language model haiku.")
    world = MockWorld()
    world.static = True
    world.agents.script(Role.EXECUTOR, reject(remark(1)))
    (rule,) = run_of(sarif(world.review(), "1"))["tool"]["driver"]["rules"]
    assert rule["help"]["text"].startswith("Found by a static check")
