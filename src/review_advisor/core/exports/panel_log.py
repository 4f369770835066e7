"""Who sat in the councils of a period, so that a panel that is always the same is seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from review_advisor.core.council.correlation import Correlation, chosen_actions, pair_rows
from review_advisor.core.outcome.council_records import council_records
from review_advisor.core.outcome.events import Event
from review_advisor.core.report.wording import printable_line, table

MOST_PANELS = 20
MOST_PAIRS = 20
_ENOUGH = 10
"""Reviews of one panel from which on it is said that it never differs."""


@dataclass(slots=True)
class PanelLog:
    """How often each panel judged, by the ids of its members, and what became of each member's seats.

    ``panels`` counts reviews; ``seats``, ``votes`` and ``dissents`` count the votes that were taken.
    """

    panels: Counter[tuple[str, ...]] = field(default_factory=Counter)
    seats: Counter[str] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)
    dissents: Counter[str] = field(default_factory=Counter)
    correlation: Correlation = field(default_factory=Correlation)

    def add(self, events: Sequence[Event]) -> None:
        """Count the councils of a review; none where one advisor judged alone."""
        records = council_records(events)
        if records:
            self.panels[tuple(sorted({each.member for one in records for each in one.counted.ballots}))] += 1
        for record in records:
            counted = record.counted
            self.seats.update(each.member for each in counted.ballots)
            self.votes.update(each.member for each in counted.ballots if each.member not in counted.missing)
            self.dissents.update(counted.dissent)
            self.correlation.add(chosen_actions(counted))

    @property
    def never_differs(self) -> bool:
        """Whether one and the same panel judged every time, often enough to say so."""
        return len(self.panels) == 1 and self.panels.total() >= _ENOUGH

    def as_json(self) -> dict[str, Any]:
        """The same as one JSON object."""
        return {
            "reviews": self.panels.total(),
            "never_differs": self.never_differs,
            "panels": [{"members": list(ids), "reviews": many} for ids, many in self.panels.most_common(MOST_PANELS)],
            "further_panels": max(len(self.panels) - MOST_PANELS, 0),
            "members": [
                {"id": id_, "seats": many, "votes": self.votes[id_], "dissents": self.dissents[id_]}
                for id_, many in self.seats.most_common()
            ],
            "pairs": [asdict(each) for each in self.correlation.pairs],
        }

    @property
    def text(self) -> str:
        """The members as a table; empty without any council."""
        if not self.seats:
            return ""
        rows = [
            (printable_line(id_), str(many), str(self.votes[id_]), str(self.dissents[id_]))
            for id_, many in self.seats.most_common()
        ]
        times = self.panels.total()
        told = [f"{len(self.panels):,} different panels in {times:,} reviews"]
        told = [f"the same panel judged all {times:,} reviews that had a council"] if self.never_differs else told
        members = table([("member of a council", "seats", "votes", "dissents"), *rows]).rstrip()
        return "\n".join((members, *told, *self._pairs, ""))

    @property
    def _pairs(self) -> tuple[str, ...]:
        """How alike any two members vote, the most alike first; nothing where no two voted together."""
        pairs = self.correlation.pairs
        if not pairs:
            return ()
        rows = [tuple(map(printable_line, row)) for row in pair_rows(pairs[:MOST_PAIRS])]
        more = (f"and {len(pairs) - MOST_PAIRS:,} more pairs",) if len(pairs) > MOST_PAIRS else ()
        return (table([("two members", "votes", "agree", "kappa"), *rows]).rstrip(), *more)
