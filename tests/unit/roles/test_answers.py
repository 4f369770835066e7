from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from review_advisor.core.roles.answers import Consult, Guidance, PostVerifyResult, ReviewPlan, ReviewReport
from review_advisor.core.roles.calls import Answered, Lost, LostReason, Receipt, Usage
from review_advisor.core.roles.replies import checked_answer
from review_advisor.mockworld.lines import approve, confirm, finding, guidance, plan, reject, veto

BLOCKING = {"executor_claim": "fine", "advisor_assessment": "not fine", "severity": "blocking"}
CONCERN = {**BLOCKING, "severity": "concern"}


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
def test_a_sound_answer_is_taken(model: type[BaseModel], value: dict[str, Any]) -> None:
    assert isinstance(checked_answer(model, Answered(value)), model)


UNSOUND = [
    ("an approval with a blocking disagreement", PostVerifyResult, {"verdict": "APPROVE", "disagreements": [BLOCKING]}),
    ("a veto without its reason", PostVerifyResult, {"verdict": "VETO"}),
    ("a veto with a blank reason", PostVerifyResult, {"verdict": "VETO", "reasoning": " \n "}),
    ("a veto in lower case", PostVerifyResult, {"verdict": "veto", "reasoning": "r"}),
    ("a third verdict", PostVerifyResult, {"verdict": "MAYBE", "reasoning": "r"}),
    ("no verdict", PostVerifyResult, {"reasoning": "r"}),
    ("an approval with a critical finding", ReviewReport, answer(approve(finding("a", 1, "x", severity="critical")))),
    ("a report without its summary", ReviewReport, {"verdict": "approve", "confidence": 1}),
    ("a report with a blank summary", ReviewReport, {"verdict": "approve", "confidence": 1, "summary": " "}),
    ("a report without its confidence", ReviewReport, {"verdict": "approve", "summary": "s"}),
    ("more than certain", ReviewReport, {"verdict": "approve", "summary": "s", "confidence": 1.01}),
    ("a finding without evidence", ReviewReport, answer(reject(finding("a", 1, "")))),
    ("a finding of unknown severity", ReviewReport, answer(reject(finding("a", 1, "x", severity="blocker")))),
    ("a line below nothing", ReviewReport, answer(reject(finding("a", -1, "x")))),
    ("a flood of findings", ReviewReport, answer(reject(*[finding("a", 1, "x")] * 201))),
    ("a flood of words", PostVerifyResult, {"verdict": "VETO", "reasoning": "x" * 8001}),
    ("an empty plan", ReviewPlan, {}),
    ("guidance without an action", Guidance, {"rationale": "because"}),
    ("nothing", PostVerifyResult, {}),
]


@pytest.mark.parametrize("model, value", [row[1:] for row in UNSOUND], ids=[row[0] for row in UNSOUND])
def test_an_unsound_answer_is_lost_d7(model: type[BaseModel], value: dict[str, Any]) -> None:
    receipt = Receipt(usage=Usage(cost_usd=0.1))
    lost = checked_answer(model, Answered(value, receipt))
    assert isinstance(lost, Lost)
    assert (lost.reason, lost.receipt) == (LostReason.INVALID_ANSWER, receipt)
    assert lost.detail


def test_words_a_model_adds_are_ignored() -> None:
    answered = checked_answer(PostVerifyResult, Answered({"verdict": "APPROVE", "note_to_self": "x"}))
    assert answered == PostVerifyResult(verdict="APPROVE")


def test_a_lost_reply_stays_lost() -> None:
    lost = Lost(LostReason.TIMEOUT, "too slow")
    assert checked_answer(ReviewPlan, lost) is lost


def test_a_complaint_says_where_and_never_what() -> None:
    lost = checked_answer(ReviewReport, Answered(answer(reject(finding("SECRET-PATH", 1, "")))))
    assert isinstance(lost, Lost)
    assert lost.detail.startswith("findings.0.evidence: ")
    assert "SECRET-PATH" not in lost.detail


def test_a_complaint_about_the_whole_says_so() -> None:
    lost = checked_answer(PostVerifyResult, Answered({"verdict": "VETO"}))
    assert isinstance(lost, Lost)
    assert lost.detail == "the object: Value error, VETO needs its reasoning"


def test_an_answer_cannot_be_changed_afterwards() -> None:
    result = PostVerifyResult(verdict="APPROVE")
    with pytest.raises(ValidationError):
        result.verdict = "VETO"
