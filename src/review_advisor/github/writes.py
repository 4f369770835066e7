"""What may be written on a pull request, as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from review_advisor.policy.policy import is_shadow_name

MOST_CHARACTERS = 65_535
"""The longest body of a comment or a review, and the longest summary or text of a check run."""

ANNOTATIONS_PER_REQUEST = 50


class Conclusion(StrEnum):
    """How a check run ends. ``skipped`` is missing on purpose: GitHub counts it as passing.

    GitHub counts ``neutral`` as passing, too: only a check of shadow mode, which gates nothing, may conclude so.
    """

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"
    CANCELLED = "cancelled"


Level = Literal["notice", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of the head, shown in the diff and on the check's page. Lines count from 1."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check run as it should stand."""

    name: str
    external_id: str
    """Tells the check runs of two pull requests with one head apart."""
    title: str
    summary: str
    conclusion: Conclusion | None = None
    """None while the review is in progress."""
    annotations: tuple[Annotation, ...] = ()
    details_url: str | None = None
    seal: str = ""
    """Of the state that stands in the summary; empty for a check that keeps the seal which it had before."""

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a check that passes in shadow mode, and for a neutral one outside of it."""
        if self.conclusion is (Conclusion.SUCCESS if is_shadow_name(self.name) else Conclusion.NEUTRAL):
            raise ValueError(f"the check {self.name!r} may not conclude {self.conclusion.value!r}")


def missing_annotations(wanted: tuple[Annotation, ...], standing: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The wanted annotations that do not stand yet: GitHub adds those of every update to the ones before."""
    stands = Counter(map(_normalised, standing))
    found: list[Annotation] = []
    for each in wanted:
        key = _normalised(each)
        if stands[key]:
            stands[key] -= 1
        else:
            found.append(each)
    return tuple(found)


def _normalised(each: Annotation) -> Annotation:
    """GitHub may change the ends of lines."""
    title, message = (text.replace("\r\n", "\n").strip() for text in (each.title, each.message))
    return replace(each, title=title, message=message)


def in_requests(check: Check) -> list[Check]:
    """The check as it is to stand after each request that brings it about: fifty more annotations in each.

    It is in progress until the last, so that a publication that is killed between two leaves a check that does not
    pass.
    """
    starts = range(0, max(len(check.annotations), 1), ANNOTATIONS_PER_REQUEST)
    *before, last = (replace(check, annotations=check.annotations[at : at + ANNOTATIONS_PER_REQUEST]) for at in starts)
    return [*(replace(each, conclusion=None) for each in before), last]


@dataclass(frozen=True, slots=True)
class InlineComment:
    """One comment on lines of the diff. ``side`` is RIGHT for the new lines, LEFT for removed ones."""

    finding: str
    path: str
    line: int
    start_line: int | None
    side: Literal["LEFT", "RIGHT"]
    body: str


@dataclass(frozen=True, slots=True)
class MadeCommit:
    """A commit that no branch leads to yet, and the name of its tree."""

    sha: str
    tree: str
