"""What a council gains over the best single tool on recorded reviews, with a placebo and intervals beside it.

The numbers of the rule are the product's own. The likeness of a cluster is fixed, or chosen for each repository on the
others. The lead is the tool with the best strict F1 on the other repositories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from review_advisor.core.evaluation.judged_change import Draw, JudgedChange, JudgeResults, Percents, placebo
from review_advisor.core.evaluation.recorded_council import council_shows, credited
from review_advisor.core.evaluation.resampling import Middle, chosen_elsewhere, f1_of, middle, resamples
from review_advisor.core.evaluation.scores import Score, pooled, strict
from review_advisor.core.evaluation.text_clusters import Cluster, clusters, joined, weights

FIXED = (0.4,)
"""The likeness from which on findings are one: the product's facts named it before this was ever run."""
LIKENESSES = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
"""What is chosen from where a repository is left out."""
SAMPLES = 2_000
PLACEBOS = 200


@dataclass(frozen=True, slots=True)
class ToolScore:
    """One tool by the benchmark's own counting, and one to one without trigger commands."""

    tool: str
    loose: Score
    strict: Score


@dataclass(frozen=True, slots=True)
class Gain:
    """A council and the best single tool, the same of whose findings are one. ``likeness`` is by repository."""

    likeness: Mapping[str, float]
    lead: Mapping[str, str]
    council: Score
    council_f1: Middle
    single: Score
    single_f1: Middle
    gain: Middle
    placebo_f1: float
    placebo_gain: Middle

    @property
    def holds(self) -> bool:
        """Whether it is a gain: neither chance in the sample nor the counting explains it."""
        return self.excludes_zero and self.beats_placebo

    @property
    def by(self) -> float:
        """How much better its F1 is."""
        return self.council.f1 - self.single.f1

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of the gain lies above zero."""
        return self.gain.low > 0

    @property
    def beats_placebo(self) -> bool:
        """Whether the gain is above 97.5% of those that chance alone gives."""
        return self.by > self.placebo_gain.high


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """What one judge's labels come to. ``fixed`` and ``left_out`` are the two ways to choose the likeness."""

    judge: str
    changes: int
    golden: int
    tools: tuple[ToolScore, ...]
    published: Mapping[str, Percents] | None
    fixed: Gain
    left_out: Gain


@dataclass(slots=True)
class _Recorded:
    """The recorded reviews of one judge with their clusters, which read no label and so are made once."""

    changes: Sequence[JudgedChange]
    tools: Sequence[str]
    _found: dict[tuple[str, float], list[tuple[Cluster, ...]]] = field(default_factory=dict)
    _shown: dict[tuple[str, float], list[list[Cluster]]] = field(default_factory=dict)

    @property
    def repositories(self) -> list[str]:
        return [change.repository for change in self.changes]

    def clusters(self, at: float, tool: str = "") -> list[tuple[Cluster, ...]]:
        """For each change the clusters of all findings, or of one tool's own."""
        if (tool, at) not in self._found:
            self._cluster(tool)
        return self._found[tool, at]

    def shown(self, at: float, lead: str) -> list[list[Cluster]]:
        """For each change what the council shows that ``lead`` leads."""
        if (lead, at) not in self._shown:
            self._shown[lead, at] = [
                council_shows(change, found, lead, len(self.tools) - 1)
                for change, found in zip(self.changes, self.clusters(at), strict=True)
            ]
        return self._shown[lead, at]

    def _cluster(self, tool: str) -> None:
        weighed = iter(weights([each.text for change in self.changes for each in change.findings]))
        for at in LIKENESSES:
            self._found[tool, at] = []
        for change in self.changes:
            all_of = [next(weighed) for _ in change.findings]
            places = [place for place, each in enumerate(change.findings) if tool in {"", each.tool}]
            steps = joined([all_of[place] for place in places], LIKENESSES[0])
            for at in LIKENESSES:
                found = clusters(len(places), steps, at)
                self._found[tool, at].append(tuple(tuple(places[each] for each in cluster) for cluster in found))


@dataclass(frozen=True, slots=True)
class _Compared:
    """The scores of both for each change."""

    likeness: Mapping[str, float]
    council: Sequence[Score]
    single: Sequence[Score]

    @property
    def gain(self) -> float:
        return pooled(self.council).f1 - pooled(self.single).f1


def judge_score(results: JudgeResults, draw: Draw) -> JudgeScore:
    """The table of one judge. There are changes of two repositories at least."""
    changes = results.changes
    tools = sorted(set(chain.from_iterable(change.loose for change in changes)))
    recorded = _Recorded(changes, tools)
    alone = {tool: [strict(each.matches_of(tool), each.golden) for each in changes] for tool in tools}
    leads = chosen_elsewhere(recorded.repositories, alone)
    samples = resamples(recorded.repositories, SAMPLES, draw)
    chances = [[placebo(change, draw) for change in changes] for _ in range(PLACEBOS)]
    return JudgeScore(
        results.judge,
        len(changes),
        sum(change.golden for change in changes),
        tuple(
            ToolScore(tool, pooled(change.loose.get(tool, Score(0, 0, change.golden)) for change in changes), of_tool)
            for tool, of_tool in ((tool, pooled(alone[tool])) for tool in tools)
        ),
        results.published,
        _gain(recorded, leads, FIXED, samples, chances),
        _gain(recorded, leads, LIKENESSES, samples, chances),
    )


def _gain(
    recorded: _Recorded,
    leads: Mapping[str, str],
    among: Sequence[float],
    samples: Sequence[Sequence[int]],
    chances: Sequence[Sequence[JudgedChange]],
) -> Gain:
    found = _compared(recorded, recorded.changes, leads, among)
    by_chance = [_compared(recorded, changes, leads, among) for changes in chances]
    council, single = f1_of(found.council, samples), f1_of(found.single, samples)
    return Gain(
        found.likeness,
        leads,
        pooled(found.council),
        middle(council),
        pooled(found.single),
        middle(single),
        middle([mine - other for mine, other in zip(council, single, strict=True)]),
        sum(pooled(each.council).f1 for each in by_chance) / len(by_chance),
        middle([each.gain for each in by_chance]),
    )


def _compared(
    recorded: _Recorded, changes: Sequence[JudgedChange], leads: Mapping[str, str], among: Sequence[float]
) -> _Compared:
    """Both on each change, as the other repositories say: the lead, and for each of both its likeness."""
    councils: dict[tuple[str, float], list[Score]] = {}
    singles: dict[tuple[str, float], list[Score]] = {}
    for lead in dict.fromkeys(leads.values()):
        for at in among:
            councils[lead, at] = _scores(changes, recorded.shown(at, lead), lead)
            singles[lead, at] = _scores(changes, recorded.clusters(at, lead), lead)
    likeness = _elsewhere(recorded, councils, leads, among)
    own = _elsewhere(recorded, singles, leads, among)
    return _Compared(
        likeness,
        [councils[leads[where], likeness[where]][place] for place, where in enumerate(recorded.repositories)],
        [singles[leads[where], own[where]][place] for place, where in enumerate(recorded.repositories)],
    )


def _scores(changes: Sequence[JudgedChange], shown: Sequence[Sequence[Cluster]], lead: str) -> list[Score]:
    return [
        strict([credited(change, cluster, lead) for cluster in clusters_of_it], change.golden)
        for change, clusters_of_it in zip(changes, shown, strict=True)
    ]


def _elsewhere(
    recorded: _Recorded,
    scores: Mapping[tuple[str, float], Sequence[Score]],
    leads: Mapping[str, str],
    among: Sequence[float],
) -> dict[str, float]:
    """For each repository the likeness that is best with its lead on the others."""
    by_lead = {
        lead: chosen_elsewhere(recorded.repositories, {at: scores[lead, at] for at in among})
        for lead in dict.fromkeys(leads.values())
    }
    return {repository: by_lead[lead][repository] for repository, lead in leads.items()}
