"""Reading what an agent was asked, and what a review left behind."""

import json
import re
from typing import Any

from review_advisor.agents.calls import AgentCall
from review_advisor.agents.prompts import nonce_of
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.events import CallEnded
from review_advisor.safety.fence import fenced


def shown(call: AgentCall, label: str) -> str:
    """What stands in the call's fence of that label."""
    text = fenced(call.prompt, label, nonce_of(call.prompt))
    assert text is not None, f"the {call.role.value} was shown no {label}"
    return text


def is_shown(call: AgentCall, label: str) -> bool:
    return fenced(call.prompt, label, nonce_of(call.prompt)) is not None


def own_words(call: AgentCall) -> str:
    """The prompt without its fences: our own words."""
    nonce = re.escape(nonce_of(call.prompt))
    return re.sub(rf"<<<UNTRUSTED (\S+) {nonce}\n.*?\n\1 {nonce} UNTRUSTED>>>", "", call.prompt, flags=re.DOTALL)


def transcript(call: AgentCall) -> list[dict[str, Any]]:
    """The attempts that the call was handed."""
    attempts: list[dict[str, Any]] = json.loads(shown(call, "TRANSCRIPT"))["attempts"]
    return attempts


def calls_by_end(document: OutcomeDocument) -> dict[str, list[str]]:
    """The roles whose calls ended in each way."""
    ends: dict[str, list[str]] = {}
    for event in document.events:
        if isinstance(event, CallEnded):
            ends.setdefault(event.ended, []).append(event.role.value)
    return ends


def moves(document: OutcomeDocument, surface: int = 0) -> list[str]:
    """The rulings of a surface, part by part."""
    return [ruling.move.value for part in document.surfaces[surface].parts for ruling in part.rulings]
