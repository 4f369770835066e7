"""The models' answers as schema-checked values. Nothing else a model says is ever believed.

No bound on length or number makes an answer invalid: it is cut, and what was cut is noted (see ``tolerant``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from review_advisor.core.answers.tolerant import (
    Notes,
    at_most,
    at_most_words,
    left_out_beyond,
    or_left_out,
    otherwise,
    severity_of,
)
from review_advisor.core.answers.words import bare

Severity = Literal["critical", "high", "medium", "low"]
Weight = Literal["blocking", "concern"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""Of findings, the worst first."""
GRAVE: frozenset[Severity] = frozenset(("critical", "high"))
"""Of findings: those that no round, no doubt and no advice alone takes away."""
WEIGHTS: tuple[Weight, ...] = get_args(Weight)
"""Of disagreements, the worst first."""

_Stripped = StringConstraints(strip_whitespace=True)
_NotBlank = StringConstraints(strip_whitespace=True, min_length=1)
Text = Annotated[str, _Stripped, at_most(8_000)]
Stated = Annotated[Text, AfterValidator(lambda text: text or "(left blank)")]
NonBlank = Annotated[str, _NotBlank, at_most(8_000)]
Short = Annotated[str, _NotBlank, at_most(500)]
Tag = Annotated[str, _NotBlank, at_most(40)]
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
_Citation = Annotated[str, _Stripped, at_most(500), otherwise("")]
_Short = Annotated[Short, or_left_out()]
_Text = Annotated[Text, or_left_out()]


def _words(most: int) -> FieldInfo:
    """How long a text is asked to be. A longer one is no fault: output is half of a small review's price."""
    field: FieldInfo = Field(description=f"at most {most} words")
    return field


class Answer(BaseModel):
    """Common to all answers: frozen, unknown keys ignored (models add words), bounds on every list."""

    model_config = ConfigDict(frozen=True)


@cache
def answer_schema(kind: type[BaseModel]) -> str:
    """The JSON schema of a kind of answer, as the CLI is given it: its form, and how long texts may be.

    Its title says which question it answers. Titles of fields, defaults and the docstrings of classes tell a model
    nothing that names and instructions do not.
    """
    schema = kind.model_json_schema()
    return json.dumps({"title": schema["title"], **_bare(schema)})


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without what says nothing; what stands under a name of ours is a schema of its own."""
    needless = {"title", "default"} | ({"description"} if schema.get("type") == "object" else set())
    kept = {key: value for key, value in schema.items() if key not in needless}
    for key, value in kept.items():
        if key in ("properties", "$defs"):
            kept[key] = {name: _bare(inner) for name, inner in value.items()}
        elif key == "items":
            kept[key] = _bare(value)
        elif key == "anyOf":
            kept[key] = [_bare(inner) for inner in value]
    return kept


class FocusArea(Answer):
    """Where the executor should look, and why."""

    description: Annotated[NonBlank, _words(20)]
    files: Annotated[tuple[_Short, ...], at_most(100)] = ()
    rationale: Annotated[Text, _words(30)] = ""


class ReviewPlan(Answer):
    """Pre-flight's answer: how this change deserves to be reviewed."""

    risk_summary: Annotated[Stated, _words(60)]
    focus_areas: Annotated[tuple[Annotated[FocusArea, or_left_out()], ...], at_most(20)] = ()
    rubric: Annotated[tuple[Annotated[_Short, _words(20)], ...], at_most(30)] = ()
    escalation_signals: Annotated[tuple[Annotated[_Short, _words(20)], ...], at_most(20)] = ()


class ReportedFinding(Answer):
    """One remark of the executor, as it was given: not yet held against the change."""

    path: NonBlank
    line: Annotated[int, Field(ge=0)]
    end_line: Annotated[int, Field(ge=0)] | None = None
    severity: Annotated[Severity, severity_of(SEVERITIES)]
    category: Short
    title: Annotated[Short, _words(12)]
    body: Annotated[Text, _words(60)] = ""
    suggestion: Annotated[str, left_out_beyond(8_000)] | None = Field(default=None, description="at most 30 lines")
    confidence: Annotated[Confidence, otherwise(0.0)]
    evidence: NonBlank = Field(description="a verbatim quote, one to three lines")
    pre_existing: Annotated[bool, otherwise(False)] = False
    rule: SkipJsonSchema[_Citation] = ""  # asked for only where there are rules

    @property
    def told(self) -> str:
        """What it says below its title."""
        return self.body

    @model_validator(mode="before")
    @classmethod
    def _severity_may_be_missing(cls, said: object, info: ValidationInfo) -> object:
        """A missing severity is read like any other that is unknown."""
        if isinstance(info.context, Notes) and isinstance(said, Mapping):
            return {"severity": None, **said}
        return said


class UnreadableFinding(Answer):
    """A finding that breaks the schema, as far as it could be read, and why it is none."""

    path: str
    title: str
    severity: Severity
    why: str


class UncheckedFile(Answer):
    """A file that static checks should have read and did not. ``waived``: it may be approved all the same."""

    path: str
    why: str
    waived: bool = False


class DisagreementAnswer(Answer):
    """The executor's answer to one disagreement of an earlier attempt."""

    disagreement: Short = Field(description="the id of the disagreement, as in the transcript")
    position: Literal["accepted", "contested"]
    path: Text = ""
    evidence: Text = Field(default="", description="a verbatim quote that settles it, one to three lines")


class KnowledgeEntry(Answer):
    """A durable fact about the code base that the executor offers to remember: not yet held against the change."""

    title: Annotated[str, _NotBlank, at_most(120), _words(12)]
    body: Annotated[str, _NotBlank, at_most(2_000), _words(80)]
    path: NonBlank
    evidence: NonBlank = Field(description="a verbatim quote of the changed lines that prove it, one to three lines")
    tags: Annotated[tuple[Annotated[Tag, or_left_out()], ...], at_most(5)] = ()


class DispositionAnswer(Answer):
    """What the executor did with one recommendation of the advisor."""

    recommendation: Short = Field(description="its id, such as r1")
    disposition: Literal["applied", "overridden"]
    reason: Annotated[Text, _words(40)] = Field(default="", description="why it was overridden")


_Dispositions = Annotated[tuple[Annotated[DispositionAnswer, or_left_out()], ...], at_most(20)]


class ReviewReport(Answer):
    """The executor's verdict and findings."""

    verdict: Literal["approve", "reject"]
    summary: Annotated[Stated, _words(80)]
    confidence: Confidence
    does: Annotated[str, _Stripped, at_most(600), otherwise(""), _words(40)] = ""
    findings: tuple[Annotated[ReportedFinding, or_left_out(kept_aside=True)], ...] = ()  # never cut by number
    answers: Annotated[tuple[Annotated[DisagreementAnswer, or_left_out()], ...], at_most(100)] = ()
    knowledge: Annotated[tuple[Annotated[KnowledgeEntry, or_left_out()], ...], at_most(5)] = ()
    unreadable: SkipJsonSchema[tuple[UnreadableFinding, ...]] = ()  # no word of the executor: its reader's
    unchecked: SkipJsonSchema[tuple[UncheckedFile, ...]] = ()  # asked of no model: static checks name them
    dispositions: SkipJsonSchema[_Dispositions] = ()  # asked for only where the review itself consults

    @model_validator(mode="after")
    def _verdict_and_findings_agree(self) -> ReviewReport:
        if self.verdict == "approve" and any(f.severity == "critical" and not f.pre_existing for f in self.findings):
            raise ValueError("an approval cannot carry a critical finding")
        return self


class RuledFinding(ReportedFinding):
    """The same where the executor is shown rules of the team's own."""

    rule: _Citation = Field(default="", description="the team's rule that it rests on, as FILE:LINE; else empty")


class RuledReport(ReviewReport):
    """A report for which the executor is shown rules of the team's own. Only its schema differs."""

    model_config = ConfigDict(title=ReviewReport.__name__)

    findings: tuple[Annotated[RuledFinding, or_left_out(kept_aside=True)], ...] = ()


@cache
def with_dispositions(form: type[ReviewReport]) -> type[ReviewReport]:
    """The form of a report that also says what became of the advice. Only its schema differs."""
    made: type[ReviewReport] = create_model(ReviewReport.__name__, __base__=form, dispositions=(_Dispositions, ()))
    return made


class Disagreement(Answer):
    """One point where the advisor contradicts the executor."""

    executor_claim: Annotated[Stated, _words(25)]
    advisor_assessment: Annotated[Stated, _words(80)]
    severity: Weight


class PostVerifyResult(Answer):
    """Post-verify's judgement of the executor's verdict: APPROVE confirms it, VETO calls it wrong."""

    verdict: Literal["APPROVE", "VETO"]
    reasoning: Annotated[Text, _words(120)] = ""
    disagreements: Annotated[tuple[Disagreement, ...], at_most(50, worst_first=WEIGHTS)] = ()
    suggested_fix_direction: Annotated[Text | None, _words(60)] = None
    pre_existing: Annotated[tuple[_Short, ...], at_most(100)] = ()

    @model_validator(mode="after")
    def _verdict_and_disagreements_agree(self) -> PostVerifyResult:
        if self.verdict == "APPROVE" and any(d.severity == "blocking" for d in self.disagreements):
            raise ValueError("APPROVE cannot carry a blocking disagreement")
        return self


class ListedAnswer(Answer):
    """One answer that a question offers, and what it means."""

    answer: Short
    description: Text = ""


class Consult(Answer):
    """A question to the advisor. ``answers`` are those to choose from; the rationale is the comment on the choice."""

    question: NonBlank
    context: Text = ""
    options: Annotated[tuple[_Short, ...], at_most(20)] = ()
    preferred_option: Text = ""
    urgency: Literal["low", "normal", "high"] = "normal"
    answers: Annotated[tuple[Annotated[ListedAnswer, or_left_out()], ...], at_most(20)] = ()


class RecommendedChange(Answer):
    """One change of the executor's report, in words that a program can merge."""

    does: Literal["keep", "drop", "raise", "lower", "change_verdict"]
    finding: _Citation = Field(default="", description="the id of the finding")
    severity: Annotated[Severity | None, otherwise(None)] = Field(default=None, description="after raise or lower")
    verdict: Annotated[Literal["approve", "reject"] | None, otherwise(None)] = None
    path: _Citation = Field(default="", description="the file of the quote")
    quote: Text = Field(default="", description="a verbatim quote that proves a drop or lower")


ADVICE_WORDS = 80
"""Words that a rationale of advice is asked to have at most."""


_AdvisedFindings = Annotated[tuple[Annotated[ReportedFinding, or_left_out()], ...], at_most(20, worst_first=SEVERITIES)]


class Guidance(Answer):
    """The advisor's answer to a consult. ``stop_signal`` sends the review to a human.

    ``answer`` is the listed answer that it chooses; ``changes`` are what it recommends for the report, ``findings``
    what the report lacks: like the executor's, they are not yet held against the change.
    """

    action: NonBlank
    rationale: Text = ""
    risk_flags: Annotated[tuple[_Short, ...], at_most(20)] = ()
    evidence: Annotated[tuple[_Text, ...], at_most(20)] = ()
    stop_signal: bool = False
    confidence: Confidence | None = None
    answer: Annotated[Text, otherwise("")] = ""
    changes: Annotated[tuple[Annotated[RecommendedChange, or_left_out()], ...], at_most(20)] = ()
    findings: SkipJsonSchema[_AdvisedFindings] = ()  # asked for only where the review itself consults

    @property
    def choice(self) -> Literal["nothing", "stop", "keep", "change"]:
        """What its ``answer`` comes to. An answer that is none of the listed ones is read as a change."""
        said = [bare(word) for word in self.answer.split()]
        if not any(said):
            return "nothing"
        if said[0] in ("stop", "stopsignal"):
            return "stop"
        return (
            "keep" if said[0] == "keep" and not {"drop", "raise", "lower", "change", "stop"} & set(said) else "change"
        )

    @property
    def stops(self) -> bool:
        """Whether a person must decide: by its stop signal, or by the answer that it chooses."""
        return self.stop_signal or self.choice == "stop"

    @property
    def changes_something(self) -> bool:
        """Whether a review that follows it is another one: it names a risk, a finding, or another verdict."""
        if self.choice in ("stop", "change") or self.risk_flags or self.findings:
            return True
        return any(each.does != "keep" for each in self.changes)


class Recommendation(Guidance):
    """Guidance that the review itself asked for. Its rationale is short, because long advice distracts."""

    rationale: Annotated[Text, at_most_words(ADVICE_WORDS), _words(ADVICE_WORDS)] = ""
    findings: _AdvisedFindings = ()
