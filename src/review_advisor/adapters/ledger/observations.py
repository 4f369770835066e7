"""Observations in the ledger: each a chain of one event, recorded once for the same facts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from review_advisor.adapters.ledger.chain_events import review_in
from review_advisor.adapters.ledger.chains import add_link, begin_chain, read_chain
from review_advisor.adapters.ledger.database import open_to_read, open_to_write, sentences
from review_advisor.adapters.ledger.rows import event_text, known, write_tables
from review_advisor.adapters.ledger.transactions import transaction
from review_advisor.core.ledger.chain import FIRST, LedgerError, link
from review_advisor.core.ledger.moments import in_the_record, microseconds
from review_advisor.core.observation.after_merge import FindingPlace
from review_advisor.core.observation.labels import Observed
from review_advisor.core.observation.observation_rows import readings_of_observation
from review_advisor.core.outcome.events import Event, Reported

_RUNS = """
    SELECT run_id FROM runs JOIN chains ON chains.id = chain JOIN repositories ON repositories.id = repository
    WHERE pull_request = ? AND name = ? COLLATE NOCASE ORDER BY chain
"""
_OPEN_ENDED = """
    SELECT repository, pull_request FROM observations AS seen
    WHERE EXISTS (SELECT 1 FROM labels WHERE labels.chain = seen.chain AND finding = '' AND label = 'reverted')
    GROUP BY pull_request, repository
    HAVING min(chain) >= ? AND (
        SELECT count(*) FROM labels WHERE finding = '' AND (label, value) IN (
            VALUES ('reverted', 'reverted'), ('judged', 'judged')
        ) AND labels.chain = (
            SELECT max(chain) FROM observations AS newest
            WHERE newest.pull_request = seen.pull_request AND newest.repository = seen.repository
        )
    ) < 2 ORDER BY repository, pull_request
"""
"""Only of what was merged is it said whether it was reverted, be it unknown. A revert counts once it is judged."""


def open_ended(path: Path, since: datetime) -> tuple[tuple[str, int], ...]:
    """The pull requests first observed as merged at ``since`` or later of which no revert is proven and judged.

    Raises ``LedgerError``.
    """
    with sentences(path), closing(open_to_read(path)) as connection:
        found = connection.execute(_OPEN_ENDED, (microseconds(since),)).fetchall()
    return tuple((str(repository), int(number)) for repository, number in found)


def finding_places(path: Path, repository: str, number: int) -> dict[str, FindingPlace]:
    """Every finding of the pull request's reviews in this ledger, as it was last raised; none without a ledger.

    Raises ``LedgerError``. A run that cannot be read tells nothing.
    """
    with sentences(path):
        if not path.exists():
            return {}
    found: dict[str, FindingPlace] = {}
    with sentences(path), closing(open_to_read(path)) as connection:
        for (run_id,) in connection.execute(_RUNS, (number, repository)).fetchall():
            try:
                first, events = review_in(read_chain(connection, run_id))
            except LedgerError:
                continue
            found |= _places(first.head_sha or "", events)
    return found


def keep(path: Path, observed: Observed) -> tuple[Observed, bool]:
    """Record an observation: what stands then, and whether it is recorded. Raises ``LedgerError``.

    What was known of its pull request before and cannot be told any more stays known. Where the newest observation
    holds the same facts already, nothing is recorded.
    """
    with sentences(path), closing(open_to_write(path)) as connection, transaction(connection):
        before = known(connection, observed.repository, observed.pull_request)
        stands = observed if before is None else observed.after(before)
        stands = replace(stands, at=in_the_record(stands.at))
        if before is not None and before.facts == stands.facts:
            return stands, False
        chain = begin_chain(connection, stands.run_id, microseconds(stands.at))
        add_link(connection, chain, link(stands.run_id, 0, FIRST, event_text(stands)))
        write_tables(connection, chain, readings_of_observation(stands))
        return stands, True


def _places(head: str, events: list[Event]) -> dict[str, FindingPlace]:
    reports = [event.report for event in events if isinstance(event, Reported)]
    return {
        each.id: FindingPlace(each.path, head, each.line, each.end_line, each.removed, each.evidence)
        for report in reports
        for each in report.findings
    }
