"""What of a review's findings gets a comment on the diff, and why the others do not.

Each complete review narrows it. Nothing here decides about the verdict, and every finding that gets no comment is told
in the summary with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from review_advisor.core.answers.answers import GRAVE, SEVERITIES, Severity
from review_advisor.core.answers.findings import Finding, ordered
from review_advisor.core.facts.earlier_review import Age

MOST_GRAVE = 50
"""So many comments on what is grave or blocks stand on the diff at a time: of more, GitHub's page loads slowly, and
nobody reads them at once. The worst come first, and the others follow as their room gets free."""
Volume = Literal["quiet", "normal", "thorough"]


@dataclass(frozen=True, slots=True)
class Loudness:
    """What a volume means: ``inline_from`` is the lowest severity in the first, second and every later review.

    ``most`` is how many comments stand on the diff at a time; what is grave or blocks counts, and gives way to nothing
    milder.
    """

    inline_from: tuple[Severity, Severity, Severity]
    most: int

    def lowest(self, number: int) -> Severity:
        """The lowest severity in the ``number``-th complete review; they count from 1."""
        return self.inline_from[min(number, len(self.inline_from)) - 1]


LOUDNESS: Mapping[Volume, Loudness] = {
    "quiet": Loudness(("medium", "high", "high"), 10),
    "normal": Loudness(("low", "medium", "high"), 25),
    "thorough": Loudness(("low", "low", "high"), 50),
}
"""From the third review on, and on unchanged lines always, only what blocks is posted: at any volume."""


@dataclass(frozen=True, slots=True)
class Posting:
    """Whether a finding may get a comment on the diff; ``because`` says why it may not, and is empty where it may.

    ``grave``: it is critical, high or blocks. Only the number of such comments keeps it off the diff.
    """

    finding: Finding
    because: str = ""
    grave: bool = False

    @property
    def allowed(self) -> bool:
        """Whether it may get one."""
        return not self.because

    @property
    def folded(self) -> bool:
        """Whether it is also left out of the list of findings and of the annotations: never what is grave."""
        return bool(self.because) and not self.grave


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What holds for the comments of one review: the ``number`` of the complete review that it is, and the settings.

    ``least_confidence`` is by category, as ``least_confidence_for`` says, and ``least`` for every other. ``few`` says
    of findings, by id, how few members of a council raise them.
    """

    number: int
    volume: Volume
    least: float
    least_for: Mapping[str, float]
    few: Mapping[str, str] = field(default_factory=dict)


def postings(
    findings: Iterable[Finding], blocking: Collection[str], said: Collection[str], narrowing: Narrowing
) -> tuple[Posting, ...]:
    """The decision on every finding that has no comment yet (its id is not ``said``), the worst first.

    Comments that stand already count towards the most that there may be, so that deciding again, once these findings
    have their comments, changes nothing for the others.
    """
    every = ordered(findings)
    standing, loudest = sum(each.id in said for each in every), LOUDNESS[narrowing.volume].most
    graves = sum(each.id in said and is_grave_or_blocks(each, blocking) for each in every)
    decided: dict[str, Posting] = {}
    told = [each for each in every if each.id not in said]
    for each in sorted(told, key=lambda each: not is_grave_or_blocks(each, blocking)):
        because, grave = _held_back(each, blocking, narrowing), is_grave_or_blocks(each, blocking)
        count, most = (graves, MOST_GRAVE) if grave else (standing, loudest)
        if not because and count >= most:
            because = f"at most {most} comments stand on the diff"
        standing += not because
        graves += grave and not because
        decided[each.id] = Posting(each, because, grave=grave)
    return tuple(decided[each.id] for each in told)


def is_grave_or_blocks(finding: Finding, blocking: Collection[str]) -> bool:
    """Whether no round, confidence or volume holds a finding back, and no number of milder comments."""
    return finding.severity in GRAVE or finding.id in blocking


def _held_back(finding: Finding, blocking: Collection[str], narrowing: Narrowing) -> str:
    """Why a finding is not posted; empty if it is."""
    if is_grave_or_blocks(finding, blocking):
        return ""
    least = narrowing.least_for.get(finding.category.casefold(), narrowing.least)
    if finding.confidence < least:
        return f"its confidence is below {least:g}"
    if finding.id in narrowing.few:
        return narrowing.few[finding.id]
    if finding.age is Age.UNCHANGED:
        return "its lines did not change since the last complete review"
    number = 1 if finding.age is Age.NEW else narrowing.number
    lowest = LOUDNESS[narrowing.volume].lowest(number)
    if SEVERITIES.index(finding.severity) <= SEVERITIES.index(lowest):
        return ""
    if number == 1:
        return f"volume {narrowing.volume} posts nothing {finding.severity}"
    return f"complete review {number} posts nothing {finding.severity} on reworked lines"
