"""The summary comment and the comments on the diff."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import FINDING_ID, Finding, ordered
from review_advisor.change.diff_text import shown_path
from review_advisor.github.commands import WORD, is_settled_by_dismissal
from review_advisor.github.findings_text import (
    FindingList,
    Listed,
    disputes,
    finding_list,
    held_back,
    listed,
    with_next,
)
from review_advisor.github.sections import (
    CHECK_PAGE,
    NO_LINKS,
    NOT_RUN_SIGN,
    PASSED_SIGN,
    Order,
    RuleLinks,
    Section,
    Shrinks,
    check_page,
    cut,
    details,
    fitted,
    gaps,
    head_links,
    heading_of,
    how,
    judges,
    learned,
    merged_remarks,
    notes_on,
    pictures,
    refused,
    repair,
    rule_links,
    secrets,
    size,
    title_of,
    what_it_does,
    what_next,
    whose_rules,
    why,
)
from review_advisor.github.state import (
    PREFIX,
    SUMMARY,
    KnownFinding,
    State,
    finding_marker,
    fitting,
    state_block,
    without_state,
    worst_first,
)
from review_advisor.github.threads import Posting
from review_advisor.github.writes import MOST_CHARACTERS, InlineComment
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.review.document import OutcomeDocument
from review_advisor.review.rulings import Outcome
from review_advisor.safety.fence import whole
from review_advisor.safety.markdown import code, code_block, is_exact, phrase, prose
from review_advisor.safety.wording import counted

MOST_SUGGESTED = 8_000
MOST_QUOTED = 1_000

MOST_COMMENT = 1_000
"""The longest comment on the diff, its hidden mark included: of a longer one nobody reads the end."""

MOST_TITLE = 200
MOST_PROMPT = 700
MOST_CATEGORY = 60
MOST_LINK = 160

ROOM_FOR_NOTE = 100
"""What the sentence on what is left out takes, and the empty line before it."""

_ID = re.compile(FINDING_ID)


def inline_comments(
    findings: Iterable[Finding], links: RuleLinks = NO_LINKS, notes: Mapping[str, str] | None = None
) -> tuple[InlineComment, ...]:
    """A comment for each finding, in their order. Whether the forge takes it on its lines is not looked at here.

    ``notes`` say of findings, by their ids, what is known of their kind.
    """
    return tuple(_comment(each, links, (notes or {}).get(each.id, "")) for each in findings if _ID.fullmatch(each.id))


def review_body(document: OutcomeDocument, count: int, found: Iterable[Severity]) -> str:
    """The words above ``count`` comments. ``found`` are the findings that are open."""
    return (
        f"**{phrase(title_of(document, found))}**. {counted(count, 'comment')} on the diff; the summary says what next."
    )


def _comment(finding: Finding, links: RuleLinks, note: str) -> InlineComment:
    line, last = max(1, finding.line), max(1, finding.line, finding.end_line)
    return InlineComment(
        finding=finding.id,
        path=whole(finding.path),
        line=last,
        start_line=line if line < last else None,
        side="LEFT" if finding.removed else "RIGHT",
        body=finding_body(finding, links, note),
    )


def finding_body(finding: Finding, links: RuleLinks = NO_LINKS, note: str = "") -> str:
    """The whole comment on one finding, its mark first: at most 1,000 characters, and the problem before all else.

    Where there is no room, what was merged into the finding goes first, then the quote, then the end of its body, and
    the suggestion only where it is most of the comment. What is left out is named; the check's page has it. A prompt
    for a coding agent repeats the comment, so it stands there only where everything else does. So does ``note``, a
    sentence of ours on the finding's kind, before that prompt.
    """
    title = _within(lambda most: phrase(finding.title, most), MOST_TITLE, MOST_TITLE + 100)
    weight = f"{finding.severity.capitalize()}{finding.marks}"
    problem = f"{finding_marker(finding.id)}\n**{weight}: {title}**"
    foot = _foot(finding, links)
    rest = [("the suggestion", _suggestion(finding)), ("the quote", _evidence(finding))]
    rest += [("more remarks", block) for block in merged_remarks(finding)]
    every = (problem, prose(finding.body), *(text for _, text in rest))
    noted = _foot(finding, links, note) if note else foot
    for ends in dict.fromkeys(((_agent_prompt(finding), noted), (noted,), (foot,))):
        text = "\n\n".join(each for each in (*every, *ends) if each)
        if len(text) <= MOST_COMMENT:
            return text
    return _cut_to_fit(finding, problem, rest, foot)


def shows_suggestion(finding: Finding) -> bool:
    """Whether the comment on a finding has all that it suggests."""
    return _suggestion(finding) in finding_body(finding)


def _foot(finding: Finding, links: RuleLinks, note: str = "") -> str:
    """What every comment ends with. A link that would take half of the comment is left out."""
    dispute = code(f"{WORD} dismiss {finding.id} reason")
    category = _within(lambda most: phrase(finding.category, most), MOST_CATEGORY, 2 * MOST_CATEGORY)
    facts = f"{category}, confidence {finding.confidence:.2f}.{f' {note}' if note else ''}"
    rule = f" Team rule: {links.to(finding.rule)}." if finding.rule else ""
    hint = f"Wrong or accepted? Somebody with write permission, not the author, can post {dispute} in the conversation."
    return f"<sub>{facts}{rule if len(rule) <= MOST_LINK else ''} {hint}</sub>"


def _cut_to_fit(finding: Finding, problem: str, rest: Sequence[tuple[str, str]], foot: str) -> str:
    """The comment with as much as there is room for; of ``rest`` each piece is whole or not there at all."""
    room = MOST_COMMENT - len(problem) - len(foot) - 2 * len("\n\n") - ROOM_FOR_NOTE
    offered = len(rest[0][1]) + 2 * len("\n\n")
    free = room - offered if offered <= room // 2 else room
    body = _within(lambda most: prose(finding.body, most), min(len(finding.body), MOST_COMMENT), free)
    kept, missing = [body], {} if body == prose(finding.body) else {"the end of this text": None}
    room -= len(body) + len("\n\n")
    for name, text in rest:
        if text and (name in missing or len(text) + len("\n\n") > room):
            missing[name] = None
        elif text:
            kept.append(text)
            room -= len(text) + len("\n\n")
    where = "`outcome.json`" if finding.removed else "The check's page"
    note = f"*Not here: {', '.join(missing)}. {where} has it.*"
    return "\n\n".join(each for each in (problem, *kept, note, foot) if each)


def _within(render: Callable[[int], str], most: int, room: int) -> str:
    """What ``render`` makes of as many characters as leave it at most ``room`` long; nothing if that is none."""
    longest = bisect_right(range(most + 1), room, key=lambda count: len(render(count)) if count else 0) - 1
    while longest > 0 and len(render(longest)) > room:  # a cut at a line's end may make it longer again
        longest -= 1
    return render(longest) if longest > 0 else ""


def finding_words(finding: Finding, links: RuleLinks = NO_LINKS, note: str = "") -> str:
    """What is said of a finding that has no comment on the diff, without its title: nothing in it can be committed."""
    offered = _offered(finding) if finding.suggestion else ""
    rests = f"Team rule: {links.to(finding.rule)}." if finding.rule else ""
    return "\n\n".join(
        block for block in (prose(finding.body), rests, offered, *merged_remarks(finding), note) if block
    )


def _agent_prompt(finding: Finding) -> str:
    """A prompt that a coding agent can be given to fix the finding, folded."""
    last = f"-{finding.end_line}" if finding.end_line > finding.line else ""
    side = "removed line" if finding.removed else "line"
    prompt = (
        f"A review of this change reports for {side} {finding.line}{last} of {shown_path(finding.path)}:"
        f" {finding.title}\n{finding.body}\n"
        "Check first whether that is right. If it is, fix the cause with the smallest change, add a test that fails"
        " without it, and change nothing else."
    )
    return (
        f"<details><summary>Prompt for a coding agent</summary>\n\n{code_block(prompt, '', MOST_PROMPT)}\n\n</details>"
    )


def _evidence(finding: Finding) -> str:
    """The quote, where it is news: the comment stands on these lines, so mostly it is not."""
    if not finding.corrected:
        return ""
    return (
        f"It is about this quote ({phrase(finding.corrected, 200)}):\n\n{code_block(finding.evidence, '', MOST_QUOTED)}"
    )


def _suggestion(finding: Finding) -> str:
    if not finding.suggestion:
        return ""
    if may_be_committed(finding):
        return code_block(finding.suggestion, "suggestion", MOST_SUGGESTED)
    return _offered(finding)


def _offered(finding: Finding) -> str:
    return f"Suggested:\n\n{code_block(finding.suggestion or '', '', MOST_SUGGESTED)}"


def may_be_committed(finding: Finding) -> bool:
    """Whether one click may put the suggestion in the place of the finding's lines.

    Only if it is shown to the last character, and stands where the model put it: on new lines that needed no
    correction.
    """
    text = finding.suggestion
    if not text or finding.removed or finding.corrected:
        return False
    return len(text) <= MOST_SUGGESTED and is_exact(text)


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
    contested, opened = disputes(document)
    sections = (
        Section((f"### {heading_of(document, [each.severity for each in findings.values()])}",)),
        what_it_does(document),
        why(document),
        *with_next(contested, what_next(document, rules, is_open=bool(findings))),
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
    return _summary_comment(fitted(sections, _room(state, MOST_SUMMARY) - ROOM_FOR_WHAT_FOLLOWS), state)


def spent_so_far(rules: PublicationRules, state: State) -> Section:
    """What all reviews of the pull request have cost; nothing where that is not known."""
    if not state.spent_usd:
        return Section(())
    spent = f"{state.spent_usd:,.2f} USD so far on this pull request, of {rules.most_usd:,.2f}"
    estimate = f"; {state.estimated_usd:,.2f} of it is an estimate, for what reported no cost"
    return Section((f"{spent}{estimate if state.estimated_usd else ''}.",))


def summary_overtaken(body: str, state: State) -> str:
    """The comment after a review that a push has overtaken: as it stands, with another memory."""
    if body:
        return amended(body, state)
    return summary_did_not_run("A newer push has overtaken the review, and starts one of its own.", state)


def summary_did_not_run(reason: str, state: State | None) -> str:
    """The comment where no review took place; what was known before is kept."""
    summary = f"{phrase(reason)}\n\n**What next**: once that is settled, `{WORD} review` in a comment starts a review."
    sections = (Section((f"### {NOT_RUN_SIGN} The review did not run",)), Section((summary,)), _known(state))
    return _summary_comment(fitted(sections, _room(state, MOST_SUMMARY) - ROOM_FOR_WHAT_FOLLOWS), state)


def amended(body: str, state: State) -> str:
    """A summary after people did something about its review: ``state`` says what, and takes the old one's place.

    Whatever was done before stands once. Only where the forge takes no more do the review's own words give way, from
    their end on.
    """
    visible = without_state(body.removeprefix(SUMMARY)).strip("\n")
    _, marked, below = visible.partition(f"{REVIEWED}\n")
    own = below if marked else visible
    if own.startswith(_FOLDED):
        own = own.removeprefix(_FOLDED).removesuffix(_UNFOLDED)
    return _summary_comment(own, state)


def _summary_comment(own: str, state: State | None) -> str:
    """The marks, what people did since, the review's ``own`` words, and the memory."""
    block = state_block(state) if state is not None else ""
    above = _followed(state) if state is not None else ""
    folded = state is not None and bool(state.approved_by)
    around = size(above + REVIEWED + _FOLDED + _UNFOLDED) + len("\n\n")
    kept = cut(own, _room(state, MOST_CHARACTERS) - around) if above else own
    below = f"{_FOLDED}{kept}{_UNFOLDED}" if folded else kept
    text = f"{above}\n\n{REVIEWED}\n{below}" if above else below
    return "\n".join(each for each in (SUMMARY, text, f"\n{block}" if block else "") if each)


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
    found: dict[str, Finding | KnownFinding] = {each.id: each for each in ordered(document.findings)}
    found |= {each.id: each for each in worst_first(known.values()) if each.id not in found}
    every = sorted(found.items(), key=lambda each: SEVERITIES.index(each[1].severity))
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
    rows = (
        _with_notes(_listed_of(each, document), known.get(key), still_open=key in older and not all_older)
        for key, each in findings.items()
    )
    return finding_list(STILL_OPEN if all_older else "**Findings**:", rows, check_page(document))


def _crowded(postings: Sequence[Posting]) -> Section:
    """How many of the listed findings that block have no comment on the diff for now, and why."""
    if not postings:
        return Section(())
    subject = f"{counted(len(postings), 'finding')} that {'is' if len(postings) == 1 else 'are'} grave or block"
    return Section((f"*{subject} {'has' if len(postings) == 1 else 'have'} no comment yet: {postings[0].because}.*",))


def _forgotten(state: State) -> Section:
    """How many earlier findings the bot cannot remember any more."""
    if not state.forgotten:
        return Section(())
    subject = f"{counted(state.forgotten, 'earlier finding')} no longer fit into the bot's memory"
    return Section((f"*{subject}. The next review reads the whole change again.*",))


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
    counts = (("thread resolved", marks.resolved), ("thumbs up", marks.up), ("thumbs down", marks.down))
    return "".join(f", {mark}" for mark, holds in counts if holds)


def _dismissed_elsewhere(finding: KnownFinding | None) -> str:
    """Where a person dismissed the same lines, if nobody can tell that they meant these."""
    if finding is None or not finding.dismissed_under:
        return ""
    if finding.dismissed_under == finding.path:
        return ", dismissed before equal lines came or went in this file"
    return f", dismissed under {code(shown_path(finding.dismissed_under))}"


def _not_placed(findings: Sequence[Finding], links: RuleLinks, notes: Mapping[str, str]) -> Section:
    """The words of findings whose lines take no comment; their titles are in the list."""
    texts = ((each, finding_words(each, links, notes.get(each.id, ""))) for each in ordered(findings))
    blocks = tuple(f"{code(each.id)}\n\n{text}" for each, text in texts if text)
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
    counts = (f"{len(found)} {word}" for found, word in ((fixed, "fixed"), (dismissed, "dismissed")) if found)
    return details(f"Settled: {', '.join(counts)}", *lines, gives_way=Order.SETTLED, what="findings")
