"""The votes of a council, as a matrix of members and actions, and what the refuter says, in words for every medium."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from review_advisor.core.answers.findings import Finding
from review_advisor.core.answers.member_vote import ACTIONS, MemberVote
from review_advisor.core.answers.opinion import own_words
from review_advisor.core.council.agreement import Agreement, Raised
from review_advisor.core.council.ballots import Ballot, Tally
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.outcome.council_records import CouncilRecord, council_findings, council_records
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import Event
from review_advisor.core.outcome.steps.voteless_events import Advised, Challenged, VoicesHeard
from review_advisor.core.report.wording import counted, table
from review_advisor.core.safety.markdown import shortened
from review_advisor.core.safety.terminal import printable, wrapped


def vote_words(vote: MemberVote) -> str:
    """A vote on one line."""
    if vote.vote is None:
        return "VETO, without a vote that can be read"
    return ", ".join(f"{action} {weight:g}" for action, weight in zip(ACTIONS, vote.vote.weights, strict=True))


def matrix(record: CouncilRecord) -> tuple[tuple[str, ...], ...]:
    """The header and one row for each member, then the means."""
    return matrix_of(record.counted, dict(record.why_missing))


def matrix_of(counted: Tally, why: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """The same for any vote. ``why`` says of missing members why they are."""
    rows = [_row(each, counted.actions, why.get(each.member, "no usable vote")) for each in counted.ballots]
    means = ("mean", *(f"{mean:.0f}" for mean in counted.means), "")
    return (("member", *counted.actions, ""), *rows, means)


def council_sentences(record: CouncilRecord) -> Iterator[str]:
    """The result, who dissents, and the blind spot that each missing member leaves."""
    counted = record.counted
    yield f"The council decides {counted.why}."
    if record.added:
        others = f"Without {', '.join(record.added)}, added by {record.added_by}: {record.without_them.why}."
        yield f"{others} The severer of the two rulings holds."
    if counted.dissent:
        yield f"Dissent: {', '.join(counted.dissent)}."
    for name, why in record.why_missing:
        yield f"Blind spot: {name} did not judge ({why})."
    for name, findings in record.silent_on:
        more = f" and {len(findings) - _MOST_NAMED} more" if len(findings) > _MOST_NAMED else ""
        yield f"Blind spot: {name} says nothing of {', '.join(map(_named, findings[:_MOST_NAMED]))}{more}."
    for name, own in record.own:
        yield f"{name} adds: {shortened(own_words(own), _MOST_OWN)}."


def _named(finding: Finding) -> str:
    return f"{shown_path(finding.path)}:{finding.line} ({finding.title})"


def _of_each(record: CouncilRecord) -> Iterator[str]:
    """What members say of each finding of the executor."""
    for name, finding, said in record.of_each:
        yield f"{name} on {_named(finding)}: {said}"


def council_title(record: CouncilRecord, *, parts: int) -> str:
    """Which vote it is."""
    part = f", part {record.shard + 1}" if parts > 1 else ""
    return f"Council on {record.surface.value}{part}, attempt {record.attempt + 1}"


_MOST_NAMED = 3
_MOST_OWN = 500
"""Characters of one member's own fields. The run page and ``--json`` have all of them."""
VOICES_TITLE = "Advice of the inline members, which have no vote"
LEAD, ADDED = "Findings of the executor:", "Only members raise (none of it blocks):"


def left_words(found: Agreement) -> str:
    """How many findings of members are not listed; empty if none."""
    number = counted(len(found.left), "more finding")
    return f"{number} of members, each raised by too few to be listed: the run page has them." if found.left else ""


def council_texts(events: Sequence[Event]) -> Iterator[str]:
    """Each vote as plain text, then how many members raise which finding."""
    records = council_records(events)
    parts = len({(each.surface, each.shard) for each in records})
    for each in records:
        lines = [council_title(each, parts=parts), *(f"  {line}" for line in table(matrix(each)).splitlines())]
        yield "\n".join(
            [*map(printable, lines), *(wrapped("  ", words) for words in (*council_sentences(each), *_of_each(each)))]
        )
    voices = voices_of(events)
    if voices:
        yield "\n".join((VOICES_TITLE, *(wrapped("  ", f"{each.advisor}: {each.words}") for each in voices)))
    found = council_findings(events)
    if found.lead or found.added or found.left:
        yield "\n".join(_agreement_lines(found))


def voices_of(events: Iterable[Event]) -> tuple[Advised, ...]:
    """What every inline member advises, in its order; nothing without any."""
    return tuple(each for event in events if isinstance(event, VoicesHeard) for each in event.voices)


def _agreement_lines(found: Agreement) -> Iterator[str]:
    yield "What the members of the council found by themselves"
    for title, raised in ((LEAD, found.lead), (ADDED, found.added)):
        if raised:
            yield f"  {title}"
            yield from (wrapped("    ", _raised_words(each)) for each in raised)
    if found.left:
        yield wrapped("  ", left_words(found))


def _raised_words(raised: Raised) -> str:
    found = raised.finding
    who = f" ({', '.join(raised.by)})" if raised.by else ""
    return f"{found.severity} {shown_path(found.path)}:{found.line} {found.title}: {raised.words}{who}"


def _row(ballot: Ballot, actions: Sequence[str], why: str) -> tuple[str, ...]:
    marks = [f"weight {ballot.weight:g}"] if ballot.weight != 1 else []
    marks += ["veto right"] if ballot.veto else []
    if not isinstance(ballot.votes, tuple):
        return (ballot.member, *("-" for _ in actions), "; ".join((*marks, why)))
    return (ballot.member, *(f"{each:g}" for each in ballot.votes), "; ".join(marks))


def challenges_of(document: OutcomeDocument) -> tuple[Challenged, ...]:
    """Every answer of the refuter, in its order."""
    parts = (part for surface in document.surfaces for part in surface.parts)
    return tuple(each for part in parts for each in part.challenges)


def refuter_text(document: OutcomeDocument) -> str:
    """The refuter's answers for a terminal; empty without any."""
    lines = [line for each in challenges_of(document) for line in _lines(each)]
    return "\n".join(("Refuter", *lines)) if lines else ""


def _lines(said: Challenged) -> Iterator[str]:
    yield wrapped("  ", f"{said.finding}: {said.words}")
    if said.challenge.reasoning:
        yield wrapped("    ", said.challenge.reasoning)
    if said.refutes:
        yield wrapped("    > ", f"{shown_path(said.challenge.path)}: {said.challenge.quote}")
