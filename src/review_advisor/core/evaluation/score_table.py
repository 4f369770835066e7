"""The scores of recorded reviews as a table for people, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from review_advisor.core.evaluation.council_gain import LIKENESSES, PLACEBOS, SAMPLES, Gain, JudgeScore, ToolScore
from review_advisor.core.evaluation.judged_change import Percents
from review_advisor.core.evaluation.resampling import Middle
from review_advisor.core.evaluation.scores import Score
from review_advisor.core.report.wording import printable_line

_WAYS = {"fixed": "fixed beforehand", "left_out": "chosen on the other repositories"}


def equal_to_published(score: JudgeScore) -> list[str]:
    """The tools whose published precision, recall and F1 are those that are counted here, to the third decimal."""
    published = score.published or {}
    return [each.tool for each in score.tools if published.get(each.tool) == each.loose.percents]


def is_met(scores: Sequence[JudgeScore], way: str) -> bool:
    """The bar: for two thirds of the judges the gain excludes zero and beats the placebo."""
    return 3 * sum(_gain(score, way).holds for score in scores) >= 2 * len(scores)


def scores_as_json(scores: Sequence[JudgeScore]) -> dict[str, Any]:
    """Every number of the table, with the same decimals."""
    return {
        "samples": SAMPLES,
        "placebos": PLACEBOS,
        "judges": [_judge_as_json(score) for score in scores],
        "bar": {way: is_met(scores, way) for way in _WAYS},
    }


def _judge_as_json(score: JudgeScore) -> dict[str, Any]:
    return {
        "judge": score.judge,
        "changes": score.changes,
        "golden": score.golden,
        "published": None if score.published is None else {"of": len(score.tools), "equal": equal_to_published(score)},
        "tools": [
            {"tool": each.tool, "loose": _score_as_json(each.loose), "strict": _score_as_json(each.strict)}
            for each in score.tools
        ],
        "council": {way: _gain_as_json(_gain(score, way)) for way in _WAYS},
    }


def _score_as_json(score: Score) -> dict[str, Any]:
    precision, recall, f1 = (round(percent / 100, 3) for percent in score.percents)
    counts = {"right": score.right, "shown": score.shown, "golden": score.golden}
    return counts | {"precision": precision, "recall": recall, "f1": f1}


def _gain_as_json(gain: Gain) -> dict[str, Any]:
    return {
        "likeness": dict(sorted(gain.likeness.items())),
        "lead": dict(sorted(gain.lead.items())),
        "single": _score_as_json(gain.single) | {"f1_95": _ends(gain.single_f1)},
        "council": _score_as_json(gain.council) | {"f1_95": _ends(gain.council_f1)},
        "gain": {"f1": round(gain.by, 3), "f1_95": _ends(gain.gain)},
        "placebo": {"f1": round(gain.placebo_f1, 3), "gain_95": _ends(gain.placebo_gain)},
        "excludes_zero": gain.excludes_zero,
        "beats_placebo": gain.beats_placebo,
    }


def _ends(interval: Middle) -> list[float]:
    return [round(interval.low, 3), round(interval.high, 3)]


def scores_text(scores: Sequence[JudgeScore]) -> str:
    """The table of each judge, what the council comes to, and whether that meets the bar."""
    lines = [line for score in scores for line in _judge_lines(score)]
    for way, words in _WAYS.items():
        hold = sum(_gain(score, way).holds for score in scores)
        lines.append(
            f"Likeness {words}: for {hold} of {len(scores)} judges the gain excludes 0 and beats the placebo. "
            f"Bar (two thirds): {'met' if is_met(scores, way) else 'not met'}."
        )
    lines.append(
        f"Brackets: the middle 95% of {SAMPLES:,} samples of pull requests by repository, and of {PLACEBOS} placebos."
    )
    return "\n".join(lines) + "\n"


def _judge_lines(score: JudgeScore) -> list[str]:
    wide = max(len(each.tool) for each in score.tools)
    return [
        f"Judge {printable_line(score.judge)}: {score.changes} pull requests, {score.golden} golden comments",
        f"  {'':{wide}}   as published           one to one",
        f"  {'tool':{wide}}   {'P':5}  {'R':5}  {'F1':5}   {'P':5}  {'R':5}  F1",
        *(
            f"  {each.tool:{wide}}   {_three(each.loose.percents)}   {_three(each.strict.percents)}"
            for each in _best_first(score)
        ),
        f"  {_published_words(score)}",
        *(line for way in _WAYS for line in _gain_lines(_gain(score, way), way)),
        "",
    ]


def _best_first(score: JudgeScore) -> list[ToolScore]:
    return sorted(score.tools, key=lambda each: -each.strict.f1)


def _three(percents: Percents) -> str:
    return "  ".join(f"{percent / 100:.3f}" for percent in percents)


def _published_words(score: JudgeScore) -> str:
    if score.published is None:
        return "The folder has no published table of this judge."
    equal = f"{len(equal_to_published(score))} of {len(score.tools)} tools"
    return f"{equal} are as in the published table to the third decimal."


def _gain_lines(gain: Gain, way: str) -> list[str]:
    likeness = sorted(set(gain.likeness.values()))
    at = f"{likeness[0]:.2f}" if len(likeness) == 1 else f"{likeness[0]:.2f} to {likeness[-1]:.2f}"
    among = "" if way == "fixed" else f" among {len(LIKENESSES)}"
    leads = ", ".join(sorted(set(gain.lead.values())))
    by_chance = f"placebo: F1 {gain.placebo_f1:.3f}, gain {_interval(gain.placebo_gain, signed=True)}"
    return [
        f"  Likeness {at}, {_WAYS[way]}{among}; one to one:",
        f"    best single, duplicates merged   {_three(gain.single.percents)} {_interval(gain.single_f1)} {leads}",
        f"    council that it leads            {_three(gain.council.percents)} {_interval(gain.council_f1)}",
        f"    gain {gain.by:+.3f} {_interval(gain.gain, signed=True)}; {by_chance}",
    ]


def _interval(interval: Middle, *, signed: bool = False) -> str:
    form = "+.3f" if signed else ".3f"
    return f"[{interval.low:{form}}, {interval.high:{form}}]"


def _gain(score: JudgeScore, way: str) -> Gain:
    return score.fixed if way == "fixed" else score.left_out
