"""The report of a review, as a person reads it: the verdict first, then who said what, and what it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from review_advisor.core.answers.evidence import CheckedReport
from review_advisor.core.answers.findings import merged_into
from review_advisor.core.facts.files.languages import language_of
from review_advisor.core.outcome.cost import RoleCost, executor_turns, total_usage
from review_advisor.core.outcome.council_records import council_records
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded, Consulted
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.questions import efforts
from review_advisor.core.outcome.surface_records import PartRecord, SurfaceRecord
from review_advisor.core.policy.static_review import StaticReview
from review_advisor.core.policy.surfaces import Role, Surface
from review_advisor.core.report.advice_ends import advice_ends
from review_advisor.core.report.advice_text import advice_lines, consult_lines
from review_advisor.core.report.blind_text import blind_words, lacks_blind
from review_advisor.core.report.council_text import council_texts, refuter_text
from review_advisor.core.report.found_text import coverage_text, findings_text, pictures_text, secrets_text
from review_advisor.core.report.repair_text import no_repair_words, offered_repair, repair_words
from review_advisor.core.report.shadow_text import shadow_words
from review_advisor.core.report.wording import and_unknown, counted, counted_findings, effort_words
from review_advisor.core.roles.calls import Usage
from review_advisor.core.roles.transcript import Attempt
from review_advisor.core.safety.terminal import printable, wrapped

HEADLINES: dict[Outcome, str] = {
    Outcome.NOTHING_TO_REVIEW: "NOTHING TO REVIEW: the change is empty",
    Outcome.APPROVED: "APPROVED",
    Outcome.CHANGES_REQUESTED: "CHANGES REQUESTED",
    Outcome.ESCALATED: "ESCALATED TO A HUMAN",
    Outcome.STOPPED: "STOPPED: the review did not run to its end",
}
PASSED_STATIC_CHECKS = "NO OBJECTION"
_MOST_NAMED, _LONGEST_NAME = 2, 60

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
    named = ", ".join(_short(printable(path)) for path in runs[:_MOST_NAMED])
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
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
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return f"not verified by {', '.join(map(printable, missing[:_MOST_NAMED]))}{more}"


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
    blocks += [refuter_text(document), "\n".join(map(printable, offered_repair(document)))]
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
    shown = list(items[:count])
    if len(items) > count:
        shown.append(f"and {len(items) - count} more")
    return shown


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
        for said in (*before, report):
            yield from _report_lines(said)
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
    asked = f", with {counted(consults, 'consult')} inside them" if consults else ""
    lines = [f"Calls: {len(calls)}{asked}{_turns_text(calls)}"]
    for row in document.cost:
        times = counted(row.calls, _what(row))
        lines.append(f"  {row.role.value:<12} {printable(row.model):<24} {times:<11} {_row_text(row)}")
    total = total_usage(row.usage for row in document.cost)
    lines.append(f"  {'total':<49} {_usage_text(total, document.unpriced)}")
    if effort := effort_words(efforts(document.events)):
        lines.append(f"  effort, as configured: {effort}")
    if in_shadow := shadow_words(document.shadows):
        lines.append(f"  in shadow, without effect: {in_shadow}")
    return "\n".join(lines)


def _turns_text(calls: Iterable[CallEnded]) -> str:
    took = executor_turns(calls)
    return f"; executor: {counted(took.turns, 'turn')} in {counted(took.calls, 'call')}" if took.calls else ""


def _what(row: RoleCost) -> str:
    return "consult" if row.role is Role.MID_FLIGHT else "call"


def _row_text(row: RoleCost) -> str:
    """Money that is known only for the executor and its consults together stands with the executor."""
    told = _usage_text(row.usage, row.unpriced, _what(row))
    if not row.shared:
        return told
    if row.role is not Role.MID_FLIGHT:
        return f"{told}, consults included"
    if row.usage == Usage():
        return "counted with the executor"
    if row.usage.cost_usd is None:
        return f"{_tokens_text(row.usage)}  cost counted with the executor{and_unknown(row.unpriced, 'consult')}"
    return f"{told}, and the rest counted with the executor"


def _usage_text(usage: Usage, unpriced: int, what: str = "call") -> str:
    cost = "cost not reported" if usage.cost_usd is None else f"${usage.cost_usd:.4f}{and_unknown(unpriced, what)}"
    return f"{_tokens_text(usage)}  {cost}"


def _tokens_text(usage: Usage) -> str:
    """What was paid in full, read from the cache, put into it, and written as an answer: four prices."""
    cache = f"{usage.cache_read_tokens:>9,} cache read {usage.cache_write_tokens:>9,} cache written"
    return f"{usage.input_tokens:>9,} in {cache} {usage.output_tokens:>7,} out"
