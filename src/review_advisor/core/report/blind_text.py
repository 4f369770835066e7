"""The metadata-blind pass in words: what the executor said of a diff before it saw what is said about the change."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.core.answers.findings import merged_into
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.ends import flipped
from review_advisor.core.outcome.events import BlindJudged
from review_advisor.core.outcome.surface_records import PartRecord, SurfaceRecord
from review_advisor.core.report.wording import counted_findings


def blind_words(blind: BlindJudged) -> str:
    """The verdict with its reason, or why there is none."""
    if blind.report is None:
        return f"no verdict: {blind.missing}"
    report = blind.report
    found = counted_findings(len(report.findings), merged_into(report.findings), len(report.refused))
    return f"{blind.report.verdict}, {found}: {blind.report.summary}"


def lacks_blind(document: OutcomeDocument) -> bool:
    """Whether a verdict by the diff alone was due and did not come."""
    parts = (part for surface in document.surfaces for part in surface.parts)
    return any(part.blind is not None and part.blind.report is None for part in parts)


def flips(document: OutcomeDocument) -> Iterator[tuple[SurfaceRecord, PartRecord, str]]:
    """Every part whose verdict flipped, and in words how."""
    for surface in document.surfaces:
        for part in surface.parts:
            if part.blind is None or part.blind.report is None:
                continue
            for attempt, report in enumerate(part.reports):
                words = flipped(part.blind.report, report, attempt)
                if words is not None:
                    yield surface, part, words
