"""Results that are kept: which of them are asked for again, what all have cost, and which arms got no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from review_advisor.core.evaluation.trials.manifest import EvaluationManifest
from review_advisor.core.evaluation.trials.trial import CountedTrial, Trial, TrialKey

_NO_ANSWER = ("lost", "refused")


def is_settled(manifest: EvaluationManifest, kept: CountedTrial) -> bool:
    """Whether a result is not asked for again. A review without an answer may get one; a recorded one cannot change."""
    return manifest.answers in ("recorded", "simulated") or kept.trial.status not in _NO_ANSWER


def interrupted(key: TrialKey) -> Trial:
    """A review that was begun and did not come to its end: nobody knows what it cost."""
    return Trial(*key, "none", "lost", why="It was interrupted.")


def spent_on(tries: Iterable[CountedTrial], unknown_usd: float) -> float:
    """US dollars of all tries. One whose cost nobody knows counts as ``unknown_usd``."""
    return sum(unknown_usd if each.trial.usd is None else each.trial.usd for each in tries)


@dataclass(frozen=True, slots=True)
class UnansweredArm:
    """An arm of whose ``reviews`` some got no answer, and the most frequent reason."""

    arm: str
    unanswered: int
    reviews: int
    why: str

    @property
    def is_silent(self) -> bool:
        """Whether it answered nothing at all: its measures say nothing of it."""
        return self.unanswered == self.reviews


def unanswered_arms(manifest: EvaluationManifest, trials: Sequence[CountedTrial]) -> tuple[UnansweredArm, ...]:
    """The arms that lack an answer, in their order."""
    found = []
    for arm in manifest.arms:
        its = [each.trial for each in trials if each.trial.arm == arm.name]
        reasons = Counter(each.why for each in its if each.status in _NO_ANSWER)
        if reasons:
            found.append(UnansweredArm(arm.name, reasons.total(), len(its), reasons.most_common(1)[0][0]))
    return tuple(found)
