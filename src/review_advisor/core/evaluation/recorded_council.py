"""What the council would have shown of recorded reviews: one tool leads, and the others confirm or add.

The rule and its numbers are those of ``council.agreement``. Recorded findings have no places, severities and lenses, so
which of them say the same is told by their words, and no finding is kept for its severity or lens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from review_advisor.core.council.agreement import adds_from, is_confirmed
from review_advisor.core.evaluation.judged_change import JudgedChange
from review_advisor.core.evaluation.text_clusters import Cluster


def council_shows(change: JudgedChange, clusters: Iterable[Cluster], lead: str, members: int) -> list[Cluster]:
    """The clusters that the council shows as one finding each; no label is read."""
    shown = []
    for cluster in clusters:
        tools = {change.findings[place].tool for place in cluster}
        raisers = len(tools - {lead})
        if is_confirmed(raisers, members) if lead in tools else raisers >= adds_from(members):
            shown.append(cluster)
    return shown


def credited(change: JudgedChange, cluster: Cluster, lead: str) -> frozenset[int]:
    """The golden comments of a finding that the council shows.

    A finding of the lead is credited with what the lead said. What members add is credited with what most of them said.
    """
    said = _said_by_tool(change, cluster)
    return said[lead] if lead in said else _majority(list(said.values()))


def _said_by_tool(change: JudgedChange, cluster: Cluster) -> dict[str, frozenset[int]]:
    """The golden comments that each tool of a cluster was judged to say in it."""
    said: dict[str, frozenset[int]] = {}
    for place in cluster:
        finding = change.findings[place]
        said[finding.tool] = said.get(finding.tool, frozenset()) | finding.matches
    return said


def _majority(said: Sequence[frozenset[int]]) -> frozenset[int]:
    """What at least half of the tools say. What any one says would reward large clusters for noise."""
    return frozenset(
        comment for comment in frozenset().union(*said) if 2 * sum(comment in each for each in said) >= len(said)
    )
