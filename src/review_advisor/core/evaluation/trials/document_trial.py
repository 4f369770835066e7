"""A review's outcome document as a trial: its findings stand at lines of the new side."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.answers.findings import Finding
from review_advisor.core.evaluation.calibration.confidence_pair import FindingKind
from review_advisor.core.evaluation.calibration.kind_records import kinds_of
from review_advisor.core.evaluation.golden.changed_lines import line_steps, lines_of
from review_advisor.core.evaluation.golden.golden_case import FilesChange, GoldenCase, GoldenChange
from review_advisor.core.evaluation.golden.matching import RaisedFinding
from review_advisor.core.evaluation.trials.trial import Trial, TrialKey, TrialStatus, TrialVerdict
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Consulted
from review_advisor.core.outcome.outcomes import Outcome

_VERDICTS: dict[Outcome, TrialVerdict] = {
    Outcome.NOTHING_TO_REVIEW: "none",
    Outcome.APPROVED: "approved",
    Outcome.CHANGES_REQUESTED: "changes_requested",
    Outcome.ESCALATED: "escalated",
    Outcome.STOPPED: "none",
}


def trial_of(document: OutcomeDocument, case: GoldenCase, key: TrialKey) -> Trial:
    """What a review of ``case`` came to. A review that a person has to decide is not wrong, and not correct."""
    calls = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "refused"]
    usd = sum(each.usage.cost_usd or 0.0 for each in document.cost)
    status = _status(document, made=bool(calls))
    kinds = kinds_of(document)
    return Trial(
        case=key.case,
        arm=key.arm,
        repetition=key.repetition,
        verdict=_VERDICTS[document.outcome],
        status=status,
        findings=tuple(raised(each, case.change, kinds.get(each.id)) for each in document.findings),
        usd=None if document.unpriced else usd,
        calls=len(calls),
        consults=sum(isinstance(event, Consulted) for event in document.events),
        seconds=(document.ended_at - document.started_at).total_seconds(),
        said="\n".join(_said(document)),
        why="" if status == "complete" else "; ".join(document.because)[:500],
    )


def _status(document: OutcomeDocument, *, made: bool) -> TrialStatus:
    match document.outcome:
        case Outcome.NOTHING_TO_REVIEW:
            return "refused"
        case Outcome.STOPPED:
            return "lost" if made else "refused"
        case Outcome.ESCALATED:
            return "escalated"
        case _:
            return "degraded" if document.flags.degraded else "complete"


def _said(document: OutcomeDocument) -> Iterator[str]:
    """What the executor says in its own name, in its last report of each part."""
    for surface in document.surfaces:
        for part in surface.parts:
            if part.reports:
                yield part.reports[-1].summary


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
