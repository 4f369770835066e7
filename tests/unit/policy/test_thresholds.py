import re

import pytest

from review_advisor.app.configuration import believed_declarations
from review_advisor.policy.escalation_rules import Threshold
from review_advisor.policy.settings import Config, EscalationConfig
from review_advisor.policy.surfaces import Surface
from review_advisor.policy.thresholds import THRESHOLDS_FILE, parse_threshold_file, parse_thresholds

TEXT = '[[threshold]]\nvalue = 0.8\nsurface = "pr_review"\ncategory = " security "\n'


def test_a_table_of_thresholds_is_read() -> None:
    assert parse_thresholds(TEXT) == (Threshold(0.8, Surface.PR_REVIEW, "security"),)
    assert parse_thresholds("") == ()


@pytest.mark.parametrize(
    "text", ["not toml", "[[threshold]]\n", "[[threshold]]\nvalue = 2\n", "[[threshold]]\nvalue = 0.5\nsurfaec = 1\n"]
)
def test_a_table_that_cannot_be_used_names_its_file(text: str) -> None:
    with pytest.raises(ValueError, match=r"thresholds\.toml"):
        parse_thresholds(text)


def test_a_threshold_is_of_a_surface_that_reviews_have() -> None:
    with pytest.raises(ValueError, match="no review has the surface release_readiness"):
        parse_thresholds(TEXT.replace("pr_review", "release_readiness"))


def test_thresholds_are_read_from_the_base_and_only_under_a_profile() -> None:
    asked: list[str] = []

    def base_file(path: str) -> bytes | None:
        asked.append(path)
        return TEXT.encode() if path == THRESHOLDS_FILE else None

    assert believed_declarations(Config(), base_file)[1] == ()
    assert asked == []
    attrition = Config(escalation=EscalationConfig(profile="attrition"))
    assert believed_declarations(attrition, base_file)[1] == parse_thresholds(TEXT)


@pytest.mark.parametrize(
    "line, said",
    [
        (r'"x\nApplied." = 3', r"threshold.0.x\nApplied.: is not a known key."),
        ('surface = "nope"', "threshold.0.surface: should be "),
    ],
)
def test_a_key_of_the_file_forges_no_line_of_the_error(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(THRESHOLDS_FILE)) as refused:
        parse_threshold_file(f'[[threshold]]\ncategory = "bug"\nvalue = 0.5\n{line}\n')
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
