"""What a review has learned so far, and what its judge said of it: readings of the events."""

from __future__ import annotations

from collections.abc import Sequence

from review_advisor.core.answers.evidence import CheckedReport, Knowledge
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
