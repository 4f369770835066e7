import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from review_advisor.agents.answers import (
    Answer,
    Consult,
    Disagreement,
    DisagreementAnswer,
    FocusArea,
    Guidance,
    KnowledgeEntry,
    Notes,
    PostVerifyResult,
    ReportedFinding,
    ReviewPlan,
    ReviewReport,
    RuledReport,
    answer_schema,
    complaints,
)
from review_advisor.agents.calls import Answered, Lost, LostReason
from review_advisor.agents.replies import checked_reply
from review_advisor.mockworld.agents import approve, confirm, finding, guidance, plan, reject, veto
from review_advisor.safety.stop import Receipt, Usage

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
    assert lost.detail == "risk_summary: should be text"


def test_no_more_than_ten_complaints_are_made() -> None:
    with pytest.raises(ValidationError) as refused:
        Guidance.model_validate({"action": "a", "evidence": [7] * 11})
    assert complaints(refused.value).split("; ") == [f"evidence.{at}: should be text" for at in range(10)]


@pytest.mark.parametrize("kind", [ReviewPlan, ReviewReport, RuledReport, PostVerifyResult])
def test_the_schema_on_the_wire_has_every_field_and_checks_as_the_whole_one_does(kind: type[Answer]) -> None:
    """What is left out only repeats names, docstrings and defaults: every rule that an answer is held against stays."""
    sent, whole = json.loads(answer_schema(kind)), kind.model_json_schema()
    objects = [(sent, whole)] + [(sent["$defs"][name], each) for name, each in whole.get("$defs", {}).items()]
    for bare, full in objects:
        assert bare.get("required") == full.get("required")
        assert set(bare["properties"]) == set(full["properties"])
        for name, facts in full["properties"].items():
            kept = {key: value for key, value in facts.items() if key not in ("title", "default")}
            assert bare["properties"][name] == kept, name
    assert len(json.dumps(sent)) <= 0.8 * len(json.dumps(whole))
    assert sent["title"] == whole["title"]


NAMES = {"path", "files", "category", "disagreement", "tags", "pre_existing", "rule"}
"""What is no text of a model's own: paths, ids, tags, and the categories that the instructions list."""


def texts_of(schema: object, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every place of a schema in which a model writes words of its own, by the name of its field."""
    if isinstance(schema, dict):
        if schema.get("type") == "string" and "enum" not in schema:
            yield name, schema
        for key, inner in schema.get("properties", {}).items():
            yield from (
                (each, {"description": inner.get("description", ""), **facts}) for each, facts in texts_of(inner, key)
            )
        for inner in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("$defs", {}).values()):
            yield from texts_of(inner, name)


@pytest.mark.parametrize("kind", [ReviewPlan, ReviewReport, RuledReport, PostVerifyResult])
def test_the_schema_asks_for_a_length_of_every_text(kind: type[Answer]) -> None:
    """Output is half of a small review's price."""
    texts = [(name, facts) for name, facts in texts_of(json.loads(answer_schema(kind))) if name not in NAMES]
    assert len(texts) >= 3
    lengths = r"\bat most \d+ (?:words|lines)$|\bone to three lines$"
    assert [name for name, facts in texts if re.search(lengths, facts["description"]) is None] == []


PLAN = {"risk_summary": "r"}
FOCUS = {"description": "d"}
FINDING = {
    "path": "a.py",
    "line": 1,
    "severity": "low",
    "category": "c",
    "title": "t",
    "confidence": 1,
    "evidence": "x",
}
ANSWERED = {"disagreement": "d0.1", "position": "accepted"}
ENTRY = {"title": "t", "body": "b", "path": "a.py", "evidence": "x"}
REPORT = {"verdict": "approve", "summary": "s", "confidence": 1}
JUDGEMENT = {"verdict": "VETO"}
CONSULT = {"question": "q"}
GUIDANCE = {"action": "a"}

TEXTS: list[tuple[type[Answer], dict[str, Any], str, int]] = [
    (FocusArea, FOCUS, "description", 8_000),
    (FocusArea, FOCUS, "rationale", 8_000),
    (ReviewPlan, PLAN, "risk_summary", 8_000),
    (ReportedFinding, FINDING, "path", 8_000),
    (ReportedFinding, FINDING, "category", 500),
    (ReportedFinding, FINDING, "title", 500),
    (ReportedFinding, FINDING, "body", 8_000),
    (ReportedFinding, FINDING, "evidence", 8_000),
    (DisagreementAnswer, ANSWERED, "disagreement", 500),
    (DisagreementAnswer, ANSWERED, "path", 8_000),
    (DisagreementAnswer, ANSWERED, "evidence", 8_000),
    (KnowledgeEntry, ENTRY, "title", 120),
    (KnowledgeEntry, ENTRY, "body", 2_000),
    (KnowledgeEntry, ENTRY, "path", 8_000),
    (KnowledgeEntry, ENTRY, "evidence", 8_000),
    (ReviewReport, REPORT, "summary", 8_000),
    (Disagreement, BLOCKING, "executor_claim", 8_000),
    (Disagreement, BLOCKING, "advisor_assessment", 8_000),
    (PostVerifyResult, JUDGEMENT, "reasoning", 8_000),
    (PostVerifyResult, JUDGEMENT, "suggested_fix_direction", 8_000),
    (Consult, CONSULT, "question", 8_000),
    (Consult, CONSULT, "context", 8_000),
    (Consult, CONSULT, "preferred_option", 8_000),
    (Guidance, GUIDANCE, "action", 8_000),
    (Guidance, GUIDANCE, "rationale", 8_000),
]
LISTS: list[tuple[type[Answer], dict[str, Any], str, int, object]] = [
    (FocusArea, FOCUS, "files", 100, "x"),
    (ReviewPlan, PLAN, "focus_areas", 20, FOCUS),
    (ReviewPlan, PLAN, "rubric", 30, "x"),
    (ReviewPlan, PLAN, "escalation_signals", 20, "x"),
    (KnowledgeEntry, ENTRY, "tags", 5, "x"),
    (ReviewReport, REPORT, "answers", 100, ANSWERED),
    (ReviewReport, REPORT, "knowledge", 5, ENTRY),
    (PostVerifyResult, JUDGEMENT, "disagreements", 50, CONCERN),
    (Consult, CONSULT, "options", 20, "x"),
    (Guidance, GUIDANCE, "risk_flags", 20, "x"),
    (Guidance, GUIDANCE, "evidence", 20, "x"),
]
BOUNDED = [(*row[:4], "x") for row in TEXTS] + LISTS
NEVER_BLANK = {
    *(("description", FocusArea), ("path", ReportedFinding), ("category", ReportedFinding), ("title", ReportedFinding)),
    *(("evidence", ReportedFinding), ("disagreement", DisagreementAnswer), ("title", KnowledgeEntry)),
    *(("body", KnowledgeEntry), ("path", KnowledgeEntry), ("evidence", KnowledgeEntry), ("question", Consult)),
    *(("action", Guidance),),
}
LEFT_BLANK = {"risk_summary", "summary", "executor_claim", "advisor_assessment"}


def named(row: Any) -> str | None:
    return row.__name__ if isinstance(row, type) else row if isinstance(row, str) else ""


@pytest.mark.parametrize("model, value, field, most, one", BOUNDED, ids=named)
def test_no_answer_grows_beyond_its_bounds(
    model: type[Answer], value: dict[str, Any], field: str, most: int, one: Any
) -> None:
    full: Any = one * most if isinstance(one, str) and (model, value, field, most) in TEXTS else [one] * most
    more = full + one if isinstance(full, str) else [*full, one]
    for given, noted in ((full, False), (more, True)):
        notes = Notes()
        read = model.model_validate({**value, field: given}, context=notes)
        assert len(getattr(read, field)) == most
        assert any(note.startswith(f"{field} was cut to {most:,} of its") for note in notes.words) is noted
        assert getattr(model.model_validate({**value, field: given}), field) == getattr(read, field), "once stored, too"


@pytest.mark.parametrize("model, value, field, most", TEXTS, ids=named)
def test_white_space_around_a_text_goes_and_a_blank_one_is_refused_or_said_to_be_blank(
    model: type[Answer], value: dict[str, Any], field: str, most: int
) -> None:
    assert getattr(model.model_validate({**value, field: " \n x\t"}), field) == "x"
    if (field, model) in NEVER_BLANK:
        with pytest.raises(ValidationError, match=field):
            model.model_validate({**value, field: " \n"})
    else:
        blank = getattr(model.model_validate({**value, field: " \n"}), field)
        assert blank == ("(left blank)" if field in LEFT_BLANK else "")


@pytest.mark.parametrize(
    "model, value, field, most, one",
    [row for row in LISTS if row[2] != "disagreements"],  # one of them may block: the judge is asked once more
    ids=named,
)
def test_an_item_that_cannot_be_read_costs_none_of_the_others(
    model: type[Answer], value: dict[str, Any], field: str, most: int, one: Any
) -> None:
    notes = Notes()
    read = model.model_validate({**value, field: [one, 7, one]}, context=notes)
    assert len(getattr(read, field)) == 2
    assert [note.partition(":")[0] for note in notes.words] == [f"an item of {field} was left out"]


@pytest.mark.parametrize(
    "model, value, field, most",
    [
        (KnowledgeEntry, ENTRY, "tags", 40),
        (FocusArea, FOCUS, "files", 500),
        (ReviewPlan, PLAN, "rubric", 500),
        (Consult, CONSULT, "options", 500),
        (Guidance, GUIDANCE, "risk_flags", 500),
        (Guidance, GUIDANCE, "evidence", 8_000),
    ],
    ids=named,
)
def test_an_item_of_a_list_is_cut_too(model: type[Answer], value: dict[str, Any], field: str, most: int) -> None:
    read = model.model_validate({**value, field: [" " + "x" * most, "x" * (most + 1)]}, context=Notes())
    assert [len(each) for each in getattr(read, field)] == [most, most]


@pytest.mark.parametrize("length, kept", [(8_000, True), (8_001, False)])
def test_half_a_suggestion_is_none(length: int, kept: bool) -> None:
    read = ReportedFinding.model_validate({**FINDING, "suggestion": " " + "x" * (length - 1)}, context=Notes())
    assert read.suggestion == (" " + "x" * (length - 1) if kept else None)


@pytest.mark.parametrize(
    "model, value, field, good, bad",
    [
        (ReportedFinding, FINDING, "line", (0, 1), (-1,)),
        (ReportedFinding, FINDING, "end_line", (None, 0, 1), (-1,)),
        (ReportedFinding, FINDING, "confidence", (0, 0.5, 1), (-0.01, 1.01)),
        (ReviewReport, REPORT, "confidence", (0, 0.5, 1), (-0.01, 1.01)),
        (Guidance, GUIDANCE, "confidence", (None, 0, 0.5, 1), (-0.01, 1.01)),
    ],
    ids=named,
)
def test_a_number_has_its_bounds(
    model: type[Answer], value: dict[str, Any], field: str, good: tuple[Any, ...], bad: tuple[Any, ...]
) -> None:
    for number in good:
        assert getattr(model.model_validate({**value, field: number}), field) == number
    for number in bad:
        with pytest.raises(ValidationError, match=field):
            model.model_validate({**value, field: number})


@pytest.mark.parametrize("field", ["path", "line", "category", "title", "confidence", "evidence", "severity"])
def test_a_finding_that_is_stored_lacks_nothing(field: str) -> None:
    with pytest.raises(ValidationError, match=field):
        ReportedFinding.model_validate({name: given for name, given in FINDING.items() if name != field})


def test_the_verdict_of_a_stored_answer_agrees_with_what_it_carries() -> None:
    for severity in ("critical", "high", "medium", "low"):
        told = {**REPORT, "findings": [{**FINDING, "severity": severity}]}
        assert ReviewReport.model_validate({**told, "verdict": "reject"}).findings[0].severity == severity
        if severity != "critical":
            assert ReviewReport.model_validate(told).verdict == "approve"
            continue
        with pytest.raises(ValidationError, match="an approval cannot carry a critical finding"):
            ReviewReport.model_validate(told)
    with pytest.raises(ValidationError, match="APPROVE cannot carry a blocking disagreement"):
        PostVerifyResult.model_validate({"verdict": "APPROVE", "disagreements": [CONCERN, BLOCKING]})
    assert PostVerifyResult.model_validate({"verdict": "APPROVE", "disagreements": [CONCERN]}).verdict == "APPROVE"
    assert PostVerifyResult.model_validate({"verdict": "VETO", "disagreements": [BLOCKING]}).verdict == "VETO"
