"""Why the harness consults the advisor after a turn of the executor, and what follows where a cap refuses it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.answers.answers import GRAVE
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import Finding
from review_advisor.core.facts.files.languages import language_of
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.policy.escalation_rules import (
    FAILURES_IN_A_ROW,
    READINGS_OF_ONE_PLACE,
    VERDICT,
    EscalationRules,
    ReasonKind,
)
from review_advisor.core.policy.policy import Policy, SurfacePolicy
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.mid_flight import ConsultNote

ReasonKey = tuple[ReasonKind, str]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason to consult the advisor. ``subject`` is what it is about: a finding's id, a path, a call."""

    kind: ReasonKind
    subject: str
    detail: str

    @property
    def key(self) -> ReasonKey:
        """What makes two reasons the same one."""
        return self.kind, self.subject


@dataclass(frozen=True, slots=True)
class Turn:
    """What in one answered call of the executor can be a reason to consult.

    ``failures`` is the longest run of failed tool calls, and ``readings`` how often the same place of one file was
    read, both since the last answered consult and as the CLI's own stream tells them. ``number`` is the call's.
    """

    number: int
    report: CheckedReport
    failures: int = 0
    readings: int = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """What is the same in all turns of a part. ``critical`` are its critical and guarded paths.

    ``requested``: a person asked that the advisor is consulted.
    """

    rules: EscalationRules
    surface: Surface
    critical: tuple[str, ...] = ()
    requested: bool = False


def reasons_to_consult(watched: Watched, turn: Turn, consulted: Collection[ReasonKey] = ()) -> tuple[Reason, ...]:
    """Every reason of the profile that holds after this turn and has led to no consult in this attempt.

    The order is that of ``ReasonKind``. A file that nobody has seen before is no reason.
    """
    caps = watched.rules.caps
    if caps is None:
        return ()
    found = {
        reason.key: reason
        for reason in _every(watched, turn, first=not consulted)
        if reason.kind in caps.kinds and reason.key not in consulted
    }
    rank = list(ReasonKind)
    return tuple(sorted(found.values(), key=lambda reason: rank.index(reason.kind)))


def state_digest(tree: str, report: CheckedReport) -> str:
    """What a consult is about, as 64 hex digits: the diff, the verdict, the findings, and what evidence settled."""
    verdict, findings, settled = report.state
    return hashlib.sha256(json.dumps([tree, verdict, sorted(findings), sorted(settled)]).encode()).hexdigest()


def _every(watched: Watched, turn: Turn, *, first: bool) -> Iterator[Reason]:
    report = turn.report
    if watched.critical:
        named = ", ".join(watched.critical)
        yield Reason(ReasonKind.CRITICAL_STEP, "critical paths", f"the part touches {named}")
    if turn.failures >= FAILURES_IN_A_ROW:
        words = f"{turn.failures} tool calls failed in a row"
        yield Reason(ReasonKind.TOOL_FAILURE, f"call {turn.number}", words)
    yield from _doubts(watched, report)
    if watched.requested:
        yield Reason(ReasonKind.EXPLICIT, "person", "a person asked for a consult")
    for refused in report.refused:
        words = f"{refused.title}: {refused.why}"
        yield Reason(ReasonKind.MISSING_EVIDENCE, f"{refused.path}: {refused.title}", words)
    contradiction = _contradiction(report)
    if contradiction:
        yield Reason(ReasonKind.CONFLICTING_EVIDENCE, VERDICT, contradiction)
    if turn.readings >= READINGS_OF_ONE_PLACE:
        words = f"one place of a file was read {turn.readings} times"
        yield Reason(ReasonKind.REPEATED_READING, f"call {turn.number}", words)
    if first:
        yield Reason(ReasonKind.BEFORE_COMPLETION, "completion", "no advisor has seen this attempt yet")


def _doubts(watched: Watched, report: CheckedReport) -> Iterator[Reason]:
    least = watched.rules.threshold(watched.surface, VERDICT)
    if report.confidence < least:
        words = f"the verdict's confidence {report.confidence:.2f} is below {least:.2f}"
        yield Reason(ReasonKind.LOW_CONFIDENCE, VERDICT, words)
    for finding in report.findings:
        least = finding_threshold(watched, finding)
        if finding.confidence < least:
            words = f"the confidence {finding.confidence:.2f} of {finding.title!r} is below {least:.2f}"
            yield Reason(ReasonKind.LOW_CONFIDENCE, finding.id, words)


def finding_threshold(watched: Watched, finding: Finding) -> float:
    """The least confidence that is enough for a finding."""
    return watched.rules.threshold(watched.surface, finding.category, language_of(finding.path) or "")


def _contradiction(report: CheckedReport) -> str:
    """How verdict, findings and answers contradict one another; empty if they do not."""
    brought = [each.severity for each in report.findings if not each.pre_existing]
    if report.verdict == "approve" and GRAVE & set(brought):
        return "the verdict approves a change with a critical or high finding"
    if report.verdict == "reject" and brought and set(brought) == {"low"}:
        return "the verdict rejects a change that has only low findings"
    contested = {each.disagreement for each in report.answers if each.position == "contested"} - set(report.settled)
    return "a disagreement is contested without evidence that stands" if contested else ""


def watched(policy: Policy, row: SurfacePolicy, paths: Collection[str], parts: int) -> Watched | None:
    """What is watched in a part that holds ``paths``; None where the harness does not consult.

    A change of one part is critical as a whole. Of several parts those are that hold a critical or guarded path.
    """
    if policy.escalation.caps is None or not row.roles[Role.MID_FLIGHT].runs or policy.budgets.max_consults == 0:
        return None
    every = tuple(dict.fromkeys((*policy.critical_touched, *policy.guard.paths)))
    critical = tuple(path for path in every if path in paths)
    if parts == 1:
        critical = (every or ("the repaired change",)) if policy.blast.radius is BlastRadius.HIGH else ()
    return Watched(policy.escalation, row.surface, critical, policy.consult_requested)


def no_turn_left(about: Watched, turns: int) -> str:
    """Why the executor may not go on in this attempt; empty if it may."""
    most = None if about.rules.caps is None else about.rules.caps.turns
    return f"the executor has used its {most} turns" if most is not None and turns >= most else ""


def refused_request(reasons: Sequence[Reason], refused: str) -> str:
    """Why a person decides after a consult that was due was refused."""
    return f"a consult was due ({'; '.join(reason.detail for reason in reasons)}) and was refused: {refused}"


def left_to_the_advisor(about: Watched | None, notes: Iterable[ConsultNote]) -> bool:
    """Whether the advisor's judgement alone decides because the cap refused a question of the executor itself."""
    return about is not None and about.rules.handoff == "advisor_only" and any(not note.asked for note in notes)


def refused_question(about: Watched | None, notes: Iterable[ConsultNote]) -> str | None:
    """The same for a question of the executor itself, which counts under the same cap; None if none was refused."""
    if about is None or about.rules.handoff != "human":
        return None
    denied = next((note for note in notes if note.status == "denied"), None)
    return None if denied is None else f"a question was refused: {denied.reason} It was: {denied.consult.question}"
