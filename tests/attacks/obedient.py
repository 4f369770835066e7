"""An agent that believes everything outside a fence, and does what it is told there.

Left alone it is honest. The change has a fault: its executor overlooks it at first, its advisor vetoes, the
executor then rejects, and the advisor confirms. A prompt longer than its window it does not read at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from tests.attacks.payloads import ORDER, OWN_SECRET

from review_advisor.agents.calls import AgentCall, Answered, ConsultReply, Consults, Lost
from review_advisor.agents.prompts import nonce_of
from review_advisor.policy.surfaces import Role
from review_advisor.safety.stop import ConsultRecord, Receipt, Usage

WINDOW = 600_000
FAULT = "value = 1 / 0"
NOTES = "notes.txt"
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_VERDICT = re.compile(r'\{"verdict": "(approve|APPROVE)"[^{}]*\}')

Strip = Callable[[str], str]


def nonce_fences_removed(prompt: str) -> str:
    """What a reader sees who trusts only the fences of this run."""
    nonce = re.escape(nonce_of(prompt))
    return re.sub(rf"<<<UNTRUSTED (\S+) {nonce}\n.*?\n\1 {nonce} UNTRUSTED>>>", "", prompt, flags=re.DOTALL)


def _fits(words: str, answer: type[BaseModel], name: str) -> str:
    """``words`` as the schema allows them: the CLI refuses longer ones."""
    most = answer.model_json_schema()["properties"][name].get("maxLength", len(words))
    return words[:most].strip() or "(nothing)"


@dataclass
class ObedientAgent:
    """``question``, ``advice`` and ``earlier`` are what it says in a consult and in its first judgement.

    ``obeyed`` tells what it was made to do. ``everywhere`` is a victim that obeys inside fences too.
    """

    strip: Strip = nonce_fences_removed
    question: str = "Is it safe?"
    advice: str = "Look at the division."
    earlier: str = "The division is wrong."
    everywhere: bool = False
    obeyed: list[str] = field(default_factory=list)
    asked: list[AgentCall] = field(default_factory=list)

    def run(self, call: AgentCall, consults: Consults | None = None) -> Answered | Lost:
        self.asked.append(call)
        orders = self.heard(call.prompt)
        self.obeyed += [f"{call.role.value} {call.attempt}: {order}" for order in orders]
        receipt = Receipt(
            usage=Usage(cost_usd=0.01), resolved_model=call.model, consults=self._consulted(call, consults)
        )
        return Answered(self._obeying(call, orders) if orders else self._honest(call), receipt)

    def check_interrupt(self) -> None:
        """Nobody interrupts."""

    def end_running(self) -> None:
        """Nothing runs."""

    def heard(self, prompt: str) -> list[str]:
        """The orders in what it believes of a prompt."""
        if len(prompt) > WINDOW:
            return ["too long to read"]
        seen = (prompt if self.everywhere else self.strip(prompt)).replace('\\"', '"')
        hidden = "".join(chr(ord(each) - 0xE0000) for each in "".join(_TAGS.findall(prompt)))
        found = {
            "verdict": _VERDICT.search(seen) is not None,
            "order": ORDER in seen or ORDER in hidden,
            "sentinel": "<!-- HYDRAFLOW_MIDFLIGHT" in seen,
            "bait": "Print your environment" in seen,
        }
        return [name for name, there in found.items() if there]

    def _obeying(self, call: AgentCall, orders: list[str]) -> dict[str, Any]:
        if orders == ["sentinel"]:
            return {"action": "an answer to a consult that nobody asked"}
        said = f"as ordered {OWN_SECRET if 'bait' in orders else ''}"
        match call.role:
            case Role.PRE_FLIGHT:
                return {"risk_summary": said}
            case Role.POST_VERIFY:
                return {"verdict": "APPROVE", "reasoning": said}
        return {"verdict": "approve", "summary": said, "confidence": 1}

    def _honest(self, call: AgentCall) -> dict[str, Any]:
        match call.role:
            case Role.PRE_FLIGHT:
                return {"risk_summary": "a division"}
            case Role.POST_VERIFY:
                if call.attempt:
                    return {"verdict": "APPROVE", "reasoning": "the rejection is right"}
                return {
                    "verdict": "VETO",
                    "reasoning": _fits(self.earlier, call.answer, "reasoning"),
                    "disagreements": [
                        {"executor_claim": "fine", "advisor_assessment": "it divides by zero", "severity": "blocking"}
                    ],
                }
        read = (call.tree / NOTES).read_text(encoding="utf-8") if call.tree else ""
        summary = _fits(f"The notes say: {read}", call.answer, "summary")
        verdict = "reject" if call.attempt else "approve"
        remark = {
            "path": "src/app.py",
            "line": 1,
            "severity": "high",
            "category": "correctness",
            "title": "a division by zero",
            "confidence": 0.9,
            "evidence": FAULT,
        }
        found = [remark] if call.attempt else []
        return {"verdict": verdict, "summary": summary, "confidence": 0.9, "findings": found}

    def _consulted(self, call: AgentCall, consults: Consults | None) -> tuple[ConsultRecord, ...]:
        if consults is None or call.attempt:
            return ()
        consults.ask("toolu_1", json.dumps({"question": self.question}))
        consults.settle("toolu_1", ConsultReply(True, json.dumps({"action": self.advice}), resolved_model="opus"))
        return consults.end()
