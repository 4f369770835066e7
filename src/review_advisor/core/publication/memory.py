"""What the bot remembers after a review, from what it remembered before and what the review came to."""

from __future__ import annotations

from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.scope import policy_digest
from review_advisor.core.publication.state import Failing, KnownFinding, State
from review_advisor.core.roles.evidence import Finding

OPENS_BREAKER = 3
"""So often the same failure on the same head, and no push starts another review of it."""
MOST_FINDINGS = 120
"""So many are remembered, open ones first: more do not fit into a comment."""


def remembered(before: State | None, document: OutcomeDocument, *, asked: bool) -> State:
    """The state after a review that ran. ``asked``: a person wanted it, so that it is no round of its own.

    A finding that the review raised is open, unless it was dismissed. One that it did not raise again is fixed if its
    file was read this time, and stays as it was otherwise. After an escalation fix attempts are counted anew.
    """
    if document.outcome is Outcome.STOPPED:
        return _after_stop(before, document)
    read = {file.path for file in document.coverage if file.read != "not" and not file.earlier}
    known = {each.id: each for each in before.findings} if before is not None else {}
    findings = {each.id: _raised(each, known.get(each.id)) for each in document.findings}
    for each in known.values():
        gone = each.path in read or each.path not in {file.path for file in document.coverage}
        fixed = each.status == "open" and gone
        findings.setdefault(each.id, each.model_copy(update={"status": "fixed"}) if fixed else each)
    rejected = document.outcome is Outcome.CHANGES_REQUESTED
    attempts = before.fix_attempts if before is not None else 0
    new_head = before is None or before.head_sha != document.head_sha
    return State(
        run_id=document.run_id,
        head_sha=document.head_sha or "",
        base_sha=document.base_sha or "",
        policy_digest=policy_digest(document.policy),
        outcome=document.outcome,
        complete=_complete(document),
        blast=document.policy.blast.radius,
        findings=_kept(findings),
        rounds=(before.rounds if before is not None else 0) + (not asked),
        fix_attempts=attempts + new_head if rejected else 0,
    )


def _after_stop(before: State | None, document: OutcomeDocument) -> State:
    """Nothing was learned of the change; what is counted is the failure."""
    reason = "; ".join(document.because)[:200]
    head = document.head_sha or ""
    last = before.failing if before is not None else None
    again = last is not None and (last.head_sha, last.reason) == (head, reason)
    failing = Failing(head_sha=head, reason=reason, times=last.times + 1 if last is not None and again else 1)
    if before is not None:
        return before.model_copy(update={"failing": failing, "complete": False, "outcome": Outcome.STOPPED})
    return State(
        run_id=document.run_id,
        head_sha=head,
        base_sha=document.base_sha or "",
        policy_digest="",
        outcome=Outcome.STOPPED,
        complete=False,
        blast=document.policy.blast.radius,
        failing=failing,
    )


def _raised(finding: Finding, before: KnownFinding | None) -> KnownFinding:
    if before is not None and before.status == "dismissed":
        return before
    return KnownFinding(
        id=finding.id, path=finding.path, line=finding.line, title=finding.title[:120], severity=finding.severity
    )


def _complete(document: OutcomeDocument) -> bool:
    """Whether a later review may rest on this one."""
    sound = not (document.flags.degraded or document.flags.lost or document.flags.advisor_disabled)
    return sound and all(file.read == "read" for file in document.coverage)


def _kept(findings: dict[str, KnownFinding]) -> tuple[KnownFinding, ...]:
    order = ("open", "dismissed", "fixed")
    return tuple(sorted(findings.values(), key=lambda each: order.index(each.status))[:MOST_FINDINGS])
