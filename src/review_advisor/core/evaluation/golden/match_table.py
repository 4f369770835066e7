"""What became of findings that were held against a golden set, for people and for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from review_advisor.core.evaluation.golden.golden_case import GoldenSet
from review_advisor.core.evaluation.golden.matching import LabelFound, Matching, RaisedFinding
from review_advisor.core.evaluation.golden.same_fault import JudgeWords
from review_advisor.core.report.wording import counted, table

Matchings = Mapping[str, Matching]


def matchings_text(known: GoldenSet, of_cases: Matchings) -> str:
    """One line for each case that was reviewed, then the sums."""
    rows: list[tuple[str, ...]] = [("case", "right", "missed", "wrong", "unknown")]
    rows += [(name, *map(str, _numbers(each))) for name, each in sorted(of_cases.items())]
    right, missed, wrong, unknown = (sum(each) for each in zip(*map(_numbers, of_cases.values()), strict=True))
    by_words = sum(pair.by == "text" for each in of_cases.values() for pair in each.right)
    lines = [
        table(rows).rstrip("\n"),
        f"{len(of_cases)} of {counted(len(known.cases), 'case')} reviewed, digest {known.digest[:16]}",
        f"{right} of {counted(right + missed, 'label')} found, {by_words} of them by words alone",
        f"{counted(wrong, 'finding')} wrong, {unknown} unknown, in cases of which not every fault is known",
    ]
    return "".join(f"{line}\n" for line in lines)


def matchings_as_json(known: GoldenSet, of_cases: Matchings) -> dict[str, Any]:
    """The same for machines, with each finding."""
    return {
        "set": known.name,
        "digest": known.digest,
        "cases": {
            name: {
                "right": [_pair(pair) for pair in each.right],
                "refuted": [_pair(pair) for pair in each.refuted],
                "wrong": _findings(each.wrong),
                "unknown": _findings(each.unknown),
                "missed": [label.text for label in each.missed],
            }
            for name, each in sorted(of_cases.items())
        },
    }


def judge_line(words: JudgeWords) -> str:
    """What a judge was asked, and what that cost. What it did not answer is decided without it."""
    cost = "cost not reported" if words.cost_usd is None else f"{words.cost_usd:.4f} USD"
    lost = f", {words.unanswered} without a usable answer" if words.unanswered else ""
    short = f", {words.unpaid} not asked for lack of money" if words.unpaid else ""
    return f"The judge had {counted(words.pairs, 'pair')} to compare{lost}{short}; {cost}."


def _numbers(each: Matching) -> tuple[int, int, int, int]:
    return len(each.right), len(each.missed), len(each.wrong), len(each.unknown)


def _pair(pair: LabelFound) -> dict[str, Any]:
    return {"by": pair.by, "label": pair.label.text, "finding": pair.finding.text}


def _findings(findings: Sequence[RaisedFinding]) -> list[dict[str, Any]]:
    return [{"text": each.text, "file": each.file, "first_line": each.first_line} for each in findings]
