"""Recorded reviews by seven invented tools, in which agreement tells of truth or does not, and the files of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from review_advisor.lab.recorded_reviews import JudgedChange, Score, ToolFinding

MEMBERS = tuple(f"member-{letter}" for letter in "abcdef")
TOOLS = ("lead", *MEMBERS)
REPOSITORIES = ("alpha", "beta", "gamma")
FAULTS = ("division by zero of an empty list", "open file handle leaks in readAll")
NOISE = ("typo in a comment", "rename this variable", "missing docstring sentence", "long line of imports")


def judged_changes(*, agreeing: bool) -> tuple[JudgedChange, ...]:
    """Twelve pull requests with two golden comments. The lead finds both, and two things that are wrong.

    Three members have what is right, or what is wrong, of the lead's findings; what else is said nobody says twice.
    """
    return tuple(_change(number, agreeing=agreeing) for number in range(12))


def _change(number: int, *, agreeing: bool) -> JudgedChange:
    wrong = (NOISE[number % 4], NOISE[(number + 1) % 4])
    findings = [ToolFinding("lead", text, frozenset({place})) for place, text in enumerate(FAULTS)]
    findings += [ToolFinding("lead", text) for text in wrong]
    for member in MEMBERS[:3]:
        findings += [
            ToolFinding(member, text, frozenset({comment}) if agreeing else frozenset())
            for comment, text in enumerate(FAULTS if agreeing else wrong)
        ]
    for place, member in enumerate(MEMBERS):
        findings += [ToolFinding(member, _lone(100 * number + 10 * place + each)) for each in range(5)]
    loose = {
        tool: Score(
            len([each for each in findings if each.tool == tool and each.matches]),
            len([each for each in findings if each.tool == tool]),
            2,
        )
        for tool in TOOLS
    }
    url = f"https://forge.example/{REPOSITORIES[number % 3]}/pull/{number}"
    return JudgedChange(url, REPOSITORIES[number % 3], 2, tuple(findings), loose)


def _lone(number: int) -> str:
    """A text whose words no other has."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return f"q{letters} x{letters} z{letters}"


def write_results(folder: Path, judges: Mapping[str, tuple[JudgedChange, ...]]) -> Path:
    """The folder of a checkout that holds these results, in the benchmark's own form."""
    offline = folder / "offline"
    for repository in REPOSITORIES:
        pulls = [
            {"url": change.name, "pr_title": "A change", "comments": []}
            for change in next(iter(judges.values()))
            if change.repository == repository
        ]
        put(offline / "golden_comments" / f"{repository}.json", pulls)
    for judge, changes in judges.items():
        put(offline / "results" / judge / "candidates.json", {each.name: _candidates(each) for each in changes})
        put(offline / "results" / judge / "evaluations.json", {each.name: _evaluations(each) for each in changes})
    return folder


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def _candidates(change: JudgedChange) -> dict[str, Any]:
    return {
        tool: [{"text": each.text, "path": None, "line": None} for each in change.findings if each.tool == tool]
        for tool in TOOLS
    }


def _evaluations(change: JudgedChange) -> dict[str, Any]:
    return {tool: _evaluation([each for each in change.findings if each.tool == tool]) for tool in TOOLS}


def _evaluation(findings: list[ToolFinding]) -> dict[str, Any]:
    hits = {comment: each.text for each in findings for comment in each.matches}
    return {
        "skipped": False,
        "true_positives": [
            {"golden_comment": FAULTS[comment], "matched_candidate": text, "confidence": 0.9}
            for comment, text in hits.items()
        ],
        "false_positives": [{"candidate": each.text} for each in findings if not each.matches],
        "false_negatives": [{"golden_comment": text} for place, text in enumerate(FAULTS) if place not in hits],
    }
