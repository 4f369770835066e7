"""The parts of a review's account that check page, summary comment and job summary share, as safe Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from review_advisor.core.facts.diff_text import shown_path
from review_advisor.core.outcome.document import OutcomeDocument, PartRecord, SurfaceRecord, total_usage
from review_advisor.core.outcome.events import CallEnded, ReviewStopped
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.repair_text import PATCH_FILE
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.publication.commands import WORD
from review_advisor.core.publication.fitting import Order, Section
from review_advisor.core.publication.markdown import code, code_block, phrase, prose, quote
from review_advisor.core.roles.answers import Severity
from review_advisor.core.roles.evidence import Finding
from review_advisor.core.roles.pictures import picture_words

MOST_REASONS = 10
MOST_NAMED_FILES = 30
MOST_QUOTED_REPORTS = 3
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by place."""
    return tuple(sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), each.path, each.line, each.id)))


def why(document: OutcomeDocument) -> Section:
    """How much was at stake, the reasons of the outcome, and what the executor said where they arose."""
    policy = document.policy
    stake = (
        f"{counted(len(document.coverage), 'file')}, {counted(policy.code_lines, 'changed line')} of code, blast radius"
        f" {policy.blast.radius.value}."
    )
    if policy.guard.holds:
        stake += " The change touches the bot itself: a veto counts on every surface."
    if document.flags.lost:
        stake += f" Answers that did not come: {', '.join(map(code, document.flags.lost[:MOST_REASONS]))}."
    reasons = [f"- {phrase(each)}" for each in (*document.because[:MOST_REASONS], *_resumes(document))]
    if len(document.because) > MOST_REASONS:
        reasons.append(f"- and {len(document.because) - MOST_REASONS} more reasons")
    words = [
        f"\nThe executor's words:\n\n{quote(prose(each, 1_000))}"
        for each in _executors_words(document)[:MOST_QUOTED_REPORTS]
    ]
    return Section((stake, "", *reasons, *words), gives_way=Order.WHY, what="reasons")


def _resumes(document: OutcomeDocument) -> list[str]:
    ends = [event.resume_at for event in document.events if isinstance(event, ReviewStopped)]
    return [f"there is credit again from {at:%Y-%m-%d %H:%M} UTC" for at in ends if at is not None]


def _executors_words(document: OutcomeDocument) -> list[str]:
    """The last report's summary of each part that ended as the whole review did."""
    said = [
        part.reports[-1].summary
        for surface in document.surfaces
        for part in surface.parts
        if part.reports and part.ended is not None and part.ended.outcome is document.outcome
    ]
    return list(dict.fromkeys(said))


def counted(number: int, what: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def surfaces(document: OutcomeDocument) -> Section:
    """What was decided on each surface: a table of our own words only, then the reasons."""
    rows = tuple(
        f"| {each.surface.value} | {_ended(each)} | {_judged(each)} | {_attempts(each)} |" for each in document.surfaces
    )
    reasons = tuple(
        f"- {each.surface.value}: {phrase('; '.join(each.because))}"
        for each in document.surfaces
        if each.because and each.because != document.because
    )
    head = "| surface | verdict | post-verify | attempts |\n| --- | --- | --- | --- |"
    table = "\n".join((head, *rows))
    blocks = (table, "", *reasons) if reasons else (table,)
    return Section(blocks if rows else (), gives_way=Order.SURFACES, what="reasons")


def _ended(surface: SurfaceRecord) -> str:
    if surface.outcome is not None:
        return surface.outcome.value.replace("_", " ")
    return "did not run" if any(each.role is Role.EXECUTOR for each in surface.skipped) else "not finished"


def _judged(surface: SurfaceRecord) -> str:
    off = any(each.role is Role.POST_VERIFY and each.disabled_by for each in surface.skipped)
    said = Counter(_part_judged(part, off=off) for part in surface.parts)
    return ", ".join(word if len(surface.parts) == 1 else f"{word} ({n})" for word, n in said.items()) or "not asked"


def _part_judged(part: PartRecord, *, off: bool) -> str:
    if part.ended is not None and part.ended.degraded:
        return "did not come"
    if part.post_verify:
        return part.post_verify[-1].result.verdict
    return "switched off" if off else "not asked"


def _attempts(surface: SurfaceRecord) -> str:
    return str(max((len(part.reports) for part in surface.parts), default=0))


def finding_line(finding: Finding) -> str:
    """A finding as a list item."""
    where = f"{shown_path(finding.path)}:{finding.line}"
    removed = " (a removed line)" if finding.removed else ""
    return f"- **{finding.severity}** {code(where)}{removed}: {phrase(finding.title, 200)} ({code(finding.id)})"


def coverage(document: OutcomeDocument) -> Section:
    """What was read, and by name what was not."""
    if not document.coverage:
        return Section(())
    gaps = [file for file in document.coverage if file.read != "read"]
    total = len(document.coverage)
    lines = [f"**Read**: {total - len(gaps):,} of {counted(total, 'file')}."]
    lines += [
        f"- {code(shown_path(file.path))} was {'read in part' if file.read == 'partly' else 'not read'}:"
        f" {phrase(file.why, 200)}"
        for file in gaps[:MOST_NAMED_FILES]
    ]
    if len(gaps) > MOST_NAMED_FILES:
        lines.append(f"- and {counted(len(gaps) - MOST_NAMED_FILES, 'more file')}; outcome.json names them all")
    lines += [f"- Shortened in the prompts: {phrase(words, 200)}" for words in document.cut[:MOST_NAMED_FILES]]
    return Section(
        (lines[0], "", *lines[1:]) if lines[1:] else (lines[0],), gives_way=Order.COVERAGE, what="lines on files"
    )


def pictures(document: OutcomeDocument) -> Section:
    """The pairs of pictures that were compared."""
    lines = tuple(f"- {phrase(picture_words(each))}" for each in document.pictures)
    return Section(lines, f"**Pictures**: {len(lines)}", gives_way=Order.PICTURES, what="pictures")


def cost(document: OutcomeDocument) -> Section:
    """Calls, tokens and money, in one line."""
    made = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "refused"]
    if not made:
        return Section(("**Cost**: no model was asked.",))
    total = total_usage(row.usage for row in document.cost)
    cached = total.cache_read_tokens + total.cache_write_tokens
    money = "cost not reported" if total.cost_usd is None else f"{total.cost_usd:,.4f} USD"
    tokens = f"{total.input_tokens:,} tokens in, {cached:,} cached, {total.output_tokens:,} out"
    seconds = max(0.0, (document.ended_at - document.started_at).total_seconds())
    models = ", ".join(dict.fromkeys(f"{row.role.value} {code(row.model, 80)}" for row in document.cost[:12]))
    return Section((f"**Cost**: {money}; {counted(len(made), 'call')}, {tokens}; {seconds:,.0f} s. {models}.",))


def notes_on(notes: Sequence[str]) -> Section:
    """What could not be done, and other words of the one who publishes."""
    lines = tuple(f"- {phrase(note)}" for note in notes)
    return Section(lines, "**Notes**", gives_way=Order.NOTES, what="notes")


def repair(document: OutcomeDocument) -> Section:
    """The attached repair; without one there is no section."""
    if document.repair is None:
        return Section(())
    made = document.repair
    words = (
        f"With this patch, and only with it, {made.surface.value} is approved (attempt {made.attempt + 1})."
        f" It is the artefact {code(PATCH_FILE)} of the run; `git apply` takes it on the reviewed head."
    )
    return Section(
        (f"{words}\n", code_block(made.patch, "diff", 12_000)), "**Repair**", gives_way=Order.REPAIR, what="patches"
    )


def what_to_do(document: OutcomeDocument) -> Section:
    """The commands that help with this outcome."""
    lines = [f"- `{WORD} review`: review this head again."]
    if document.findings:
        lines.insert(0, f"- `{WORD} dismiss FINDING reason`: a finding is wrong or accepted. It is not raised again.")
    if document.outcome is Outcome.ESCALATED and document.head_sha:
        approve = code(f"{WORD} approve-escalation {document.head_sha} reason")
        lines.insert(0, f"- {approve}: approve this head yourself. Needs write permission; a new push takes it back.")
    return Section(tuple(lines), "**What you can do**, in a comment on the pull request:")


def signature(document: OutcomeDocument) -> Section:
    """Which run this is, and of which head."""
    head = code(document.head_sha) if document.head_sha else "no commit"
    return Section((f"Run {code(document.run_id, 80)}, head {head}.",))
