"""What a surface looks at, and what our own checks refuse before any paid call: one row a surface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from review_advisor.core.facts.adr_record import changed_records, structure_faults
from review_advisor.core.facts.change import Change
from review_advisor.core.policy.policy import Rules
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.evidence import CheckedReport, Finding

HeadText = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    """``narrow`` keeps the files a surface is about; ``refusals`` are found without asking a model."""

    narrow: Callable[[Change, Rules], Change]
    refusals: Callable[[Change, HeadText], tuple[Finding, ...]]


def _everything(change: Change, rules: Rules) -> Change:
    del rules
    return change


def _no_refusals(change: Change, head_text: HeadText) -> tuple[Finding, ...]:
    del change, head_text
    return ()


def _records(change: Change, rules: Rules) -> Change:
    return replace(change, files=changed_records(change, rules.adr_folders))


def _unsound_records(change: Change, head_text: HeadText) -> tuple[Finding, ...]:
    found = []
    for file in change.files:
        text = head_text(file.path)
        for number, fault in enumerate(structure_faults(text) if text is not None else ()):
            found.append(
                Finding(
                    id=f"s-{file.path}-{number}",
                    path=file.path,
                    line=1,
                    end_line=1,
                    removed=False,
                    severity="high",
                    category="adr-structure",
                    title=fault,
                    body="A record needs context, decision and consequences, its status, and a decision to follow.",
                    suggestion=None,
                    confidence=1.0,
                    evidence="",
                )
            )
    return tuple(found)


SURFACE_INPUTS: Mapping[Surface, SurfaceInput] = {
    Surface.PR_REVIEW: SurfaceInput(_everything, _no_refusals),
    Surface.PRE_MERGE_SPEC_CHECK: SurfaceInput(_everything, _no_refusals),
    Surface.ADR_REVIEW: SurfaceInput(_records, _unsound_records),
}


def structural_report(surface: Surface, change: Change, head_text: HeadText) -> CheckedReport | None:
    """The rejection that a surface's own check makes for free, or None when the check finds nothing."""
    findings = SURFACE_INPUTS[surface].refusals(change, head_text)
    if not findings:
        return None
    return CheckedReport("reject", "The structural check refuses this change.", 1.0, findings)
