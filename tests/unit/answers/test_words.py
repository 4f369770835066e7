"""Single words of an answer are read in any case and through any marks, wherever they stand in it."""

import pytest

from review_advisor.agents.answers import bare, every_word, values_under, worst_named

SAID = {"a": ["One", {"b": "two!"}], "**Verdict**": {"verdict": "no"}, "c": 3}


@pytest.mark.parametrize(
    "text", ["stop_signal", "**Stop-Signal**", "STOP SIGNAL", "stop\u200bsignal", "\uff53\uff54\uff4f\uff50signal"]
)
def test_marks_spaces_case_and_invisible_characters_make_no_other_word(text: str) -> None:
    assert bare(text) == "stopsignal"


def test_every_word_is_found_however_deep() -> None:
    assert sorted(every_word(SAID)) == ["no", "one", "two"]


def test_the_values_of_a_name_are_found_at_every_depth() -> None:
    assert list(values_under({"verdict"}, SAID)) == [{"verdict": "no"}, "no"]


def test_the_worst_severity_that_is_named_counts_and_without_one_the_worst_of_all() -> None:
    severities = ("critical", "high", "low")
    assert worst_named(severities, ["Low", {"x": "HIGH"}]) == "high"
    assert worst_named(severities, ["fine"]) == "critical"
