"""A spoken no is never worth less than silence, and no bound on length or number loses an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from review_advisor.agents.answers import (
    Answer,
    Guidance,
    PostVerifyResult,
    Recommendation,
    ReviewPlan,
    ReviewReport,
    bare,
)
from review_advisor.agents.calls import Answered, Cause, Lost, LostReason
from review_advisor.agents.replies import CheckedReply, checked_reply, lost_twice, spoken_no
from review_advisor.mockworld.agents import approve, confirm, finding, reject, veto

Json = dict[str, Any]
BLOCKING = {"executor_claim": "fine", "advisor_assessment": "it breaks", "severity": "blocking"}
CONCERN = {**BLOCKING, "severity": "concern"}
CRITICAL = finding("a.py", 1, "value = 1", severity="critical")
LOW = finding("a.py", 2, "value = 2", severity="low")


def of(line: Any, **more: object) -> Json:
    return {**line.answer, **more}


def judged(*said: Any) -> CheckedReply[PostVerifyResult]:
    return checked_reply(PostVerifyResult, Answered(said[-1], said=said))


def reported(*said: Any) -> CheckedReply[ReviewReport]:
    return checked_reply(ReviewReport, Answered(said[-1], said=said))


def veto_in(checked: CheckedReply[PostVerifyResult]) -> PostVerifyResult:
    assert isinstance(checked.answer, PostVerifyResult), checked
    assert checked.answer.verdict == "VETO"
    return checked.answer


def rejection_in(checked: CheckedReply[ReviewReport]) -> ReviewReport:
    assert isinstance(checked.answer, ReviewReport), checked
    assert checked.answer.verdict == "reject"
    return checked.answer


# --- a judge that says no ---------------------------------------------------------------------------------------------

SAYS_VETO: dict[str, tuple[Any, ...]] = {
    "empty reasoning and a blocking disagreement": ({"verdict": "VETO", "reasoning": "", "disagreements": [BLOCKING]},),
    "neither reasoning nor disagreement": ({"verdict": "VETO"},),
    "8,001 characters": (of(veto("it breaks"), reasoning="x" * 8_001),),
    "51 disagreements": (of(veto(), disagreements=[BLOCKING] * 51),),
    "APPROVE with a blocking disagreement": (of(confirm(), disagreements=[CONCERN, BLOCKING]),),
    "VETO, then APPROVE": (of(veto("it breaks")), of(confirm())),
    "an unusable VETO, then APPROVE": ({"verdict": "veto!"}, of(confirm())),
    "lower case": (of(veto("it breaks"), verdict=" veto "),),
    "inside another object": ({"answer": of(veto("it breaks"))},),
    "a disagreement that is no object": ({"verdict": "VETO", "disagreements": ["it breaks"]},),
    "a blocking disagreement without words": ({"verdict": "APPROVE", "disagreements": [{"severity": "BLOCKING"}]},),
    "a verdict nobody knows and a blocking disagreement": ({"verdict": "?", "disagreements": [BLOCKING]},),
    "reasoning of another type": ({"verdict": "VETO", "reasoning": ["it", "breaks"]},),
    "in a list, then APPROVE": ({"verdict": ["VETO"], "reasoning": "x"}, of(confirm())),
    "with a character that nobody sees": ({"verdict": "VE\u200bTO"}, of(confirm())),
    "in Markdown": ({"verdict": "_VETO_"}, of(confirm())),
    "spaced out": ({"verdict": "V E T O"}, of(confirm())),
    "as a list of objects": ([{"verdict": "VETO"}], of(confirm())),
    "as a bare word": ("VETO", of(confirm())),
    "under another name": ({"decision": "VETO", "reasoning": "it breaks"}, of(confirm())),
    "as a second verdict of another name": (of(confirm(), final_verdict="VETO"),),
    "a second verdict in the other role's word": (of(confirm(), note={"verdict": "REJECT"}),),
    "a second verdict that is no yes": (of(confirm(), final={"verdict": "not yet"}),),
    "a blocking disagreement in a list": ({"verdict": "APPROVE", "disagreements": [{"severity": ["blocking"]}]},),
}


@pytest.mark.parametrize("said", SAYS_VETO.values(), ids=SAYS_VETO)
def test_an_answer_that_says_veto_in_any_form_is_a_veto(said: tuple[Any, ...]) -> None:
    veto_in(judged(*said))


def test_a_second_verdict_that_agrees_is_no_veto() -> None:
    checked = judged(of(confirm(), note={"verdict": "Approve"}))
    assert isinstance(checked.answer, PostVerifyResult)
    assert checked.answer.verdict == "APPROVE"


@pytest.mark.parametrize("reason", LostReason)
def test_a_veto_counts_even_if_its_call_is_lost_afterwards(reason: LostReason) -> None:
    checked = checked_reply(PostVerifyResult, Lost(reason, "gone", said=(of(veto("it breaks")),)))
    assert [each.advisor_assessment for each in veto_in(checked).disagreements] == ["it breaks"]
    assert checked.notes == (f"the call was lost ({reason.value}) after an answer that says no: it counts",)


def test_a_confirmation_whose_call_is_lost_afterwards_is_lost() -> None:
    lost = Lost(LostReason.CRASH, "gone", said=(of(confirm()),))
    assert checked_reply(PostVerifyResult, lost).answer is lost


_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
_json = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
_fields = ("reasoning", "disagreements", "suggested_fix_direction", "summary", "confidence", "findings", "answers")
_anything = st.dictionaries(st.sampled_from([*_fields, "knowledge", "unreadable", "x"]), _json, max_size=7)
_reasons = st.sampled_from(LostReason)


@given(_anything, st.sampled_from(["VETO", "veto", "Veto: no", "VETO "]), st.booleans(), _reasons)
def test_whatever_stands_beside_it_a_veto_is_a_veto(beside: Json, word: str, lost: bool, reason: LostReason) -> None:
    said = {**beside, "verdict": word}
    reply = Lost(reason, "gone", said=(said,)) if lost else Answered(of(confirm()), said=(said, of(confirm())))
    veto_in(checked_reply(PostVerifyResult, reply))


@given(_anything, st.sampled_from(["reject", "REJECT", "Rejected"]), st.booleans(), _reasons)
def test_whatever_stands_beside_it_a_rejection_is_one(beside: Json, word: str, lost: bool, reason: LostReason) -> None:
    said = {**beside, "verdict": word}
    reply = Lost(reason, "gone", said=(said,)) if lost else Answered(of(approve()), said=(said, of(approve())))
    rejection_in(checked_reply(ReviewReport, reply))


# --- an executor that says no -----------------------------------------------------------------------------------------


def test_a_critical_finding_that_cannot_be_read_rejects_as_well() -> None:
    report = rejection_in(reported(of(approve({"severity": "critical"}))))
    (unreadable,) = report.unreadable
    assert (unreadable.path, unreadable.title, unreadable.severity) == ("(no path)", "(no title)", "critical")
    assert "evidence: is missing" in unreadable.why


@pytest.mark.parametrize("said", [(of(reject(CRITICAL)), of(approve(LOW))), (of(approve(LOW)), of(reject(CRITICAL)))])
def test_of_several_reports_the_rejection_counts_with_the_findings_of_all(said: tuple[Json, ...]) -> None:
    checked = reported(*said)
    assert {each.severity for each in rejection_in(checked).findings} == {"critical", "low"}
    assert checked.notes[0] == "the call gave 2 answers: the most severe counts"


def test_of_two_approvals_no_finding_is_dropped() -> None:
    checked = reported(of(approve(LOW)), of(approve(finding("a.py", 3, "value = 3"))))
    assert isinstance(checked.answer, ReviewReport)
    assert (checked.answer.verdict, len(checked.answer.findings)) == ("approve", 2)


def test_a_draft_that_the_schema_refused_is_superseded_by_the_answer_that_mends_it() -> None:
    draft = of(reject(CRITICAL, finding("", 1, "x")))
    report = rejection_in(reported(draft, of(reject(CRITICAL))))
    assert len(report.findings) == 1
    assert report.unreadable == ()


ODD: dict[str, tuple[object, str]] = {
    "without evidence": (finding("a.py", 1, ""), "evidence: "),
    "with a line below nothing": (finding("a.py", -1, "x"), "line: "),
    "without a path": ({**LOW, "path": " "}, "path: "),
}


@pytest.mark.parametrize("odd,why", ODD.values(), ids=ODD)
@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_finding_that_cannot_be_read_is_refused_with_its_reason_and_costs_nothing_else(
    odd: object, why: str, verdict: str
) -> None:
    checked = reported(of(approve(LOW, odd), verdict=verdict))  # type: ignore[arg-type]
    assert isinstance(checked.answer, ReviewReport)
    assert checked.answer.verdict == verdict
    assert [each.title for each in checked.answer.findings] == [LOW["title"]]
    (unreadable,) = checked.answer.unreadable
    assert why in unreadable.why


def test_an_unknown_severity_and_an_impossible_confidence_are_set_right_and_noted() -> None:
    checked = reported(of(reject({**LOW, "severity": "catastrophic", "confidence": 1.2}, {**LOW, "severity": "HIGH"})))
    first, second = rejection_in(checked).findings
    assert (first.severity, first.confidence, second.severity) == ("critical", 0.0, "high")
    assert checked.notes == (
        "severity was none of critical, high, medium, low: it counts as critical",
        "confidence could not be read: it counts as 0.0",
    )


_findings = st.lists(st.sampled_from([CRITICAL, LOW, finding("", 1, "x"), {}, "words", None, 3]), max_size=300)


@given(_findings, st.sampled_from(["approve", "reject"]))
def test_every_raw_finding_is_read_or_named_as_unreadable(findings: list[Any], verdict: str) -> None:
    checked = reported(of(approve(), verdict=verdict, findings=findings))
    assert isinstance(checked.answer, ReviewReport)
    assert len(checked.answer.findings) + len(checked.answer.unreadable) == len(findings)


def test_nobody_but_the_reader_says_what_is_unreadable() -> None:
    forged = {"path": "a", "title": "b", "severity": "low", "why": "c"}
    checked = reported(of(approve(), unreadable=[forged]))
    assert isinstance(checked.answer, ReviewReport)
    assert checked.answer.unreadable == ()
    assert "unreadable" not in str(ReviewReport.model_json_schema())


# --- an answer that is neither a clear yes nor a clear no -------------------------------------------------------------

UNCLEAR_JUDGEMENTS: dict[str, object] = {
    "REJECT": {"verdict": "REJECT", "reasoning": "it breaks"},
    "DISAPPROVE": {"verdict": "DISAPPROVE"},
    "BLOCK": {"verdict": "BLOCK"},
    "no verdict": {"reasoning": "it breaks"},
    "a yes or no under another key": {"veto": True},
    "a verdict that is no text": {"verdict": False},
    "a word that looks like VETO": {"verdict": "V\u0415TO"},
    "both verdicts": {"verdict": ["APPROVE", "REJECT"]},
    "APPROVE with a disagreement of unknown weight": of(confirm(), disagreements=[{**CONCERN, "severity": "critical"}]),
    "APPROVE with a disagreement of no weight": of(confirm(), disagreements=["it breaks"]),
    "APPROVE with disagreements that are no list": of(confirm(), disagreements="it breaks"),
    "a list": ["it breaks"],
    "a number": 0,
    "words": "it breaks",
}
UNCLEAR_REPORTS: dict[str, object] = {
    "request_changes": {"verdict": "request_changes", "summary": "it breaks", "confidence": 1},
    "block": {"verdict": "block"},
    "no": {"verdict": "no"},
    "no verdict": {"summary": "it breaks", "findings": [LOW]},
    "approve with findings that are no list": of(approve(), findings="it breaks"),
    "approve with a finding that nobody could read": of(approve({**LOW, "severity": "high", "evidence": ""})),
    "words": "it breaks",
}


@pytest.mark.parametrize("said", UNCLEAR_JUDGEMENTS.values(), ids=UNCLEAR_JUDGEMENTS)
@pytest.mark.parametrize("before", [(), (of(confirm("x")),)], ids=["first", "second"])
def test_several_judgements_confirm_only_if_each_of_them_does(said: object, before: tuple[Json, ...]) -> None:
    answer = judged(*before, said, of(confirm())).answer
    assert isinstance(answer, Lost), answer
    assert (answer.reason, answer.cause) == (LostReason.INVALID_ANSWER, Cause.CONTENT)


@pytest.mark.parametrize("said", UNCLEAR_REPORTS.values(), ids=UNCLEAR_REPORTS)
def test_several_reports_approve_only_if_each_of_them_does(said: object) -> None:
    answer = reported(said, of(approve())).answer
    assert isinstance(answer, Lost), answer
    assert (answer.reason, answer.cause) == (LostReason.INVALID_ANSWER, Cause.CONTENT)


def test_words_after_a_report_take_its_approval_back() -> None:
    answer = reported(of(approve()), "it breaks").answer
    assert isinstance(answer, Lost), answer
    assert (answer.reason, answer.cause) == (LostReason.INVALID_ANSWER, Cause.CONTENT)


@pytest.mark.parametrize("said", UNCLEAR_JUDGEMENTS.values(), ids=UNCLEAR_JUDGEMENTS)
def test_no_outage_excuses_a_judgement_that_may_have_been_a_no(said: object) -> None:
    for reason in LostReason:
        answer = checked_reply(PostVerifyResult, Lost(reason, "gone", said=(said,))).answer
        assert isinstance(answer, Lost), reason
        assert answer.cause is Cause.CONTENT, reason


_verdicts = _json | st.sampled_from(["REJECT", "APPROVED?", "approve ", "Veto", "reject"])


def _approves(verdict: object, word: str) -> bool:
    return isinstance(verdict, str) and bare(verdict) == word


@given(_anything, _verdicts, st.booleans())
def test_who_did_not_say_approve_does_not_approve_by_saying_more(beside: Json, verdict: object, lost: bool) -> None:
    said = {**beside, "verdict": verdict}
    assume(not _approves(verdict, "approve"))
    for model, yes in ((PostVerifyResult, of(confirm())), (ReviewReport, of(approve()))):
        outage = Lost(LostReason.CRASH, "gone", said=(said,))
        answer = checked_reply(model, outage if lost else Answered(yes, said=(said, yes))).answer
        assert isinstance(answer, Lost) or answer.verdict in ("VETO", "reject")  # type: ignore[attr-defined]
        assert not isinstance(answer, Lost) or answer.cause is Cause.CONTENT


def test_a_draft_that_clearly_approves_costs_no_second_question() -> None:
    unsure, finding_without_quote = of(approve(LOW)), of(approve({**LOW, "evidence": ""}))
    del unsure["confidence"]
    checked = reported(finding_without_quote, unsure, of(approve(LOW)))
    assert isinstance(checked.answer, ReviewReport), checked
    assert (checked.answer.verdict, len(checked.answer.findings), checked.answer.unreadable) == ("approve", 1, ())


def test_a_finding_of_an_approving_draft_is_kept() -> None:
    draft = of(approve({**LOW, "severity": "high"}))
    del draft["summary"]
    checked = reported(draft, of(approve()))
    assert isinstance(checked.answer, ReviewReport), checked
    assert [each.severity for each in checked.answer.findings] == ["high"]


# --- severities that nobody knows -------------------------------------------------------------------------------------

UNKNOWN: list[object] = [None, 1, "", "catastrophic", "not critical", [], {}, ["?"], True]


@pytest.mark.parametrize("severity", [*UNKNOWN, ["critical"], ["low", "critical"], "**Critical**", {"is": "critical"}])
def test_a_finding_whose_only_fault_is_its_severity_keeps_its_place_and_rejects(severity: object) -> None:
    report = rejection_in(reported(of(approve({**LOW, "severity": severity}))))
    assert [(each.path, each.evidence, each.severity) for each in report.findings] == [
        (LOW["path"], LOW["evidence"], "critical")
    ]
    assert report.unreadable == ()


@pytest.mark.parametrize("severity", UNKNOWN)
def test_an_unknown_severity_is_the_same_whether_the_finding_can_be_read_or_not(severity: object) -> None:
    fit, unfit = {**LOW, "severity": severity}, {**LOW, "severity": severity, "evidence": ""}
    report = rejection_in(reported(of(reject(fit, unfit))))
    assert report.findings[0].severity == report.unreadable[0].severity == "critical"


def test_a_missing_severity_is_an_unknown_one() -> None:
    nameless = {key: value for key, value in LOW.items() if key != "severity"}
    (only,) = rejection_in(reported(of(approve(nameless)))).findings
    assert only.severity == "critical"


@pytest.mark.parametrize("severity", [["low"], "Low.", {"value": "LOW"}])
def test_a_severity_in_another_form_is_the_one_that_it_names(severity: object) -> None:
    checked = reported(of(approve({**LOW, "severity": severity})))
    assert isinstance(checked.answer, ReviewReport)
    assert [each.severity for each in checked.answer.findings] == ["low"]


@given(
    st.lists(st.fixed_dictionaries({}, optional={"path": _json, "title": _json, "severity": _json}) | _json, max_size=4)
)
def test_no_approval_stands_beside_a_finding_that_counts_as_critical(findings: list[Any]) -> None:
    answer = reported(of(approve(), findings=findings)).answer
    assert isinstance(answer, ReviewReport)
    severities = {each.severity for each in answer.findings} | {each.severity for each in answer.unreadable}
    assert answer.verdict == ("reject" if "critical" in severities else "approve")


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [ReviewPlan, ReviewReport, PostVerifyResult, Guidance])
def test_no_schema_that_the_cli_is_given_bounds_a_length_or_a_number_from_above(model: type[Answer]) -> None:
    text = str(model.model_json_schema())
    assert "maxLength" not in text
    assert "maxItems" not in text


def test_of_many_disagreements_the_blocking_ones_stay() -> None:
    points = [{**CONCERN, "advisor_assessment": f"c{n}"} for n in range(60)]
    points += [{**BLOCKING, "advisor_assessment": f"b{n}"} for n in range(40)]
    kept = [each.severity for each in veto_in(judged(of(veto(), disagreements=points))).disagreements]
    assert (kept.count("blocking"), kept.count("concern")) == (40, 10)


# --- losses -----------------------------------------------------------------------------------------------------------


def test_of_two_losses_of_one_question_the_one_that_the_change_may_have_caused_counts() -> None:
    prose, crash = Lost(LostReason.NO_STRUCTURED_OUTPUT, "prose"), Lost(LostReason.CRASH, "boom")
    refused = Lost(LostReason.MODEL_REFUSED, "no")
    assert lost_twice(prose, crash) is prose
    assert lost_twice(prose, refused) is refused


@pytest.mark.parametrize(
    "stated, claim, assessment, severity",
    [
        ({"executor_claim": "fine", "severity": "concern"}, "fine", "", "concern"),
        ({"executor_claim": "fine", "severity": " Concern\n"}, "fine", "", "concern"),
        ({"advisor_assessment": "not fine", "severity": " Blocking "}, "", "not fine", "blocking"),
        ({"advisor_assessment": "not fine", "severity": "mild"}, "", "not fine", "blocking"),
        ({"point": "not fine"}, "", '{"point": "not fine"}', "blocking"),
        ("not fine", "", "not fine", "blocking"),
    ],
)
def test_a_disagreement_in_any_form_keeps_its_words(stated: object, claim: str, assessment: str, severity: str) -> None:
    read = spoken_no(PostVerifyResult, [{"verdict": "VETO", "disagreements": [stated]}])
    assert read is not None
    (told,) = read["disagreements"]
    assert (told["executor_claim"], told["severity"]) == (claim, severity)
    assert "".join(told["advisor_assessment"].split()) == "".join(assessment.split())


@pytest.mark.parametrize("verdict", ["approve", "reject", None, 1])
def test_a_stop_signal_keeps_what_else_can_be_read_of_its_answer(verdict: object) -> None:
    given = {"action": "ask a person", "stop_signal": "yes", "rationale": "it is a trap", "verdict": verdict}
    answer = checked_reply(Recommendation, Answered(given)).answer
    assert answer == Recommendation(action="ask a person", stop_signal=True, rationale="it is a trap")
    broken = checked_reply(Recommendation, Answered({**given, "confidence": "much"})).answer
    assert isinstance(broken, Recommendation)
    assert (broken.action, broken.stop_signal) == ("ask a person", True)


@pytest.mark.parametrize("before, repeated", [("a.py", True), ("b.py", False), (None, False)])
def test_an_unreadable_finding_of_a_draft_is_repeated_by_one_of_its_path_and_title(
    before: str | None, repeated: bool
) -> None:
    unreadable = {**LOW, "title": "t", "path": before, "evidence": ""}
    if before is None:
        del unreadable["path"]
    answer = reported(of(approve(unreadable)), of(approve({**LOW, "title": "t", "path": "a.py"}))).answer
    assert isinstance(answer, ReviewReport if repeated else Lost)
