"""The promises about pictures and about knowledge."""

from __future__ import annotations

from collections.abc import Iterator

from review_advisor.mockworld.promises.on_switches import is_off
from review_advisor.mockworld.promises.on_verdicts import touches_itself
from review_advisor.mockworld.promises.played_review import Reading
from review_advisor.policy.surfaces import Role, Surface
from review_advisor.review.events import CallEnded, KnowledgeStored, PartEnded, SurfaceEnded, Verified

SEEN = {"differs", "added", "removed"}
UNSEEN = {"unreadable", "too_large"}


def identical_pictures_cost_no_call(reading: Reading) -> Iterator[str]:
    """Nobody is asked about pictures unless a pair differs or lacks a side, and those that do are all named."""
    seen = [picture.name for picture in reading.review.pictures if picture.state in SEEN]
    for asked, (_, inside) in zip(reading.review.asked, reading.prompts, strict=True):
        if asked.call.surface is not Surface.VISUAL_GATE:
            continue
        if not seen:
            yield f"{asked.call.role} was asked about pictures of which none can be seen to differ"
        missing = [name for name in seen if name not in inside.get("PICTURES", "")]
        if missing:
            yield f"{asked.call.role} was not told of {missing[0]}"


def a_picture_that_nobody_saw_is_never_approved(reading: Reading) -> Iterator[str]:
    """A damaged, oversized or partly shown picture goes to a human, by name."""
    looked = reading.approved and reading.review.change.files
    for picture in reading.review.pictures if looked else ():
        if picture.state in UNSEEN or picture.partly:
            yield f"approved although {picture.name} is {picture.state}{' in part' * picture.partly}"
        seen = [call.opened for call in reading.events(CallEnded) if call.surface is Surface.VISUAL_GATE]
        if not any(set(picture.crops) <= set(opened) for opened in (*seen, ())):
            yield f"approved although nobody opened {picture.name}"


def knowledge_is_stored_only_after_its_gate(reading: Reading) -> Iterator[str]:
    """A page reaches the wiki only after its gate was passed, with a judgement unless that is switched off."""
    if not reading.review.wiki and not any(reading.events(KnowledgeStored)):
        return
    passed = judged = False
    stored = set()
    for event in reading.review.events:
        if isinstance(event, Verified) and event.surface is Surface.WIKI_INGEST:
            judged = True
        elif isinstance(event, PartEnded) and event.surface is Surface.WIKI_INGEST:
            passed = event.outcome == "approved"
            judged = judged or event.degraded or is_off(reading, Role.POST_VERIFY, Surface.WIKI_INGEST)
        elif isinstance(event, KnowledgeStored):
            stored.add(event.name)
            if not passed or not judged:
                yield f"{event.name} was stored before its gate"
    killed = reading.review.document is None
    for name in reading.review.wiki:
        if name not in stored and not killed:
            yield f"{name} is in the wiki, and no event says so"


def only_what_its_advisor_approved_is_knowledge(reading: Reading) -> Iterator[str]:
    """What the advisor of the wiki vetoed or never judged is stored as a proposal and reaches no wiki."""
    verdicts = [each.judged.result.verdict for each in reading.events(Verified) if each.surface is Surface.WIKI_INGEST]
    approved = verdicts[-1:] == ["APPROVE"]
    for each in reading.events(KnowledgeStored):
        if each.proposal == approved:
            yield f"{each.name} is stored as {'a proposal' if approved else 'knowledge'} against its judgement"
        if each.proposal and each.name in reading.review.wiki:
            yield f"the proposal {each.name} is in the wiki"


def knowledge_never_decides_a_verdict(reading: Reading) -> Iterator[str]:
    """No judge of the change is shown knowledge, and its own judgement changes no review but of the bot itself."""
    for asked, report in zip(reading.review.asked, reading.reports, strict=True):
        shown = report is not None and any(report.get(key) for key in ("knowledge", "dropped"))
        if shown and asked.call.surface is not Surface.WIKI_INGEST:
            yield f"{asked.call.role} on {asked.call.surface} was shown knowledge"
    for event in reading.events(SurfaceEnded):
        decided = event.surface is Surface.WIKI_INGEST and event.outcome not in ("approved", "stopped")
        if decided and not touches_itself(reading):
            yield f"the wiki's gate made the review {event.outcome}"
