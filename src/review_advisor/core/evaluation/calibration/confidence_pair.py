"""A finding with the confidence that a model stated, and whether it was right, if anybody knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

LabelSource = Literal["", "people", "revert", "golden"]
"""Who says whether a finding is right. ``people``: whose word ``observe`` counts; the author's only for a finding.

``golden``: the labels of golden cases.
"""
OBSERVED_SOURCES: tuple[LabelSource, ...] = ("people", "revert")


@dataclass(frozen=True, slots=True)
class FindingKind:
    """What kind of finding it is. An empty field means any."""

    advisor: str = ""
    model: str = ""
    surface: str = ""
    category: str = ""
    prompts: str = ""

    def parents(self) -> tuple[FindingKind, ...]:
        """This kind, then each wider one: first any version of the prompts, then any category, surface and model."""
        wider = [self]
        for name in ("prompts", "category", "surface", "model", "advisor"):
            last = wider[-1]
            kept = {each: getattr(last, each) for each in _FIELDS if each != name}
            if getattr(last, name):
                wider.append(FindingKind(**kept))
        return tuple(wider)

    @property
    def words(self) -> str:
        """What it names, for a person."""
        return " / ".join(filter(None, (getattr(self, each) for each in _FIELDS))) or "all"


_FIELDS = ("advisor", "model", "surface", "category", "prompts")


@dataclass(frozen=True, slots=True)
class ConfidencePair:
    """``confidence`` is 0 to 1. ``right`` is None where nobody said anything; ``source`` is empty then.

    ``group`` is the pull request: findings of one are alike, and are never parted.
    """

    group: str
    kind: FindingKind
    confidence: float
    right: bool | None = None
    source: LabelSource = ""


def labelled(pairs: Iterable[ConfidencePair], source: LabelSource = "") -> tuple[ConfidencePair, ...]:
    """The pairs of which it is known whether they are right; of one source where that is named."""
    return tuple(each for each in pairs if each.right is not None and source in ("", each.source))


def stated_once(reviews: Iterable[tuple[str, Sequence[ConfidencePair]]]) -> tuple[ConfidencePair, ...]:
    """The pairs of many reviews of golden cases, each of the case that is named: repetitions tell nothing new.

    A model's right, wrong and unlabelled findings on a case count as often as in the one review that has most of them,
    whatever arm, prompts or evaluation asked; those of the first reviews count.
    """
    kept: dict[tuple[object, ...], ConfidencePair] = {}
    for case, pairs in reviews:
        times = Counter[tuple[object, ...]]()
        for each in pairs:
            of = (case, each.group, each.kind.advisor, each.kind.model, each.right)
            times[of] += 1
            kept.setdefault((*of, times[of]), each)
    return tuple(kept.values())
