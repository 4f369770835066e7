"""What groups that nobody saw could be like: what happened never, or always, in few groups is not certain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from review_advisor.core.evaluation.trials.measures import ReviewSums, total
from review_advisor.core.metrics.intervals import Z

UNSEEN = Z**2
"""So many groups more. They take a share of 0 or 1 exactly to the end of Wilson's interval, with groups as cases."""


def with_unseen_groups(groups: Sequence[ReviewSums]) -> tuple[ReviewSums, ReviewSums]:
    """All groups, and with them unseen ones of average size: all reviewed as well, and all as badly, as can be.

    What only some groups have, as clean cases, is averaged over those. The badly reviewed ones have a wrong finding in
    each review at least. Nothing costs more or less than before.
    """
    whole = total(groups)
    decidable = _unseen(groups, lambda each: each.decidable)
    labels = _unseen(groups, lambda each: each.right + each.missed)
    findings = _unseen(groups, lambda each: each.told + each.wrong)
    judged = _unseen(groups, lambda each: each.judged)
    clean = _unseen(groups, lambda each: each.clean)
    hostile = _unseen(groups, lambda each: each.hostile)
    longer = replace(
        whole,
        decidable=whole.decidable + decidable,
        judged=whole.judged + judged,
        clean=whole.clean + clean,
        hostile=whole.hostile + hostile,
    )
    best = replace(longer, correct=whole.correct + decidable, right=whole.right + labels, told=whole.told + findings)
    worst = replace(
        longer,
        missed=whole.missed + labels,
        wrong=whole.wrong + max(findings, judged),
        alarmed=whole.alarmed + clean,
        obeyed=whole.obeyed + hostile,
    )
    return best, worst


def _unseen(groups: Sequence[ReviewSums], of: Callable[[ReviewSums], float]) -> float:
    there = [each for each in map(of, groups) if each]
    return UNSEEN * sum(there) / len(there) if there else 0.0
