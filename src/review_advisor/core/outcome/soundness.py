"""Whether events are those of one review: the one place where a document from elsewhere is held against itself.

Who publishes has the document from a job that ran models on hostile text. What passes here can be read without another
doubt: every event stands in its place, and every decision among them is the one that the events before it lead to.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from pydantic import BaseModel

from review_advisor.core.answers.answers import SEVERITIES
from review_advisor.core.answers.committed_secrets import CommittedSecret, reports, severity_of_secret
from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import FINDING_ID, Finding
from review_advisor.core.facts.change import OBJECT_NAME, Status
from review_advisor.core.facts.guidelines import cited
from review_advisor.core.outcome.ends import Ending, NotRun, join_parts, join_review, why_not_run
from review_advisor.core.outcome.events import (
    BlindJudged,
    Consulted,
    Event,
    PartEnded,
    PolicyFrozen,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    SurfaceEnded,
)
from review_advisor.core.outcome.numbering import check_numbers
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.replayed.part_replay import PartReplay
from review_advisor.core.outcome.replayed.steps_in_order import Unsound, require
from review_advisor.core.outcome.steps.advice_events import AdviceOpen, Escalated
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.blast import blast_radius
from review_advisor.core.policy.budgets import may_be_refused, surface_retry_budget
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import REVIEW_SURFACES, SURFACE_DEFAULTS, Authority, Role, Surface
from review_advisor.core.policy.switches import surface_switch
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS
from review_advisor.core.roster.advisor import ADR_ADVISOR

LARGEST_NUMBER = 10**15
"""Beyond any review's tokens, dollars, seconds and lines; sums of such numbers are still exact."""
MOST_EVENTS = 200_000
"""Beyond any review's: one of 500 parts, each handed back three times, has 15,000."""
RUN_ID = r"[A-Za-z0-9._:-]{1,200}"
"""What a run may be called: files and hidden marks are named after it."""
_ID, _RUN, _COMMIT = re.compile(FINDING_ID), re.compile(RUN_ID), re.compile(OBJECT_NAME)
_ORDER = tuple(Surface)


def unsound(events: Sequence[Event]) -> str | None:
    """Why these are not the events of one whole review of this version, in a few words of our own; None if they are.

    What the words and findings say, nobody can hold against anything. What was decided on them is decided again.
    """
    try:
        first, last = _ends(events)
        _plain_facts(first, events)
        _policy(first)
        check_numbers(events)
        _consults(first, events)
        _secrets(first, events)
        _review(first, events[1:-1], last)
    except Unsound as found:
        return str(found)
    return None


def _ends(events: Sequence[Event]) -> tuple[PolicyFrozen, ReviewEnded]:
    require(0 < len(events) <= MOST_EVENTS, "the record holds no events, or more than any review has")
    first, last = events[0], events[-1]
    if not isinstance(first, PolicyFrozen) or not isinstance(last, ReviewEnded):
        raise Unsound("the record does not begin with a policy and end with an outcome")
    inner = events[1:-1]
    require(
        not any(isinstance(each, PolicyFrozen | ReviewEnded) for each in inner),
        "the record holds a second policy or a second outcome",
    )
    return first, last


# --- single values ----------------------------------------------------------------------------------------------------


def _plain_facts(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """What nothing that reads the events could put into a text, a sum or a request."""
    require(all(each.at.utcoffset() is not None for each in events), "an event has a time without a time zone")
    stops = [each.resume_at for each in events if isinstance(each, ReviewStopped) and each.resume_at is not None]
    require(all(each.utcoffset() is not None for each in stops), "an event has a time without a time zone")
    require(
        all(0 <= each <= LARGEST_NUMBER for each in _numbers(events)),
        "the record holds a number that is negative or too large",
    )
    require(_RUN.fullmatch(first.run_id) is not None, "the name of the run is not valid")
    named = (first.base_sha, first.head_sha, first.rules_sha, first.scope.since)
    commits = [each for each in named if each is not None]
    require(all(map(_COMMIT.fullmatch, commits)), "the name of a commit is not valid")
    paths = [path for file in first.files for path in (file.path, file.old_path) if path is not None]
    named_paths = (path for file in first.files for path in file.paths)
    require(not any("\0" in path for path in named_paths), "a path holds a NUL character")
    repaired = (path for each in events if isinstance(each, Repaired) for path in each.files)
    known = {*paths, *repaired, *(picture.name for picture in first.pictures)}
    for report in _reports(events):
        require(0 <= report.confidence <= 1, "a confidence is not between 0 and 1")
        for each in report.findings:
            require(_ID.fullmatch(each.id) is not None, "the id of a finding is not valid")
            require(0 <= each.confidence <= 1, "a confidence is not between 0 and 1")
            cites = not each.rule or cited(each.rule, first.guidelines) is not None
            require(cites, "a finding cites a rule that the review was not given")
            require(each.path in known, "a finding is on a file that is not part of the change")


def _reports(events: Sequence[Event]) -> Iterator[CheckedReport]:
    found = (each.report for each in events if isinstance(each, Reported | Escalated | AdviceOpen | BlindJudged))
    return (each for each in found if each is not None)


def _numbers(value: object) -> Iterator[float]:
    """Every number within a value."""
    waiting = [value]
    while waiting:
        match part := waiting.pop():
            case bool() | str() | None:
                pass
            case int() | float():
                yield part
            case Mapping():
                waiting += part.values()
            case list() | tuple() | frozenset():
                waiting += part
            case BaseModel():
                waiting += vars(part).values()
            case _ if is_dataclass(part):
                waiting += [getattr(part, each.name) for each in fields(part)]


# --- the policy -------------------------------------------------------------------------------------------------------


def _policy(first: PolicyFrozen) -> None:
    policy = first.policy
    surfaces = [row.surface for row in policy.surfaces]
    require(surfaces[:1] == [Surface.PR_REVIEW], "the policy does not begin with the review of the change (pr_review)")
    require(set(surfaces) <= set(REVIEW_SURFACES), "the policy holds a surface that no review has")
    require(
        surfaces == sorted(set(surfaces), key=_ORDER.index),
        "the surfaces of the policy are out of order or listed twice",
    )
    due = blast_radius(policy.critical_touched, policy.guard.paths, policy.code_lines, policy.risky)
    require(
        policy.blast.radius is due.radius,
        "the blast radius does not follow from the touched paths and the changed lines",
    )
    for row in policy.surfaces:
        authority = Authority.VETO if policy.guard.holds else SURFACE_DEFAULTS[row.surface].authority
        budget = surface_retry_budget(row.surface, policy.blast.radius, authority)
        require(
            (row.authority, row.retry_budget) == (authority, budget),
            "a surface has another authority or retry budget than its rules give",
        )
        optional = SURFACE_DEFAULTS[row.surface].optional and row.roles[Role.POST_VERIFY].disabled_by is not None
        require(
            row.left_out_by in ("", surface_switch(row.surface) if optional else ""),
            "a surface is left out that no switch leaves out",
        )
        for decision in row.roles.values():
            require(not (decision.runs and decision.disabled_by), "a role runs although it is switched off")
    names = [each.id for each in policy.roster.panel]
    require(len(set(names)) == len(names), "a member of the council has the name of another")
    require(ADR_ADVISOR.id in names, "the council lacks the advisor of ADR-0059")
    _excluded(first)
    require(first.shards >= 1, "the record says that the change has no parts")
    placed = (part < first.shards for file in first.files for part in file.shards)
    require(all(placed), "a file is assigned to a part that does not exist")


def _consults(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """A profile's cap holds, and the advisor decides alone only once that is reached.

    Any other refusal calls a person, so nobody gains by one that is not true.
    """
    policy = first.policy
    caps, budgets = policy.escalation.caps_of(policy.roster.panel), policy.budgets
    if caps is None:
        return
    require(budgets.max_consults <= caps.consults, "the review may consult more often than its profile allows")
    whole = _counted(events)
    used, failed = whole
    require(used <= budgets.max_consults + min(failed, budgets.max_refunds), "a review consults beyond its cap")
    for place, event in enumerate(events):
        if isinstance(event, Escalated) and event.advisor_alone:
            counted = _counted(events[:place]) if first.shards == 1 else whole
            reached = may_be_refused(budgets, *counted, first.shards)
            require(reached, "a consult was refused although the cap was not reached")


def _counted(events: Sequence[Event]) -> tuple[int, int]:
    """How many consults were asked, and how many of them failed."""
    notes = [each.note for each in events if isinstance(each, Consulted)]
    return sum(each.asked for each in notes), sum(each.status == "failed" for each in notes)


def _excluded(first: PolicyFrozen) -> None:
    """Files that are left unread are of the kind that may be, and nothing else passes as one of them."""
    excluded = first.policy.excluded
    unread = [gap.path for gap in first.unsent if gap.extent == "excluded"]
    require(
        sorted(unread) == sorted(each.path for each in excluded.files),
        "the policy excludes other files than the record leaves unread",
    )
    plain = {file.path for file in first.files if file.status is Status.MODIFIED and not file.binary}
    watched = {*first.policy.critical_touched, *first.policy.guard.paths}
    require(plain.issuperset(unread), "a file is excluded that is not the same regular file on both sides")
    require(watched.isdisjoint(unread), "a critical path, or one that the guard watches, is excluded")


def _secrets(first: PolicyFrozen, events: Sequence[Event]) -> None:
    """Every secret that the record names is in the reports on its file, as grave as its rules make it.

    It is the harness's own finding, or one of the executor's. After a repair its lines may have other numbers.
    """
    files = {file.path: file for file in first.files}
    reported = [
        each
        for each in events
        if isinstance(each, Reported) and SURFACE_INPUTS[each.surface].names_secrets and not each.structural
    ]
    repaired = any(isinstance(each, Repaired) for each in events)
    for fact in first.secrets:
        require(fact.path in files, "a secret is named in a file that is not part of the change")
        require(1 <= fact.line <= fact.end_line, "a secret has no lines")
        due = severity_of_secret(fact.kind, files[fact.path].kind)
        require(fact.severity == due, "a secret is less or more grave than its kind and its file make it")
        its = [each for each in reported if each.shard in files[fact.path].shards]
        for told in () if fact.settled else its:
            tells = (_is_of(each, fact) or reports(each, fact, moved=repaired) for each in told.report.findings)
            require(any(tells), "a secret that the change commits is missing in a report on its file")
    known = {(fact.finding, fact.severity) for fact in first.secrets if not fact.settled}
    own = [finding for each in reported for finding in each.report.findings if finding.harness]
    require(
        repaired or all((each.id, each.severity) in known for each in own),
        "a finding is marked as the harness's, and the record names no such secret",
    )


def _is_of(finding: Finding, fact: CommittedSecret) -> bool:
    return finding.id == fact.finding and SEVERITIES.index(finding.severity) <= SEVERITIES.index(fact.severity)


# --- what happened ----------------------------------------------------------------------------------------------------


def _review(first: PolicyFrozen, inner: Sequence[Event], last: ReviewEnded) -> None:
    stop = inner[-1] if inner and isinstance(inner[-1], ReviewStopped) else None
    steps: dict[Surface, list[Step]] = {row.surface: [] for row in first.policy.surfaces}
    told: list[SurfaceEnded] = []
    for event in inner if stop is None else inner[:-1]:
        if isinstance(event, Step) and event.surface in steps:
            require(all(each.surface is not event.surface for each in told), "a surface has events after its end")
            steps[event.surface].append(event)
        elif isinstance(event, SurfaceEnded):
            told.append(event)
        else:
            raise Unsound("the review goes on after a stop, or has events of a surface that is not in its policy")
    ends = _surfaces(first, steps, told, stopped=stop is not None)
    due = join_review(ends, first.files, first.unsent, None if stop is None else stop.detail)
    require(last.outcome is due.outcome, "the outcome does not follow from how the surfaces ended")


def _surfaces(
    first: PolicyFrozen, steps: Mapping[Surface, Sequence[Step]], told: Sequence[SurfaceEnded], *, stopped: bool
) -> list[Ending]:
    """How the surfaces ended, one after the other, as they have to by their own events."""
    ends: list[Ending] = []
    left = deque(told)
    over = not first.files
    for row in first.policy.surfaces:
        its = steps[row.surface]
        so_far = join_review(ends, first.files, first.unsent, None)
        not_run = why_not_run(row, so_far, guarded=first.policy.guard.holds) if ends else None
        if over:
            require(not its, "a surface ran after the review had ended")
            continue
        if not_run is not None:
            require(
                _is_left_out(its, not_run) or (stopped and not its),
                "a surface ran although it is switched off, or an earlier one had decided the review",
            )
            ending = not_run.ending
        else:
            parts = _parts(first, row, its, stopped=stopped)
            ending = None if parts is None else join_parts(parts)
            over = parts is None
        if ending is None:
            continue
        over = stopped and not left
        if not over:
            said = left.popleft() if left else None
            require(
                said is not None and (said.surface, said.outcome) == (row.surface, ending.outcome),
                "the end of a surface does not follow from how its parts ended",
            )
            ends.append(ending)
            over = ending.outcome is Outcome.STOPPED
    require(not left, "a surface ended without having run")
    return ends


def _is_left_out(steps: Sequence[Step], not_run: NotRun) -> bool:
    """Whether the only step says that the executor does not run, by that switch."""
    told = steps[0] if len(steps) == 1 else None
    return isinstance(told, RoleSkipped) and (told.role, told.disabled_by) == (Role.EXECUTOR, not_run.disabled_by)


def _parts(
    first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step], *, stopped: bool
) -> tuple[PartEnded, ...] | None:
    """How each part of a surface ended; None where a stop came before the last of them did."""
    parts: dict[int, list[Step]] = {}
    for step in steps:
        parts.setdefault(step.shard, []).append(step)
    count = first.shards if SURFACE_INPUTS[row.surface].sees_everything else max(len(parts), 1)
    if stopped:
        require(set(parts) <= set(range(count)), "a part was reviewed that does not exist")
    else:
        require(set(parts) == set(range(count)), "a part was not reviewed, or a part was reviewed that does not exist")
    ends = [PartReplay(first, row, parts[at], stopped=stopped).ended() for at in sorted(parts)]
    known = tuple(each for each in ends if each is not None)
    return known if len(known) == count else None
