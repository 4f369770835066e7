"""Pairs of confidence and truth from reviews and from what people did on their pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from review_advisor.core.answers.findings import Finding
from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, FindingKind, LabelSource
from review_advisor.core.observation.labels import ObservedLabel, of_findings, of_pull_request, proved_right
from review_advisor.core.observation.memory_uses import ReviewedRun
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, MemberReviewed, Reported

EXECUTOR = "executor"
_DIGITS = 12
"""So much of the version of the prompts tells two versions apart."""


def observed_pairs(runs: Iterable[ReviewedRun]) -> tuple[ConfidencePair, ...]:
    """A pair for each finding that people were shown, by whoever stated a confidence of it.

    A finding that several pushes repeat counts once for each who raised it, with the confidence of the first review.
    Only findings on pull requests count, and none of our own checks.
    """
    ordered = sorted(
        ((document, labels) for document, labels in runs if document.repository and document.pull_request is not None),
        key=lambda run: (run[0].started_at, run[0].run_id),
    )
    labels_of = {_group(document): labels for document, labels in ordered if labels}
    first: dict[tuple[str, str, str], ConfidencePair] = {}
    for document, _ in ordered:
        group = _group(document)
        for finding, kind in _stated(document):
            right, source = _truth(finding.id, labels_of.get(group, ()))
            pair = ConfidencePair(group, kind, finding.confidence, right, source)
            first.setdefault((group, kind.advisor, finding.id), pair)
    return tuple(first.values())


def _group(document: OutcomeDocument) -> str:
    return f"{(document.repository or '').casefold()}#{document.pull_request}"


def _stated(document: OutcomeDocument) -> Iterator[tuple[Finding, FindingKind]]:
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


def _truth(finding: str, labels: Iterable[ObservedLabel]) -> tuple[bool | None, LabelSource]:
    """A revert is told apart from what people say: it calls every finding of its pull request right."""
    known = tuple(labels)
    right = proved_right(of_findings(known).get(finding, {}), reverted=False)
    if right is not None:
        return right, "people"
    reverted = of_pull_request(known, "judged") is not None and of_pull_request(known, "reverted") == "reverted"
    return (True, "revert") if reverted else (None, "")
