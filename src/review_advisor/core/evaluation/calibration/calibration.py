"""What a calibration comes to: how much is labelled and by whom, each cell with its reliability, and the maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil

from review_advisor.core.evaluation.calibration.cells import FEWEST_OF_CELL, CalibrationCell, cells
from review_advisor.core.evaluation.calibration.confidence_pair import (
    OBSERVED_SOURCES,
    ConfidencePair,
    FindingKind,
    LabelSource,
    labelled,
)
from review_advisor.core.evaluation.calibration.earned_map import EarnedMap, earned_map
from review_advisor.core.evaluation.calibration.kind_records import KindRecord, kind_records
from review_advisor.core.evaluation.calibration.reliability import Reliability, reliability
from review_advisor.core.evaluation.judged_change import Draw
from review_advisor.core.policy.escalation_rules import FIRST_THRESHOLD, VERDICT


@dataclass(frozen=True, slots=True)
class CellTold:
    """``reliability`` is None below 30 labels, its parents' included."""

    cell: CalibrationCell
    reliability: Reliability | None


@dataclass(frozen=True, slots=True)
class MapTried:
    """The map of the executor's findings of one kind: ``kind`` names a surface and a category, or any.

    ``threshold`` is the least stated confidence, in hundredths, that the map takes for 70%; 1 where none is. It is None
    without a map.
    """

    kind: FindingKind
    labels: int
    earned: EarnedMap
    threshold: float | None

    @property
    def is_of_findings_alone(self) -> bool:
        """Whether a threshold for this kind holds for findings and for no verdict."""
        return bool(self.kind.surface) and self.kind.category not in ("", VERDICT)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Cells and maps are of the labels of ``source`` alone. ``by_source`` counts those of each source, and the right.

    ``findings`` are all pairs, with a label or without. A revert calls nothing wrong, so no map is fitted on reverts.
    ``kinds`` are of people's labels, and are there only where ``source`` is people.
    """

    source: LabelSource
    findings: int
    by_source: tuple[tuple[LabelSource, int, int], ...]
    cells: tuple[CellTold, ...]
    maps: tuple[MapTried, ...]
    kinds: tuple[KindRecord, ...] = ()

    @property
    def unlabelled(self) -> int:
        """How many findings nobody said anything about."""
        return self.findings - sum(many for _, many, _ in self.by_source)


def calibration(pairs: Sequence[ConfidencePair], source: LabelSource, times: int, draw: Draw) -> Calibration:
    """The calibration by the labels of one source. The same pairs and the same draw give the same."""
    known = labelled(pairs, source)
    sources = (source,) if source == "golden" else OBSERVED_SOURCES
    told = {each: labelled(pairs, each) for each in sources}
    compute = partial(reliability, times=times, draw=draw)
    kept: dict[FindingKind, Reliability] = {}
    made = []
    for cell in cells(known):
        if cell.is_enough and cell.kind not in kept:
            kept[cell.kind] = compute(cell.pairs)
        made.append(CellTold(cell, kept.get(cell.kind)))
    return Calibration(
        source,
        len(pairs),
        tuple((each, len(its), sum(bool(pair.right) for pair in its)) for each, its in told.items()),
        tuple(made),
        () if source == "revert" else _maps(known, times, draw),
        kind_records(known) if source == "people" else (),
    )


def _maps(known: Sequence[ConfidencePair], times: int, draw: Draw) -> tuple[MapTried, ...]:
    """Of everything the executor said, of each surface and of each category in it that has labels enough for a cell."""
    held: dict[FindingKind, list[ConfidencePair]] = {FindingKind(): []}
    for each in known:
        if each.kind.advisor == "executor":
            surface, category = each.kind.surface, each.kind.category
            for kind in (FindingKind(), FindingKind(surface=surface), FindingKind(surface=surface, category=category)):
                held.setdefault(kind, []).append(each)
    tried = []
    for kind, its in sorted(held.items(), key=lambda item: (-len(item[1]), len(item[0].words), item[0].words)):
        if kind == FindingKind() or len(its) >= FEWEST_OF_CELL:
            earned = earned_map(its, times, draw)
            tried.append(MapTried(kind, len(its), earned, _threshold(earned, its)))
    return tuple(tried)


def _threshold(earned: EarnedMap, its: Sequence[ConfidencePair]) -> float | None:
    """The least stated confidence that the map takes for enough. What nobody stated was not seen to be right."""
    fitted = earned.map
    if fitted is None:
        return None
    least = ceil(100 * min(each.confidence for each in its if each.right is not None))
    return next((place / 100 for place in range(least, 101) if fitted.of(place / 100) >= FIRST_THRESHOLD), 1.0)
