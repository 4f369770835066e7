"""The post-verify transcript of one surface."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from review_advisor.agents.answers import Disagreement, PostVerifyResult
from review_advisor.agents.prompts import TRANSCRIPT, bounded
from review_advisor.safety.fence import fence_facts

LONGEST_RAW = 100_000
"""So many characters of a judgement as it came are handed back; what was read of it is handed back in any case."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One judged attempt: what the executor said, what post-verify said, and its reply as it came."""

    number: int
    executor_verdict: Literal["approve", "reject"]
    executor_summary: str
    result: PostVerifyResult
    raw: str

    @property
    def disagreements(self) -> tuple[tuple[str, Disagreement], ...]:
        """Each disagreement with its id: ``d<attempt>.<n>``, n from 1.

        A veto that lists none is itself the one to answer: its reasoning stands as ``d<attempt>.0``.
        """
        if self.result.verdict == "VETO" and not self.result.disagreements:
            claim = Disagreement(
                executor_claim=self.executor_summary, advisor_assessment=self.result.reasoning, severity="blocking"
            )
            return ((f"d{self.number}.0", claim),)
        return tuple(
            (f"d{self.number}.{position}", each) for position, each in enumerate(self.result.disagreements, start=1)
        )


def disagreement_ids(attempts: tuple[Attempt, ...]) -> frozenset[str]:
    """The ids an executor may answer."""
    return frozenset(identity for attempt in attempts for identity, _ in attempt.disagreements)


def transcript_section(attempts: tuple[Attempt, ...], nonce: str) -> str:
    """The whole transcript as fenced JSON; empty before the first judgement."""
    if not attempts:
        return ""
    document = {"attempts": [_as_json(attempt) for attempt in attempts]}
    return "The post-verify transcript so far:\n" + fence_facts(TRANSCRIPT, document, nonce)


def _as_json(attempt: Attempt) -> dict[str, object]:
    """An attempt. The reply as it came is in it where it says anything else than what was read of it."""
    raw = {} if _says_no_more(attempt) else {"raw": bounded(attempt.raw, LONGEST_RAW)}
    return {
        "attempt": attempt.number,
        "executor_verdict": attempt.executor_verdict,
        "executor_summary": attempt.executor_summary,
        "verdict": attempt.result.verdict,
        "reasoning": attempt.result.reasoning,
        "disagreements": [{"id": identity, **dict(each)} for identity, each in attempt.disagreements],
        "suggested_fix_direction": attempt.result.suggested_fix_direction,
        **raw,
    }


def _says_no_more(attempt: Attempt) -> bool:
    try:
        said = json.loads(attempt.raw)
    except ValueError:
        return False
    read = attempt.result.model_dump(mode="json", exclude_unset=True)
    return bool(said == read)
