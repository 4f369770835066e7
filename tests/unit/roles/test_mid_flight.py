import json
from dataclasses import replace
from typing import Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from review_advisor.agents.answers import Consult, Guidance
from review_advisor.agents.mid_flight import ConsultNote, read_consult, stop_signal, unanswered_critical
from review_advisor.safety.stop import ConsultRecord

ASKED = {"question": "why?", "context": "x = 1", "options": ["a", "b"], "preferred_option": "a", "urgency": "low"}
ADVISED = {
    "action": "do a",
    "rationale": "r",
    "risk_flags": ["f"],
    "evidence": ["x = 1"],
    "stop_signal": True,
    "confidence": 0.7,
}


def note(question: str, reply: str = "", status: Literal["answered", "failed", "denied"] = "answered") -> ConsultNote:
    return read_consult(
        ConsultRecord("toolu_1", question, status, reply=reply, reason="because", resolved_model="opus-5")
    )


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "```\n{}\n```", "  {}  "])
def test_the_asked_objects_are_read_whole(wrap: str) -> None:
    read = note(wrap.replace("{}", json.dumps(ASKED)), wrap.replace("{}", json.dumps(ADVISED)))
    assert read.consult == Consult.model_validate(ASKED)
    assert read.guidance == Guidance.model_validate(ADVISED)
    assert (read.wrapped, read.status, read.resolved_model) == (False, "answered", "opus-5")


@pytest.mark.parametrize("value", [-1, 10**12 + 1, float("nan"), "many"])
@pytest.mark.parametrize("name", ["tokens", "duration_ms"])
def test_a_note_that_was_written_down_counts_nothing_that_cannot_be(name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(ConsultNote).validate_python({"consult": {"question": "q"}, "status": "answered", name: value})


@pytest.mark.parametrize("question", ["Is it right?", '["Is it right?"]', '{"quest": "?"}', "7", "{"])
def test_a_question_in_another_form_is_plain_words(question: str) -> None:
    assert note(question, "yes").consult == Consult(question=question)


@pytest.mark.parametrize(
    "reply, stops",
    [
        ("Yes.", False),
        ("[1]", False),
        ('Sure: {"action": "x", "stop_signal": false}', False),
        ('{"stop_signal": true}', True),
        ('Sure: {"action": "x", "stop_signal": true}', True),
        ('{"action": "x", "stop_signal": true, "confidence": 85}', True),
        ("stop_signal = TRUE", True),
    ],
)
def test_guidance_in_another_form_is_words_but_a_stop_signal_counts_in_any(reply: str, stops: bool) -> None:
    read = note("q", reply)
    assert read.guidance == Guidance(action=reply, stop_signal=stops)
    assert read.wrapped
    assert (stop_signal([read]) is not None) is stops


@pytest.mark.parametrize("reply", ["", "  \n "])
def test_an_empty_answer_is_a_failed_consult(reply: str) -> None:
    read = note("q", reply)
    assert (read.status, read.guidance, read.reason) == ("failed", None, "the advisor's answer is empty")


def test_a_question_of_nothing_is_still_a_consult() -> None:
    assert note("  ", "yes").consult.question == "(no question)"


@pytest.mark.parametrize("status", ["failed", "denied"])
def test_what_was_not_answered_has_no_guidance(status: Literal["failed", "denied"]) -> None:
    read = note("q", json.dumps({**ADVISED, "stop_signal": False}), status)
    assert (read.status, read.guidance, read.reason) == (status, None, "because")


STOPS = {
    "set": {**ADVISED, "stop_signal": True},
    "set in words": {**ADVISED, "stop_signal": "yes"},
    "beside an empty action": {"action": "", "stop_signal": True},
    "beside more than is asked for": {**ADVISED, "risk_flags": ["r"] * 21, "stop_signal": True},
    "inside another object": {"action": "wait", "guidance": {"Stop_Signal": "TRUE"}},
    "in a list": [{"stop_signal": True}],
    "a word that is neither yes nor no": {**ADVISED, "stop_signal": "please"},
    "inside a list": {**ADVISED, "stop_signal": ["true"]},
    "a list of a no": {**ADVISED, "stop_signal": [False]},
    "inside an object of its own": {**ADVISED, "stop_signal": {"value": True}},
    "a number": {**ADVISED, "stop_signal": 2},
    "with a sign behind it": {**ADVISED, "stop_signal": "TRUE!"},
    "in camel case": {"action": "wait", "stopSignal": True},
    "with a hyphen": {"action": "wait", "stop-signal": True},
    "with a space": {"action": "wait", "Stop Signal": "yes"},
    "by a shorter name": {"action": "wait", "stop": True},
}
CALM = [False, None, 0, "", "no", "False", " off ", "none", "`false`"]
IN_WORDS = {
    "stop_signal is true": True,
    "**stop_signal**: **true**": True,
    "stop_signal \u2192 true": True,
    "`stop_signal` = `True`": True,
    "Stop signal: true": True,
    "I set stopSignal to yes.": True,
    "stop-signal should be set": True,
    "I raise the stop_signal.": True,
    "stop_signal: please": True,
    '{"stop_signal": true': True,
    '"stop_signal" : \n true': True,
    '{"action": "ok", "stop_signal": false} {"action": "no", "stop_signal": true}': True,
    '{"action": "x", "stop_signal": true, "stop_signal": false}': True,
    '{"action": "x", "stop_signal": false, "stop_signal": true}': True,
    "no stop_signal: true": True,
    "stop_signal is false": False,
    "stop_signal: **no**": False,
    "stop_signal should not be set": False,
    "No stop signal is needed.": False,
    "Go on, without a stop_signal.": False,
    '{"action": "x", "stop_signal": false, "stop_signal": false}': False,
    "Stop here and think.": False,
}


@pytest.mark.parametrize("reply,stops", IN_WORDS.items())
def test_a_stop_signal_in_words_stops_unless_it_is_a_clear_no(reply: str, stops: bool) -> None:
    assert (stop_signal([note("q", reply)]) is not None) is stops


@pytest.mark.parametrize("value", CALM)
@pytest.mark.parametrize("name", ["stop_signal", "stopSignal"])
def test_a_clear_no_is_no_stop_signal(name: str, value: object) -> None:
    calm = {key: each for key, each in ADVISED.items() if key != "stop_signal"}
    assert stop_signal([note("q", json.dumps({**calm, name: value}))]) is None


@pytest.mark.parametrize("said", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("status", ["answered", "failed"])
def test_a_stop_signal_counts_in_any_guidance(said: object, status: Literal["answered", "failed"]) -> None:
    assert stop_signal([note("q", json.dumps(said), status)])


def test_what_of_a_consult_was_cut_is_noted() -> None:
    read = note(json.dumps({"question": "x" * 9_000}), json.dumps({**ADVISED, "risk_flags": ["r"] * 21}))
    assert not read.wrapped
    assert read.notes == (
        "question was cut to 8,000 of its 9,000 characters",
        "risk_flags was cut to 20 of its 21 items",
    )


@pytest.mark.parametrize(
    "hostile", ["\ud800 half", "[" * 100_000, '{"a":' * 50_000, "x" * 100_000, "1" * 10_000, "9e999"]
)
def test_no_text_of_a_model_breaks_the_review(hostile: str) -> None:
    read = note(hostile, hostile)
    assert read.guidance is not None
    assert len(read.consult.question) <= 8000
    read.consult.question.encode()


def test_a_stop_signal_is_found_among_others() -> None:
    calm = note("q", json.dumps({**ADVISED, "stop_signal": False}))
    assert stop_signal([calm, note("q", json.dumps(ADVISED))]) == "the advisor asked to stop: do a"
    assert stop_signal([calm, note("q", status="denied")]) is None


PATHS = ("src/app.py", "src/auth/login.py", "e", "my app.py")
CRITICAL = ("src/auth/login.py",)


@pytest.mark.parametrize(
    "question, concerned",
    [
        ("Is src/auth/login.py right?", True),
        ("Compare src/app.py with src/auth/login.py.", True),
        ("Is the session kept?", True),
        ("Is lib/src/auth/login.py.bak kept?", True),
        ("Is src/app.py right?", False),
        ('{"question": "right?", "context": "src/app.py:7"}', False),
        ('{"question": "right?", "context": "src/auth/login.py:7"}', True),
    ],
)
def test_a_denied_question_may_concern_a_critical_path(question: str, concerned: bool) -> None:
    denied = note(question, status="denied")
    assert (unanswered_critical([denied], CRITICAL, PATHS) is not None) is concerned


def test_a_file_with_a_short_name_excuses_no_denied_question() -> None:
    words = unanswered_critical([note("Is the session kept here?", status="denied")], CRITICAL, PATHS)
    assert words is not None
    assert "a change with critical paths" in words


def test_long_prose_in_the_place_of_advice_is_told_as_too_long() -> None:
    record = ConsultRecord("toolu_1", "q", "answered", reply="word " * 100)
    assert read_consult(record).overlong == "the answer without the asked form has 100 words of 80, and all were given"
    assert read_consult(replace(record, reply="word " * 80)).overlong == ""
