"""Each council of a review, read from its events: who voted how, who is missing, what it came to, who found what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.answers.findings import Finding
from review_advisor.core.answers.member_vote import MemberVote
from review_advisor.core.answers.opinion import missing_instances
from review_advisor.core.council.agreement import Agreement, Reviewed, agreement
from review_advisor.core.council.ballots import Tally
from review_advisor.core.council.member_calls import asked_as
from review_advisor.core.council.panel import MemberAnswer, panel_tally
from review_advisor.core.outcome.events import (
    CallEnded,
    Event,
    MemberReviewed,
    PolicyFrozen,
    Repaired,
    Reported,
    Ruled,
    Voted,
)
from review_advisor.core.outcome.questions import why_unanswered
from review_advisor.core.outcome.steps.happened import Step
from review_advisor.core.policy.budgets import Refused
from review_advisor.core.policy.policy import SurfacePolicy
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.roles.calls import Lost
from review_advisor.core.roster.advisor import Advisor


@dataclass(frozen=True, slots=True)
class CouncilRecord:
    """One vote of a council. ``why_missing`` says of each missing member why it has no vote.

    ``own`` are the members' own fields as JSON. ``of_each`` is what a member says of each finding of the executor, and
    ``silent_on`` the findings of which it says nothing, though it is asked about each. ``added`` are the members that
    ``added_by`` has added to this change, and ``without_them`` is what the others' votes come to.
    """

    surface: Surface
    attempt: int
    shard: int
    counted: Tally
    why_missing: tuple[tuple[str, str], ...]
    own: tuple[tuple[str, str], ...]
    of_each: tuple[tuple[str, Finding, str], ...]
    silent_on: tuple[tuple[str, tuple[Finding, ...]], ...]
    added: tuple[str, ...]
    added_by: str
    without_them: Tally


def council_records(events: Sequence[Event]) -> tuple[CouncilRecord, ...]:
    """Each vote of the review in its order; none where one advisor judges alone."""
    first = events[0] if events else None
    if not isinstance(first, PolicyFrozen) or len(first.policy.roster.panel) <= 1:
        return ()
    rows = {row.surface: row for row in first.policy.surfaces}
    steps: dict[object, list[Step]] = {}
    for event in events:
        if isinstance(event, Step):
            steps.setdefault(event.place, []).append(event)
    found = (_record(first, rows[its[0].surface], its) for its in steps.values() if its[0].surface in rows)
    return tuple(each for each in found if each is not None)


def council_findings(events: Sequence[Event]) -> Agreement:
    """What members found, against the last report of each part; empty where one advisor judges alone.

    A member's findings count for the tree that they are about: after a repair those of the tree before say nothing.
    """
    first = events[0] if events else None
    if not isinstance(first, PolicyFrozen) or len(first.policy.roster.panel) <= 1:
        return Agreement()
    members = {asked_as(each): each for each in first.policy.roster.panel}
    lead: dict[object, tuple[Finding, ...]] = {}
    trees: dict[object, str] = {}
    reviews: dict[tuple[object, str, str], Reviewed] = {}
    for event in events:
        part = (event.surface, event.shard) if isinstance(event, Step) else None
        if isinstance(event, Reported):
            lead[part] = event.report.findings
        elif isinstance(event, Repaired) and event.result != "refused":
            trees[part] = event.tree if event.result == "accepted" else ""
        elif isinstance(event, MemberReviewed) and event.advisor in members:
            told = Reviewed(members[event.advisor], part, event.report.findings)
            reviews[part, trees.get(part, ""), event.advisor] = told
    present = tuple(each for (part, tree, _), each in reviews.items() if tree == trees.get(part, ""))
    return agreement(lead, present) if present else Agreement()


def _record(first: PolicyFrozen, row: SurfacePolicy, steps: Sequence[Step]) -> CouncilRecord | None:
    reports = [each.report for each in steps if isinstance(each, Reported)]
    ruled = any(isinstance(each, Ruled) for each in steps)
    if not reports or not ruled or not row.roles[Role.POST_VERIFY].runs:
        return None
    answers = [_member(each, row, steps) for each in first.policy.roster.panel]
    members = [each for each in answers if each is not None]
    lost = [(each.advisor.id, each.answer) for each in members]
    verdict, findings = reports[-1].verdict, reports[-1].findings
    votes = [(each.advisor, each.answer) for each in members if isinstance(each.answer, MemberVote)]
    asked = [
        (each.id, missing_instances((found.id for found in findings), vote.instances))
        for each, vote in votes
        if each.instanced
    ]
    added = [each.advisor for each in members if each.advisor.is_added]
    sources = (("a label", any(each.by_label for each in added)), ("the map of paths", any(e.by_path for e in added)))
    return CouncilRecord(
        surface=row.surface,
        attempt=steps[0].attempt,
        shard=steps[0].shard,
        counted=panel_tally(verdict, members),
        why_missing=tuple((name, _why(answer)) for name, answer in lost if isinstance(answer, Lost | Refused)),
        own=tuple((each.id, vote.own) for each, vote in votes if vote.own),
        of_each=tuple((each.id, found, said) for each, vote in votes for found, said in _of_each(findings, vote)),
        silent_on=tuple((name, tuple(each for each in findings if each.id in left)) for name, left in asked if left),
        added=tuple(each.id for each in added),
        added_by=" or ".join(words for words, holds in sources if holds),
        without_them=panel_tally(verdict, [each for each in members if not each.advisor.is_added]),
    )


def _of_each(findings: Sequence[Finding], vote: MemberVote) -> Iterator[tuple[Finding, str]]:
    """What a vote says of each finding. What it says of anything else is on the run page alone."""
    by_id = {each.id: each for each in findings}
    return ((by_id[each.instance], each.opinion) for each in vote.instances if each.instance in by_id)


def _member(member: Advisor, row: SurfacePolicy, steps: Iterable[Step]) -> MemberAnswer | None:
    """What a member gave at last; None if it was never asked."""
    advisor = asked_as(member)
    last: CallEnded | None = None
    vote: Voted | None = None
    for each in steps:
        if isinstance(each, CallEnded) and (each.role, each.advisor) == (Role.POST_VERIFY, advisor):
            last = each
        elif isinstance(each, Voted) and each.advisor == advisor:
            vote = each
    if last is None:
        return None
    if vote is not None:
        stands_in = last.requested_model != (member.model or row.advisor_model)
        return MemberAnswer(member, vote.vote, last.requested_model if stands_in else "")
    return MemberAnswer(member, why_unanswered(last) or Refused("money", last.detail))


def _why(answer: Lost | Refused) -> str:
    return f"lost: {answer.reason.value}" if isinstance(answer, Lost) else f"refused: {answer.reason}"
