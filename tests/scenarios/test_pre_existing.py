"""A fault that the change did not bring: the executor's claim counts where the advisor confirms it, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.scenarios.publishing import PATH, Desk

from review_advisor.agents.calls import LostReason
from review_advisor.agents.findings import finding_id
from review_advisor.change.change import FileChange, Hunk
from review_advisor.github.sarif import sarif
from review_advisor.mockworld.agents import Json, Line, approve, confirm, finding, lost, reject
from review_advisor.mockworld.world import MockWorld, edited
from review_advisor.policy.outage_rules import OutageRules
from review_advisor.policy.surfaces import Role
from review_advisor.review.document import OutcomeDocument, blocking_findings, outcome_json, read_outcome
from review_advisor.review.report import report_text
from review_advisor.review.rulings import Outcome
from review_advisor.review.soundness import unsound

OLD_ID = finding_id(PATH, "correctness", "value = 3")
NEW_ID = finding_id(PATH, "correctness", "value = 5")
UNCONFIRMED = "the executor calls a critical finding pre-existing, and the advisor does not confirm it"


def old(severity: str = "critical", **more: object) -> Json:
    return {**finding(PATH, 3, "value = 3", severity, "three was always odd"), "pre_existing": True, **more}


NEW = finding(PATH, 5, "value = 5", "high", "five is wrong")


def indented(path: str, lines: int) -> FileChange:
    """A file in which the change indents every line: what is quoted from it was there before."""
    numbers = range(1, lines + 1)
    body = (*(f"-value = {n}" for n in numbers), *(f"+    value = {n}" for n in numbers))
    return replace(edited(path, lines), removed=lines, hunks=(Hunk(1, lines, 1, lines, "", body),))


def reviewed(world: MockWorld, report: Line, *judged: Line, file: FileChange | None = None) -> OutcomeDocument:
    world.change(file or indented(PATH, 12))
    world.agents.script(Role.EXECUTOR, report)
    world.agents.script(Role.POST_VERIFY, *judged)
    document = world.review()
    assert unsound(document.events) is None
    assert read_outcome(outcome_json(document)) == document
    return document


def test_a_critical_finding_that_both_call_pre_existing_does_not_block(world: MockWorld) -> None:
    document = reviewed(world, approve(old()), confirm(pre_existing=(OLD_ID,)))
    assert document.outcome is Outcome.APPROVED
    assert [each.pre_existing for each in document.findings] == [True]
    assert blocking_findings(document) == frozenset()
    assert ", pre-existing]" in report_text(document)
    (result,) = sarif(document, "1.2.3")["runs"][0]["results"]
    assert result["properties"]["preExisting"] is True


@pytest.mark.parametrize("listed", [(), (NEW_ID,), ("three was always odd",)])
def test_the_executor_alone_cannot_let_a_critical_finding_pass(world: MockWorld, listed: tuple[str, ...]) -> None:
    document = reviewed(world, approve(old()), confirm(pre_existing=listed))
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))
    assert [each.pre_existing for each in document.findings] == [False]


@pytest.mark.parametrize("severity", ["critical", "high"])
def test_a_grave_finding_that_nobody_can_look_up_is_not_called_pre_existing(world: MockWorld, severity: str) -> None:
    """Its quote stands nowhere in the change, so that its judge cannot find it either."""
    invented = old(evidence="invented = 1", severity=severity)
    document = reviewed(world, approve(invented), confirm(pre_existing=(OLD_ID,)))
    assert document.outcome is Outcome.ESCALATED
    assert f"was refused, not disproved: {severity}" in document.because[0]


def test_what_stands_on_added_lines_alone_is_not_called_pre_existing(world: MockWorld) -> None:
    """Whatever talks both of them into it: the change itself shows that it brought these lines."""
    document = reviewed(world, approve(old()), confirm(pre_existing=(OLD_ID,)), file=edited(PATH, 12))
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))
    assert [each.pre_existing for each in document.findings] == [False]


@pytest.mark.parametrize("severity, believed", [("high", False), ("medium", True), ("low", True)])
def test_only_grave_findings_must_be_quoted_from_what_was_there(
    world: MockWorld, severity: str, believed: bool
) -> None:
    document = reviewed(world, reject(old(severity), NEW), confirm(pre_existing=(OLD_ID,)), file=edited(PATH, 12))
    assert [each.pre_existing for each in document.findings if each.id == OLD_ID] == [believed]
    assert (OLD_ID in blocking_findings(document)) is not believed


@pytest.mark.parametrize("sign", [" ", "-"])
def test_a_quote_from_unchanged_or_removed_lines_may_be_pre_existing(world: MockWorld, sign: str) -> None:
    body = (f"{sign}if value = 3:", "+guard(value = 3)")
    file = replace(edited(PATH, 1), hunks=(Hunk(3, 1, 3, 2, "", body),))
    document = reviewed(world, approve(old()), confirm(pre_existing=(OLD_ID,)), file=file)
    assert document.outcome is Outcome.APPROVED


def test_an_unchanged_line_beside_an_added_one_proves_nothing_of_it(world: MockWorld) -> None:
    file = replace(edited(PATH, 1), hunks=(Hunk(3, 1, 3, 2, "", (" total = 0", "+value = 3")),))
    both = "total = 0\nvalue = 3"
    listed = finding_id(PATH, "correctness", both)
    document = reviewed(world, approve(old(evidence=both)), confirm(pre_existing=(listed,)), file=file)
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))


def test_an_outage_of_the_judge_confirms_nothing(world: MockWorld) -> None:
    document = reviewed(world, approve(old()), lost(LostReason.SERVER_ERROR))
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))


def test_a_fallback_model_confirms_nothing(world: MockWorld) -> None:
    """Its approval means what an outage means."""
    world.rules = replace(world.rules, outage=OutageRules(60.0, ("haiku",)))
    down = lost(LostReason.SERVER_ERROR)
    document = reviewed(world, approve(old()), down, down, confirm(pre_existing=(OLD_ID,)))
    assert [call.model for call in world.calls(Role.POST_VERIFY)] == ["opus", "opus", "haiku"]
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))
    assert [each.pre_existing for each in document.findings] == [False]


def test_a_judge_that_is_switched_off_confirms_nothing(world: MockWorld) -> None:
    world.switch("HYDRAFLOW_REVIEW_POSTVERIFY_ENABLED", "off")
    document = reviewed(world, approve(old()))
    assert (document.outcome, document.because) == (Outcome.ESCALATED, (UNCONFIRMED,))


@pytest.mark.parametrize(
    "said", [{"pre_existing": False}, {"pre_existing": "true"}, {"pre_existing": True, "note": "it blocks"}]
)
def test_an_approval_with_a_critical_finding_that_is_not_plainly_called_so_is_a_rejection(
    world: MockWorld, said: dict[str, object]
) -> None:
    document = reviewed(world, approve({**old(), **said}), confirm())
    assert document.outcome is Outcome.CHANGES_REQUESTED


def test_the_advisor_cannot_call_pre_existing_what_the_executor_does_not(world: MockWorld) -> None:
    document = reviewed(world, reject(NEW), confirm(pre_existing=(NEW_ID,)))
    assert [each.pre_existing for each in document.findings] == [False]
    assert blocking_findings(document) == {NEW_ID}


def test_what_was_there_before_is_marked_and_is_not_what_blocks() -> None:
    desk = Desk()
    judged = (confirm(pre_existing=(OLD_ID,)),)
    desk.publish(desk.reviewed(reject(old("medium"), NEW), judged=judged))
    said = [thread.comments[0].body.split("\n")[1] for thread in desk.threads]
    assert said == ["**High: five is wrong**", "**Medium, pre-existing: three was always odd**"]
    assert f"(`{OLD_ID}`), pre-existing" in desk.summaries[0].body
    (check,) = desk.checks
    assert (check.conclusion, check.title) == ("failure", "Changes requested: 1 high, 1 medium")


def test_a_rejection_for_nothing_else_still_names_what_it_is_about(world: MockWorld) -> None:
    document = reviewed(world, reject(old("medium")), confirm(pre_existing=(OLD_ID,)))
    assert document.outcome is Outcome.CHANGES_REQUESTED
    assert blocking_findings(document) == {OLD_ID}
