"""What a review has learned so far, and what its judge said of it: readings of the events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from review_advisor.core.answers.evidence import CheckedReport, Knowledge
from review_advisor.core.answers.findings import Finding
from review_advisor.core.lessons.memory_prompt import cites
from review_advisor.core.outcome.events import Event, PartEnded, Reported, Verified
from review_advisor.core.policy.surfaces import Surface
from review_advisor.core.roles.surface_inputs import SURFACE_INPUTS


def knowledge_of(events: Sequence[Event]) -> tuple[Knowledge, ...]:
    """The entries of the last report on each part of the surfaces that teach."""
    last: dict[tuple[Surface, int], CheckedReport] = {}
    for event in events:
        if isinstance(event, Reported) and not event.structural and SURFACE_INPUTS[event.surface].teaches:
            last[event.surface, event.shard] = event.report
    return tuple(entry for key in sorted(last) for entry in last[key].knowledge)


def judgement_on(surface: Surface, events: Sequence[Event]) -> str:
    """Post-verify's last verdict on a surface, or why there is none."""
    said = [event.judged.result.verdict for event in events if isinstance(event, Verified) and event.surface is surface]
    if said:
        return said[-1]
    ended = [event for event in events if isinstance(event, PartEnded) and event.surface is surface]
    return "lost" if any(part.degraded for part in ended) else "not asked"


def finding_behind(entry: Knowledge, findings: Iterable[Finding]) -> str:
    """The id of the finding that taught an entry: one that it names, or else one on the lines that it quotes.

    Empty if no finding of these is either. An executor knows no ids, so mostly the quote tells.
    """
    there = tuple(findings)
    words = f"{entry.title}\n{entry.body}"
    last = entry.line + entry.evidence.count("\n")
    named = (each.id for each in there if cites(words, each.id))
    quoted = (
        each.id
        for each in there
        if each.path == entry.path and not each.removed and each.line <= last and entry.line <= each.end_line
    )
    return next(named, None) or next(quoted, "")
