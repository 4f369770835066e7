"""The refuter: another voice that tries to disprove what blocks a change, before the rejection is told."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.answers.challenge import Challenge, disproves
from review_advisor.core.answers.findings import Finding
from review_advisor.core.council.refuter_call import refuter_call
from review_advisor.core.outcome.steps.voteless_events import Challenged
from review_advisor.core.roles.calls import AgentCall
from review_advisor.review.dispatch import Dispatch
from review_advisor.review.repair_session import Version


def challenged(
    dispatch: Dispatch, version: Version, judge: AgentCall, findings: Sequence[Finding]
) -> tuple[Challenged, ...]:
    """The refuter's answers, one call each. A finding without an answer stays as it is. Raises ``Stop``.

    ``judge`` is the question of the latest judgement.
    """

    def one(finding: Finding) -> Challenged | None:
        asked = dispatch.ask(refuter_call(judge, finding, version.briefing.nonce), Challenge)
        said = asked.answer
        if not isinstance(said, Challenge):
            return None
        told = Challenged(
            at=dispatch.now(),
            surface=version.row.surface,
            attempt=judge.attempt,
            shard=version.part.shard.index,
            number=asked.number,
            finding=finding.id,
            challenge=said,
            proven=disproves(said.path, said.quote, finding, version.subject.whole),
        )
        dispatch.record(told)
        return told

    return tuple(each for each in dispatch.together(findings, one) if each is not None)
