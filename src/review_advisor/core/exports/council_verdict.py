"""What a council came to, for machines: ``council.json`` beside the report. A reading of the review's document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from review_advisor.core.answers.answers import Severity
from review_advisor.core.answers.opinion import own_table
from review_advisor.core.council.agreement import Agreement, Raised
from review_advisor.core.outcome.council_records import CouncilRecord, council_findings, council_records
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.roster.advisor import Roster

Tier = Literal["must_fix", "should_fix", "consider"]
TIERS: Mapping[Severity, Tier] = {
    "critical": "must_fix",
    "high": "must_fix",
    "medium": "should_fix",
    "low": "consider",
}
COUNCIL_FILE = "council.json"


def council_verdict(document: OutcomeDocument) -> dict[str, Any] | None:
    """The verdict with counts, findings and blind spots; None where no council judged, or no member answered.

    ``consensus`` names everybody who raises a finding. Findings are ordered by tier, then by how many that are.
    """
    last = {(each.surface, each.shard): each for each in council_records(document.events)}
    records = tuple(last.values())
    if all(each.counted.nobody for each in records):
        return None
    missing = (f"{name} did not judge ({why})" for record in records for name, why in record.why_missing)
    found = council_findings(document.events)
    rows = sorted(_rows(found), key=lambda row: (list(TIERS.values()).index(row["tier"]), -len(row["consensus"])))
    return {
        "verdict": _verdict(document.exit_code, has_findings=bool(rows)),
        "counts": {tier: sum(row["tier"] == tier for row in rows) for tier in dict.fromkeys(TIERS.values())},
        "findings": rows,
        "votes": [
            {"surface": each.surface.value, "part": each.shard + 1, "advisors": _voices(each)} for each in records
        ],
        "report_path": "report.txt",
        "roster_version": roster_version(document.policy.roster),
        "blind_spots": [*document.policy.roster.blind_spots, *dict.fromkeys(missing)],
    }


def roster_version(roster: Roster) -> str:
    """Stands for everything that is declared of everybody who was asked."""
    return hashlib.sha256(json.dumps([asdict(each) for each in roster.advisors]).encode()).hexdigest()[:16]


def _verdict(exit_code: int, *, has_findings: bool) -> str:
    if exit_code == EXIT_CODES[Outcome.APPROVED]:
        return "sound_with_fixes" if has_findings else "solid"
    return "needs_work" if exit_code == EXIT_CODES[Outcome.CHANGES_REQUESTED] else "not_ready"


def _rows(found: Agreement) -> list[dict[str, Any]]:
    return [
        *(_row(each, "executor", *each.by) for each in found.lead),
        *(_row(each, *each.by) for each in (*found.added, *found.left)),
    ]


def _row(raised: Raised, *by: str) -> dict[str, Any]:
    finding = raised.finding
    return {
        "id": finding.id,
        "tier": TIERS[finding.severity],
        "file_line": f"{finding.path}:{finding.line}",
        "title": finding.title,
        "consensus": list(by),
    }


def _voices(record: CouncilRecord) -> list[dict[str, Any]]:
    """Each vote in act 017's form, with the fields of its own."""
    own = dict(record.own)
    return [
        {
            "id": ballot.member,
            **own_table(own.get(ballot.member, "")),
            "calls": dict(zip(record.counted.actions, ballot.votes, strict=True)),
        }
        for ballot in record.counted.ballots
        if isinstance(ballot.votes, tuple)
    ]
