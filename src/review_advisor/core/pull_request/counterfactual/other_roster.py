"""Another roster for a stored review: whose recorded answers it still counts, and who would have been asked anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from review_advisor.core.council.panel import MemberAnswer
from review_advisor.core.outcome.events import CallEnded, PolicyFrozen
from review_advisor.core.pull_request.counterfactual.would_ask import Unknown, WantedQuestion, WouldAsk, like
from review_advisor.core.roster.advisor import ADR_ADVISOR, Advisor, Roster
from review_advisor.core.roster.lenses import roster_for_paths


def roster_otherwise(first: PolicyFrozen, other: Roster) -> Roster:
    """Who is asked about this change: the other roster, with what its map adds and what labels had added."""
    found = roster_for_paths(other, (path for file in first.files for path in file.paths))
    known = {each.id for each in found.advisors}
    by_label = tuple(each for each in first.policy.roster.advisors if each.by_label and each.id not in known)
    return replace(found, advisors=(*found.advisors, *by_label))


def asked_by_others(held: Roster, now: Roster, calls: Sequence[CallEnded]) -> Iterator[Unknown]:
    """What changes the questions of a whole review: who speaks before the executor, on demand, or inline."""
    if not calls:
        return
    groups = (
        ("speak first", held.opening, now.opening),
        ("be there to consult", held.on_demand, now.on_demand),
        ("speak inline", held.voices, now.voices),
    )
    for says, were, are in groups:
        before, after = {each.id for each in were}, {each.id for each in are}
        yield from (Unknown(f"{name} would {says}", like(calls)) for name in sorted(after - before))
        yield from (Unknown(f"{name} would not {says}", like(calls)) for name in sorted(before - after))
    words = {each.id: _asks(each) for each in held.advisors}
    for each in now.advisors:
        is_only_a_judge = each.on == "finish" and not each.inline
        if not is_only_a_judge and words.get(each.id, _asks(each)) != _asks(each):
            yield Unknown(f"{each.id} would have been asked in other words", like(calls))


def counted_by(members: Sequence[MemberAnswer], now: Roster, asked: Sequence[WantedQuestion]) -> list[MemberAnswer]:
    """The recorded answers of those who vote in the other roster, with the weights and rights that it gives them.

    ``asked`` are the questions to judges in the attempt. Raises ``WouldAsk`` by the name of whoever was not asked, or
    was asked otherwise.
    """
    given = {each.advisor.id: each for each in members}
    asked_anew = [each for each in now.panel if each.id not in given or _asks(given[each.id].advisor) != _asks(each)]
    if not asked_anew and _is_alone(now.panel) is not _is_alone(each.advisor for each in members):
        asked_anew = list(now.panel)
    if asked_anew:
        times = 1 if _is_alone(now.panel) else 2
        models = (each.model for each in asked_anew for _ in range(times))
        wanted = [replace(judge, model=model or judge.model) for model in models for judge in asked[:1]]
        raise WouldAsk(f"{', '.join(each.id for each in asked_anew)} would have been asked to judge", wanted)
    return [replace(given[each.id], advisor=each) for each in now.panel]


def _is_alone(panel: Iterable[Advisor]) -> bool:
    """Whether the ADR's advisor judges alone. A council is asked in another form."""
    return [each.id for each in panel] == [ADR_ADVISOR.id]


def _asks(member: Advisor) -> tuple[object, ...]:
    """What of a member stands in its questions. Weight, veto, and why it is there do not."""
    return member.persona, member.scopes, member.instanced, member.model, member.answer, member.temperament
