"""The parts of a review's account that check page, summary comment and job summary share, as safe Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from review_advisor.core.answers.answers import SEVERITIES
from review_advisor.core.answers.committed_secrets import lines_of
from review_advisor.core.answers.findings import Finding, MergedRemark, RefusedFinding
from review_advisor.core.facts.guidelines import GuidelineFact
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.facts.shards import EXTENT_WORDS
from review_advisor.core.forge_text.fitting import Order, Section, details
from review_advisor.core.forge_text.page_links import RuleLinks, rule_links, run_link
from review_advisor.core.outcome.cost import total_usage
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.outcome.events import CallEnded
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.outcome.questions import efforts
from review_advisor.core.outcome.surface_records import PartRecord, SurfaceRecord
from review_advisor.core.policy.surfaces import Role
from review_advisor.core.report.repair_text import PATCH_FILE
from review_advisor.core.report.wording import and_unknown, counted, effort_words
from review_advisor.core.roles.picture_prompt import picture_words
from review_advisor.core.safety.markdown import code, code_block, phrase, prose, quote

MOST_REASONS = 10
MOST_NAMED_FILES = 30
MOST_NAMED_RULES = 20
MOST_NAMED_ENTRIES = 30
MOST_PATCH = 12_000
MOST_MERGED = 10
"""So many remarks that were merged into one finding are named in its comment."""
MOST_MERGED_BODIES = 3
MOST_MERGED_WORDS = 1_000


def whose_rules(document: OutcomeDocument) -> Section:
    """Whose configuration held, where that is not the base branch's own."""
    if document.rules_ref is None or document.rules_ref == document.base_ref:
        return Section(())
    base, held = code(document.base_ref or ""), code(document.rules_ref)
    return Section((f"**Configuration**: that of {held}. Its `github.trusted_bases` does not name {base}.",))


def team_rules(document: OutcomeDocument) -> Section:
    """Which rules of the team's own applied, and which could not; nothing where there are none."""
    if not document.guidelines:
        return Section(())
    links = rule_links(document)
    told = [_told_rule(each, links) for each in document.guidelines[:MOST_NAMED_RULES]]
    if len(document.guidelines) > MOST_NAMED_RULES:
        told.append(f"and {len(document.guidelines) - MOST_NAMED_RULES} more")
    return Section((f"**Team rules**: {', '.join(told)}.",))


def _told_rule(fact: GuidelineFact, links: RuleLinks) -> str:
    if fact.problem:
        return f"{code(shown_path(fact.name))} (not applied: {phrase(fact.problem, 200)})"
    return links.to(fact.name) + (f" (cut by {fact.cut:,} characters)" if fact.cut else "")


def stake(document: OutcomeDocument) -> Section:
    """How much was at stake, what was switched off, and which answers never came."""
    policy, flags = document.policy, document.flags
    size = f"{counted(len(document.coverage), 'file')}, {counted(policy.code_lines, 'changed line')} of code"
    lines = [f"**Change**: {size}, blast radius {policy.blast.radius.value}."]
    if policy.guard.holds:
        lines.append("The change touches the bot itself: a veto counts on every surface.")
    if flags.advisor_disabled:
        lines.append(f"Switched off: {', '.join(map(code, flags.advisor_disabled))}.")
    if flags.lost:
        more = f", and {len(flags.lost) - MOST_REASONS:,} more" if len(flags.lost) > MOST_REASONS else ""
        lines.append(f"Answers that did not come: {', '.join(map(code, flags.lost[:MOST_REASONS]))}{more}.")
    return Section((" ".join(lines),))


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
    head = "| surface | verdict | advisor | attempts |\n| --- | --- | --- | --- |"
    table = "\n".join((head, *rows))
    blocks = (table, "", *reasons) if reasons else (table,)
    return Section(blocks if rows else (), gives_way=Order.SURFACES, what="reasons")


def _ended(surface: SurfaceRecord) -> str:
    if surface.outcome is not None:
        return surface.outcome.value.replace("_", " ")
    left_out = next((each for each in surface.skipped if each.role is Role.EXECUTOR), None)
    if left_out is None:
        return "not finished"
    return "switched off" if left_out.disabled_by else "did not run"


def _judged(surface: SurfaceRecord) -> str:
    off = any(each.role in (Role.EXECUTOR, Role.POST_VERIFY) and each.disabled_by for each in surface.skipped)
    said = Counter(_part_judged(part, off=off) for part in surface.parts)
    return ", ".join(word if len(surface.parts) == 1 else f"{word} ({n})" for word, n in said.items()) or "not asked"


def _part_judged(part: PartRecord, *, off: bool) -> str:
    if part.ended is not None and part.ended.degraded:
        return "did not come"
    if part.post_verify:
        return "agrees" if part.post_verify[-1].result.verdict == "APPROVE" else "disagrees"
    return "switched off" if off else "not asked"


def _attempts(surface: SurfaceRecord) -> str:
    return str(max((len(part.reports) for part in surface.parts), default=0))


def merged_remarks(finding: Finding) -> tuple[str, ...]:
    """What was merged into a finding, block by block: each remark is named, the first ones with their words."""
    blocks: list[str] = []
    for at, remark in enumerate(finding.also[:MOST_MERGED]):
        body = prose(remark.body, MOST_MERGED_WORDS) if at < MOST_MERGED_BODIES else ""
        offered = _offered(remark, finding) if at < MOST_MERGED_BODIES else ""
        named = f"**{remark.severity.capitalize()}, on the same lines: {phrase(remark.title, 200)}**"
        blocks += [each for each in (named, "" if remark.body == finding.body else body, offered) if each]
    if len(finding.also) > MOST_MERGED:
        blocks.append(f"And {counted(len(finding.also) - MOST_MERGED, 'more remark')}; outcome.json has them all.")
    return tuple(blocks)


def _offered(remark: MergedRemark, finding: Finding) -> str:
    if not remark.suggestion or remark.suggestion == finding.suggestion:
        return ""
    return f"Suggested:\n\n{code_block(remark.suggestion, '', MOST_MERGED_WORDS)}"


def refused(document: OutcomeDocument) -> Section:
    """The remarks that were not believed, each with the reason: those of every part's last report.

    Those of a rejection that nobody could act on stand here too, unless they are told with the dispute.
    """
    parts = [part for surface in document.surfaces for part in surface.parts]
    lines = refused_remarks(dict.fromkeys(remark for part in parts for remark in _refused_in(part)))
    lines += tuple(f"- {code(each)} is cited as a rule, and no such rule was given" for each in _uncited(document))
    title = f"Not believed: {counted(len(lines), 'remark')}"
    return details(title, *lines, gives_way=Order.REFUSED, what="remarks")


def refused_remarks(remarks: Iterable[RefusedFinding]) -> tuple[str, ...]:
    """One list item for each remark, the worst first."""
    return tuple(
        f"- **{each.severity}** {code(shown_path(each.path))}: {phrase(each.title, 200)}: {phrase(each.why, 200)}"
        for each in sorted(remarks, key=lambda each: SEVERITIES.index(each.severity))
    )


def _refused_in(part: PartRecord) -> tuple[RefusedFinding, ...]:
    if part.unfounded and part.ended is not None and part.ended.outcome is Outcome.ESCALATED:
        return ()
    reports = (*(each.report for each in part.unfounded), *part.reports[-1:])
    return tuple(remark for report in reports for remark in report.refused)


def _uncited(document: OutcomeDocument) -> tuple[str, ...]:
    reports = (part.reports[-1:] for surface in document.surfaces for part in surface.parts)
    return tuple(dict.fromkeys(cited for last in reports for report in last for cited in report.uncited))


def is_read_whole(document: OutcomeDocument) -> bool:
    """Whether nothing of the change was left out."""
    return not document.cut and all(file.read == "read" for file in document.coverage)


def coverage(document: OutcomeDocument) -> Section:
    """How much was read, and by name what was not, unless the outcome's reasons have named it."""
    if not document.coverage:
        return Section(())
    gaps = [file for file in document.coverage if file.read != "read"]
    total = len(document.coverage)
    read = f"{total - len(gaps):,} of {counted(total, 'file')}"
    looked_at = sum(file.picture and file.read == "read" for file in document.coverage)
    if looked_at:
        read += f", {looked_at:,} of them as pictures by visual_gate"
    anyway = document.policy.excluded.read_anyway
    if is_read_whole(document) and not anyway:
        return Section((f"**Read**: {read}.",))
    named = [(file, f"{shown_path(file.path)} was {EXTENT_WORDS[file.read]}: {file.why}") for file in gaps]
    left = [file for file, words in named if words not in document.because[:MOST_REASONS]]
    lines = [
        f"- {code(shown_path(file.path))} was {EXTENT_WORDS[file.read]}: {phrase(file.why, 200)}"
        for file in left[:MOST_NAMED_FILES]
    ]
    if len(left) > MOST_NAMED_FILES:
        lines.append(f"- and {counted(len(left) - MOST_NAMED_FILES, 'more file')}; outcome.json names them all")
    lines += [
        f"- {code(shown_path(each.path))} was read although `exclude` matches it: {phrase(each.why, 200)}"
        for each in anyway[:MOST_NAMED_FILES]
    ]
    if len(anyway) > MOST_NAMED_FILES:
        more = counted(len(anyway) - MOST_NAMED_FILES, "more file")
        lines.append(f"- and {more} read although `exclude` matches; outcome.json names them all")
    entries = [(each.path, entry) for each in document.policy.excluded.files for entry in each.brings.entries]
    lines += [
        f"- {code(shown_path(path))} changes {phrase(entry, 300)}" for path, entry in entries[:MOST_NAMED_ENTRIES]
    ]
    if len(entries) > MOST_NAMED_ENTRIES:
        more = counted(len(entries) - MOST_NAMED_ENTRIES, "more line")
        lines.append(f"- and {more} on packages of lock files; outcome.json has them")
    lines += [f"- Shortened in the prompts: {phrase(words, 200)}" for words in document.cut[:MOST_NAMED_FILES]]
    if len(document.cut) > MOST_NAMED_FILES:
        lines.append(
            f"- and {counted(len(document.cut) - MOST_NAMED_FILES, 'more text')} shortened; outcome.json has all"
        )
    if not lines:
        return Section((f"**Read**: {read}.",))
    return details(f"Read: {read}", *lines, gives_way=Order.COVERAGE, what="lines on files")


def gaps(document: OutcomeDocument) -> Section:
    """The same where something was left out; nothing where ``account`` says that all was read."""
    return Section(()) if is_read_whole(document) else coverage(document)


def secrets(document: OutcomeDocument) -> Section:
    """The secrets on added lines, which everybody is shown masked, by file, line and kind."""
    lines = tuple(f"- {code(each)}" for each in lines_of(document.secrets, MOST_NAMED_FILES))
    title = f"{counted(len(document.secrets), 'secret')} on added lines, shown masked"
    return details(title, *lines, gives_way=Order.PICTURES, what="lines") if lines else Section(())


def pictures(document: OutcomeDocument) -> Section:
    """The pairs of pictures that were compared."""
    lines = tuple(f"- {phrase(picture_words(each))}" for each in document.pictures)
    return Section(lines, f"**Pictures**: {len(lines)}", gives_way=Order.PICTURES, what="pictures")


def learned(document: OutcomeDocument) -> Section:
    """The knowledge entries that were stored beside the review, in full: its folder ends with the job it ran in."""
    said = {
        entry.title: entry.body
        for surface in document.surfaces
        for part in surface.parts
        for report in part.reports
        for entry in report.knowledge
    }
    blocks = tuple(
        f"- {'**Proposal** ' if each.proposal else ''}{code(each.name)}: {phrase(each.title, 200)}\n\n"
        f"{quote(prose(said.get(each.title, '')))}"
        for surface in document.surfaces
        for each in surface.stored
    )
    title = f"Knowledge for the wiki: {counted(len(blocks), 'page')}"
    return details(title, *blocks, gives_way=Order.KNOWLEDGE, what="pages", between="\n\n")


def cost(document: OutcomeDocument) -> Section:
    """Calls, tokens and money, in one line."""
    made = [event for event in document.events if isinstance(event, CallEnded) and event.ended != "refused"]
    if not made:
        return Section(("**Cost**: no model was asked.",))
    total = total_usage(row.usage for row in document.cost)
    lacking = and_unknown(document.unpriced)
    money = "cost not reported" if total.cost_usd is None else f"{total.cost_usd:,.4f} USD{lacking}"
    cache = f"{total.cache_read_tokens:,} read from the cache, {total.cache_write_tokens:,} written to it"
    tokens = f"{total.input_tokens:,} tokens in, {cache}, {total.output_tokens:,} out"
    seconds = max(0.0, (document.ended_at - document.started_at).total_seconds())
    models = ", ".join(dict.fromkeys(f"{row.role.value} {code(row.model, 80)}" for row in document.cost[:12]))
    set_effort = effort_words(efforts(document.events))
    effort = f" Effort: {set_effort}." if set_effort else ""
    return Section((f"**Cost**: {money}; {counted(len(made), 'call')}, {tokens}; {seconds:,.0f} s. {models}.{effort}",))


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
    title = f"Repair: {counted(len(made.files), 'file')}"
    patch = code_block(made.patch, "diff", MOST_PATCH)
    return details(title, words, patch, gives_way=Order.REPAIR, what="patches", between="\n\n")


def signature(document: OutcomeDocument, run_page: str | None = None) -> Section:
    """Which run this is, with a link to its page, and of which head."""
    head = code(document.head_sha) if document.head_sha else "no commit"
    return Section((f"Run {run_link(code(document.run_id, 80), run_page)}, head {head}.",))
