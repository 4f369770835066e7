"""Pairs of confidence and truth from reviews and from what people did on their pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from review_advisor.core.answers.findings import Finding
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, FindingKind, LabelSource
from review_advisor.core.observation.labels import ObservedLabel, of_findings, proved_right, was_reverted
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, MemberReviewed, Reported

EXECUTOR = "executor"
_DIGITS = 12
"""So much of the version of the prompts tells two versions apart."""


@dataclass(frozen=True, slots=True)
class StatedRun:
    """What a review stated on the pull request ``group``: a finding's id, its kind and its confidence each."""

    began: datetime
    run_id: str
    group: str
    stated: tuple[tuple[str, FindingKind, float], ...]
    labels: tuple[ObservedLabel, ...]


def stated_run(document: OutcomeDocument, labels: Iterable[ObservedLabel]) -> StatedRun | None:
    """What of a review counts here, which is little of it; None where it was of no pull request."""
    if not document.repository or document.pull_request is None:
        return None
    group = f"{document.repository.casefold()}#{document.pull_request}"
    stated = tuple((finding.id, kind, finding.confidence) for finding, kind in stated_findings(document))
    return StatedRun(document.started_at, document.run_id, group, stated, tuple(labels))


def observed_pairs(runs: Iterable[StatedRun]) -> tuple[ConfidencePair, ...]:
    """A pair for each finding that people were shown, by whoever stated a confidence of it.

    A finding that several pushes repeat counts once for each who raised it, with the confidence of the first review.
    None of our own checks counts.
    """
    ordered = sorted(runs, key=lambda run: (run.began, run.run_id))
    labels_of = {run.group: run.labels for run in ordered if run.labels}
    first: dict[tuple[str, str, str], ConfidencePair] = {}
    for run in ordered:
        for finding, kind, confidence in run.stated:
            right, source = _truth(finding, labels_of.get(run.group, ()))
            first.setdefault(
                (run.group, kind.advisor, finding), ConfidencePair(run.group, kind, confidence, right, source)
            )
    return tuple(first.values())


def stated_findings(document: OutcomeDocument) -> Iterator[tuple[Finding, FindingKind]]:
    """Each finding that people were shown, with its kind, once for each report of it."""
    shown = {each.id for each in document.findings}
    models = {
        each.number: each.resolved_model or each.requested_model
        for each in document.events
        if isinstance(each, CallEnded)
    }
    for event in document.events:
        if isinstance(event, MemberReviewed) or (isinstance(event, Reported) and not event.structural):
            advisor = event.advisor if isinstance(event, MemberReviewed) else EXECUTOR
            model, surface, prompts = models.get(event.number, ""), event.surface.value, event.prompts[:_DIGITS]
            for finding in event.report.findings:
                if finding.id in shown:
                    yield finding, FindingKind(advisor, model, surface, finding.category.casefold(), prompts)


def _truth(finding: str, labels: Sequence[ObservedLabel]) -> tuple[bool | None, LabelSource]:
    """A revert is told apart from what people say: it calls every finding of its pull request right."""
    right = proved_right(of_findings(labels).get(finding, {}), reverted=False)
    if right is not None:
        return right, "people"
    return (True, "revert") if was_reverted(labels) else (None, "")
