"""What the scripted models of a whole review say."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.stub_api import Reply, error, structured, text

CODE_FILE = "shop/prices.py"


def code(lines: int) -> str:
    """A Python file of so many lines, no two alike."""
    return "".join(f"price_{number} = {number} * 3\n" for number in range(1, lines + 1))


PLAN_VALUE: dict[str, Any] = {
    "risk_summary": "prices may overflow their column",
    "focus_areas": [{"description": "rounding", "files": [CODE_FILE], "rationale": "money"}],
    "rubric": ["every price has a test"],
    "escalation_signals": ["a price below zero"],
}


def plan() -> Reply:
    """Pre-flight plans."""
    return structured(PLAN_VALUE)


def report(verdict: str = "approve", *remarks: str, **more: Any) -> Reply:
    """The executor reports, one finding for each of ``remarks`` (two reports with other remarks differ)."""
    findings = [
        {
            "path": CODE_FILE,
            "line": 1,
            "severity": "low",
            "category": remark,
            "title": f"about {remark}",
            "confidence": 0.4,
            "evidence": "price_1 = 1 * 3",
        }
        for remark in remarks
    ]
    value = {"verdict": verdict, "summary": f"the executor says {verdict}", "confidence": 0.9, "findings": findings}
    return structured({**value, **more})


def confirm(reasoning: str = "I looked and agree.") -> Reply:
    """Post-verify confirms the verdict."""
    return structured({"verdict": "APPROVE", "reasoning": reasoning})


def veto(reasoning: str = "The rounding is wrong.", claim: str = "prices are safe") -> Reply:
    """Post-verify calls the verdict wrong."""
    disagreement = {"executor_claim": claim, "advisor_assessment": f"not so: {reasoning}", "severity": "blocking"}
    return structured(
        {
            "verdict": "VETO",
            "reasoning": reasoning,
            "disagreements": [disagreement],
            "suggested_fix_direction": "round half to even",
        }
    )


def guidance(action: str = "Choose B.", **more: Any) -> Reply:
    """The consulted advisor answers in the asked form."""
    return text(json.dumps({"action": action, "rationale": "B is reversible", "confidence": 0.8, **more}))


def boom(status: int = 500) -> Reply:
    """A fault of the server."""
    return error(status, "overloaded_error" if status == 529 else "api_error", "boom")


def limit_lifts_late() -> Reply:
    """A rate limit with a long window, which the CLI gives up on at once."""
    return error(
        429,
        "rate_limit_error",
        "slow down",
        retry_after="3600",
        anthropic_ratelimit_unified_status="rejected",
        x_should_retry="false",
    )
