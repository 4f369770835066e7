"""What ``review`` prints: the verdict and the findings first, and how it came about only on request."""

from __future__ import annotations

import re

import pytest

from review_advisor.app.progress import coloured
from review_advisor.mockworld.agents import credit_gone, finding, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.report import report_text, terminal_report
from review_advisor.review.rulings import Outcome
from review_advisor.safety.wording import counted

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def rejected(files: int = 1) -> OutcomeDocument:
    world = MockWorld()
    world.change(*(edited(f"src/app{number}.py") for number in range(files)))
    faults = [finding("src/app0.py", line, f"value = {line}") for line in (3, 4)]
    world.agents.script(Role.EXECUTOR, reject(*faults))
    return world.review()


def test_the_verdict_and_the_findings_come_first_and_the_process_on_request() -> None:
    document = rejected()
    short, whole = (terminal_report(document, explain=explain) for explain in (False, True))
    assert short.splitlines()[0] == whole.splitlines()[0] == "CHANGES REQUESTED"
    assert short.splitlines()[3] == "Findings: 2"
    for process in ("post-verify", "executor", "ruling", "pre_flight", "tokens", " cache read"):
        assert process not in short
        assert process in whole or process in ("tokens", "pre_flight")
    assert whole == report_text(document)
    assert short.splitlines()[-1] == "1 file, blast radius low, 3 calls, $0.00. How the verdict came about: --explain."


def test_an_empty_change_is_nothing_to_review() -> None:
    world = MockWorld()
    world.source.stated = world.source.stated.__class__("x")
    assert terminal_report(world.review(), explain=False) == "NOTHING TO REVIEW: the change is empty\n"


def test_a_review_that_stopped_claims_no_findings() -> None:
    world = MockWorld()
    world.agents.script(Role.EXECUTOR, credit_gone())
    text = terminal_report(world.review(), explain=False)
    assert text.startswith("STOPPED: ")
    assert "Findings" not in text
    assert "was not read" in text


def test_what_was_not_read_is_named_without_a_request() -> None:
    world = MockWorld()
    world.change(edited("src/app.py"), edited("long.py", 1, "x" * 400_000))
    assert "long.py was not read" in terminal_report(world.review(), explain=False)


@pytest.mark.parametrize("files", [1, 2, 3])
def test_one_is_one_and_two_are_two(files: int) -> None:
    document = rejected(files)
    for text in (terminal_report(document, explain=explain) for explain in (False, True)):
        assert re.findall(r"\b1 (?:files|calls|consults|findings|lines)\b", text) == []
        assert re.findall(r"\b[02-9] (?:file|call|consult|finding|line)\b(?!,? of)", text) == []
    assert counted(files, "file") in terminal_report(document, explain=False)


def test_colour_changes_no_word() -> None:
    for document in (rejected(), MockWorld().review()):
        for explain in (False, True):
            text = terminal_report(document, explain=explain)
            shown = coloured(text, document.outcome)
            assert shown != text
            assert ESCAPE.sub("", shown) == text


def test_each_outcome_has_a_colour_of_its_own() -> None:
    firsts = {coloured("WORD\n", outcome) for outcome in Outcome}
    assert len(firsts) == len(Outcome)
