"""Which findings a finding is compared with: those of its kind, or of a wider one while there are too few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from review_advisor.core.evaluation.calibration.confidence_pair import ConfidencePair, FindingKind

FEWEST_OF_CELL = 30
FEWEST_GROUPS = 10
"""Fewer pull requests tell nothing of others: their findings are alike."""


@dataclass(frozen=True, slots=True)
class CalibrationCell:
    """The labelled pairs that tell something about ``asked``: those of ``kind``, which is the same or wider.

    ``own`` is how many ``asked`` itself has.
    """

    asked: FindingKind
    kind: FindingKind
    own: int
    pairs: tuple[ConfidencePair, ...]

    @property
    def is_enough(self) -> bool:
        """Whether they are enough to say anything; the widest cell may be too small as well."""
        return len(self.pairs) >= FEWEST_OF_CELL


def cells(pairs: Sequence[ConfidencePair]) -> tuple[CalibrationCell, ...]:
    """A cell for everything together, then one for each kind that has a label, the most frequent first.

    A cell below ``FEWEST_OF_CELL`` labels is that of its nearest parent that has them, or of everything.
    """
    held: dict[FindingKind, list[ConfidencePair]] = {FindingKind(): []}
    exact: dict[FindingKind, int] = {}
    for each in pairs:
        if each.right is None:
            continue
        exact[each.kind] = exact.get(each.kind, 0) + 1
        for kind in dict.fromkeys((*each.kind.parents(), FindingKind())):
            held.setdefault(kind, []).append(each)
    kinds = sorted(exact, key=lambda kind: (-exact[kind], kind.words))
    return tuple(_cell(kind, held) for kind in dict.fromkeys((FindingKind(), *kinds)))


def _cell(asked: FindingKind, held: Mapping[FindingKind, Sequence[ConfidencePair]]) -> CalibrationCell:
    found = next((kind for kind in asked.parents() if len(held.get(kind, ())) >= FEWEST_OF_CELL), FindingKind())
    return CalibrationCell(asked, found, len(held.get(asked, ())), tuple(held[found]))
