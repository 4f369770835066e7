"""The one comment that stands on the pull request and is edited in place: what the review came to, and its memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from review_advisor.core.facts.diff_text import shown_path
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.publication.commands import WORD
from review_advisor.core.publication.conclusion import title_of
from review_advisor.core.publication.disputes import transcript, vetoes
from review_advisor.core.publication.fitting import Order, Section, details, fitted, size
from review_advisor.core.publication.markdown import code, phrase, prose
from review_advisor.core.publication.markers import SUMMARY
from review_advisor.core.publication.rules import PublicationRules
from review_advisor.core.publication.sections import (
    SEVERITIES,
    cost,
    counted,
    coverage,
    finding_line,
    notes_on,
    ordered,
    pictures,
    repair,
    signature,
    surfaces,
    what_to_do,
    why,
)
from review_advisor.core.publication.state import KnownFinding, State, state_block
from review_advisor.core.publication.writes import MOST_CHARACTERS
from review_advisor.core.roles.evidence import Finding

ROOM_FOR_A_NOTE = 3_000
"""What is left free for the words of a later answer to a command (``state.amended``)."""


def summary_body(
    document: OutcomeDocument,
    rules: PublicationRules,
    state: State,
    not_placed: Sequence[Finding] = (),
    notes: Sequence[str] = (),
) -> str:
    """The comment after a review.

    ``state`` is what is remembered from now on; it also says what this run changed. ``not_placed`` are findings that
    got no comment on the diff; their words stand here. ``notes`` say what could not be done. The whole is at most
    65,535 long, and the state in it is whole.
    """
    approved = f" (approved by {code(state.approved_by)})" if state.approved_by else ""
    escalated = document.outcome is Outcome.ESCALATED
    sections = (
        Section((f"### {phrase(title_of(document))}{approved}",)),
        why(document),
        _called(rules) if escalated and not state.approved_by else Section(()),
        what_to_do(document),
        notes_on(notes),
        _open(document, state),
        _not_placed(not_placed),
        surfaces(document),
        Section(vetoes(document) if not escalated else (), "**Disagreements**", gives_way=Order.VETOES, what="vetoes"),
        repair(document),
        _settled(state),
        details(
            "Disagreement transcript",
            *(transcript(document) if escalated else ()),
            gives_way=Order.TRANSCRIPT,
            what="entries",
            between="\n\n",
        ),
        pictures(document),
        coverage(document),
        cost(document),
        signature(document),
    )
    return _comment(sections, state)


def summary_did_not_run(reason: str, state: State | None) -> str:
    """The comment where no review took place; what was known before is kept."""
    words = f"{phrase(reason)}\n\nNothing was reviewed. `{WORD} review` in a comment starts a review."
    return _comment((Section(("### The review did not run",)), Section((words,)), _known(state)), state)


def _comment(sections: Sequence[Section], state: State | None) -> str:
    block = state_block(state) if state is not None else ""
    room = MOST_CHARACTERS - size(SUMMARY) - size(block) - len("\n\n\n") - ROOM_FOR_A_NOTE
    return "\n".join(each for each in (SUMMARY, fitted(sections, room), f"\n{block}" if block else "") if each)


def _called(rules: PublicationRules) -> Section:
    """Who was called, and by which label such pull requests are found."""
    asked = f"; asked to look: {', '.join(map(code, rules.reviewers[:20]))}" if rules.reviewers else ""
    return Section((f"**A person has to decide.** Label {code(rules.escalation_label)}{asked}.",))


def _known(state: State | None) -> Section:
    """What stood open when last a review ran."""
    found = _worst_first(each for each in state.findings if each.status == "open") if state is not None else ()
    return Section(
        tuple(map(_known_line, found)), "**Open since the last review**", gives_way=Order.FINDINGS, what="findings"
    )


def _open(document: OutcomeDocument, state: State) -> Section:
    """All findings that are open: those of this review, and older ones that it did not have to look at again."""
    known = {each.id: each for each in state.findings}
    told = {each.id: finding_line(each) for each in ordered(document.findings)}
    told |= {
        each.id: _known_line(each)
        for each in _worst_first(known.values())
        if each.status == "open" and each.id not in told
    }
    lines: list[str] = []
    older = 0
    for identity, line in told.items():
        its = known.get(identity)
        if its is None or its.status == "open":
            still = its is not None and its.changed_in != state.run_id
            older += still
            lines.append(f"{line}, still open" if still else line)
    if not lines:
        return Section(() if document.outcome is Outcome.STOPPED else ("**Findings**: none open.",))
    head = f"**Findings**: {len(lines)} open" + (f", {len(lines) - older} of them new" if older else "")
    return Section(tuple(lines), head, gives_way=Order.FINDINGS, what="findings")


def _worst_first(findings: Iterable[KnownFinding]) -> tuple[KnownFinding, ...]:
    return tuple(sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), each.path, each.line)))


def _known_line(finding: KnownFinding) -> str:
    where = code(f"{shown_path(finding.path)}:{finding.line}")
    return f"- **{finding.severity}** {where}: {phrase(finding.title, 200)} ({code(finding.id)})"


def _not_placed(findings: Sequence[Finding]) -> Section:
    """The whole words of findings whose lines take no comment."""
    blocks = tuple(
        f"{finding_line(each)}\n\n{prose(each.body)}" if each.body else finding_line(each) for each in ordered(findings)
    )
    title = f"{counted(len(blocks), 'finding')} without a comment on the diff"
    return details(title, *blocks, gives_way=Order.NOT_PLACED, what="findings", between="\n\n")


def _settled(state: State) -> Section:
    """What this run found fixed, and everything that people dismissed."""
    lines = [
        f"- fixed: {_known_line(each).removeprefix('- ')}"
        for each in state.findings
        if each.status == "fixed" and each.changed_in == state.run_id
    ]
    lines += [
        f"- dismissed by {code(each.by)}, {phrase(each.reason)}: {_known_line(each).removeprefix('- ')}"
        for each in state.findings
        if each.status == "dismissed"
    ]
    return details(f"Fixed or dismissed: {len(lines)}", *lines, gives_way=Order.SETTLED, what="findings")
