"""How often the entries of a memory were of use: the findings that cite them, and those of them that were wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from review_advisor.core.lessons.memory_prompt import cites
from review_advisor.core.lessons.memory_record import MemoryRecord
from review_advisor.core.observation.labels import ObservedLabel, of_findings, of_pull_request, proved_right
from review_advisor.core.outcome.document import OutcomeDocument


class EntryUses(NamedTuple):
    """``hits`` are findings that cite an entry and that nobody proved wrong, ``false_hits`` the others."""

    hits: int = 0
    false_hits: int = 0


ReviewedRun = tuple[OutcomeDocument, Sequence[ObservedLabel]]


def memory_uses(records: Iterable[MemoryRecord], runs: Iterable[ReviewedRun]) -> dict[str, EntryUses]:
    """The uses of each entry. A finding that several pushes repeat counts once, and only while the entry holds."""
    every = tuple(records)
    wrong: dict[str, dict[tuple[str | None, int | None, str], bool]] = {each.id: {} for each in every}
    for document, labels in runs:
        known, reverted = of_findings(labels), of_pull_request(labels, "reverted") == "reverted"
        for finding in document.findings:
            key = (document.repository, document.pull_request, finding.id)
            proof = proved_right(known.get(finding.id, {}), reverted=reverted)
            for each in every:
                shown = each.created_at <= document.started_at and each.holds_at(document.started_at)
                if shown and cites(finding.body, each.id):
                    wrong[each.id][key] = wrong[each.id].get(key, False) or proof is False
    return {name: EntryUses(len(its) - sum(its.values()), sum(its.values())) for name, its in wrong.items()}
