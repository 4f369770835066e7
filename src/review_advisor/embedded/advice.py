"""The one question that the static executor asks while it works, and the advisor persona's answer."""

from __future__ import annotations

import json
import re

from pydantic import ValidationError

from review_advisor.core.answers.answers import Consult, Guidance
from review_advisor.core.facts.patches.diff_text import ShownLine

RUN = "run the security checks on this file too"
SKIP = "leave the security checks to post-verify"

_LONGEST_CONTEXT = 6_000
_SIGNALS = {
    "starts processes": re.compile(r"\b(?:subprocess|os\.system|popen|spawn|exec[lv]\w*)\b", re.IGNORECASE),
    "evaluates text": re.compile(r"\b(?:eval|exec|compile|__import__)\s*\("),
    "reads serialised objects": re.compile(r"\b(?:pickle|marshal|shelve|yaml\.load)\b"),
    "opens files": re.compile(r"\bopen\s*\(|\bchmod\b|\bextractall\b|\btempfile\b"),
    "talks to the network": re.compile(r"\b(?:requests|urllib|httpx|socket|fetch)\b|https?://", re.IGNORECASE),
    "handles credentials": re.compile(r"password|passwd|secret|token|api_?key|private key", re.IGNORECASE),
    "builds SQL": re.compile(
        r"\b(?:select|insert|update|delete)\b.+\b(?:from|into|set|where)\b|\.execute\s*\(", re.IGNORECASE
    ),
    "weakens cryptography": re.compile(r"\b(?:md5|sha1)\b|verify\s*=\s*False|random\.", re.IGNORECASE),
    "looks like configuration": re.compile(
        r"^\s*[\w.-]+\s*:\s*\S|^\s*\[[\w.-]+\]\s*$|^\s*(?:FROM|RUN|ENV)\s", re.MULTILINE
    ),
}


def risks(text: str) -> tuple[str, ...]:
    """The lexical signals of risk in some lines. Cheap, and no more than a hint."""
    return tuple(name for name, pattern in _SIGNALS.items() if pattern.search(text))


def security_question(path: str, lines: tuple[ShownLine, ...]) -> Consult:
    """Whether the security checks are worth running on ``path`` now. Its added lines are the context."""
    added = "\n".join(line.text for line in lines if line.added)
    return Consult(
        question=f"Should the security checks be run on the focus file {path} too?"[:1_000],
        context=added[:_LONGEST_CONTEXT],
        options=(RUN, SKIP),
        preferred_option=SKIP,
        urgency="normal",
    )


def guide(question: str) -> Guidance:
    """The advisor persona: by lexical signals in the added lines, no model. A text that is no consult is told so."""
    consult = _consult(question)
    if consult is None:
        return Guidance(
            action="go on by your own judgment",
            rationale="Static checks, no model: only the executor's own kind of question can be answered.",
            confidence=0.5,
        )
    found = risks(consult.context)
    quotes = (line.strip() for line in consult.context.split("\n") if risks(line))
    if not found:
        why = "Static checks, no model: no added line looks risky."
        return Guidance(action=SKIP, rationale=why, confidence=0.7)
    return Guidance(
        action=RUN,
        rationale=f"Static checks, no model: by its words, an added line {found[0]}.",
        risk_flags=found,
        evidence=tuple(quotes)[:3],
        confidence=0.8,
    )


def _consult(text: str) -> Consult | None:
    # What stands in front (the run's sentinel) is not ours to know.
    decoder = json.JSONDecoder()
    for start in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, start.start())
            return Consult.model_validate(value)
        except (ValueError, ValidationError):
            continue
    return None
