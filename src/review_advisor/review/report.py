"""The report of a review for a person at a terminal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from review_advisor.agents.answers import ACTIONS, GRAVE, Guidance, MemberVote, own_words
from review_advisor.agents.calls import total_usage
from review_advisor.agents.committed_secrets import CommittedSecret, lines_of
from review_advisor.agents.evidence import CheckedReport
from review_advisor.agents.findings import Finding, merged_into, ordered
from review_advisor.agents.prompts import picture_words
from review_advisor.agents.transcript import Attempt
from review_advisor.change.change import WHOLE
from review_advisor.change.diff_text import shown_path
from review_advisor.change.kinds import language_of
from review_advisor.change.picture_pairs import PictureDifference
from review_advisor.change.shards import EXTENT_WORDS
from review_advisor.policy.exclusion import StaticReview
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Role, Surface
from review_advisor.review.agreement import Agreement, Raised
from review_advisor.review.document import (
    CouncilRecord,
    OutcomeDocument,
    PartRecord,
    RoleCost,
    SurfaceRecord,
    answer_notes,
    council_findings,
    council_records,
    executor_turns,
    who,
)
from review_advisor.review.ends import flipped
from review_advisor.review.escalation import Merged
from review_advisor.review.events import (
    AdviceOpen,
    Advised,
    BlindJudged,
    CallEnded,
    CallStarted,
    Consulted,
    Disposed,
    Escalated,
    Event,
    KnowledgeStored,
    MemberReviewed,
    Opined,
    PartEnded,
    Planned,
    PolicyFrozen,
    Recommended,
    Repaired,
    Reported,
    ReviewEnded,
    ReviewStopped,
    RoleSkipped,
    Ruled,
    StepEvent,
    SurfaceEnded,
    UnfoundedRejection,
    Verified,
    VoicesHeard,
    Voted,
)
from review_advisor.review.rulings import Move, Outcome
from review_advisor.review.votes import Ballot, Tally
from review_advisor.safety.markdown import shortened
from review_advisor.safety.stop import Usage
from review_advisor.safety.terminal import WIDTH, one_line, printable, wrapped
from review_advisor.safety.wording import and_unknown, counted, counted_findings, table

_MOST_SUGGESTED = 40


_MOST_SECRETS = 20


def findings_text(findings: tuple[Finding, ...], notes: Mapping[str, str] | None = None) -> str:
    """Every finding, the worst first, each with its quote and its suggestion.

    ``notes`` say of findings, by their ids, what is known of their kind.
    """
    if not findings:
        return "Findings: none"
    others = merged_into(findings)
    lines = [f"Findings: {len(findings)}{f' ({others} more merged into them)' if others else ''}"]
    for each in ordered(findings):
        where = f"{shown_path(each.path)}:{each.line}"
        lines.append(wrapped(f"  {each.severity:<8} {where}  ", each.title))
        lines += [wrapped("           ", body) for body in each.words.split("\n") if body.strip()]
        lines += [f"           > {printable(quote)[:WIDTH]}" for quote in each.evidence.split("\n")[:5] if quote]
        if each.rule:
            lines.append(wrapped("           by the team's rule ", shown_path(each.rule)))
        if each.suggestion:
            lines.append("           suggestion:")
            lines += [
                f"           | {printable(line)[:WIDTH]}" for line in each.suggestion.split("\n")[:_MOST_SUGGESTED]
            ]
        if each.corrected:
            lines.append(wrapped("           ", f"({each.corrected})"))
        facts = f"{each.category}, confidence {each.confidence:.2f}{each.marks}"
        facts += ", found by the harness" if each.harness else ""
        lines.append(wrapped("           ", f"[{each.id}, {facts}]"))
        if notes and each.id in notes:
            lines.append(wrapped("           ", notes[each.id]))
    return "\n".join(lines)


def refused_text(document: OutcomeDocument) -> str:
    """The grave findings of each part's last report that were refused, with the reason; empty without any."""
    last = [report for surface in document.surfaces for part in surface.parts for report in part.reports[-1:]]
    grave = list(dict.fromkeys(each for report in last for each in report.refused if each.severity in GRAVE))
    lines = [f"Not believed, and not disproved: {len(grave)}"]
    for each in grave:
        marks = ", raised by the advisor" if each.raised_by else ""
        lines.append(wrapped(f"  {each.severity:<8} {shown_path(each.path)}  ", f"{each.title} ({each.why}{marks})"))
    return "\n".join(lines) if grave else ""


def secrets_text(facts: Sequence[CommittedSecret]) -> str:
    """The secrets on added lines, which everybody is shown masked; empty without any."""
    lines = [f"Secrets on added lines, shown masked: {len(facts)}"]
    lines += [wrapped("  ", line) for line in lines_of(facts, _MOST_SECRETS)]
    return "\n".join(lines) if facts else ""


def pictures_text(pictures: tuple[PictureDifference, ...]) -> str:
    """What differs between pictures; empty without any."""
    lines = [f"Pictures: {len(pictures)}", *(wrapped("  ", picture_words(picture)) for picture in pictures)]
    return "\n".join(lines) if pictures else ""


def coverage_text(document: OutcomeDocument) -> str:
    """How much was read, and what was not or only in part."""
    gaps = [file for file in document.coverage if file.read != "read"]
    if not document.coverage:
        return ""
    number = len(document.coverage)
    anyway = document.policy.excluded.read_anyway
    read = f"{number - len(gaps)} of {counted(number, 'file')}"
    pictures = sum(file.picture and file.read == "read" for file in document.coverage)
    lines = [f"Read: {read}{f', {pictures} of them as pictures by visual_gate' if pictures else ''}"]
    lines += [wrapped("  ", f"{shown_path(file.path)} was {EXTENT_WORDS[file.read]}: {file.why}") for file in gaps]
    for file in document.policy.excluded.files:
        lines += [wrapped("    ", f"{shown_path(file.path)} changes {entry}") for entry in file.brings.entries]
    lines += [wrapped("  ", f"{each.path} was read although `exclude` matches it: {each.why}") for each in anyway]
    lines += [wrapped("  shortened in the prompts: ", words) for words in document.cut]
    lines += [wrapped("  in an answer: ", words) for words in answer_notes(document)]
    return "\n".join(lines)


NOT_STATED = "not stated"
"""Under the profile ``adr`` nobody asks the executor what became of advice. This blocks nothing."""


@dataclass(frozen=True, slots=True)
class AdviceEnd:
    """One consult, and the disposition of its advice."""

    index: int
    """The event's."""
    consulted: Consulted | None
    """None for a consult of the harness that was refused."""
    due: Escalated | None = None
    """Why the harness asked; None where the executor did."""
    merge: Recommended | None = None
    recommendation: str = ""
    """The advice's name within the attempt, empty without advice."""
    disposition: str | None = None
    """None for a consult without advice, and for advice to an executor whose report never came."""
    reason: str = ""


def advice_ends(events: Sequence[Event]) -> tuple[AdviceEnd, ...]:
    """Every consult of a review in order, with what became of its advice. The first event is the frozen policy."""
    first = events[0]
    under_profile = isinstance(first, PolicyFrozen) and first.policy.escalation.caps is not None
    return tuple(_ends(events, under_profile=under_profile))


def _ends(events: Sequence[Event], *, under_profile: bool) -> Iterator[AdviceEnd]:
    merges = {(each.place, each.recommendation): each for each in events if isinstance(each, Recommended)}
    became = {(each.place, each.recommendation): each for each in events if isinstance(each, Disposed)}
    last = {each.place: each.report for each in events if isinstance(each, Reported)}
    due: dict[object, Escalated] = {}
    given: Counter[object] = Counter()
    for index, event in enumerate(events):
        if isinstance(event, Escalated):
            due[event.place] = event
            if event.refused:
                yield AdviceEnd(index, None, event, reason=event.refused)
        elif isinstance(event, Consulted):
            why = due.get(event.place) if event.asked_by == "harness" else None
            guidance = event.note.guidance
            if guidance is None:
                yield AdviceEnd(index, event, why)
                continue
            given[event.place] += 1
            name = f"r{given[event.place]}"
            if not under_profile:
                yield AdviceEnd(index, event, why, None, name, *_derived(guidance, last.get(event.place)))
                continue
            end = became.get((event.place, name))
            ended = (end.disposition, end.reason) if end is not None else (None, "")
            yield AdviceEnd(index, event, why, merges.get((event.place, name)), name, *ended)


def _derived(guidance: Guidance, report: CheckedReport | None) -> tuple[str, str]:
    """The end of advice that nobody asked about: what the final report shows, or that it is not stated.

    An advisor within the executor's own call knows no id of a finding, so the report shows a verdict alone.
    """
    wanted = [each.verdict if each.does == "change_verdict" else None for each in guidance.changes]
    if report is not None and wanted and all(verdict == report.verdict for verdict in wanted):
        return "applied", "the report shows it"
    return NOT_STATED, ""


def findings_by_id(events: Iterable[Event]) -> dict[str, str]:
    """Title and place of every finding that an executor or its advisor named, also of one that was left out later."""
    found = (
        each.merged.brought if isinstance(each, Recommended) else each.report.findings
        for each in events
        if isinstance(each, Reported | Escalated | AdviceOpen | Recommended)
    )
    return {each.id: f"'{each.title}' at {each.path}:{each.line}" for findings in found for each in findings}


def merge_lines(merged: Merged, named: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The diff of a merge, what of the advice does not count, and the conflict, one line each.

    ``named`` is what ``findings_by_id`` found; without it a finding has its id.
    """
    known = named or {}
    return (
        *(f"{known.get(each.what, each.what)}: {each.before} -> {each.after}" for each in merged.diff),
        *(f"refused: {words}" for words in merged.refused),
        *([f"conflict: {merged.conflict}"] if merged.conflict else []),
    )


def advice_words(event: Escalated | Recommended | AdviceOpen | Disposed, named: Mapping[str, str] | None = None) -> str:
    """One line for a person who waits; ``named`` as for ``merge_lines``."""
    match event:
        case Escalated():
            why = ", ".join(reason.detail for reason in event.reasons)
            return f"a consult was refused: {event.refused}" if event.refused else f"the advisor is consulted: {why}"
        case Recommended():
            changes = "; ".join(merge_lines(event.merged, named)) or "no change of the report"
            return f"recommendation {event.recommendation}: {changes}"
        case AdviceOpen():
            return f"the executor is asked what became of {', '.join(event.recommendations)}"
        case Disposed():
            why = f" ({event.reason})" if event.reason else ""
            return f"recommendation {event.recommendation} is {event.disposition}{why}"


def advice_lines(events: Sequence[Event]) -> tuple[str, ...]:
    """Every merge and every end of a recommendation, in their order."""
    named = findings_by_id(events)
    return tuple(advice_words(each, named) for each in events if isinstance(each, Recommended | Disposed))


def consult_lines(end: AdviceEnd) -> Iterator[str]:
    """A consult in the report: question, advice, and what became of it where no event tells that."""
    if end.consulted is None:
        return
    note = end.consulted.note
    yield wrapped("  consult      asked: ", note.consult.question)
    if note.guidance is not None:
        stop = " (STOP)" if note.guidance.stops else ""
        yield wrapped(f"               advice{stop}: ", note.guidance.action)
    else:
        yield wrapped(f"               {note.status}: ", note.reason)
    if end.disposition == NOT_STATED:
        yield f"               what became of it: {end.disposition}"
    if note.tokens is not None:
        yield f"               used {note.tokens:,} tokens"


def blind_words(blind: BlindJudged) -> str:
    """The verdict with its reason, or why there is none."""
    if blind.report is None:
        return f"no verdict: {blind.missing}"
    report = blind.report
    found = counted_findings(len(report.findings), merged_into(report.findings), len(report.refused))
    return f"{blind.report.verdict}, {found}: {blind.report.summary}"


def lacks_blind(document: OutcomeDocument) -> bool:
    """Whether a verdict by the diff alone was due and did not come."""
    parts = (part for surface in document.surfaces for part in surface.parts)
    return any(part.blind is not None and part.blind.report is None for part in parts)


def flips(document: OutcomeDocument) -> Iterator[tuple[SurfaceRecord, PartRecord, str]]:
    """Every part whose verdict flipped, and in words how."""
    for surface in document.surfaces:
        for part in surface.parts:
            if part.blind is None or part.blind.report is None:
                continue
            for attempt, report in enumerate(part.reports):
                words = flipped(part.blind.report, report, attempt)
                if words is not None:
                    yield surface, part, words


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
    for name, finding, opinion in record.of_each:
        yield f"{name} on {_named(finding)}: {opinion}"


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


PATCH_FILE = "repair.patch"


def repair_words(event: Repaired) -> str:
    """What came of one attempt's edits, on one line."""
    if event.result == "refused":
        return "; ".join(
            each.why if each.path == WHOLE else f"{shown_path(each.path)}: {each.why}" for each in event.refused
        )
    if event.result == "withdrawn":
        return "the head is judged as it is"
    radius = "" if event.blast is None else f", blast radius {event.blast.radius.value}"
    return ", ".join(map(shown_path, event.files)) + radius


def no_repair_words(document: OutcomeDocument) -> str | None:
    """Why no vetoed approval was handed back for a repair; None where that did not happen."""
    decision = document.policy.repair
    handed_back = any(
        ruling.move is Move.RETRY and report.verdict == "approve"
        for surface in document.surfaces
        if SURFACE_DEFAULTS[surface.surface].repair
        for part in surface.parts
        for ruling, report in zip(part.rulings, part.reports, strict=False)
    )
    return f"repair was off: {', '.join(decision.because)}" if handed_back and not decision.runs else None


def offered_repair(document: OutcomeDocument) -> Iterator[str]:
    """The offered patch with how to use it; nothing without one. The lines are not yet safe to print."""
    if document.repair is None:
        return
    made = document.repair
    where = f"commit {made.head_sha}" if made.head_sha else "the staged changes"
    yield f"Repair: with this patch on {where}, and only with it, {made.surface.value} is approved"
    yield f"  (judged in attempt {made.attempt + 1}). Apply it with: git apply {PATCH_FILE}"
    yield from (f"    {line}" for line in made.patch.removesuffix("\n").split("\n"))


HEADLINES: dict[Outcome, str] = {
    Outcome.NOTHING_TO_REVIEW: "NOTHING TO REVIEW: the change is empty",
    Outcome.APPROVED: "APPROVED",
    Outcome.CHANGES_REQUESTED: "CHANGES REQUESTED",
    Outcome.ESCALATED: "ESCALATED TO A HUMAN",
    Outcome.STOPPED: "STOPPED: the review did not run to its end",
}


PASSED_STATIC_CHECKS = "NO OBJECTION"


_MOST_NAMED_FILES, _LONGEST_NAME = 2, 60


ConsultLines = dict[tuple[Surface, int, int], list[str]]
"""The lines of consults by surface, part and attempt."""


def verdict_words(document: OutcomeDocument) -> str:
    """The verdict alone. What no reviewer and no model has read is not called approved."""
    if document.outcome is Outcome.APPROVED and document.policy.static is not None:
        return PASSED_STATIC_CHECKS
    return HEADLINES[document.outcome]


def headline(document: OutcomeDocument) -> str:
    """The verdict in one line, with everything that must not be overlooked."""
    if document.outcome is Outcome.NOTHING_TO_REVIEW:
        return verdict_words(document)
    notes = []
    static = document.policy.static
    if static is not None:
        notes.append("static checks, no model")
    if static is not None and (unchecked := _unchecked(document, static)):
        notes.append("not checked: " + ", ".join(unchecked))
    if document.outcome is Outcome.APPROVED and document.exit_code:
        notes.append("A HUMAN MUST DECIDE: fail_on asks for a verified approval")
    if document.flags.recovered:
        notes.append("after a veto was answered")
    if document.flags.exhausted:
        notes.append("retries exhausted")
    if document.repair is not None:
        notes.append("a repair is attached")
    notes += _degraded(document)
    if document.flags.advisor_disabled and static is None:
        notes.append("ADVISOR SWITCHED OFF: " + ", ".join(document.flags.advisor_disabled))
    if unread := unread_words(document):
        notes.append(unread)
    tail = f" ({'; '.join(notes)})" if notes else ""
    return verdict_words(document) + tail


def _unchecked(document: OutcomeDocument, static: StaticReview) -> tuple[str, ...]:
    """What no rule read: languages, surfaces, and the languages of single files that a checker could not read."""
    gaps = (language_of(file.path) for file in document.coverage if file.read in ("unchecked", "waived"))
    return tuple(dict.fromkeys((*static.unchecked, *(language for language in gaps if language is not None))))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def unread_words(document: OutcomeDocument) -> str:
    """The files that the configuration leaves unread although they are no lock files; empty without any."""
    runs = document.policy.excluded.runs
    named = ", ".join(_short(printable(path)) for path in runs[:_MOST_NAMED_FILES])
    more = f" and {len(runs) - _MOST_NAMED_FILES} more" if len(runs) > _MOST_NAMED_FILES else ""
    return f"not read by configuration: {named}{more}" if runs else ""


def unverified_words(document: OutcomeDocument) -> str:
    """Whose judgement a degraded review lacks: that of the missing members of a council, or the advisor's."""
    places = [
        (surface.surface, part.shard)
        for surface in document.surfaces
        for part in surface.parts
        if part.ended and part.ended.degraded
    ]
    if not places:
        return ""
    last = {(each.surface, each.shard): each.counted.missing for each in council_records(document.events)}
    missing = tuple(dict.fromkeys(name for place in places for name in last.get(place, ())))
    if not all(map(last.get, places)):
        return "not verified by the advisor"
    more = f" and {len(missing) - _MOST_NAMED_FILES} more" if len(missing) > _MOST_NAMED_FILES else ""
    return f"not verified by {', '.join(map(printable, missing[:_MOST_NAMED_FILES]))}{more}"


def _degraded(document: OutcomeDocument) -> Iterator[str]:
    if unverified := unverified_words(document):
        yield f"DEGRADED: {unverified}"
    if lacks_blind(document):
        yield "DEGRADED: not judged by the diff alone"


def report_text(document: OutcomeDocument, notes: Mapping[str, str] | None = None) -> str:
    """The whole report, plain text, at most about a hundred columns: what was found, then how it came about.

    ``notes`` say of findings, by their ids, what is known of their kind.
    """
    blocks = [_opening(document), findings_text(document.findings, notes), secrets_text(document.secrets)]
    blocks += [pictures_text(document.pictures)]
    blocks.append("\n".join(map(printable, offered_repair(document))))
    consults = _consults(document)
    blocks += [_surface_text(surface, consults) for surface in document.surfaces]
    advice = advice_lines(document.events)
    blocks += ["\n".join(["Advice", *(wrapped("  ", line) for line in advice)]) if advice else ""]
    blocks += [*council_texts(document.events), coverage_text(document), _cost_text(document)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _opening(document: OutcomeDocument) -> str:
    policy = document.policy
    lines = [headline(document)]
    lines += [wrapped("  because ", reason) for reason in document.because]
    lines.append(wrapped(f"  {document.label}  ", document.title))
    files = counted(len(document.coverage), "file")
    size = f"{files}, {counted(policy.code_lines, 'changed line')} of code"
    lines.append(f"  {size}, blast radius {policy.blast.radius.value}")
    lines += [wrapped("    ", reason) for reason in _first(policy.blast.because, 3)]
    if document.rules_ref != document.base_ref and document.rules_ref is not None:
        lines.append(
            printable(f"  configuration: that of {document.rules_ref}, which does not name {document.base_ref}")
        )
    lines += [wrapped("  team rules: ", each.words) for each in document.guidelines]
    lines += [wrapped("  blind spot: ", each) for each in policy.roster.blind_spots]
    if no_repair := no_repair_words(document):
        lines.append(f"  {no_repair}")
    if policy.guard.holds:
        lines.append("  self-modification guard holds: veto authority on every surface")
    if document.flags.lost:
        lines.append("  answers lost or refused: " + ", ".join(document.flags.lost))
    return "\n".join(lines)


def _first(items: tuple[str, ...], count: int) -> list[str]:
    lines = list(items[:count])
    if len(items) > count:
        lines.append(f"and {len(items) - count} more")
    return lines


def _consults(document: OutcomeDocument) -> ConsultLines:
    found: ConsultLines = defaultdict(list)
    for end in advice_ends(document.events):
        if end.consulted is not None:
            found[end.consulted.surface, end.consulted.shard, end.consulted.attempt] += consult_lines(end)
    return found


def _surface_text(surface: SurfaceRecord, consults: ConsultLines) -> str:
    skipped = any(skip.role is Role.EXECUTOR for skip in surface.skipped)
    ended = surface.outcome.value if surface.outcome else "did not run" if skipped else "not finished"
    lines = [f"{surface.surface.value}: {ended}"]
    lines += [
        wrapped("  ", f"{skip.role.value} did not run: {', '.join(skip.because)}")
        for skip in {skip.role: skip for skip in surface.skipped}.values()
    ]
    if surface.plan is not None:
        lines.append(wrapped("  pre-flight   ", surface.plan.risk_summary))
        lines += [wrapped("               look at ", area.description) for area in surface.plan.focus_areas]
    for part in surface.parts:
        if len(surface.parts) > 1:
            lines.append(f"  part {part.shard + 1}")
        if part.blind is not None:
            lines.append(wrapped("  diff alone   ", blind_words(part.blind)))
        lines += _part_lines(surface.surface, part, consults)
    for each in surface.stored:
        missing = f" (not in the repository: {each.not_in_repository})" if each.not_in_repository else ""
        lines.append(wrapped("  stored       ", f"{each.name}: {each.title}{missing}"))
    return "\n".join(lines)


def _part_lines(surface: Surface, part: PartRecord, consults: ConsultLines) -> Iterator[str]:
    for number, report in enumerate(part.reports):
        before = (each.report for each in part.unfounded if each.attempt == number and each.report != report)
        for each in (*before, report):
            yield from _report_lines(each)
        for repaired in part.repairs:
            if repaired.attempt == number:
                yield wrapped("  repair       ", f"{repaired.result}: {repair_words(repaired)}")
        yield from consults.get((surface, part.shard, number), ())
        yield from _judged_lines(part, number)
    yield from consults.get((surface, part.shard, len(part.reports)), ())  # of an attempt that brought no report
    if part.ended is not None and len(part.rulings) < max(1, len(part.reports)):
        yield wrapped("  ended        ", f"{part.ended.outcome.value}: {part.ended.because}")


def _judged_lines(part: PartRecord, number: int) -> Iterator[str]:
    for attempt in part.post_verify:
        if attempt.number == number:
            yield from _verdict_lines(attempt)
    if number < len(part.rulings):
        ruling = part.rulings[number]
        yield wrapped("  ruling       ", f"{ruling.move.value}: {ruling.because}")


def _report_lines(report: CheckedReport) -> Iterator[str]:
    found = counted_findings(len(report.findings), merged_into(report.findings), len(report.refused))
    yield wrapped("  executor     ", f"{report.verdict}, {found}, confidence {report.confidence:.2f}: {report.summary}")
    for refused in report.refused:
        words = f"{refused.title} ({refused.path}): {refused.why} ({refused.severity})"
        yield wrapped("               refused: ", words)
    for citation in report.uncited:
        yield wrapped("               cites no rule that was given: ", citation)
    for dropped in report.dropped:
        yield wrapped("               not kept: ", f"{dropped.title}: {dropped.why}")
    for answer in report.answers:
        settled = "with evidence" if answer.disagreement in report.settled else "without evidence"
        yield wrapped(
            "               answers ", f"{answer.disagreement}, {answer.position}, {settled}: {answer.evidence}"
        )


def _verdict_lines(attempt: Attempt) -> Iterator[str]:
    yield wrapped("  post-verify  ", f"{attempt.result.verdict}: {attempt.result.reasoning}")
    for identity, each in attempt.disagreements:
        yield wrapped(f"               {identity} {each.severity}: ", each.advisor_assessment)
    if attempt.result.suggested_fix_direction:
        yield wrapped("               direction: ", attempt.result.suggested_fix_direction)


def _cost_text(document: OutcomeDocument) -> str:
    calls = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "refused"]
    if not calls:
        return "Calls: none"
    consults = sum(isinstance(event, Consulted) and event.note.asked for event in document.events)
    within = f", with {counted(consults, 'consult')} inside them" if consults else ""
    took = executor_turns(calls)
    turns = f"; executor: {counted(took.turns, 'turn')} in {counted(took.calls, 'call')}" if took.calls else ""
    lines = [f"Calls: {len(calls)}{within}{turns}"]
    for row in document.cost:
        times = counted(row.calls, _what(row))
        lines.append(f"  {row.role.value:<12} {printable(row.model):<24} {times:<11} {_row_text(row)}")
    total = total_usage(row.usage for row in document.cost)
    lines.append(f"  {'total':<49} {_usage_text(total, document.unpriced)}")
    return "\n".join(lines)


def _what(row: RoleCost) -> str:
    return "consult" if row.role is Role.MID_FLIGHT else "call"


def _row_text(row: RoleCost) -> str:
    """Money that is known only for the executor and its consults together stands with the executor."""
    usage = _usage_text(row.usage, row.unpriced, _what(row))
    if not row.shared:
        return usage
    if row.role is not Role.MID_FLIGHT:
        return f"{usage}, consults included"
    if row.usage == Usage():
        return "counted with the executor"
    if row.usage.cost_usd is None:
        return f"{_tokens_text(row.usage)}  cost counted with the executor{and_unknown(row.unpriced, 'consult')}"
    return f"{usage}, and the rest counted with the executor"


def _usage_text(usage: Usage, unpriced: int, what: str = "call") -> str:
    cost = "cost not reported" if usage.cost_usd is None else f"${usage.cost_usd:.4f}{and_unknown(unpriced, what)}"
    return f"{_tokens_text(usage)}  {cost}"


def _tokens_text(usage: Usage) -> str:
    """What was paid in full, read from the cache, put into it, and written as an answer: four prices."""
    cache = f"{usage.cache_read_tokens:>9,} cache read {usage.cache_write_tokens:>9,} cache written"
    return f"{usage.input_tokens:>9,} in {cache} {usage.output_tokens:>7,} out"


def disagreement_transcript(document: OutcomeDocument) -> str | None:
    """For the human who is called: every vetoed attempt of the escalated parts, as Markdown; None without any."""
    sections: list[str] = []
    for surface in document.surfaces:
        for part in surface.parts:
            if part.ended is None or part.ended.outcome is not Outcome.ESCALATED:
                continue
            sections.append(f"## {surface.surface.value}, part {part.shard + 1}: {one_line(part.ended.because)}")
            sections += _attempts_markdown(part)
    if not sections:
        return None
    return "\n\n".join(["# Disagreement transcript", *sections]) + "\n"


def last_vetoes(document: OutcomeDocument) -> tuple[str, ...]:
    """Why the parts that a veto has escalated did: of each the last veto's reasoning, then each point that it made.

    One text each, as the judge wrote it: whoever prints it makes it safe.
    """
    last = [
        part.post_verify[-1]
        for surface in document.surfaces
        for part in surface.parts
        if part.ended is not None and part.ended.outcome is Outcome.ESCALATED and part.post_verify
    ]
    return tuple(words for each in last if each.result.verdict == "VETO" for words in _points(each))


def _points(attempt: Attempt) -> Iterator[str]:
    yield f"the advisor's last veto: {attempt.result.reasoning or 'it gives no reason'}"
    yield from (f"{each.severity}: {each.advisor_assessment}" for _, each in attempt.disagreements)
    if attempt.result.suggested_fix_direction:
        yield f"direction: {attempt.result.suggested_fix_direction}"


def _attempts_markdown(part: PartRecord) -> Iterator[str]:
    if part.blind is not None:
        yield f"### By the diff alone\n\n{_quoted(blind_words(part.blind))}"
    for number, report in enumerate(part.reports):
        for each in part.unfounded:
            if each.attempt == number and each.report != report:
                yield f"### Attempt {number + 1}: the executor says reject, but {each.report.unfounded}"
                yield _quoted(each.report.summary)
        yield f"### Attempt {number + 1}: the executor says {report.verdict}\n\n{_quoted(report.summary)}"
        for repaired in part.repairs:
            if repaired.attempt == number:
                yield f"Its repair was {repaired.result}:\n\n{_quoted(repair_words(repaired))}"
        for attempt in part.post_verify:
            if attempt.number == number:
                yield f"Post-verify says {attempt.result.verdict}:\n\n{_quoted(attempt.result.reasoning)}"
                yield from _disagreements_markdown(attempt)
    for note in part.consults:
        answer = note.guidance.action if note.guidance else note.reason
        yield f"Consult, {note.status}:\n\n{_quoted(note.consult.question)}\n\n{_quoted(answer)}"


def _disagreements_markdown(attempt: Attempt) -> Iterable[str]:
    for identity, each in attempt.disagreements:
        yield (
            f"- {identity}, {each.severity}\n"
            f"  - claim: {one_line(each.executor_claim)}\n  - assessment: {one_line(each.advisor_assessment)}"
        )
    if attempt.result.suggested_fix_direction:
        yield f"Suggested direction:\n\n{_quoted(attempt.result.suggested_fix_direction)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in printable(text).split("\n"))


def terminal_report(document: OutcomeDocument, *, explain: bool, notes: Mapping[str, str] | None = None) -> str:
    """The verdict, the findings and what was not read. ``explain``: the whole report, as ``report.txt`` has it.

    ``notes`` say of findings, by their ids, what is known of their kind: the one thing that ``report.txt`` lacks.
    """
    if explain:
        return report_text(document, notes)
    if document.outcome is Outcome.NOTHING_TO_REVIEW:
        return headline(document) + "\n"
    blocks = [_report_opening(document)]
    if document.findings or document.outcome is not Outcome.STOPPED:
        blocks.append(findings_text(document.findings, notes))
    blocks += [
        refused_text(document),
        secrets_text(document.secrets),
        pictures_text(document.pictures),
        "\n".join(map(printable, offered_repair(document))),
    ]
    if any(file.read != "read" for file in document.coverage) or document.cut:
        blocks.append(coverage_text(document))
    blocks.append(_closing(document))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _report_opening(document: OutcomeDocument) -> str:
    lines = [headline(document)]
    is_telling = document.policy.static is None or document.outcome is not Outcome.CHANGES_REQUESTED
    if document.outcome is not Outcome.APPROVED and is_telling:
        lines += [wrapped("  because ", reason) for reason in document.because]
        lines += [wrapped("    ", words) for words in last_vetoes(document)]
    if document.flags.lost:
        lines.append("  answers lost or refused: " + ", ".join(document.flags.lost))
    return "\n".join(lines)


def _closing(document: OutcomeDocument) -> str:
    calls = sum(isinstance(event, CallEnded) and event.ended != "refused" for event in document.events)
    usage = total_usage(row.usage for row in document.cost)
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.2f}{and_unknown(document.unpriced)}"
    files = counted(len(document.coverage), "file")
    radius = document.policy.blast.radius.value
    return f"{files}, blast radius {radius}, {counted(calls, 'call')}, {cost}. How the verdict came about: --explain."


def progress_line(event: Event, *, embedded: bool = False) -> str | None:
    """One line for a person who waits, or None for an event that says nothing new to them.

    ``embedded``: the embedded agent answers, and no model is asked.
    """
    match event:
        case PolicyFrozen():
            surfaces = ", ".join(row.surface.value for row in event.policy.surfaces)
            files = counted(len(event.files), "file")
            return f"{files}, blast radius {event.policy.blast.radius.value}; surfaces: {surfaces}"
        case SurfaceEnded():
            return f"{event.surface.value}: {event.outcome.value}"
        case ReviewStopped():
            return one_line(f"stopped: {event.detail}")
        case ReviewEnded():
            return None
        case _:
            line = _step_line(event, embedded=embedded)
            return None if line is None else one_line(f"{event.surface.value}: {line}")


def _step_line(event: StepEvent, *, embedded: bool) -> str | None:
    match event:
        case RoleSkipped():
            return f"{event.role.value} does not run: {', '.join(event.because)}"
        case CallStarted():
            return f"{_role_words(event)} ({'embedded agent' if embedded else event.requested_model}) ..."
        case CallEnded():
            took = "in an earlier run" if event.kept else f"in {event.duration_seconds:.1f} s"
            return f"{_role_words(event)} {event.ended}{f': {event.detail}' if event.detail else f' {took}'}"
        case Ruled():
            return f"{event.ruling.move.value}: {event.ruling.because}"
        case Consulted() | Opined() | Voted() | VoicesHeard() | MemberReviewed():
            return _advisor_words(event)
        case Verified() | BlindJudged() | UnfoundedRejection() | Repaired():
            return _verdict_words(event)
        case Escalated() | Recommended() | AdviceOpen() | Disposed():
            return advice_words(event)
        case Planned() | Reported() | PartEnded() | KnowledgeStored():
            return None
        case _:
            assert_never(event)


def _advisor_words(event: Consulted | Opined | MemberReviewed | Voted | VoicesHeard) -> str:
    match event:
        case Consulted():
            return f"consult {event.note.status}: {event.note.consult.question}"
        case Opined():
            missing = f" (says nothing of {', '.join(event.missing)})" if event.missing else ""
            return f"{event.advisor}: {event.opinion.opinion}{missing}"
        case VoicesHeard():
            return f"advice of {', '.join(each.advisor for each in event.voices)}"
        case MemberReviewed():
            return f"{event.advisor} by itself: {event.report.verdict}"
        case Voted():
            return f"{event.advisor} votes {vote_words(event.vote)}"


def _verdict_words(event: Verified | BlindJudged | UnfoundedRejection | Repaired) -> str:
    if isinstance(event, Repaired):
        return f"repair {event.result}: {repair_words(event)}"
    if isinstance(event, UnfoundedRejection):
        return f"executor rejects, but {event.report.unfounded}: asked once more"
    if isinstance(event, Verified):
        return f"post_verify says {event.judged.result.verdict}"
    return f"by the diff alone: {event.report.verdict if event.report else 'no verdict'}"


def _role_words(event: CallStarted | CallEnded) -> str:
    words = who(event) + (", diff alone" if event.blind else "")
    if event.attempt:
        words += f", attempt {event.attempt + 1}"
    return words + (f", part {event.shard + 1}" if event.shard else "")
