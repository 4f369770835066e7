"""Findings that were invented, so that it is known how often a stated confidence comes true."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from review_advisor.ledger.kind_records import ConfidencePair, FindingKind

Truth = Callable[[float], float]
KIND = FindingKind("executor", "opus", "pr_review", "security", "p1")


def honest(confidence: float) -> float:
    return confidence


def overconfident(confidence: float) -> float:
    return 0.8 * confidence**2


def stream(seed: int, truth: Truth, groups: int) -> list[ConfidencePair]:
    """One to seven findings in each of so many pull requests, with confidence from .3 to 1."""
    chance, pairs = Random(seed), []
    for group in range(groups):
        for _ in range(chance.randint(1, 7)):
            confidence = round(chance.uniform(0.3, 1), 2)
            pairs.append(
                ConfidencePair(f"pull {group}", KIND, confidence, chance.random() < truth(confidence), "people")
            )
    return pairs
