"""A gain is one where agreement tells of truth, and none where it does not."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from tests.adapters.evaluation.judged_changes import TOOLS, judged_changes

from review_advisor.lab.recorded_reviews import JudgeResults, JudgeScore, judge_score


@cache
def scored(*, agreeing: bool) -> JudgeScore:
    return judge_score(JudgeResults("judge", judged_changes(agreeing=agreeing), None), Random(1).randrange)


@pytest.mark.every_case
def test_where_tools_agree_on_what_is_right_the_council_gains_and_chance_does_not() -> None:
    score = scored(agreeing=True)
    for gain in (score.fixed, score.left_out):
        assert gain.by > 0.1
        assert gain.excludes_zero
        assert gain.beats_placebo
        assert gain.gain.low <= gain.by <= gain.gain.high


def test_where_tools_agree_on_what_is_wrong_there_is_no_gain() -> None:
    score = scored(agreeing=False)
    assert not score.fixed.holds
    assert not score.left_out.holds


@pytest.mark.every_case
def test_the_same_seed_gives_the_same_score() -> None:
    assert scored(agreeing=True) == scored.__wrapped__(agreeing=True)


def test_each_tool_is_counted_both_ways() -> None:
    score = scored(agreeing=True)
    assert [each.tool for each in score.tools] == sorted(TOOLS)
    assert (score.changes, score.golden) == (12, 24)
    assert set(score.fixed.lead.values()) == {"lead"}
    assert set(score.fixed.likeness.values()) == {0.4}
