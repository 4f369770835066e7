"""Why the harness consults the advisor, what it shows it, and what becomes of the advice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from review_advisor.agents.answers import (
    GRAVE,
    SEVERITIES,
    DispositionAnswer,
    Guidance,
    RecommendedChange,
    ReviewPlan,
    Severity,
)
from review_advisor.agents.calls import AgentCall, ConsultGrant
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding, RefusedFinding, merged
from review_advisor.agents.mid_flight import ConsultNote, MidFlightAdvisor
from review_advisor.agents.roles import Briefing, Part
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import language_of
from review_advisor.policy.escalation_rules import (
    FAILURES_IN_A_ROW,
    READINGS_OF_ONE_PLACE,
    VERDICT,
    EscalationRules,
    ReasonKind,
)
from review_advisor.policy.policy import Policy, SurfacePolicy
from review_advisor.policy.risk import BlastRadius
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.safety.fence import fence_facts

ReasonKey = tuple[ReasonKind, str]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason to consult the advisor."""

    kind: ReasonKind
    subject: str
    """What it is about: a finding's id, a path, a call."""
    detail: str

    @property
    def key(self) -> ReasonKey:
        """What makes two reasons the same one."""
        return self.kind, self.subject


@dataclass(frozen=True, slots=True)
class Turn:
    """What in one answered call of the executor can be a reason to consult."""

    number: int
    """The call's."""
    report: CheckedReport
    failures: int = 0
    """The longest run of failed tool calls since the last answered consult, by the CLI's own stream."""
    readings: int = 0
    """How often the same place of one file was read since then, by that stream."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What holds in all turns of a part."""

    rules: EscalationRules
    surface: Surface
    critical: tuple[str, ...] = ()
    """Its critical and guarded paths."""
    requested: bool = False
    """A person asked that the advisor is consulted."""


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
    """Why a person decides after a question of the executor was refused by the cap; None if none was."""
    if about is None or about.rules.handoff != "human":
        return None
    denied = next((note for note in notes if note.status == "denied"), None)
    return None if denied is None else f"a question was refused: {denied.reason} It was: {denied.consult.question}"


Disposition = Literal["applied", "applied in part", "overridden", "superseded", "refused", "not stated", "open"]
"""What became of a recommendation. ``applied in part``: some of its changes were refused, and the others applied.

``not stated``: it changes nothing, so nobody asks the executor about it. ``open``: the executor does not say although
it was asked, or a halt came first.
"""


UNAPPLIED: tuple[Disposition, ...] = ("overridden", "refused")
"""After such an end the same advice stops the loop."""


_OF_A_FINDING: tuple[Literal["keep", "drop", "raise", "lower"], ...] = ("keep", "drop", "raise", "lower")


DROPPED = "dropped"


ABSENT = "absent"
"""What a finding is before the advisor brings it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a recommendation wants of one finding (by its id) or of the verdict: before and after."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A report and a recommendation in one."""

    verdict: Literal["approve", "reject"]
    findings: tuple[tuple[str, Severity], ...]
    wanted: tuple[Difference, ...] = ()
    """All that is recommended, also what it keeps."""
    refused: tuple[str, ...] = ()
    """Which changes and findings do not count, and why."""
    conflict: str = ""
    """How report and recommendation contradict one another: then there is no merged value."""
    brought: tuple[Finding, ...] = ()
    """The advisor's own findings whose quotes stand."""
    unproven: tuple[RefusedFinding, ...] = ()
    """Its critical and high ones whose quotes do not stand.

    They join what the report refuses, whatever else becomes of the advice.
    """

    @property
    def diff(self) -> tuple[Difference, ...]:
        """What it changes."""
        return tuple(each for each in self.wanted if each.before != each.after)

    @property
    def stricter(self) -> frozenset[str]:
        """What it makes stricter, by the ids of findings and ``VERDICT``; nothing where there is a conflict."""
        return frozenset(each.what for each in self.diff if _is_stricter(each)) if not self.conflict else frozenset()


def merge_recommendations(
    report: CheckedReport,
    guidance: Guidance,
    watched: Watched,
    proven: Collection[str] = (),
    brought: Iterable[Finding | RefusedFinding] = (),
) -> Merged:
    """The report's verdict and findings with the recommended changes in them, or the conflict.

    ``proven`` are the ids of the findings whose drop or lower carries a verbatim quote. ``brought`` are the findings of
    the advice once they are held against the change. One that stands joins the report, and a rejection that it is given
    for is no conflict. A critical or high finding that the advice brings or raises turns an approval into a rejection.
    Only what a change or a finding names changes; the rationale counts for nothing.
    """
    brought = tuple(brought)
    stand = merged(each for each in brought if isinstance(each, Finding))
    there = {each.id: each for each in report.findings}
    joined = {each.id: each for each in merged((*report.findings, *stand))}
    wanted = {each.id: _joins(each, there.get(each.id)) for each in stand}
    unbelieved = [each for each in brought if isinstance(each, RefusedFinding)]
    refused = [f"{each.title}: {each.why}" for each in unbelieved]
    conflicts: list[str] = []
    for change in sorted(
        (*guidance.changes, *_chosen(guidance, report)), key=lambda each: each.does == "change_verdict"
    ):
        diff = _wanted(change, report, there, proven)
        if isinstance(diff, str):
            refused.append(diff)
            continue
        if wanted.setdefault(diff.what, diff) != diff:
            conflicts.append(f"the advice contradicts itself on {diff.what}")
        elif _is_held(diff, report, there, watched, proven) and not (
            diff.what == VERDICT and (_rests_on_nothing(report, wanted) or (diff.after == "reject" and stand))
        ):
            conflicts.append(f"the executor is sure of {diff.what} ({diff.before}), the advisor wants {diff.after}")
    if _rests_on_nothing(report, wanted):
        wanted.setdefault(VERDICT, Difference(VERDICT, report.verdict, "approve"))
    if any(_makes_grave(each) and not joined[each.what].pre_existing for each in wanted.values()):
        diff = Difference(VERDICT, report.verdict, "reject")
        if wanted.setdefault(VERDICT, diff) != diff:
            conflicts.append("the advice approves a change and brings or raises a critical or high finding")
    if _keeps_the_verdict(guidance):
        wanted.setdefault(VERDICT, Difference(VERDICT, report.verdict, report.verdict))
    verdict, severities = _merged_value(report, wanted.values())
    conflicts += _incoherent(report, verdict, severities, joined)
    plain = (report.verdict, tuple((each.id, each.severity) for each in report.findings))
    value = plain if conflicts else (verdict, tuple(severities.items()))
    conflict = "; ".join(dict.fromkeys(conflicts))  # a change that is recommended twice is one conflict
    unproven = tuple(each for each in unbelieved if each.severity in GRAVE)
    return Merged(*value, tuple(wanted.values()), tuple(refused), conflict, stand, unproven)


def settles(contested: Merged, second: Merged) -> bool:
    """Whether the answer to the one question after a conflict takes every contested change back, or repeats it.

    An approval that goes with findings which the advice takes away needs no answer of its own.
    """
    due = {each.what: each.after for each in contested.diff}
    if len(due) > 1 and due.get(VERDICT) == "approve":
        del due[VERDICT]
    return due.keys() <= {each.what for each in second.wanted}


def _chosen(guidance: Guidance, report: CheckedReport) -> tuple[RecommendedChange, ...]:
    """The change that the chosen answer names, where the advice does not spell out what it wants of the same."""
    words = guidance.answer.casefold().strip(" .`'\"*").split()
    if words == ["change", "the", "verdict"]:
        if any(each.does == "change_verdict" for each in guidance.changes):
            return ()
        other: Literal["approve", "reject"] = "approve" if report.verdict == "reject" else "reject"
        return (RecommendedChange(does="change_verdict", verdict=other),)
    does = next((each for each in _OF_A_FINDING if words[:1] == [each]), None)
    if does is None or len(words) != 2 or any(each.finding == words[1] for each in guidance.changes):  # noqa: PLR2004
        return ()
    return (RecommendedChange(does=does, finding=words[1]),)


def _keeps_the_verdict(guidance: Guidance) -> bool:
    return guidance.choice == "keep" and guidance.answer.casefold().split()[1:3] == ["the", "verdict"]


def with_advice(report: CheckedReport, merge: Merged) -> CheckedReport:
    """The report with everything in it that a merge makes stricter: findings it brings or raises, and a rejection.

    A critical or high finding of the advice whose quote does not stand joins those that the report refuses. What is
    milder is left to the executor: no advice alone takes a finding away.
    """
    stricter, after = merge.stricter, {each.what: each.after for each in merge.diff}
    joined = merged((*report.findings, *(each for each in merge.brought if each.id in stricter)))
    findings = tuple(
        replace(each, severity=_severity(after[each.id])) if each.id in stricter else each for each in joined
    )
    refused = tuple(dict.fromkeys((*report.refused, *merge.unproven)))
    verdict = "reject" if VERDICT in stricter else report.verdict
    return replace(report, verdict=verdict, findings=findings, refused=refused)


def is_applied(merged: Merged, report: CheckedReport) -> bool:
    """Whether a report shows everything that a recommendation wanted, or is stricter where that was to be stricter."""
    now = {each.id: str(each.severity) for each in report.findings}
    now[VERDICT] = report.verdict
    return all(_is_shown(each, now.get(each.what, DROPPED)) for each in merged.wanted)


def _is_shown(wanted: Difference, now: str) -> bool:
    if wanted.what == VERDICT or DROPPED in (now, wanted.after) or not _is_stricter(wanted):
        return now == wanted.after
    return not _is_worse(wanted.after, now)


def proven_milder(merged: Merged, proven: Collection[str]) -> dict[str, str]:
    """What a recommendation makes of findings with a proof, by their ids: a milder severity, or ``DROPPED``."""
    return {each.what: each.after for each in merged.diff if each.what in proven} if not merged.conflict else {}


def disposition_of(
    identity: str, merged: Merged, report: CheckedReport, stated: Iterable[DispositionAnswer]
) -> tuple[Disposition, str]:
    """What became of a recommendation, and why: by the report itself, or else by the executor's word with a reason.

    Its word that it applied what its report does not show does not count.
    """
    if merged.refused and not merged.diff:  # what it keeps is no advice that could be followed
        return "refused", "; ".join(merged.refused)
    answers = [each for each in stated if each.recommendation == identity]
    objection = next((each.reason for each in answers if _is_overriding(each)), "")
    if merged.wanted and is_applied(merged, report):
        if merged.refused:
            return "applied in part", f"the report shows the rest; refused: {'; '.join(merged.refused)}"
        return (
            "applied",
            f"the report shows it, and the executor objects: {objection}" if objection else "the report shows it",
        )
    if objection:
        return "overridden", objection
    for each in answers:
        if each.disposition == "applied" and not merged.wanted:
            return "applied", each.reason
    return "open", ""


def overridden_in(stated: Iterable[DispositionAnswer]) -> frozenset[str]:
    """The recommendations that the executor says it overrode, with a reason."""
    return frozenset(each.recommendation for each in stated if _is_overriding(each))


def _is_overriding(answer: DispositionAnswer) -> bool:
    return answer.disposition == "overridden" and bool(answer.reason.strip())


def same_advice(guidance: Guidance) -> str:
    """What makes two recommendations the same one: the changes and findings in them, or without any the action.

    What they keep beside a change makes no other advice of it.
    """
    if not guidance.changes and not guidance.findings:
        return " ".join(guidance.action.casefold().split())
    changing = [each for each in guidance.changes if each.does != "keep"] or guidance.changes
    found = [(each.path, each.severity, each.evidence) for each in guidance.findings]
    return repr([*sorted((each.does, each.finding, each.severity, each.verdict) for each in changing), *sorted(found)])


def _wanted(
    change: RecommendedChange, report: CheckedReport, there: dict[str, Finding], proven: Collection[str]
) -> Difference | str:
    """What a change wants, or why it does not count."""
    if change.does == "change_verdict":
        if change.verdict is None:
            return "a change of the verdict names no verdict"
        return Difference(VERDICT, report.verdict, change.verdict)
    finding = there.get(change.finding)
    if finding is None:
        return f"{change.does} names no finding of the report"
    milder = change.does in ("drop", "lower")
    if milder and finding.severity in GRAVE and finding.id not in proven:
        return f"{change.does} {finding.id}: a {finding.severity} finding stays without a verbatim quote"
    if change.does == "drop":
        return Difference(finding.id, finding.severity, DROPPED)
    step = {"keep": 0, "raise": -1, "lower": 1}[change.does]
    rank = SEVERITIES.index(finding.severity)
    after = SEVERITIES[min(max(rank + step, 0), len(SEVERITIES) - 1)]
    if step and change.severity is not None and (SEVERITIES.index(change.severity) - rank) * step > 0:
        after = change.severity
    return Difference(finding.id, finding.severity, after)


def _merged_value(
    report: CheckedReport, wanted: Iterable[Difference]
) -> tuple[Literal["approve", "reject"], dict[str, Severity]]:
    """The verdict and the severities of the findings once all that is wanted is done."""
    severities = {each.id: each.severity for each in report.findings}
    verdict = report.verdict
    for each in wanted:
        if each.what == VERDICT:
            verdict = "approve" if each.after == "approve" else "reject"
        elif each.after == DROPPED:
            severities.pop(each.what, None)
        else:
            severities[each.what] = _severity(each.after)
    return verdict, severities


def _joins(brought: Finding, there: Finding | None) -> Difference:
    """What a finding of the advice wants: of one that the report has already, the worse severity."""
    if there is None:
        return Difference(brought.id, ABSENT, brought.severity)
    worse = min(brought.severity, there.severity, key=SEVERITIES.index)
    return Difference(brought.id, there.severity, worse)


def _is_stricter(diff: Difference) -> bool:
    if diff.what == VERDICT or diff.after == DROPPED:
        return diff.after == "reject"
    return diff.before == ABSENT or _is_worse(diff.after, diff.before)


def _is_worse(one: str, other: str) -> bool:
    return SEVERITIES.index(_severity(one)) < SEVERITIES.index(_severity(other))


def _makes_grave(diff: Difference) -> bool:
    return diff.what != VERDICT and diff.after in GRAVE and diff.before not in GRAVE


def _rests_on_nothing(report: CheckedReport, wanted: dict[str, Difference]) -> bool:
    """Whether the advice takes every finding away that a rejection rests on: then its verdict goes with them."""
    gone = {each.what for each in wanted.values() if each.after == DROPPED}
    joins = any(each.before == ABSENT for each in wanted.values())
    return report.verdict == "reject" and bool(gone) and not joins and {each.id for each in report.findings} <= gone


def _is_held(
    diff: Difference, report: CheckedReport, there: dict[str, Finding], watched: Watched, proven: Collection[str]
) -> bool:
    """Whether the executor is sure of what the advice would take away from it."""
    if diff.before == diff.after:
        return False
    if diff.what == VERDICT:
        return report.confidence >= watched.rules.threshold(watched.surface, VERDICT)
    finding = there[diff.what]
    return (
        not _is_stricter(diff) and diff.what not in proven and finding.confidence >= finding_threshold(watched, finding)
    )


def _incoherent(
    report: CheckedReport, verdict: str, severities: dict[str, Severity], joined: dict[str, Finding]
) -> list[str]:
    """Why the merged value is none, where the advice changed anything about it."""
    before = {each.id: each.severity for each in report.findings}
    if (verdict, severities) == (report.verdict, before):
        return []
    brought = [severity for identity, severity in severities.items() if not joined[identity].pre_existing]
    if verdict == "approve" and GRAVE & set(brought) and report.verdict == "reject":
        return ["the advice approves a change and leaves a critical or high finding"]
    if verdict == "reject" and not severities:
        return ["the advice leaves a rejection without a finding"]
    return []


def _severity(word: str) -> Severity:
    return next(each for each in SEVERITIES if each == word)


_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kept:
    """A report after advice."""

    report: CheckedReport
    put_back: tuple[str, ...] = ()
    """The ids of the findings that stay as grave as they have to."""


def held_by_advice(merges: Iterable[Merged]) -> frozenset[str]:
    """What advice holds in the report, by ids and ``VERDICT``: what it made stricter and no later advice undid."""
    held: frozenset[str] = frozenset()
    for merge in merges:
        milder = {each.what for each in merge.diff} - merge.stricter if not merge.conflict else set()
        held = (held - milder) | merge.stricter
    return held


def after_advice(
    before: CheckedReport,
    after: CheckedReport,
    proven: Mapping[str, str] = _NOTHING,
    held: Collection[str] = (),
) -> Kept:
    """The executor's report after advice; every grave finding that nobody disproved is put back, and what is ``held``.

    ``before`` is the earlier report with the advice in it. ``proven`` says what the advisor made of findings with a
    verbatim quote (``proven_milder``), and so how grave they stay at least. A rejection that loses a grave finding
    without one stays a rejection. What an advisor brought stays marked as the advisor's, and what was refused of it
    stays refused.
    """
    due = [
        stays
        for each in before.findings
        if (each.severity in GRAVE or each.id in held) and (stays := _as_proven(each, proven.get(each.id))) is not None
    ]
    owed = {each.id: each for each in due}
    kept = tuple(_not_milder(each, owed.get(each.id)) for each in after.findings)
    there = {each.id for each in kept}
    missing = tuple(each for identity, each in owed.items() if identity not in there)
    milder = [one for one, other in zip(kept, after.findings, strict=True) if one.severity != other.severity]
    back = (*milder, *missing)
    grave = {each.id for each in before.findings if each.severity in GRAVE}
    stays_rejected = VERDICT in held or any(each.id in grave for each in back)
    verdict = "reject" if before.verdict == "reject" and stays_rejected else after.verdict
    brought = {each.id: each.raised_by for each in before.findings}
    findings = tuple(replace(each, raised_by=brought.get(each.id, each.raised_by)) for each in (*kept, *missing))
    advised = (each for each in before.refused if each.raised_by and each not in after.refused)
    whole = replace(after, verdict=verdict, findings=findings, refused=(*after.refused, *advised))
    return Kept(whole, tuple(each.id for each in back))


def _as_proven(was: Finding, proven: str | None) -> Finding | None:
    """The finding as grave as it has to stay; None where it is proven to be wrong."""
    if proven == DROPPED:
        return None
    return replace(was, severity=next((each for each in SEVERITIES if each == proven), was.severity))


def _not_milder(now: Finding, was: Finding | None) -> Finding:
    if was is None or SEVERITIES.index(now.severity) <= SEVERITIES.index(was.severity):
        return now
    (one,) = merged((was, now))  # an advisor's own words stand before those that play it down
    return one if was.raised_by else replace(now, severity=was.severity)


LONGEST_PACKET = 7_000
"""Characters of a packet's context. A consult's record keeps 8,000."""


_LONGEST_PIECE = 3_000


_OUTCOME = (
    "Say in dispositions for each recommendation by its id (r1, r2, in the order of the guidance above) whether you"
    " applied or overrode it; what you overrode needs a reason."
)


_TAKE_BACK = (
    " Repeat in changes each change that is contested, or take it back: keep takes back that of a finding,"
    " change_verdict with the verdict as it stands that of the verdict. A person decides what you leave out."
)


REASON = "REASON"


def consult_grant(briefing: Briefing, row: SurfacePolicy, attempt: int) -> ConsultGrant | None:
    """Leave for the harness to consult on a surface; None where mid-flight does not run, or nobody may ask."""
    advisor = MidFlightAdvisor(briefing.instructions, briefing.run_id, briefing.nonce)
    return advisor.grant(row, briefing.policy, attempt)


def packet(
    briefing: Briefing,
    part: Part,
    report: CheckedReport,
    reasons: Sequence[Reason],
    *,
    plan: ReviewPlan | None,
    earlier: Iterable[ConsultNote],
) -> str:
    """The question as JSON, in the form of every consult. The context says what is left out of it.

    The code itself stands before it, in the call.
    """
    asked_about = [each for each in report.findings if each.id in {reason.subject for reason in reasons}]
    label, title = briefing.change.label, briefing.change.title
    context = [
        f"TASK: review of {label}, {title!r}, part {part.shard.index + 1} of {part.of}.",
        f"PLAN: {plan.risk_summary}" if plan is not None else "",
        f"VERDICT SO FAR: {report.verdict}, confidence {report.confidence:.2f}: {report.summary}",
        *(f"FINDING {_finding(each)}" for each in asked_about or report.findings),
        *(f"EARLIER ADVICE: {note.guidance.action}" for note in earlier if note.guidance is not None),
    ]
    reconciles = _TAKE_BACK if any(reason.kind is ReasonKind.RECONCILE for reason in reasons) else ""
    because = "; ".join(f"{reason.kind.value} ({reason.detail})" for reason in reasons)
    question = {
        "question": middle_out(
            f"What is the single next action? The reasons to ask: {because}.{reconciles}", _LONGEST_PIECE
        ),
        "context": middle_out("\n\n".join(filter(None, context)), LONGEST_PACKET),
        "answers": _answers(asked_about or report.findings),
        "urgency": "normal",
    }
    return json.dumps(question, ensure_ascii=False)


def go_on_ask(question: AgentCall, reasons: Sequence[str], nonce: str) -> AgentCall:
    """The executor's question once more, with the latest advice at its end."""
    why = fence_facts(REASON, reasons, nonce)
    note = (
        "The review has asked the advisor about your report, for the reasons below. Go on from your report with the"
        " last guidance: follow its action unless your own evidence contradicts it, and then say in the summary which"
        " evidence. Your earlier report holds already what it made stricter; raised_by marks the advisor's findings."
        " Advice alone does not take a critical or high finding away: leave it out only where a verbatim quote"
        f" disproves it. {_OUTCOME} Give your whole report again.\n{why}"
    )
    return question.with_more(note)


def open_ask(question: AgentCall, identities: Sequence[str], _nonce: str) -> AgentCall:
    """The executor's question once more, because it does not say what became of some advice."""
    named = ", ".join(identities)
    return question.with_more(
        f"Your report does not say what became of {named}. {_OUTCOME} Give your whole report again."
    )


def middle_out(text: str, most: int) -> str:
    """``text``, or its beginning and its end with a line between them that says how much was left out.

    The task stands at the beginning and the latest advice at the end, so the middle gives way.
    """
    if len(text) <= most:
        return text
    head, tail = most - most // 3, most // 3
    return f"{text[:head]}\n[cut here: {len(text) - most} characters of the middle were not sent]\n{text[-tail:]}"


def _finding(finding: Finding) -> str:
    facts = {
        "id": finding.id,
        "path": shown_path(finding.path),
        "line": finding.line,
        "severity": finding.severity,
        "category": finding.category,
        "title": finding.title,
        "body": finding.body,
        "confidence": finding.confidence,
        "evidence": finding.evidence,
    }
    return json.dumps(facts, ensure_ascii=False)


def _answers(findings: Sequence[Finding]) -> list[dict[str, str]]:
    about = [
        {"answer": f"{verb} {finding.id}", "description": f"{finding.severity}: {finding.title}"}
        for finding in findings[:4]
        for verb in ("keep", "drop", "raise", "lower")
    ]
    return [
        *about,
        {"answer": "keep the verdict", "description": "it is right as it stands"},
        {"answer": "change the verdict", "description": "the findings do not bear it out, or one is missing"},
        {"answer": "stop", "description": "a person must decide"},
    ]
