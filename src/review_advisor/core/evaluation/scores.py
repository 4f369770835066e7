"""How findings are counted against golden comments: how many were right, shown and wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """``right``: golden comments that were found. ``shown``: findings. ``golden``: comments that could be found."""

    right: int = 0
    shown: int = 0
    golden: int = 0

    def __add__(self, other: Score) -> Score:
        """Both together: shares are of all pull requests at once, no mean of each."""
        return Score(self.right + other.right, self.shown + other.shown, self.golden + other.golden)

    @property
    def precision(self) -> float:
        """The share of the findings that is right."""
        return self.right / self.shown if self.shown else 0.0

    @property
    def recall(self) -> float:
        """The share of the golden comments that was found."""
        return self.right / self.golden if self.golden else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.shown + self.golden) if self.right else 0.0

    @property
    def percents(self) -> tuple[float, float, float]:
        """Precision, recall and F1 as the benchmark publishes them: in percent, with three decimals of the share."""
        return round(100 * self.precision, 1), round(100 * self.recall, 1), round(100 * self.f1, 1)


def pooled(scores: Iterable[Score]) -> Score:
    """All of them as one."""
    return sum(scores, Score())


def strict(matches: Sequence[frozenset[int]], golden: int) -> Score:
    """Each finding counts for one golden comment, and each comment for one finding: the most pairs there can be.

    ``matches``: for each finding that is shown, the golden comments that it was judged to say.
    """
    return Score(_most_pairs(matches), len(matches), golden)


def _most_pairs(matches: Sequence[frozenset[int]]) -> int:
    """The size of a maximum matching, by augmenting paths (Kuhn)."""
    holder: dict[int, int] = {}

    def finds_a_place(finding: int, seen: set[int]) -> bool:
        for comment in sorted(matches[finding] - seen):
            seen.add(comment)
            if comment not in holder or finds_a_place(holder[comment], seen):
                holder[comment] = finding
                return True
        return False

    return sum(finds_a_place(finding, set()) for finding in range(len(matches)))
