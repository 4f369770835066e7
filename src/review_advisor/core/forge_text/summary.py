"""The one comment that stands on the pull request and is edited in place: what the review came to, and its memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from review_advisor.core.answers.answers import SEVERITIES
from review_advisor.core.answers.findings import Finding, ordered
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.forge_text.account import how, what_it_does, what_next, why
from review_advisor.core.forge_text.conclusion import NOT_RUN_SIGN, PASSED_SIGN, heading_of
from review_advisor.core.forge_text.council_votes import judges
from review_advisor.core.forge_text.disputes import disputes, with_next
from review_advisor.core.forge_text.finding_list import FindingList, Listed, finding_list, held_back, listed
from review_advisor.core.forge_text.fitting import Order, Section, Shrinks, cut, details, fitted, size
from review_advisor.core.forge_text.inline import finding_words
from review_advisor.core.forge_text.page_links import CHECK_PAGE, RuleLinks, check_page, head_links, rule_links
from review_advisor.core.forge_text.sections import (
    gaps,
    learned,
    notes_on,
    pictures,
    refused,
    repair,
    secrets,
    whose_rules,
)
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.markers import PREFIX, SUMMARY
from review_advisor.core.pull_request.rounds import Posting
from review_advisor.core.pull_request.rules import PublicationRules
from review_advisor.core.pull_request.settling import is_settled_by_dismissal
from review_advisor.core.pull_request.state import KnownFinding, State, fitting, state_block, without_state, worst_first
from review_advisor.core.pull_request.writes import MOST_CHARACTERS
from review_advisor.core.report.wording import counted
from review_advisor.core.safety.markdown import code, phrase

MOST_SUMMARY = 30_000
"""The longest comment after a review, its memory included, by ``size``: more than that nobody reads there."""
ROOM_FOR_WHAT_FOLLOWS = 3_000
"""What a review's own words leave free for what people do about it afterwards (``amended``)."""
MOST_FOLLOWED = 10
STILL_OPEN = "**Still open** since the last review:"
REVIEWED = f"{PREFIX}reviewed -->"
"""Below this mark stand the review's own words, above it what people did since."""
_FOLDED = "<details><summary>The review that did not approve</summary>\n\n"
_UNFOLDED = "\n\n</details>"


def summary_body(
    document: OutcomeDocument,
    rules: PublicationRules,
    state: State,
    not_placed: Sequence[Posting] = (),
    notes: Sequence[str] = (),
    *,
    denied: Sequence[str] = (),
    run_page: str | None = None,
    finding_notes: Mapping[str, str] | None = None,
) -> str:
    """The comment after a review.

    ``state`` is what is remembered from now on; it also says what this run changed. ``not_placed`` are findings that
    got no comment on the diff: their words stand here, and those that a rule held back stand in a fold. ``notes`` say
    what could not be done, ``denied`` what the token may not do, and ``run_page`` is that of the workflow run.
    ``finding_notes`` say of findings, by their ids, what is known of their kind. The whole is at most
    30,000 long, and the state in it is whole.
    """
    findings = open_findings(document, state)
    held = {each.finding.id: each for each in not_placed if each.folded}
    shown, opened = disputes(document)
    sections = (
        Section((f"### {heading_of(document, [each.severity for each in findings.values()])}",)),
        what_it_does(document),
        why(document),
        *with_next(shown, what_next(document, rules, is_open=bool(findings))),
        whose_rules(document),
        notes_on(notes),
        _listed(document, state, findings, held.keys()),
        _crowded([each for each in not_placed if each.grave and not each.allowed and each.finding.id in findings]),
        held_back([each for key, each in held.items() if key in findings], document, check_page(document)),
        _forgotten(fitting(state)),
        _not_placed([each.finding for each in not_placed], rule_links(document), finding_notes or {}),
        repair(document),
        _settled(state),
        opened,
        *judges(document),
        secrets(document),
        pictures(document),
        learned(document),
        refused(document),
        Section(()) if document.outcome is Outcome.STOPPED else gaps(document),
        how(document, denied, run_page),
        spent_so_far(rules, state),
    )
    return _comment(fitted(sections, _room(state, MOST_SUMMARY) - ROOM_FOR_WHAT_FOLLOWS), state)


def spent_so_far(rules: PublicationRules, state: State) -> Section:
    """What all reviews of the pull request have cost; nothing where that is not known."""
    if not state.spent_usd:
        return Section(())
    told = f"{state.spent_usd:,.2f} USD so far on this pull request, of {rules.most_usd:,.2f}"
    estimate = f"; {state.estimated_usd:,.2f} of it is an estimate, for what reported no cost"
    return Section((f"{told}{estimate if state.estimated_usd else ''}.",))


def summary_overtaken(body: str, state: State) -> str:
    """The comment after a review that a push has overtaken: as it stands, with another memory."""
    if body:
        return amended(body, state)
    return summary_did_not_run("A newer push has overtaken the review, and starts one of its own.", state)


def summary_did_not_run(reason: str, state: State | None) -> str:
    """The comment where no review took place; what was known before is kept."""
    words = f"{phrase(reason)}\n\n**What next**: once that is settled, `{WORD} review` in a comment starts a review."
    sections = (Section((f"### {NOT_RUN_SIGN} The review did not run",)), Section((words,)), _known(state))
    return _comment(fitted(sections, _room(state, MOST_SUMMARY) - ROOM_FOR_WHAT_FOLLOWS), state)


def amended(body: str, state: State) -> str:
    """A summary after people did something about its review: ``state`` says what, and takes the old one's place.

    Whatever was done before stands once. Only where the forge takes no more do the review's own words give way, from
    their end on.
    """
    words = without_state(body.removeprefix(SUMMARY)).strip("\n")
    _, marked, below = words.partition(f"{REVIEWED}\n")
    own = below if marked else words
    if own.startswith(_FOLDED):
        own = own.removeprefix(_FOLDED).removesuffix(_UNFOLDED)
    return _comment(own, state)


def _comment(own: str, state: State | None) -> str:
    """The marks, what people did since, the review's ``own`` words, and the memory."""
    block = state_block(state) if state is not None else ""
    above = _followed(state) if state is not None else ""
    folded = state is not None and bool(state.approved_by)
    around = size(above + REVIEWED + _FOLDED + _UNFOLDED) + len("\n\n")
    kept = cut(own, _room(state, MOST_CHARACTERS) - around) if above else own
    below = f"{_FOLDED}{kept}{_UNFOLDED}" if folded else kept
    words = f"{above}\n\n{REVIEWED}\n{below}" if above else below
    return "\n".join(each for each in (SUMMARY, words, f"\n{block}" if block else "") if each)


def _room(state: State | None, most: int) -> int:
    block = state_block(state) if state is not None else ""
    return most - size(SUMMARY) - size(block) - len("\n\n\n")


def _followed(state: State) -> str:
    """What people did since the review that ``state`` is of."""
    settled = [each for each in state.findings if _dismissed_since(each, state)]
    lines = [
        f"- {code(each.by)} dismissed {code(each.id)}: {phrase(each.reason, 200)}" for each in settled[:MOST_FOLLOWED]
    ]
    if len(settled) > MOST_FOLLOWED:
        lines.append(f"- and {counted(len(settled) - MOST_FOLLOWED, 'more finding')} dismissed")
    blocks = []
    if state.approved_by:
        word = "Dismissed" if is_settled_by_dismissal(state) else "Overridden"
        heading = f"### {PASSED_SIGN} {word} by {code(state.approved_by)}"
        blocks.append(f"{heading}\n\nThe check passes in that person's name until the next push.")
    if lines:
        every = "\n".join(lines)
        again = "" if state.approved_by else f"\n\nThe verdict stays until the next review: comment `{WORD} review`."
        blocks.append(f"**Since this review**:\n\n{every}{again}")
    return "\n\n".join(blocks)


def _dismissed_since(finding: KnownFinding, state: State) -> bool:
    return finding.status == "dismissed" and finding.changed_in == state.run_id


def _known(state: State | None) -> FindingList:
    """What stood open when last a review ran."""
    found = worst_first(each for each in state.findings if each.status == "open") if state is not None else ()
    return finding_list(STILL_OPEN, (_with_notes(_listed_known(each), each) for each in found), CHECK_PAGE)


def open_findings(document: OutcomeDocument, state: State) -> Mapping[str, Finding | KnownFinding]:
    """All findings that are open, by their ids, the worst first: those of this review, and older ones that it left.

    Of equal severity those of this review come first.
    """
    known = {each.id: each for each in state.findings}
    told: dict[str, Finding | KnownFinding] = {each.id: each for each in ordered(document.findings)}
    told |= {each.id: each for each in worst_first(known.values()) if each.id not in told}
    every = sorted(told.items(), key=lambda each: SEVERITIES.index(each[1].severity))
    return {identity: each for identity, each in every if identity not in known or known[identity].status == "open"}


def _listed(
    document: OutcomeDocument, state: State, every: Mapping[str, Finding | KnownFinding], held: Collection[str]
) -> Shrinks:
    """The open findings, but for those that are ``held`` back. Where all are older, this is said once."""
    if not every:
        return Section(() if document.outcome is Outcome.STOPPED else ("**Findings**: none open.",))
    findings = {key: each for key, each in every.items() if key not in held}
    known = {each.id: each for each in state.findings}
    older = {each.id for each in state.findings if each.changed_in != state.run_id}
    all_older = findings.keys() <= older
    told = (
        _with_notes(_listed_of(each, document), known.get(key), still_open=key in older and not all_older)
        for key, each in findings.items()
    )
    return finding_list(STILL_OPEN if all_older else "**Findings**:", told, check_page(document))


def _crowded(postings: Sequence[Posting]) -> Section:
    """How many of the listed findings that block have no comment on the diff for now, and why."""
    if not postings:
        return Section(())
    words = f"{counted(len(postings), 'finding')} that {'is' if len(postings) == 1 else 'are'} grave or block"
    return Section((f"*{words} {'has' if len(postings) == 1 else 'have'} no comment yet: {postings[0].because}.*",))


def _forgotten(state: State) -> Section:
    """How many earlier findings the bot cannot remember any more."""
    if not state.forgotten:
        return Section(())
    words = f"{counted(state.forgotten, 'earlier finding')} no longer fit into the bot's memory"
    return Section((f"*{words}. The next review reads the whole change again.*",))


def _listed_of(finding: Finding | KnownFinding, document: OutcomeDocument) -> Listed:
    if isinstance(finding, Finding):
        return listed(finding, document)
    return replace(_listed_known(finding), links=head_links(document))


def _with_notes(line: Listed, known: KnownFinding | None, *, still_open: bool = False) -> Listed:
    notes = (line.notes, _dismissed_elsewhere(known), _marked(known), ", still open" if still_open else "")
    return replace(line, notes="".join(notes))


def _listed_known(finding: KnownFinding) -> Listed:
    return Listed(finding.severity, finding.path, finding.line, finding.title, finding.id)


def _marked(finding: KnownFinding | None) -> str:
    """What people did with its comment. It is open all the same: this section lists what is."""
    if finding is None:
        return ""
    marks = finding.marks
    told = (("thread resolved", marks.resolved), ("thumbs up", marks.up), ("thumbs down", marks.down))
    return "".join(f", {words}" for words, holds in told if holds)


def _dismissed_elsewhere(finding: KnownFinding | None) -> str:
    """Where a person dismissed the same lines, if nobody can tell that they meant these."""
    if finding is None or not finding.dismissed_under:
        return ""
    if finding.dismissed_under == finding.path:
        return ", dismissed before equal lines came or went in this file"
    return f", dismissed under {code(shown_path(finding.dismissed_under))}"


def _not_placed(findings: Sequence[Finding], links: RuleLinks, notes: Mapping[str, str]) -> Section:
    """The words of findings whose lines take no comment; their titles are in the list."""
    said = ((each, finding_words(each, links, notes.get(each.id, ""))) for each in ordered(findings))
    blocks = tuple(f"{code(each.id)}\n\n{words}" for each, words in said if words)
    title = f"{counted(len(blocks), 'finding')} without a comment on the diff"
    return details(title, *blocks, gives_way=Order.NOT_PLACED, what="findings", between="\n\n")


def _settled(state: State) -> Section:
    """What this run found fixed, and everything that people had dismissed before it."""
    fixed = [each for each in state.findings if each.status == "fixed" and each.changed_in == state.run_id]
    dismissed = [each for each in state.findings if each.status == "dismissed" and not _dismissed_since(each, state)]
    lines = [f"- fixed: {_listed_known(each).item.removeprefix('- ')}" for each in fixed]
    lines += [
        f"- dismissed: {_listed_known(each).item.removeprefix('- ')}, by {code(each.by)}: {phrase(each.reason)}"
        for each in dismissed
    ]
    told = (f"{len(found)} {word}" for found, word in ((fixed, "fixed"), (dismissed, "dismissed")) if found)
    return details(f"Settled: {', '.join(told)}", *lines, gives_way=Order.SETTLED, what="findings")
