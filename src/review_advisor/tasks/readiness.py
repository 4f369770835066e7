"""Whether a release may go out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from review_advisor.agents.answers import GRAVE, Answer, NonBlank, Notes, Severity, Short, complaints
from review_advisor.change.git_history import MergedChange, ReleaseHistory
from review_advisor.ledger.task_events import EXIT_CODES as EXIT_CODES_OF_TASK_EVENTS
from review_advisor.ledger.task_events import (
    BlockTag,
    ConsultHeard,
    CouncilVoted,
    GuidanceHeard,
    OwedReport,
    ReadReport,
    ReportHeard,
    RunStatus,
    TaskBegun,
    TaskCalled,
    TaskEnded,
    TaskEvent,
    blind_spots,
    counted_votes,
    ended_words,
    last_vote,
)
from review_advisor.policy.roster import Advisor
from review_advisor.policy.thresholds import Confidence
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.safety.fence import clean
from review_advisor.safety.markdown import phrase
from review_advisor.safety.wording import counted, printable_line
from review_advisor.tasks.prompts import TaskCouncil, chosen_action

ReleaseVerdict = Literal["go", "conditional_go", "hold"]


RELEASE_VERDICTS: tuple[ReleaseVerdict, ...] = get_args(ReleaseVerdict)
"""The mildest first."""


MOST_BLOCKERS = 50


_MOST_KEPT = 60_000
"""Characters of a report that cannot be used."""


_IN_ANY_CASE = BeforeValidator(lambda said: said.strip().lower() if isinstance(said, str) else said)


_Severity = Annotated[Severity, _IN_ANY_CASE]


_Count = Annotated[int, Field(ge=0)]


class _Strict(Answer):
    model_config = ConfigDict(extra="forbid")


class ReleaseBlocker(_Strict):
    """What must not go out so. ``evidence`` quotes the evidence verbatim."""

    id: Short
    severity: _Severity
    description: NonBlank
    evidence: NonBlank


class ReleaseRisk(_Strict):
    """What may go wrong, and is still open."""

    id: Short
    severity: _Severity
    description: NonBlank
    mitigation: NonBlank


class MeasuredOutputs(_Strict):
    """How many of each the report says that it lists."""

    blocker_count: _Count
    risk_count: _Count
    required_action_count: _Count


class ReleaseReport(_Strict):
    """What an executor says of a release."""

    verdict: Annotated[ReleaseVerdict, _IN_ANY_CASE]
    summary: NonBlank
    blockers: Annotated[tuple[ReleaseBlocker, ...], Field(max_length=MOST_BLOCKERS)]
    risks: Annotated[tuple[ReleaseRisk, ...], Field(max_length=MOST_BLOCKERS)]
    required_actions: Annotated[tuple[Short, ...], Field(max_length=MOST_BLOCKERS)]
    advisor_consulted: bool
    confidence: Confidence
    measurable_outputs: MeasuredOutputs


def read_release_report(body: Mapping[str, Any]) -> ReadReport:
    """What a block says. Of one that cannot be used its verdict still counts, where it has one."""
    try:
        report = ReleaseReport.model_validate(body, context=Notes())
    except ValidationError as error:
        said = str(body.get("verdict", "")).strip().lower()
        kept = json.dumps(dict(body), ensure_ascii=False)[:_MOST_KEPT]
        return ReadReport(kept, said if said in RELEASE_VERDICTS else "", complaints(error))
    return ReadReport(report.model_dump_json(), report.verdict)


def report_schema() -> str:
    """The JSON schema of the report, for its file."""
    return json.dumps(ReleaseReport.model_json_schema(), indent=2) + "\n"


SHORTEST_QUOTE = 8
"""Characters besides blanks: of fewer nobody can tell what they quote."""


def mildest_verdict(report: ReleaseReport) -> tuple[ReleaseVerdict, str]:
    """The mildest verdict that a report with these blockers, risks and actions can have, and why.

    A grave blocker holds a release; with a grave open risk it goes out on conditions only.
    """
    grave = [each for each in report.blockers if each.severity in GRAVE]
    if grave:
        return "hold", f"it lists {counted(len(grave), 'critical or high blocker')}"
    if report.blockers:
        return "conditional_go", f"it lists {counted(len(report.blockers), 'blocker')}"
    open_risks = [each for each in report.risks if each.severity in GRAVE]
    if open_risks:
        return "conditional_go", f"it lists {counted(len(open_risks), 'open critical or high risk')}"
    if report.required_actions:
        return "conditional_go", f"it lists {counted(len(report.required_actions), 'required action')}"
    return "go", "it lists nothing that stands in the way"


def is_milder(verdict: str, other: str) -> bool:
    """Whether the first verdict is milder than the other one."""
    order: Sequence[str] = RELEASE_VERDICTS
    return order.index(verdict) < order.index(other)


def verdict_too_mild(report: ReleaseReport) -> Iterator[str]:
    """A verdict is no milder than the report's own content."""
    least, why = mildest_verdict(report)
    if is_milder(report.verdict, least):
        yield f"The verdict is {report.verdict}, but {why}: it can be no milder than {least}."


def conditions_unnamed(report: ReleaseReport) -> Iterator[str]:
    """Who goes on conditions names them."""
    if report.verdict == "conditional_go" and not report.required_actions:
        yield "The verdict is conditional_go, but no required action is named."


def miscounted(report: ReleaseReport) -> Iterator[str]:
    """The counts are the lengths of the lists."""
    said = report.measurable_outputs
    lists = {
        "blocker_count": (said.blocker_count, report.blockers),
        "risk_count": (said.risk_count, report.risks),
        "required_action_count": (said.required_action_count, report.required_actions),
    }
    for name, (count, its) in lists.items():
        if count != len(its):
            yield f"The {name} is {count}, but the report lists {len(its)}."


def invented_quotes(report: ReleaseReport, evidence: str) -> Iterator[str]:
    """Each blocker quotes the evidence verbatim, so much of it that it says something, or a whole line.

    Line breaks and blanks are no difference.
    """
    supplied, lines = _flat(evidence), {_flat(each) for each in evidence.splitlines()}
    for each in report.blockers:
        quote = _flat(each.evidence)
        if quote not in supplied:
            yield f"The evidence of blocker {each.id} is no quotation of the evidence."
        elif len(quote.replace(" ", "")) < SHORTEST_QUOTE and quote not in lines:
            yield f"The evidence of blocker {each.id} is too short: quote {SHORTEST_QUOTE} characters, or a whole line."


def unconsulted(report: ReleaseReport, answered: int) -> Iterator[str]:
    """The advisor has answered at least one question, by what was recorded; and the report says so."""
    if not answered:
        claim = " though the report says so" if report.advisor_consulted else ""
        yield f"The advisor has answered no question{claim}: at least one answer is needed."
    elif not report.advisor_consulted:
        yield f"The report says that the advisor was not consulted, but it answered {counted(answered, 'question')}."


def too_many_consults(asked: int, most: int) -> Iterator[str]:
    """The advisor was asked no more often than allowed."""
    if asked > most:
        yield f"The advisor was asked {counted(asked, 'question')}, but at most {most} are allowed."


def taken_back(verdict: str, others: Iterable[str]) -> Iterator[str]:
    """No other report of the run has a worse verdict: what was said once is not taken back in silence.

    One of which nobody can tell the verdict counts as a hold.
    """
    for each in dict.fromkeys(others):
        can_be_told = each in RELEASE_VERDICTS
        if is_milder(verdict, each if can_be_told else "hold"):
            says = f"says {each}" if can_be_told else "cannot be read, which counts as hold"
            yield f"Another report of this run {says}, the last one says {verdict}."


def without_a_majority(verdict: str, vote: CouncilVoted | None) -> Iterator[str]:
    """A release goes out only if those who judge give go more than half of their votes."""
    if verdict != "go":
        return
    if vote is None or vote.moment != "finish":
        yield "The verdict is go, but nobody voted on it."
        return
    means = dict(zip(vote.actions, counted_votes(vote).means, strict=True))
    whole = sum(means.values())
    if 2 * means.get("go", 0.0) <= whole:
        yield f"The verdict is go, but go has {means.get('go', 0.0):.0f} of {whole:.0f} votes: it needs more than half."


def gone_with_gaps(verdict: str, gaps: Sequence[str]) -> Iterator[str]:
    """A release goes out without conditions only if nothing is open in what was merged."""
    if verdict == "go" and gaps:
        more = f" and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        yield f"The verdict is go, but the evidence has gaps: {gaps[0]}{more}."


def _flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class ReleaseEvidence:
    """What is known of a release, as everybody in the run is shown it. ``gaps`` are what the harness knows to be open.

    ``source`` says where it comes from, in a few words.
    """

    source: str
    text: str
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadinessEvaluation:
    """``failures`` are the rules that do not hold; without any it has passed. ``report`` is the last usable one.

    ``evidence`` says where that comes from, and ``blind_spots`` whom the run has not heard.
    """

    run_id: str
    status: RunStatus
    report: ReleaseReport | None
    failures: tuple[str, ...]
    gaps: tuple[str, ...]
    metrics: dict[str, Any]
    evidence: str = ""
    blind_spots: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the verdict can be relied on, whatever it is."""
        return not self.failures

    @property
    def verdict(self) -> str:
        """The report's; ``none`` without one."""
        return "none" if self.report is None else self.report.verdict

    @property
    def exit_code(self) -> int:
        """0 only for a verdict of go that has passed."""
        if self.passed:
            return EXIT_CODES[Outcome.APPROVED if self.verdict == "go" else Outcome.CHANGES_REQUESTED]
        stopped = EXIT_CODES[Outcome.STOPPED]
        return stopped if EXIT_CODES_OF_TASK_EVENTS[self.status] == stopped else EXIT_CODES[Outcome.ESCALATED]

    def as_json(self) -> dict[str, Any]:
        """For its file."""
        return {
            "run_id": self.run_id,
            "passed": self.passed,
            "verdict": self.verdict,
            "status": self.status,
            "failures": list(self.failures),
            "evidence": self.evidence,
            "gaps": list(self.gaps),
            "blind_spots": list(self.blind_spots),
            "report": None if self.report is None else self.report.model_dump(mode="json"),
            "metrics": self.metrics,
        }


def evaluated(events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> ReadinessEvaluation:
    """Hold the run so far against the rules. Before its end it has not passed."""
    reports = [each for each in events if isinstance(each, ReportHeard)]
    usable = [each for each in reports if not each.error]
    report = ReleaseReport.model_validate_json(usable[-1].report) if usable else None
    last = events[-1]
    status: RunStatus = last.status if isinstance(last, TaskEnded) else "running"
    failures = list(_of_the_run(last, status))
    if report is None:
        failures.append("There is no report that can be used.")
    else:
        failures += _of_the_report(report, events, evidence)
        failures += taken_back(report.verdict, (each.action for each in reports))
    return ReadinessEvaluation(
        _begun(events).run_id,
        status,
        report,
        tuple(failures),
        evidence.gaps,
        _metrics(events, report),
        evidence.source,
        blind_spots(events),
    )


def _of_the_run(last: TaskEvent, status: RunStatus) -> Iterator[str]:
    """The run is completed, and its advisor has voted for no worse verdict."""
    if status != "completed":
        reason = last.reason if isinstance(last, TaskEnded) else ""
        yield f"The run is not completed: {ended_words(status, reason, '')}."


def _of_the_report(report: ReleaseReport, events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> Iterator[str]:
    yield from verdict_too_mild(report)
    yield from conditions_unnamed(report)
    yield from miscounted(report)
    yield from invented_quotes(report, evidence.text)
    yield from unconsulted(report, _answered(events))
    yield from too_many_consults(_asked(events), _limit(events))
    yield from without_a_majority(report.verdict, last_vote(events))
    yield from gone_with_gaps(report.verdict, evidence.gaps)


def _answered(events: Sequence[TaskEvent]) -> int:
    """How many questions got guidance in its form: prose may as well be a refusal."""
    return sum(isinstance(each, GuidanceHeard) and not each.wrapped for each in events)


def _asked(events: Sequence[TaskEvent]) -> int:
    return sum(isinstance(each, ConsultHeard) and not each.refused for each in events)


def _limit(events: Sequence[TaskEvent]) -> int:
    return _begun(events).limits.max_advisor_calls


def _begun(events: Sequence[TaskEvent]) -> TaskBegun:
    return next(each for each in events if isinstance(each, TaskBegun))


def _metrics(events: Sequence[TaskEvent], report: ReleaseReport | None) -> dict[str, Any]:
    calls = [each for each in events if isinstance(each, TaskCalled) and each.ended != "refused"]
    costs = [each.usage.cost_usd for each in calls]
    known = [each for each in costs if each is not None]
    vote = last_vote(events)
    return {
        "executor_calls": sum(each.speaker == "executor" for each in calls),
        "advisor_calls": sum(each.speaker == "advisor" for each in calls),
        "consults_asked": _asked(events),
        "consults_answered": _answered(events),
        "consults_allowed": _limit(events),
        "advisor_verdict": None if vote is None else chosen_action(vote),
        "blocker_count": None if report is None else len(report.blockers),
        "risk_count": None if report is None else len(report.risks),
        "required_action_count": None if report is None else len(report.required_actions),
        "cost_usd": sum(known) if len(known) == len(costs) else None,
    }


def evaluation_json(evaluation: ReadinessEvaluation) -> str:
    """The same as JSON."""
    return json.dumps(evaluation.as_json(), indent=2, ensure_ascii=False) + "\n"


_MOST_TOLD = 50_000
"""Characters about changes in the evidence. It has a gap for those beyond."""


_LONGEST_TITLE = 80


_LONGEST_PHRASE = 300


_SHORT = 12


_MOST_TAGS = 10


_NO_END = ("stopped", "unfinished", "nothing_to_review")


@dataclass(frozen=True, slots=True)
class LastReview:
    """How the last review of a pull request ended, by the ledger. ``overridden``: a person approved it nevertheless.

    ``merged_as`` is the beginning of the commit as which the pull request was seen to be merged, and ``merged_head``
    the head that it had then. ``trouble`` says why the record cannot be believed.
    """

    run_id: str
    status: str
    head_sha: str = ""
    degraded: bool = False
    disabled: bool = False
    vetoes: int = 0
    findings: int = 0
    overridden: bool = False
    merged_as: str = ""
    merged_head: str = ""
    trouble: str = ""


ReviewEnd = Literal[
    "approved",
    "overridden",
    "open",
    "without a judgement",
    "of an unknown head",
    "of another head",
    "named twice",
    "not reviewed",
]


def review_end(change: MergedChange, review: LastReview | None, named: int = 1) -> tuple[ReviewEnd, str]:
    """What is known of the review of a merged change, and the same in words.

    ``named`` is how many commits name its pull request.
    """
    if change.pull_request is not None and named > 1:
        return "named twice", f"{named} commits name its pull request"
    missing = _missing(change, review)
    if missing or review is None:
        return "not reviewed", missing
    ended = f"its last review ended as {review.status}"
    head = _merged_head(change, review)
    if not head:
        return "of an unknown head", "nobody knows which head was merged"
    if review.head_sha != head:
        return "of another head", f"its last review is of {review.head_sha[:_SHORT] or 'an unknown head'}"
    if review.status == "approved":
        off = "degraded" if review.degraded else "the advisor was off"
        return ("without a judgement", off) if review.degraded or review.disabled else ("approved", ended)
    if review.overridden:
        return "overridden", f"{ended}, and a person approved it"
    return "open", f"{ended}, and nobody is known to have settled that"


def _merged_head(change: MergedChange, review: LastReview) -> str:
    """The head that was merged: by git, or else by what was seen of the pull request that became this commit."""
    was_seen = len(review.merged_as) >= _SHORT and change.commit.startswith(review.merged_as)
    return change.head or (review.merged_head if was_seen else "")


def _missing(change: MergedChange, review: LastReview | None) -> str:
    """Why there is no review of it that says anything; empty if there is one."""
    if change.pull_request is None:
        return "it came without a pull request"
    if review is None:
        return "the ledger has no review of it"
    if review.trouble:
        return f"the record of its review cannot be used: {review.trouble}"
    return f"its last review is {review.status}" if review.status in _NO_END else ""


SETTLED: tuple[ReviewEnd, ...] = ("approved", "overridden")
"""All others are gaps of the evidence."""


def gathered_evidence(history: ReleaseHistory, reviews: Mapping[int, LastReview], trouble: str = "") -> ReleaseEvidence:
    """The evidence, with its gaps. ``trouble`` says why the ledger could not be asked."""
    named = Counter(each.pull_request for each in history.changes)
    ends = [(each, _review(each, reviews)) for each in history.changes]
    known = [(change, review, *review_end(change, review, named[change.pull_request])) for change, review in ends]
    gaps = [f"{_named(change)}: {_phrase(words)}" for change, _, end, words in known if end not in SETTLED]
    counts = Counter(end for *_, end, _ in known)
    ended = "; ".join(f"{end}: {counts[end]}" for end in sorted(counts))
    since = f"{_phrase(history.since)} ({history.start}){_passed(history.passed)}"
    lines = [
        f"# Changes since {since}",
        "",
        f"{counted(len(history.changes), 'change')} up to {history.head[:_SHORT]}. Reviews: {ended}.",
        *([f"The ledger could not be asked: {_phrase(trouble)}"] if trouble else []),
    ]
    told = _as_many_as_fit(
        "\n".join(("", f"## {_named(change)}", "", *_facts(change, review, f"{end} ({words})")))
        for change, review, end, words in known
    )
    if history.more or len(told) < len(known):
        was = "was" if len(told) == 1 else "were"
        untold = f"more than {counted(len(told), 'change')} {was} merged, and only these are told"
        gaps.append(untold)
        told.append(f"\nOpen: {untold}.")
    source = f"{counted(len(history.changes), 'change')} since {since}"
    return ReleaseEvidence(source, "\n".join((*lines, *told)), tuple(gaps))


def _passed(tags: Sequence[str]) -> str:
    """Tags that a reader may take for releases, so that nobody wonders from which one changes are told."""
    if not tags:
        return ""
    more = f" and {len(tags) - _MOST_TAGS} more" if len(tags) > _MOST_TAGS else ""
    named = ", ".join(_phrase(each)[:_LONGEST_TITLE] for each in tags[:_MOST_TAGS])
    return f"; no version, and passed over: the tag{'s' if len(tags) > 1 else ''} {named}{more}"


def _as_many_as_fit(told: Iterable[str]) -> list[str]:
    kept, room = list[str](), _MOST_TOLD
    for each in told:
        room -= len(each) + 1
        if room < 0:
            break
        kept.append(each)
    return kept


def _review(change: MergedChange, reviews: Mapping[int, LastReview]) -> LastReview | None:
    return None if change.pull_request is None else reviews.get(change.pull_request)


def _facts(change: MergedChange, review: LastReview | None, end: str) -> Iterator[str]:
    yield f"- commit {change.commit[:_SHORT]}"
    yield f"- review: {_phrase(end)}"
    if review is not None and not review.trouble:
        yield f"- run {printable_line(review.run_id)}: vetoes {review.vetoes}, findings {review.findings}"


def _named(change: MergedChange) -> str:
    number = "" if change.pull_request is None else f"#{change.pull_request} "
    return f"{number}{_phrase(change.title)[:_LONGEST_TITLE]}"


def _phrase(words: str) -> str:
    """Words from outside on one line, as they are shown, and no longer than a phrase."""
    return clean(printable_line(words))[:_LONGEST_PHRASE]


_RULES = """\
This run judges a release. Ask the advisor at least one question, about what worries you most: without an answered \
question no verdict counts. End with EXECUTOR_DONE and, in the same message, one RELEASE_READINESS_REPORT of the form \
below. A program checks it:
- Say nothing that the evidence does not say. The evidence of a blocker quotes it word for word.
- go: no blocker, no open critical or high risk, no required action, and no evidence is missing.
- conditional_go: no critical or high blocker; required_actions name all that has to follow.
- hold: a critical or high blocker, or evidence is missing without which nobody can tell.
- severity is critical, high, medium or low. A risk is listed while it is open.
- advisor_consulted is true once the advisor has answered. confidence is between 0 and 1. Each count is the length of \
its list. There are no other keys."""


_FORM = """\
{"verdict":"go","summary":"...",
 "blockers":[{"id":"B1","severity":"high","description":"...","evidence":"..."}],
 "risks":[{"id":"R1","severity":"medium","description":"...","mitigation":"..."}],
 "required_actions":["..."],"advisor_consulted":true,"confidence":0.8,
 "measurable_outputs":{"blocker_count":1,"risk_count":1,"required_action_count":1}}"""


RELEASE_COUNCIL = TaskCouncil(
    (
        Advisor(
            "release-planner",
            "You know how releases fail: migrations without a way back, changes that nobody judged, checks that did"
            " not run, promises to users that break. Say what this evidence has to answer, where it is silent, and what"
            " to look at first.",
            on="start",
        ),
        Advisor(
            "release-judge",
            "You judge whether a release may go out, and you look for what is wrong with the executor's report: what it"
            " invents, plays down or leaves out, and evidence that is missing. Vote for the verdict that the evidence"
            " supports; where it leaves you in doubt, for the severer one.",
            on="finish",
            veto=True,
        ),
    ),
    RELEASE_VERDICTS,
)
"""The advisor of a release in its two moments. It answers questions in between, as in every run."""


READINESS_REPORT = OwedReport(BlockTag.READINESS, _RULES, _FORM, read_release_report)


def release_task(evidence: ReleaseEvidence) -> str:
    """The task in one sentence; lists show it."""
    return f"Judge whether the release is ready to go out. Evidence: {evidence.source}."


def fake_report() -> dict[str, Any]:
    """What a fake executor says: nobody has read the evidence, so it never says go."""
    return {
        "verdict": "conditional_go",
        "summary": "It is the fake executor's only report. No model has read the evidence.",
        "blockers": [],
        "risks": [
            {
                "id": "R1",
                "severity": "high",
                "description": "No model has read the evidence.",
                "mitigation": "Ask models.",
            }
        ],
        "required_actions": ["Run release-readiness with models."],
        "advisor_consulted": True,
        "confidence": 0.5,
        "measurable_outputs": {"blocker_count": 0, "risk_count": 1, "required_action_count": 1},
    }


EVIDENCE_FILE = "release_readiness_evidence.md"


PROMPT_FILE = "release_readiness_prompt.md"


SCHEMA_OF_REPORT = "release_readiness_report.schema.json"


EVALUATION = "release_readiness_evaluation"


def readiness_files(events: Sequence[TaskEvent], evidence: ReleaseEvidence) -> dict[str, str]:
    """Their texts by name. The evaluation is one of the run so far."""
    evaluation = evaluated(events, evidence)
    return {
        EVIDENCE_FILE: f"{evidence.text}\n",
        PROMPT_FILE: f"{release_task(evidence)}\n\n{READINESS_REPORT.section('<nonce>')}\n",
        SCHEMA_OF_REPORT: report_schema(),
        f"{EVALUATION}.json": evaluation_json(evaluation),
        f"{EVALUATION}.md": evaluation_text(evaluation),
    }


def evaluation_text(evaluation: ReadinessEvaluation) -> str:
    """The evaluation as Markdown. Words of models are shown as the words they are."""
    return "\n".join(_lines(evaluation)) + "\n"


def _lines(evaluation: ReadinessEvaluation) -> Iterator[str]:
    report = evaluation.report
    yield "# Release readiness"
    yield ""
    yield f"- Verdict: **{evaluation.verdict}**"
    yield f"- Passed: **{'yes' if evaluation.passed else 'no, a person decides'}**"
    yield f"- Run: {evaluation.status}"
    yield f"- Evidence: {phrase(evaluation.evidence, len(evaluation.evidence))}"
    yield from _listed("Rules that do not hold", evaluation.failures)
    yield from _listed("Open in what was merged", evaluation.gaps)
    yield from _listed("Who was not heard", evaluation.blind_spots)
    if report is not None:
        yield from ("", "## Summary", "", phrase(report.summary, len(report.summary)))
        blockers = (
            f"{each.severity} {each.id}: {each.description} Evidence: {each.evidence}" for each in report.blockers
        )
        yield from _listed("Blockers", tuple(blockers))
        risks = (
            f"{each.severity} {each.id}: {each.description} Mitigation: {each.mitigation}" for each in report.risks
        )
        yield from _listed("Risks", tuple(risks))
        yield from _listed("Required actions", report.required_actions)
        yield from ("", f"Confidence of the executor: {report.confidence:.2f}")
    yield from ("", "## Figures", "")
    yield from (f"- {name.replace('_', ' ')}: {value}" for name, value in evaluation.metrics.items())


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {title}", "", *(f"- {phrase(each, len(each))}" for each in items))
