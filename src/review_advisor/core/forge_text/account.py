"""How a review is told: why it came out as it did, what to do next, and how it was done, as safe Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from review_advisor.core.forge_text.fitting import Order, Section, details
from review_advisor.core.forge_text.sections import (
    MOST_REASONS,
    cost,
    coverage,
    is_read_whole,
    signature,
    stake,
    surfaces,
    team_rules,
)
from review_advisor.core.outcome.cost import total_usage
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, ReviewStopped
from review_advisor.core.outcome.outcomes import EXIT_CODES, Outcome
from review_advisor.core.outcome.surface_records import PartRecord
from review_advisor.core.policy.surfaces import SURFACE_DEFAULTS
from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.report.shadow_text import shadow_words
from review_advisor.core.report.wording import and_unknown, counted
from review_advisor.core.safety.markdown import code, own_command, phrase, prose, quote

MOST_QUOTED_REPORTS = 3
MOST_CALLED = 20
MOST_QUOTED = 1_000
MOST_SAID = 600
_HEAD = re.compile(r"[0-9a-f]{7}")


def why(document: OutcomeDocument) -> Section:
    """The reasons of the outcome, and what the executor said where it arose.

    That the advisor agreed is told by ``how``, and what was said in parts that called a person by ``disputes``.
    """
    every = [] if document.outcome is Outcome.ESCALATED else _executors_words(document)
    words = every[:MOST_QUOTED_REPORTS]
    confirmed = not document.flags.degraded and all(map(_is_confirmed, _deciding(document)))
    reasons = () if words and confirmed else tuple(each for each in document.because if each not in words)
    lines = [*_listed(reasons), *(f"- {phrase(each)}" for each in _resumes(document))]
    quotes = [quote(prose(each, MOST_QUOTED)) for each in words]
    if len(every) > len(words):
        quotes.append(f"And {counted(len(every) - len(words), 'more part')} said why; outcome.json has their words.")
    return Section(("\n".join(lines), *quotes) if lines else tuple(quotes), gives_way=Order.WHY, between="\n\n")


def what_it_does(document: OutcomeDocument) -> Section:
    """What the change does, in the executor's words; of several parts the first ones. Nothing where it does not say."""
    every = (part.reports[-1].does for part in _parts(document) if part.reports)
    said = list(dict.fromkeys(each for each in every if each))
    lines = tuple(phrase(each, MOST_SAID) for each in said[:MOST_QUOTED_REPORTS])
    if not lines:
        return Section(())
    return Section((f"**What it does**: {' '.join(lines)}",), gives_way=Order.WHY)


def _listed(reasons: tuple[str, ...]) -> Iterable[str]:
    yield from (f"- {phrase(each)}" for each in reasons[:MOST_REASONS])
    if len(reasons) > MOST_REASONS:
        yield f"- and {counted(len(reasons) - MOST_REASONS, 'more reason')}"


def _resumes(document: OutcomeDocument) -> list[str]:
    ends = [event.resume_at for event in document.events if isinstance(event, ReviewStopped)]
    return [f"there is credit again from {at:%Y-%m-%d %H:%M} UTC" for at in ends if at is not None]


def _executors_words(document: OutcomeDocument) -> list[str]:
    """The last report's summary of each part that ended as the whole review did."""
    return list(dict.fromkeys(part.reports[-1].summary for part in _deciding(document) if part.reports))


def _deciding(document: OutcomeDocument) -> list[PartRecord]:
    """The parts that ended as the whole review did, of the surfaces that look at the change itself."""
    return [part for part in _parts(document) if part.ended is not None and part.ended.outcome is document.outcome]


def _parts(document: OutcomeDocument) -> list[PartRecord]:
    """The parts of the surfaces that look at the change itself."""
    looking = (each for each in document.surfaces if not SURFACE_DEFAULTS[each.surface].after_a_verdict)
    return [part for surface in looking for part in surface.parts]


def _is_confirmed(part: PartRecord) -> bool:
    if part.ended is None or part.ended.degraded or part.ended.repaired or not part.post_verify:
        return False
    last = part.post_verify[-1]
    return last.number == len(part.reports) - 1 and last.result.verdict == "APPROVE"


def what_next(document: OutcomeDocument, rules: PublicationRules, *, is_open: bool) -> Section:
    """What a person does now; nothing where nothing is left to do. ``is_open``: there are findings to settle."""
    if document.exit_code == EXIT_CODES[Outcome.ESCALATED]:
        words = _decide(document, rules)
    elif document.outcome is Outcome.STOPPED:
        words = f"once that is settled, `{WORD} review` in a comment starts the review again. {_override(document)}"
    elif document.outcome is Outcome.CHANGES_REQUESTED:
        words = f"{_mend(document, is_open=is_open)} {_override(document)}"
    elif document.flags.degraded:
        words = f"`{WORD} review` in a comment asks again for the judgement that is missing."
    else:
        words = "the findings do not stop a merge." if is_open else ""
    return Section((f"**What next**: {words}",) if words else ())


def _decide(document: OutcomeDocument, rules: PublicationRules) -> str:
    command = own_command(f"{WORD} override {document.head_sha or 'SHA'} reason")
    asked = f" Asked to look: {', '.join(map(code, rules.reviewers[:MOST_CALLED]))}." if rules.reviewers else ""
    return (
        "somebody with write permission, not the author, looks at the change and decides."
        f"{asked} This comment lets the head pass in their name:\n\n{command}\n\nOtherwise the author pushes a fix."
    )


def _mend(document: OutcomeDocument, *, is_open: bool) -> str:
    if document.repair is not None:
        words = "apply the repair below, or fix it in your own way, and push."
    elif is_open:
        words = "fix what is open and push."
    else:
        return f"answer it with a push, or comment `{WORD} review` for another review."
    if is_open:
        dismiss = f"`{WORD} dismiss FINDING reason` with its `f-` id"
        words += (
            f" Is a finding wrong or accepted? Somebody with write permission, not the author, can post {dismiss}."
            " After the last one that blocks, the head passes in that person's name."
        )
    return words


def _override(document: OutcomeDocument) -> str:
    head = document.head_sha or "SHA"
    command = code(f"{WORD} override {head} reason")
    return f"Somebody with write permission, not the author, can let the head pass with {command}."


def how(document: OutcomeDocument, denied: Sequence[str] = (), run_page: str | None = None) -> Section:
    """What was decided where, how much was at stake and at which price: for a reader who opens it.

    ``denied`` is what the bot's token may not do, each said once.
    """
    lines = "\n".join(f"- {phrase(each)}" for each in dict.fromkeys(denied))
    told = account(document, run_page)
    told += (f"**Not permitted to the bot's token**:\n\n{lines}",) if lines else ()
    return details(_how_title(document), *told, gives_way=Order.HOW, what="paragraphs", between="\n\n")


def account(document: OutcomeDocument, run_page: str | None = None) -> tuple[str, ...]:
    """The same, open. What was not read has a section of its own (``coverage``)."""
    read = coverage(document) if is_read_whole(document) else Section(())
    rules = team_rules(document)
    blind = Section(tuple(f"**Blind spot**: {phrase(each)}." for each in document.policy.roster.blind_spots))
    ran = shadow_words(document.shadows)
    shadow = Section((f"**In shadow**, without effect: {ran}.",) if ran else ())
    about = (surfaces(document), stake(document), rules, blind, read)
    sections = (*about, cost(document), shadow, signature(document, run_page))
    return tuple(section.text for section in sections if section.text)


def _how_title(document: OutcomeDocument) -> str:
    calls = sum(isinstance(event, CallEnded) and event.ended != "refused" for event in document.events)
    seconds = max(0.0, (document.ended_at - document.started_at).total_seconds())
    usd = total_usage(row.usage for row in document.cost).cost_usd
    price = "" if usd is None else f", {usd:,.2f} USD{and_unknown(document.unpriced)}"
    head = _HEAD.match(document.head_sha or "")
    return f"How {head[0] if head else 'this'} was reviewed: {counted(calls, 'call')}, {seconds:,.0f} s{price}"
