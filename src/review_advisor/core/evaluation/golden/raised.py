"""The findings of a review of ours as they are held against a golden case: at lines of the new side."""

from __future__ import annotations

from review_advisor.core.answers.findings import Finding
from review_advisor.core.evaluation.calibration.confidence_pair import FindingKind
from review_advisor.core.evaluation.golden.changed_lines import line_steps, lines_of
from review_advisor.core.evaluation.golden.golden_case import FilesChange, GoldenChange
from review_advisor.core.evaluation.golden.matching import RaisedFinding


def raised(finding: Finding, change: GoldenChange, kind: FindingKind | None = None) -> RaisedFinding:
    """A finding about removed lines is where they were, if both sides are known; otherwise it has no place.

    Its confidence is kept where it is of a ``kind``, which says who stated it.
    """
    first, last = finding.line, finding.end_line
    if finding.removed:
        first, last = _now(change, finding.path, first, last)
    confidence = None if kind is None else finding.confidence
    return RaisedFinding(
        f"{finding.title}\n{finding.words}", finding.path, first, last, finding.severity, confidence, kind
    )


def _now(change: GoldenChange, path: str, first: int, last: int) -> tuple[int, int]:
    """The lines of the new side where these of the old side stand, or stood; 0 if that cannot be told."""
    files = change.files if isinstance(change, FilesChange) else ()
    for file in files:
        if file.path == path and file.before is not None and file.after:
            steps = [each for each in line_steps(file.before, file.after) if each.before[0] < last]
            touched = [each.after for each in steps if each.before[1] >= first]
            if touched:
                now = min(min(start for start, _ in touched) + 1, len(lines_of(file.after)))
                return now, max(now, *(end for _, end in touched))
    return 0, 0
