"""The models' answers as schema-checked values."""

from __future__ import annotations

import json
import unicodedata
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticOmit

from review_advisor.policy.roster import AnswerField, AnswerFields
from review_advisor.policy.switches import NO
from review_advisor.policy.thresholds import Confidence
from review_advisor.safety.fence import legible
from review_advisor.safety.stated_values import value_mistake

CLEAR_NOES = frozenset({*NO, "none", "null", "not", "never", "unset"})


_STOP_NAMES = ("stopsignal", "stop")


def bare(text: str) -> str:
    """The letters and digits of a text in lower case: ``**Stop-Signal**`` and ``stop_signal`` are one word."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def every_object(said: object) -> Iterator[Mapping[str, Any]]:
    """Every object in it, the outermost first."""
    return (each for each in _everything(said) if isinstance(each, Mapping))


def every_word(said: object) -> Iterator[str]:
    """Every text in it, bare."""
    return (bare(each) for each in _everything(said) if isinstance(each, str))


def values_under(names: Collection[str], said: object) -> Iterator[object]:
    """The value of every key in it that is one of these bare names."""
    return (value for each in every_object(said) for name, value in each.items() if bare(str(name)) in names)


def sets_stop(said: object) -> bool:
    """Whether a stop signal stands anywhere in it that is not a clear no: in doubt, a person looks."""
    return any(not _is_clear_no(value) for value in values_under(_STOP_NAMES, said))


def _is_clear_no(value: object) -> bool:
    return value in (None, False, "") or (isinstance(value, str) and bare(value) in CLEAR_NOES)


def worst_named(severities: Sequence[str], said: object) -> str:
    """The worst of the severities (the worst come first) that is named; where none is, it may be the worst of all."""
    named = set(every_word(said))
    return next((each for each in severities if each in named), severities[0])


def _everything(said: object) -> Iterator[object]:
    waiting: deque[object] = deque([said])
    while waiting:
        each = waiting.popleft()
        yield each
        if isinstance(each, Mapping):
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)


_MOST_COMPLAINTS = 10


@dataclass(slots=True)
class Notes:
    """What was cut from one answer or set right in it, in words without any of the answer's own.

    It is handed to pydantic as the validation's context. Without one, validators cut silently and refuse what is wrong:
    stored values were read with notes when they came.
    """

    said: dict[str, None] = field(default_factory=dict)
    unreadable: list[tuple[object, str]] = field(default_factory=list)
    """Items that no validator could read, each with the reason; whoever reads the answer says what becomes of them."""

    def add(self, note: str) -> None:
        """Note it; what was noted before is not noted twice."""
        self.said[note] = None

    @property
    def words(self) -> tuple[str, ...]:
        """All notes, in order."""
        return tuple(self.said)


def complaints(error: ValidationError) -> str:
    """Where an answer is wrong and how, without echoing its own words."""
    lines = []
    for each in error.errors()[:_MOST_COMPLAINTS]:
        where = ".".join(str(step) for step in each["loc"]) or "the object"
        lines.append(f"{where}: {value_mistake(each, block='an object')}")
    return "; ".join(lines)


def at_most(most: int, *, worst_first: Sequence[str] = ()) -> AfterValidator:
    """Keep the first ``most`` characters or items.

    ``worst_first`` are severities: items are then kept by them, the worst first, and stay in their order.
    """

    def cut(value: Any, info: ValidationInfo) -> Any:
        if len(value) <= most:
            return value
        what = "characters" if isinstance(value, str) else "items"
        _note(info, f"{info.field_name} was cut to {most:,} of its {len(value):,} {what}")
        if not worst_first:
            return value[:most]
        ranked = sorted(range(len(value)), key=lambda place: worst_first.index(value[place].severity))
        return tuple(value[place] for place in sorted(ranked[:most]))

    return AfterValidator(cut)


def at_most_words(most: int) -> AfterValidator:
    """Keep the first ``most`` words of a text."""

    def cut(value: str, info: ValidationInfo) -> str:
        words = value.split()
        if len(words) <= most:
            return value
        _note(info, f"{info.field_name} was cut to {most} of its {len(words)} words")
        return " ".join(words[:most])

    return AfterValidator(cut)


def left_out_beyond(most: int) -> AfterValidator:
    """Leave a text out that is longer: half of it would be wrong."""

    def leave_out(value: str, info: ValidationInfo) -> str | None:
        if len(value) <= most:
            return value
        _note(info, f"{info.field_name} was left out: it has {len(value):,} characters, the most is {most:,}")
        return None

    return AfterValidator(leave_out)


def severity_of(severities: Sequence[str]) -> BeforeValidator:
    """Read a severity in whatever form it was given, as ``worst_named`` does."""

    def read(value: object, info: ValidationInfo) -> object:
        if not isinstance(info.context, Notes) or value in severities:
            return value
        severity = worst_named(severities, value)
        if severity not in every_word(value):
            _note(info, f"{info.field_name} was none of {', '.join(severities)}: it counts as {severity}")
        return severity

    return BeforeValidator(read)


def otherwise(fallback: object) -> WrapValidator:
    """Take ``fallback`` for a value that cannot be read."""

    def read(value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except ValidationError:
            if not isinstance(info.context, Notes):
                raise
            info.context.add(f"{info.field_name} could not be read: it counts as {fallback}")
            return fallback

    return WrapValidator(read)


def or_left_out(*, kept_aside: bool = False) -> WrapValidator:
    """Leave an item of a list out that cannot be read. ``kept_aside`` puts it among the unreadable ones."""

    def read(value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        try:
            return handler(value)
        except ValidationError as error:
            if not isinstance(info.context, Notes):
                raise
            if kept_aside:
                info.context.unreadable.append((value, complaints(error)))
            else:
                info.context.add(f"an item of {info.field_name} was left out: {complaints(error)}")
            raise PydanticOmit from error

    return WrapValidator(read)


def _note(info: ValidationInfo, note: str) -> None:
    if isinstance(info.context, Notes):
        info.context.add(note)


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


MOST_OF_A_VOTE = 100.0


_LONGEST = 4_000


_TOOL = "_tool"


_REASONING = ("_reasoningForCall", "_why")


@dataclass(frozen=True, slots=True)
class InlineCalls:
    """One advisor's weights, 0 to 100, in the order of the actions; ``reasoning`` is what it says of its choice."""

    weights: tuple[float, ...]
    reasoning: str = ""


class UnreadableCallsError(ValueError):
    """The text is no vote; a few words of our own say why."""


def inline_calls(text: str, actions: Sequence[str]) -> InlineCalls:
    """The vote in ``text`` over ``actions``. An action that it does not name has the weight 0.

    ``_tool`` may name the chosen action, which then has to have the highest weight. Raises ``UnreadableCallsError``.
    """
    said = _object(text)
    unknown = said.keys() - {*actions, _TOOL, *_REASONING}
    if unknown:
        raise UnreadableCallsError(f"calls name something else than {', '.join(actions)}")
    weights = tuple(_weight(said.get(action, 0)) for action in actions)
    if not any(weights):
        raise UnreadableCallsError("calls give no action a weight above 0")
    chosen = said.get(_TOOL)
    if chosen is not None and (chosen not in actions or weights[actions.index(chosen)] < max(weights)):
        raise UnreadableCallsError(f"{_TOOL} is not the action with the highest weight")
    reasons = (said[key] for key in _REASONING if isinstance(said.get(key), str))
    return InlineCalls(weights, legible(next(reasons, "")))


def severest_calls(texts: Sequence[object], actions: Sequence[str]) -> str:
    """One vote that is as severe as each of ``texts``; empty if one of them is no vote that can be read.

    ``actions`` are mildest first: the mildest gets its lowest weight, each other one its highest.
    """
    try:
        votes = [inline_calls(text if isinstance(text, str) else "", actions).weights for text in texts]
    except UnreadableCallsError:
        return ""
    mildest, *others = zip(*votes, strict=True)
    return json.dumps(dict(zip(actions, (min(mildest), *map(max, others)), strict=True)))


def _object(text: str) -> dict[str, Any]:
    if len(text) > _LONGEST:
        raise UnreadableCallsError("calls are too long")
    try:
        said = json.loads(text, object_pairs_hook=_each_key_once)
    except UnreadableCallsError:
        raise
    except (ValueError, RecursionError):
        raise UnreadableCallsError("calls are no JSON text") from None
    if not isinstance(said, dict):
        raise UnreadableCallsError("calls are no JSON object")
    return said


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise UnreadableCallsError("calls name an action twice")
    return dict(pairs)


def _weight(value: object) -> float:
    """A weight; NaN and infinity are outside the bounds like any other wrong number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_OF_A_VOTE:
        raise UnreadableCallsError(f"calls give a weight that is no number from 0 to {MOST_OF_A_VOTE:.0f}")
    return float(value)


Form = TypeVar("Form", bound=Answer)


MOST_INSTANCES = 200


MOST_OWN = 4_000
"""Characters of one advisor's own fields as JSON."""


_WORD_COUNT = "at most {most} words"


class InstanceOpinion(Answer):
    """What an advisor says of one file or finding, which ``instance`` names."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    instance: Short = Field(alias="_instance")
    opinion: Annotated[Stated, Field(description=_WORD_COUNT.format(most=30))]


class Opinion(Answer):
    """What an advisor sees in a change before the executor has looked at it."""

    opinion: Annotated[Stated, Field(description=_WORD_COUNT.format(most=60))]
    concerns: Annotated[tuple[Annotated[Short, or_left_out()], ...], at_most(20)] = ()


class InstancedOpinion(Opinion):
    """The same with an opinion on each instance."""

    model_config = ConfigDict(title=Opinion.__name__)

    instances: Annotated[tuple[Annotated[InstanceOpinion, or_left_out()], ...], at_most(MOST_INSTANCES)]


def missing_instances(expected: Iterable[str], given: Iterable[InstanceOpinion]) -> tuple[str, ...]:
    """The instances on which there is no opinion, in their order."""
    said = {each.instance for each in given}
    return tuple(each for each in dict.fromkeys(expected) if each not in said)


@cache
def with_own_fields(form: type[Form], answer: str) -> type[Form]:
    """``form`` with an advisor's own fields; ``answer`` is their declared schema as JSON text, empty for none."""
    if not answer:
        return form
    declared = AnswerFields.model_validate_json(answer)
    fields: dict[str, Any] = {
        name: _field(field, required=name in declared.required) for name, field in declared.properties.items()
    }
    made: type[Form] = create_model(form.model_config.get("title") or form.__name__, __base__=form, **fields)
    return made


def own_fields(answer: Answer, form: type[Answer]) -> str:
    """What an answer says in the fields that it has beyond ``form``, as JSON; empty without any."""
    names = set(type(answer).model_fields) - set(form.model_fields)
    return _text(answer.model_dump(mode="json", include=names)) if names else ""


def _field(field: AnswerField, *, required: bool) -> tuple[Any, Any]:
    kind = _kind(field)
    about = Field(description=field.description) if field.description else Field()
    return (Annotated[kind, about], ...) if required else (Annotated[kind | None, about], None)


def _kind(field: AnswerField) -> Any:
    bounds = Field(ge=field.minimum, le=field.maximum)
    match field.type:
        case "string" if field.enum:
            return Literal[field.enum]
        case "string":
            return Text
        case "number":
            return Annotated[float, bounds, Field(allow_inf_nan=False)]
        case "integer":
            return Annotated[int, bounds]
        case "boolean":
            return bool
        case "array":
            kinds: dict[str, Any] = {
                "string": NonBlank,
                "number": Annotated[float, Field(allow_inf_nan=False)],
                "integer": int,
                "boolean": bool,
            }
            item: Any = kinds["string" if field.items is None else field.items.type]
            return Annotated[tuple[item, ...], at_most(100)]


def read_own(said: object, declared: AnswerFields, notes: Notes) -> str:
    """The ``declared`` fields among what an advisor ``said``, as JSON; empty without any.

    A field that is missing, that its schema does not allow or for which there is no room is left out, and so are fields
    that nobody declares. ``notes`` name each of them.
    """
    if not isinstance(said, Mapping):
        notes.add("own was left out: it is no object")
        return ""
    kept: dict[str, Any] = {}
    for name, form in declared.properties.items():
        if said.get(name) is None:
            if name in declared.required:
                notes.add(f"own.{name} is missing")
            continue
        try:
            alone: Any = {name: _field(form, required=True)}
            read = create_model("OwnField", __base__=Answer, **alone).model_validate({name: said[name]}, context=notes)
        except ValidationError as error:
            notes.add(f"own.{name} was left out: {complaints(error)}")
            continue
        more = kept | read.model_dump(mode="json")
        if len(_text(more)) > MOST_OWN:
            notes.add(f"own.{name} was left out: all fields together have at most {MOST_OWN:,} characters")
        else:
            kept = more
    further = len(said.keys() - declared.properties.keys())
    if further:
        notes.add(f"{further} of the fields in own were left out: they are not declared")
    return _text(kept) if kept else ""


def own_table(own: str) -> dict[str, Any]:
    """The fields by their names; none of a text that is no JSON object."""
    try:
        said = json.loads(own)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def own_words(own: str) -> str:
    """The fields as a person reads them, on one line; the text itself if it is no JSON object."""
    table = own_table(own).items()
    told = ", ".join(f"{name} {value if isinstance(value, str) else _text(value)}" for name, value in table)
    return " ".join((told or own).split())


def _text(value: object) -> str:
    """As it is read again; the redactor does not know a secret whose letters are escaped."""
    return json.dumps(value, ensure_ascii=False)


ACTIONS = ("approve", "request_changes", "block")
"""What a member of the council may vote for, mildest first."""


_Instances = Annotated[tuple[Annotated[InstanceOpinion, or_left_out()], ...], at_most(MOST_INSTANCES)]


_EACH = "one for each finding of the executor's report, with its id as _instance"


class MemberVote(PostVerifyResult):
    """The judgement of one member, and its vote about the change.

    A confirmation is worth nothing without a vote that can be read. A veto without one is still a veto.
    """

    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].append("calls"))

    calls: Annotated[str, otherwise("")] = Field(
        default="",
        description='a JSON text: weights 0 to 100 for "approve", "request_changes" and "block" of the change itself,'
        ' "_tool" for the highest of them and "_reasoningForCall" for why',
    )

    own: SkipJsonSchema[Annotated[str, otherwise("")]] = ""
    """The fields that the advisor declares, as JSON; empty for one that declares none."""
    instances: SkipJsonSchema[Annotated[_Instances, otherwise(())]] = ()
    """What an advisor that is asked about each finding says of it."""

    @property
    def vote(self) -> InlineCalls | None:
        """The weights of ``ACTIONS``; None if they cannot be read."""
        try:
            return inline_calls(self.calls, ACTIONS)
        except UnreadableCallsError:
            return None

    @model_validator(mode="after")
    def _a_confirmation_has_a_vote(self) -> MemberVote:
        if self.verdict == "APPROVE":
            inline_calls(self.calls, ACTIONS)
        return self


@cache
def vote_form(schema: str, *, instanced: bool = False) -> type[MemberVote]:
    """The answer's form for an advisor that declares ``schema`` for fields of its own; empty without any.

    They stand under ``own``, so that no declared name can take the place of one of ours. ``instanced``: it also says
    something of each finding.
    """
    if not schema and not instanced:
        return MemberVote
    declared = AnswerFields.model_validate_json(schema) if schema else None
    first = {"own": json.loads(schema)} if schema else {}

    def told(described: dict[str, Any]) -> None:
        properties = described["properties"]
        leading = {**first, **({"instances": properties.pop("instances")} if instanced else {})}
        described["properties"] = {**leading, **properties}
        described["required"] = [*leading, *described["required"], "calls"]

    def own(said: object, info: ValidationInfo) -> str:
        notes = info.context if isinstance(info.context, Notes) else Notes()
        return read_own(said, declared, notes) if declared is not None else ""

    fields: dict[str, Any] = {
        "own": (SkipJsonSchema[Annotated[str, BeforeValidator(own)]], Field(default={}, validate_default=True))
    }
    if instanced:
        fields["instances"] = (Annotated[_Instances, otherwise(())], Field(default=(), description=_EACH))
    config = ConfigDict(title=MemberVote.__name__, json_schema_extra=told)
    base = type("_Told", (MemberVote,), {"model_config": config})
    form: type[MemberVote] = create_model(MemberVote.__name__, __base__=base, **fields)
    return form


def plain_vote(vote: MemberVote, schema: str, *, instanced: bool) -> MemberVote:
    """The same as a ``MemberVote`` of no advisor's own form. What ``vote_form`` did not ask for is not in it."""
    asked = {"own": vote.own if schema else "", "instances": vote.instances if instanced else ()}
    return MemberVote.model_validate(dict(vote) | asked)
