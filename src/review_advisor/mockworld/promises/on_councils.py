"""The promises about councils: each member looks by itself, every vote counts, no right to block is passed over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from review_advisor.mockworld.agents import PlayedCall
from review_advisor.mockworld.promises.on_verdicts import OUTAGES, has_veto, touches_itself
from review_advisor.mockworld.promises.played_review import PartKey, Reading, answer_of, fault_of
from review_advisor.policy.roster import ADR_ADVISOR, VOICES, Advisor
from review_advisor.policy.surfaces import Role
from review_advisor.review.events import Voted
from review_advisor.review.soundness import unsound

BLOCKS_FROM = 80
WIDEST_SPREAD = 40
MISSING = (0.0, 100.0, 100.0)
"""Read from the decision record."""


@dataclass(frozen=True, slots=True)
class _Vote:
    """Weights of approve, request_changes and block, as they count."""

    weights: tuple[float, float, float]
    is_missing: bool = False
    by_outage: bool = False


def members_look_before_they_judge(reading: Reading) -> Iterator[str]:
    """Each member of a council is first asked without a report, and shown its own and the executor's when it votes."""
    seen: set[tuple[str, int, str]] = set()
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        call = asked.call
        if call.role is not Role.POST_VERIFY or not reading.has_council:
            continue
        who = (call.surface.value, call.shard, call.advisor)
        if who not in seen and "REPORT" in inside:
            yield f"{call.advisor} on {call.surface} was shown a report before it had looked"
        seen.add(who)


def every_vote_is_recorded(reading: Reading) -> Iterator[str]:
    """What is recorded as the votes of a council is, in order, what its members said."""
    if reading.review.document is None or not reading.has_council:
        return
    said = [answer["calls"] for each in reading.review.asked if "calls" in (answer := answer_of(each) or {})]
    recorded = [event.vote.calls for event in reading.events(Voted)]
    if said != recorded:
        yield f"the council said {said}, recorded is {recorded}"


def no_right_to_block_is_passed_over(reading: Reading) -> Iterator[str]:
    """Nothing is approved against the last vote of a member with the veto right, or without it."""
    for key, votes in _last_votes(reading).items() if reading.approved else ():
        for member, vote in votes:
            if member.veto and has_veto(reading, key[0]) and vote.weights[-1] >= BLOCKS_FROM:
                yield f"{key[0]}, part {key[1] + 1}: approved without {member.id}, or against its veto"


def an_approval_is_what_the_votes_come_to(reading: Reading) -> Iterator[str]:
    """What is approved has the highest mean and a small spread; a missing member votes against it."""
    for key, votes in _last_votes(reading).items() if reading.approved else ():
        where = f"{key[0]}, part {key[1] + 1}: approved"
        if not has_veto(reading, key[0]):
            continue
        if touches_itself(reading) and any(vote.is_missing for _, vote in votes):
            yield f"{where} under the guard without every member"
        weights = [member.weight for member, _ in votes]
        weighed = list(zip(weights if any(weights) else [1.0] * len(votes), votes, strict=True))
        means = [sum(weight * vote.weights[action] for weight, (_, vote) in weighed) for action in range(3)]
        if means[0] <= max(means[1:]):
            yield f"{where} although the votes come to {means}"
        shown = [vote.weights[0] for _, vote in votes if not vote.by_outage]
        if not shown or max(shown) - min(shown) > WIDEST_SPREAD:
            yield f"{where} although the votes for it are {shown}"


def publishing_counts_the_same(reading: Reading) -> Iterator[str]:
    """Whoever publishes a council's review comes to the same by its record."""
    if reading.review.document is not None and reading.has_council:
        why = unsound(reading.review.document.events)
        if why is not None:
            yield f"the record is refused: {why}"


def who_only_advises_sees_no_report(reading: Reading) -> Iterator[str]:
    """Inline members are asked where there are some, and look at the change without the executor's report."""
    inline = bool(reading.review.rules.roster.voices)
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        if asked.call.advisor == VOICES and (not inline or "REPORT" in inside):
            yield f"inline members on {asked.call.surface} were asked without being there, or shown the report"


def _last_votes(reading: Reading) -> dict[PartKey, list[tuple[Advisor, _Vote]]]:
    """How each member voted in the last attempt of each part that was judged.

    A part whose executor did not approve was approved by nobody, so it is left out.
    """
    if not reading.has_council:
        return {}
    found: dict[PartKey, list[tuple[Advisor, _Vote]]] = {}
    for key, asked in reading.parts.items():
        judged = [each for each in asked if each.call.role is Role.POST_VERIFY]
        last = max((each.call.attempt for each in judged), default=-1)
        if last < 0 or reading.verdicts.get(key) != "approve":
            continue
        found[key] = [
            (member, _vote_of([each for each in judged if _is_of(each, member, last)]))
            for member in reading.review.rules.roster.panel
        ]
    return found


def _is_of(asked: PlayedCall, member: Advisor, attempt: int) -> bool:
    name = Role.POST_VERIFY.advisor if member.id == ADR_ADVISOR.id else member.id
    return (asked.call.advisor, asked.call.attempt) == (name, attempt)


def _vote_of(asked: list[PlayedCall]) -> _Vote:
    said = [answer["calls"] for each in asked if "calls" in (answer := answer_of(each) or {})]
    if not said:
        lost = [fault_of(each) for each in asked if fault_of(each)]
        return _Vote(MISSING, is_missing=True, by_outage=bool(lost) and OUTAGES.issuperset(lost))
    told = json.loads(said[-1])
    return _Vote((told["approve"], told["request_changes"], told["block"]))
