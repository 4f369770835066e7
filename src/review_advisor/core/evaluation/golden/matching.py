"""Which findings say which labels of a golden case: one to one, by their place first and then by their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from review_advisor.core.answers.answers import Severity
from review_advisor.core.evaluation.calibration.confidence_pair import FindingKind
from review_advisor.core.evaluation.golden.best_pairs import best_pairs
from review_advisor.core.evaluation.golden.golden_case import WIDEST, GoldenCase, GoldenLabel
from review_advisor.core.evaluation.golden.same_words import alike_by_words

NEAR_LINES = 3
"""A finding so many lines away from a label is at the same place, where the words are somewhat alike."""
NEAR_ALIKE = 0.2
"""Half as alike as texts without a place: a remark at random is near many labels, and on the lines of few."""
ALIKE = 0.4
"""The likeness of words from which on two texts without a common place say the same: ADR-0127 fixed it."""
By = Literal["lines", "near", "text"]
_RANK: dict[By, int] = {"text": 1, "near": 2, "lines": 3}
_UNIT = 1_000_000

SaidSame = Mapping[tuple[str, str], bool]
"""Of a label's text and a finding's: whether a judge said that they mean the same."""


@dataclass(frozen=True, slots=True, order=True)
class RaisedFinding:
    """A finding of any reviewer, at lines of the new side. Line 0: it has no place in its file.

    ``confidence`` and ``kind`` are those that the reviewer stated; None where it stated none.
    """

    text: str
    file: str = ""
    first_line: int = 0
    last_line: int = 0
    severity: Severity | Literal[""] = ""
    confidence: float | None = field(default=None, compare=False)
    kind: FindingKind | None = field(default=None, compare=False)

    @property
    def has_lines(self) -> bool:
        """Whether it is about few enough lines to have a place."""
        return self.first_line > 0 and self.last_line - self.first_line < WIDEST


@dataclass(frozen=True, slots=True)
class LabelFound:
    """A label and the finding that says it. ``by``: what shows that."""

    finding: RaisedFinding
    label: GoldenLabel
    by: By


@dataclass(frozen=True, slots=True)
class Matching:
    """What became of each finding and each label.

    ``right``: findings that say a label. ``refuted``: those that say what people found wrong. ``wrong``: those, and
    where every fault is known all others. ``unknown``: the others, where nobody can tell. ``missed``: labels that
    no finding says.
    """

    right: tuple[LabelFound, ...]
    refuted: tuple[LabelFound, ...]
    wrong: tuple[RaisedFinding, ...]
    unknown: tuple[RaisedFinding, ...]
    missed: tuple[GoldenLabel, ...]


def matched(case: GoldenCase, findings: Sequence[RaisedFinding], judged: SaidSame | None = None) -> Matching:
    """As many pairs as there can be, each finding and each label in one; of those the ones at the nearest places.

    The words decide between equal places. The order of ``findings`` and labels makes no difference. Where a judge
    was asked, its yes holds within a file and wherever a place is missing, and its no holds everywhere.
    """
    said = judged or {}
    right, rest = _paired(case.labels, sorted(findings), said, _same)
    refuted, others = _paired(case.refuted, rest, said, _same_and_alike)
    missed = list(case.labels)
    for each in right:
        missed.remove(each.label)
    wrong = (*(each.finding for each in refuted), *(others if case.knows_every_fault else ()))
    unknown = () if case.knows_every_fault else tuple(others)
    return Matching(tuple(right), tuple(refuted), tuple(sorted(wrong)), unknown, tuple(missed))


def askable(case: GoldenCase, findings: Sequence[RaisedFinding]) -> tuple[tuple[str, str], ...]:
    """The pairs of texts that a judge can decide: those at one place, and those that lack one. In order, each once."""
    return tuple(
        sorted(
            {
                (label.text, finding.text)
                for label in (*case.labels, *case.refuted)
                for finding in findings
                if _place(label, finding) in {"lines", "near", None}
            }
        )
    )


_Admits = Callable[[GoldenLabel, RaisedFinding, float, bool | None], By | None]


def _paired(
    labels: Sequence[GoldenLabel], findings: Sequence[RaisedFinding], judged: SaidSame, admits: _Admits
) -> tuple[list[LabelFound], list[RaisedFinding]]:
    """The best pairs, and the findings that are in none."""
    ordered = sorted(labels, key=_order)
    texts = [label.text for label in ordered]
    by: dict[tuple[int, int], By] = {}
    worth: dict[tuple[int, int], int] = {}
    most = min(len(labels), len(findings)) + 1
    for column, finding in enumerate(findings):
        for row, likeness in enumerate(alike_by_words(finding.text, texts)):
            how = admits(ordered[row], finding, likeness, judged.get((texts[row], finding.text)))
            if how is not None:
                by[row, column] = how
                worth[row, column] = (len(_RANK) * most * most + _RANK[how] * most) * _UNIT + round(likeness * _UNIT)
    pairs = best_pairs(len(ordered), len(findings), worth)
    found = [LabelFound(findings[column], ordered[row], by[row, column]) for row, column in pairs]
    taken = {column for _, column in pairs}
    return found, [finding for column, finding in enumerate(findings) if column not in taken]


def _order(label: GoldenLabel) -> tuple[str, int, int, str, str, str]:
    return label.file, label.first_line, label.last_line, label.text, label.severity or "", label.category


def _place(label: GoldenLabel, finding: RaisedFinding) -> Literal["lines", "near", "far", "elsewhere"] | None:
    """How near they are to one another; None where one of them has no place."""
    if label.file and finding.file and label.file != finding.file:
        return "elsewhere"
    if not (label.has_lines and label.file and finding.has_lines and finding.file):
        return None
    between = max(label.first_line - finding.last_line, finding.first_line - label.last_line, 0)
    if between == 0:
        return "lines"
    return "near" if between <= NEAR_LINES else "far"


def _same(label: GoldenLabel, finding: RaisedFinding, likeness: float, said: bool | None) -> By | None:  # noqa: FBT001
    """What shows that a finding says a label."""
    place = _place(label, finding)
    if said is False or place == "elsewhere":
        return None
    if place == "lines" or (place == "near" and (said or likeness >= NEAR_ALIKE)):
        return place
    return "text" if said or (place is None and likeness >= ALIKE) else None


def _same_and_alike(
    label: GoldenLabel,
    finding: RaisedFinding,
    likeness: float,
    said: bool | None,  # noqa: FBT001
) -> By | None:
    """The same for what people refuted: wrong findings lie among right ones, so that a place alone shows nothing."""
    return _same(label, finding, likeness, said) if said or likeness >= ALIKE else None
