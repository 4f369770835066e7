from typing import Any

import pytest
from pydantic import ValidationError

from review_advisor.core.answers.answers import Answer, Consult, Guidance, PostVerifyResult, ReviewPlan, ReviewReport
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
