from typing import Any

import pytest
from pydantic import ValidationError

from review_advisor.core.answers.answers import (
    Answer,
    Consult,
    DisagreementAnswer,
    FocusArea,
    Guidance,
    KnowledgeEntry,
    PostVerifyResult,
    ReportedFinding,
    ReviewPlan,
    ReviewReport,
)
from review_advisor.core.roles.calls import Answered, Lost, LostReason, Receipt, Usage
from review_advisor.core.roles.replies import checked_reply
from review_advisor.mockworld.lines import approve, confirm, finding, guidance, plan, reject, veto

BLOCKING = {"executor_claim": "fine", "advisor_assessment": "not fine", "severity": "blocking"}
CONCERN = {**BLOCKING, "severity": "concern"}
MINOR = {**BLOCKING, "severity": "minor"}


def answer(line: Any) -> dict[str, Any]:
    value: dict[str, Any] = line.answer
    return value


@pytest.mark.parametrize(
    "model, value",
    [
        (ReviewPlan, answer(plan("r", ("a.py",), ("s",)))),
        (ReviewPlan, {"risk_summary": "r"}),
        (ReviewReport, answer(approve(finding("a.py", 1, "x")))),
        (ReviewReport, answer(reject(finding("a.py", 1, "x", severity="critical")))),
        (ReviewReport, answer(reject())),
        (PostVerifyResult, answer(confirm("a concern"))),
        (PostVerifyResult, {"verdict": "APPROVE"}),
        (PostVerifyResult, answer(veto("a", direction="b"))),
        (PostVerifyResult, {"verdict": "VETO", "reasoning": "r", "disagreements": [CONCERN]}),
        (Guidance, answer(guidance())),
        (Consult, {"question": "why?"}),
    ],
)
def test_a_sound_answer_is_taken(model: type[Answer], value: dict[str, Any]) -> None:
    checked = checked_reply(model, Answered(value))
    assert isinstance(checked.answer, model)
    assert checked.notes == ()


UNSOUND = [
    ("an approval in lower case", PostVerifyResult, {"verdict": "approve"}),
    ("a disagreement of unknown weight", PostVerifyResult, {"verdict": "APPROVE", "disagreements": [MINOR]}),
    ("a third verdict", PostVerifyResult, {"verdict": "MAYBE", "reasoning": "r"}),
    ("no verdict", PostVerifyResult, {"reasoning": "r"}),
    ("a report without its summary", ReviewReport, {"verdict": "approve", "confidence": 1}),
    ("a report without its confidence", ReviewReport, {"verdict": "approve", "summary": "s"}),
    ("more than certain", ReviewReport, {"verdict": "approve", "summary": "s", "confidence": 1.01}),
    ("an empty plan", ReviewPlan, {}),
    ("guidance without an action", Guidance, {"rationale": "because"}),
    ("nothing", PostVerifyResult, {}),
]


@pytest.mark.parametrize("model, value", [row[1:] for row in UNSOUND], ids=[row[0] for row in UNSOUND])
def test_an_unsound_answer_is_lost_d7(model: type[Answer], value: dict[str, Any]) -> None:
    receipt = Receipt(usage=Usage(cost_usd=0.1))
    lost = checked_reply(model, Answered(value, receipt)).answer
    assert isinstance(lost, Lost)
    assert (lost.reason, lost.receipt) == (LostReason.INVALID_ANSWER, receipt)
    assert lost.detail


def test_words_a_model_adds_are_ignored() -> None:
    answered = checked_reply(PostVerifyResult, Answered({"verdict": "APPROVE", "note_to_self": "x"}))
    assert answered.answer == PostVerifyResult(verdict="APPROVE")


def test_a_lost_reply_stays_lost() -> None:
    lost = Lost(LostReason.TIMEOUT, "too slow")
    assert checked_reply(ReviewPlan, lost).answer is lost


def test_a_complaint_says_where_and_never_what() -> None:
    lost = checked_reply(ReviewPlan, Answered({"risk_summary": ["SECRET"]})).answer
    assert isinstance(lost, Lost)
    assert lost.detail == "risk_summary: Input should be a valid string"


def test_an_answer_cannot_be_changed_afterwards() -> None:
    result = PostVerifyResult(verdict="APPROVE")
    with pytest.raises(ValidationError):
        result.verdict = "VETO"


@pytest.mark.parametrize(
    "kind, field, description",
    [
        (ReportedFinding, "evidence", "a verbatim quote of the changed lines this is about"),
        (ReportedFinding, "suggestion", "the complete new text of the lines line to end_line, indentation included"),
        (DisagreementAnswer, "disagreement", "the id of the disagreement, as in the transcript"),
        (DisagreementAnswer, "evidence", "a verbatim quote that settles it"),
        (KnowledgeEntry, "evidence", "a verbatim quote of the changed lines that prove it"),
    ],
)
def test_the_schema_tells_a_model_what_a_field_is_checked_for(kind: type[Answer], field: str, description: str) -> None:
    """A model that does not know that a quote must be verbatim has its findings refused."""
    definitions = ReviewReport.model_json_schema()["$defs"]
    assert definitions[kind.__name__]["properties"][field]["description"] == description


@pytest.mark.parametrize(
    "model, value, field, most",
    [
        (ReviewPlan, {"risk_summary": "r", "rubric": ["x"] * 99}, "rubric", 30),
        (ReviewPlan, {"risk_summary": "r", "escalation_signals": ["x"] * 99}, "escalation_signals", 20),
        (ReviewPlan, {"risk_summary": "r", "focus_areas": [{"description": "d"}] * 99}, "focus_areas", 20),
        (ReviewPlan, {"risk_summary": "r" * 9_000}, "risk_summary", 8_000),
        (PostVerifyResult, {"verdict": "VETO", "disagreements": [CONCERN] * 99}, "disagreements", 50),
        (PostVerifyResult, {"verdict": "VETO", "reasoning": "r" * 9_000}, "reasoning", 8_000),
        (Consult, {"question": "q", "options": ["x"] * 99}, "options", 20),
        (Guidance, {"action": "a", "risk_flags": ["x"] * 99}, "risk_flags", 20),
        (Guidance, {"action": "a", "evidence": ["x"] * 99}, "evidence", 20),
        (FocusArea, {"description": "d", "files": ["x"] * 199}, "files", 100),
        (KnowledgeEntry, {"title": "t" * 999, "body": "b", "path": "p", "evidence": "e"}, "title", 120),
        (KnowledgeEntry, {"title": "t", "body": "b" * 9_000, "path": "p", "evidence": "e"}, "body", 2_000),
        (KnowledgeEntry, {"title": "t", "body": "b", "path": "p", "evidence": "e", "tags": ["x"] * 9}, "tags", 5),
    ],
)
def test_no_answer_grows_beyond_its_bounds(model: type[Answer], value: dict[str, Any], field: str, most: int) -> None:
    assert len(getattr(model.model_validate(value), field)) == most
