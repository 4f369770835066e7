"""The decision card of a finding: what is at risk, what the fix costs, and a cheap way to see who is right.

It is asked for only where the configuration says so, because each field costs output in every review. It stands at the
end of the finding's body, so it decides nothing and every reader of a finding has it.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from review_advisor.core.answers.answers import (
    GRAVE,
    Answer,
    ReportedFinding,
    ReviewReport,
    RuledFinding,
    RuledReport,
    Severity,
    Text,
)
from review_advisor.core.answers.tolerant import at_most, or_left_out, otherwise
from review_advisor.core.policy.escalation_rules import FIRST_THRESHOLD

FixEffort = Literal["small", "medium", "large", ""]
_BEGIN = "\n\nAt risk: "
_Line = Annotated[Text, at_most(300), otherwise("")]


class _Card(Answer):
    at_risk: Annotated[_Line, Field(description="at most 20 words: what goes wrong if it stays")] = ""
    downside: Annotated[_Line, Field(description="at most 20 words: what the fix may break or cost")] = ""
    effort: Annotated[FixEffort, otherwise(""), Field(description="of the fix")] = ""
    proof: Annotated[_Line, Field(description="at most 20 words: a cheap way to see whether it is real")] = ""


class CardFinding(_Card, ReportedFinding):
    """A finding with its decision card."""

    @property
    def told(self) -> str:
        """Its body, and the card below it."""
        return f"{self.body}{_card(self, self.severity, self.confidence)}"


class _RuledCardFinding(CardFinding, RuledFinding):
    """The same where the executor is shown rules of the team's own."""


@cache
def with_cards(form: type[ReviewReport]) -> type[ReviewReport]:
    """The form of a report whose findings have a decision card. Only its schema differs."""
    kind = _RuledCardFinding if issubclass(form, RuledReport) else CardFinding
    findings = tuple[Annotated[kind, or_left_out(kept_aside=True)], ...]  # type: ignore[valid-type]
    made: type[ReviewReport] = create_model(ReviewReport.__name__, __base__=form, findings=(findings, ()))
    return made


def triage(severity: Severity, effort: FixEffort, confidence: float) -> str:
    """What to make of a finding, by its severity and the effort of its fix. Who is unsure never calls it clear."""
    if confidence < FIRST_THRESHOLD or not effort:
        return "a judgement call"
    if effort == "small":
        return "clear-cut"
    return (
        "worth the effort"
        if severity in GRAVE
        else "a judgement call"
        if effort == "medium"
        else "weigh it: the fix is large"
    )


def without_card(body: str) -> str:
    """The body as the finding's author wrote it."""
    return body.partition(_BEGIN)[0]


def _card(card: _Card, severity: Severity, confidence: float) -> str:
    lines = (
        ("Downside of the fix", card.downside),
        ("Effort", card.effort),
        ("Cheap proof", card.proof),
        ("Triage", triage(severity, card.effort, confidence)),
    )
    told = "".join(f"\n{name}: {' '.join(words.split())}" for name, words in lines if words)
    return f"{_BEGIN}{' '.join(card.at_risk.split()) or 'not said'}{told}"
