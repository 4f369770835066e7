"""The models' answers as schema-checked values. Nothing else a model says is ever believed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=8_000)]
Verbatim = Annotated[str, StringConstraints(max_length=8_000)]
NonBlank = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
"""The worst first."""


class Answer(BaseModel):
    """Common to all answers: frozen, unknown keys ignored (models add words), bounds on every list."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FocusArea(Answer):
    """Where the executor should look, and why."""

    description: NonBlank
    files: tuple[Short, ...] = Field(default=(), max_length=100)
    rationale: Text = ""


class ReviewPlan(Answer):
    """Pre-flight's answer: how this change deserves to be reviewed."""

    risk_summary: NonBlank
    focus_areas: tuple[FocusArea, ...] = Field(default=(), max_length=20)
    rubric: tuple[Short, ...] = Field(default=(), max_length=30)
    escalation_signals: tuple[Short, ...] = Field(default=(), max_length=20)


class ReportedFinding(Answer):
    """One remark of the executor, as it was given: not yet held against the change."""

    path: Short
    line: Annotated[int, Field(ge=0)]
    end_line: Annotated[int, Field(ge=0)] | None = None
    severity: Severity
    category: Short
    title: Short
    body: Text = ""
    suggestion: Verbatim | None = Field(
        default=None, description="the complete new text of the lines line to end_line, indentation included"
    )
    confidence: Confidence
    evidence: NonBlank = Field(description="a verbatim quote of the changed lines this is about")


class DisagreementAnswer(Answer):
    """The executor's answer to one disagreement of an earlier attempt."""

    disagreement: Short = Field(description="the id of the disagreement, as in the transcript")
    position: Literal["accepted", "contested"]
    path: Text = ""
    evidence: Text = Field(default="", description="a verbatim quote that settles it")


class KnowledgeEntry(Answer):
    """A durable fact about the code base that the executor offers to remember: not yet held against the change."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
    body: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
    path: Short
    evidence: NonBlank = Field(description="a verbatim quote of the changed lines that prove it")
    tags: tuple[Tag, ...] = Field(default=(), max_length=5)


class ReviewReport(Answer):
    """The executor's verdict and findings."""

    verdict: Literal["approve", "reject"]
    summary: NonBlank
    confidence: Confidence
    findings: tuple[ReportedFinding, ...] = Field(default=(), max_length=200)
    answers: tuple[DisagreementAnswer, ...] = Field(default=(), max_length=100)
    knowledge: tuple[KnowledgeEntry, ...] = Field(default=(), max_length=5)

    @model_validator(mode="after")
    def _verdict_and_findings_agree(self) -> ReviewReport:
        if self.verdict == "approve" and any(f.severity == "critical" for f in self.findings):
            raise ValueError("an approval cannot carry a critical finding")
        return self


class Disagreement(Answer):
    """One point where the advisor contradicts the executor."""

    executor_claim: NonBlank
    advisor_assessment: NonBlank
    severity: Literal["blocking", "concern"]


class PostVerifyResult(Answer):
    """Post-verify's judgement of the executor's verdict: APPROVE confirms it, VETO calls it wrong."""

    verdict: Literal["APPROVE", "VETO"]
    reasoning: Text = ""
    disagreements: tuple[Disagreement, ...] = Field(default=(), max_length=50)
    suggested_fix_direction: Text | None = None

    @model_validator(mode="after")
    def _verdict_and_reasons_agree(self) -> PostVerifyResult:
        if self.verdict == "APPROVE" and any(d.severity == "blocking" for d in self.disagreements):
            raise ValueError("APPROVE cannot carry a blocking disagreement")
        if self.verdict == "VETO" and not self.reasoning:
            raise ValueError("VETO needs its reasoning")
        return self


class Consult(Answer):
    """A question of the executor to the advisor, while it works."""

    question: NonBlank
    context: Text = ""
    options: tuple[Short, ...] = Field(default=(), max_length=20)
    preferred_option: Text = ""
    urgency: Literal["low", "normal", "high"] = "normal"


class Guidance(Answer):
    """The advisor's answer to a consult. ``stop_signal`` sends the review to a human."""

    action: NonBlank
    rationale: Text = ""
    risk_flags: tuple[Short, ...] = Field(default=(), max_length=20)
    evidence: tuple[Text, ...] = Field(default=(), max_length=20)
    stop_signal: bool = False
    confidence: Confidence | None = None
