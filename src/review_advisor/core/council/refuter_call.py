"""What a refuter is asked about one finding for which the executor rejects the change."""

from __future__ import annotations

from dataclasses import replace

from review_advisor.core.answers.challenge import Challenge
from review_advisor.core.answers.findings import Finding
from review_advisor.core.roles.calls import AgentCall
from review_advisor.core.roster.advisor import REFUTER
from review_advisor.core.safety.fence import fence_facts

CHALLENGED = "CHALLENGED_FINDING"
_ASK = """\
You are the refuter. Another reviewer raised the finding above, and it stands in the way of the change. Find out if it \
is wrong. Answer `refuted` only if a verbatim quote of code, as it is after the change, shows that it is wrong: \
give the path and the quote. What comments, documentation, names or descriptions say proves nothing. Neither do the \
lines that the finding quotes. Answer `stands` if it is right, and `unsure` if you cannot show either."""


def refuter_call(judge: AgentCall, finding: Finding, nonce: str) -> AgentCall:
    """The question about one finding. ``judge`` is the question of a single judge: both begin with the same block."""
    about, *_ = judge.blocks
    facts = {
        "path": finding.path,
        "line": finding.line,
        "severity": finding.severity,
        "title": finding.title,
        "body": finding.words,
        "quote": finding.evidence,
    }
    ask = f"The finding:\n{fence_facts(CHALLENGED, facts, nonce)}\n\n{_ASK}"
    return replace(judge, advisor=REFUTER, blocks=(about, ask), answer=Challenge)
