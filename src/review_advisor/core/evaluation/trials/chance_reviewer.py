"""What chance gets on a golden set: a reviewer that has read nothing, as the least that any other has to beat."""

from __future__ import annotations

from dataclasses import astuple
from typing import Final

from review_advisor.core.evaluation.golden.changed_lines import new_lines
from review_advisor.core.evaluation.golden.golden_case import FilesChange, GoldenCase, GoldenSet
from review_advisor.core.evaluation.golden.matching import RaisedFinding
from review_advisor.core.evaluation.trials.measures import ReviewSums, total
from review_advisor.core.evaluation.trials.trial import Trial, count

BY_CHANCE: Final = "chance"
_REMARK = "Consider renaming this helper for clarity."
_MOST_LINES = 200
"""Of a larger change so many lines are tried, evenly."""


def chance_sums(cases: GoldenSet) -> ReviewSums | None:
    """What it comes to in expectation: it requests changes of every case, by one remark on one of its new lines.

    None for a set without a change as whole files. No case of another form counts.
    """
    told = [_expected(case, case.change) for case in cases.cases if isinstance(case.change, FilesChange)]
    return total(told) if told else None


def _expected(case: GoldenCase, change: FilesChange) -> ReviewSums:
    """The mean over the lines that the remark can be on; of a change that adds none, it is about the case."""
    lines = [(each.path, line) for each in change.files for line in sorted(new_lines(each.before, each.after))]
    tried = lines[:: -(-len(lines) // _MOST_LINES) or 1] or [("", 0)]
    sums = total(count(case, _review(case, *each)).sums for each in tried)
    return ReviewSums(*(each / len(tried) for each in astuple(sums)))


def _review(case: GoldenCase, path: str, line: int) -> Trial:
    remark = RaisedFinding(_REMARK, path, line, line)
    return Trial(case.id, BY_CHANCE, 1, "changes_requested", "complete", (remark,), usd=0.0)
