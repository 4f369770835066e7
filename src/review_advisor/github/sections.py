"""The sections that check page, summary comment and job summary share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol, Self

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.calls import total_usage
from review_advisor.agents.committed_secrets import lines_of
from review_advisor.agents.findings import Finding, RefusedFinding
from review_advisor.agents.prompts import picture_words
from review_advisor.change.change import OBJECT_NAME
from review_advisor.change.diff_text import shown_path
from review_advisor.change.guidelines import GuidelineFact, cited
from review_advisor.change.shards import EXTENT_WORDS
from review_advisor.github.commands import WORD
from review_advisor.github.writes import Conclusion
from review_advisor.policy.pull_request_rules import PublicationRules
from review_advisor.policy.surfaces import SURFACE_DEFAULTS, Role
from review_advisor.review.agreement import Raised
from review_advisor.review.document import (
    CouncilRecord,
    OutcomeDocument,
    PartRecord,
    SurfaceRecord,
    council_findings,
    council_records,
)
from review_advisor.review.events import CallEnded, ReviewStopped
from review_advisor.review.report import (
    ADDED,
    HEADLINES,
    LEAD,
    PASSED_STATIC_CHECKS,
    PATCH_FILE,
    VOICES_TITLE,
    council_sentences,
    council_title,
    headline,
    left_words,
    matrix,
    unread_words,
    unverified_words,
    verdict_words,
    voices_of,
)
from review_advisor.review.rulings import EXIT_CODES, Outcome
from review_advisor.safety.markdown import code, code_block, own_command, phrase, plain_line, prose, quote
from review_advisor.safety.wording import and_unknown, counted

MOST_TITLE = 255

SUPERSEDED = Conclusion.CANCELLED
"""The head moved while the review ran: it says nothing about what is there now."""

DID_NOT_RUN = Conclusion.FAILURE
"""There is no outcome at all."""

PASSED_SIGN = "\u2705"
NOT_RUN_SIGN = "\u26d4"
_EMPTY_SIGN = "\u26aa"

_CONCLUSIONS = {
    Outcome.NOTHING_TO_REVIEW: Conclusion.SUCCESS,
    Outcome.APPROVED: Conclusion.SUCCESS,
    Outcome.CHANGES_REQUESTED: Conclusion.FAILURE,
    Outcome.ESCALATED: Conclusion.ACTION_REQUIRED,
    Outcome.STOPPED: Conclusion.FAILURE,
}

_VERDICTS = {
    HEADLINES[Outcome.NOTHING_TO_REVIEW]: "Nothing to review: the change is empty",
    HEADLINES[Outcome.APPROVED]: "Approved",
    HEADLINES[Outcome.CHANGES_REQUESTED]: "Changes requested",
    HEADLINES[Outcome.ESCALATED]: "A person has to decide",
    HEADLINES[Outcome.STOPPED]: "The review did not run to its end",
    PASSED_STATIC_CHECKS: "No objection",
}
"""From the verdict as a terminal shows it."""

_SIGNS = {
    Conclusion.SUCCESS: PASSED_SIGN,
    Conclusion.FAILURE: "\u274c",
    Conclusion.ACTION_REQUIRED: "\u270b",
}

_SWITCHED_OFF = re.compile(r"(advisor switched off): [^;)]*")
"""Which roles those are, ``stake`` says."""

_UNVERIFIED_SIGN = "\U0001f7e1"


def conclusion_of(document: OutcomeDocument) -> Conclusion:
    """The conclusion. An approval whose exit code calls a human (``fail_on``) is none here either."""
    if document.outcome is Outcome.APPROVED and document.exit_code:
        return Conclusion.ACTION_REQUIRED
    return _CONCLUSIONS[document.outcome]


def title_of(document: OutcomeDocument, found: Iterable[Severity] | None = None) -> str:
    """The verdict in one line of plain text: how much was found, and everything that must not be overlooked.

    ``found`` are the findings that count; without it those of this review.
    """
    counts = Counter(each.severity for each in document.findings) if found is None else Counter(found)
    counting = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity])
    verdict = _VERDICTS[verdict_words(document)]
    if counting and document.outcome is Outcome.APPROVED:
        verdict += f", with findings: {counting}"
    elif counting and document.outcome is Outcome.CHANGES_REQUESTED:
        verdict += f": {counting}"
    notes = headline(document).removeprefix(verdict_words(document)).lower()
    for names in (unread_words(document), unverified_words(document)):
        notes = notes.replace(names.lower(), names)
    return plain_line(verdict + _SWITCHED_OFF.sub(r"\1", notes), MOST_TITLE)


def heading_of(document: OutcomeDocument, found: Iterable[Severity] | None = None) -> str:
    """The verdict's title as safe Markdown, behind a sign that is seen before it is read."""
    sign = _SIGNS[conclusion_of(document)]
    if document.outcome is Outcome.STOPPED:
        sign = NOT_RUN_SIGN
    elif document.outcome is Outcome.NOTHING_TO_REVIEW:
        sign = _EMPTY_SIGN
    elif sign == PASSED_SIGN and (document.flags.degraded or document.flags.advisor_disabled):
        sign = _UNVERIFIED_SIGN
    return f"{sign} {phrase(title_of(document, found))}"


LEFT_OUT = "*The rest is left out: a text here has a limit.*"
_FENCE = re.compile(r"`{3,}")


class Order(IntEnum):
    """What gives way where there is no room: the highest first, and ``NEVER`` not at all."""

    NEVER = 0
    WHY = 1
    SURFACES = 2
    FINDINGS = 3
    HELD_BACK = 4
    NOT_PLACED = 5
    NOTES = 6
    VETOES = 7
    COVERAGE = 8
    REFUSED = 9
    PICTURES = 10
    REPAIR = 11
    SETTLED = 12
    TRANSCRIPT = 13
    KNOWLEDGE = 14
    HOW = 15


class Shrinks(Protocol):
    """A piece of a text that can be made shorter."""

    @property
    def gives_way(self) -> Order:
        """Its turn where there is no room."""

    @property
    def text(self) -> str:
        """The piece as it stands; empty where there is nothing to say."""

    def without(self, over: int) -> Self:
        """The piece with ``over`` less by ``size``, or as short as it can be."""


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks of safe Markdown between ``head`` and ``tail``; without a block there is no section."""

    blocks: tuple[str, ...]
    head: str = ""
    tail: str = ""
    gives_way: Order = Order.NEVER
    """In which order sections give way for want of room, each from its end on."""
    what: str = "paragraphs"
    """Names the blocks in the sentence that says how many are missing."""
    between: str = "\n"
    missing: int = 0
    """How many blocks are missing."""

    @property
    def text(self) -> str:
        """The section as it stands."""
        if not self.blocks and not self.missing:
            return ""
        cut = (f"\n*{self.missing} more {self.what} are left out: a text here has a limit.*",) if self.missing else ()
        body = self.between.join((*self.blocks, *cut))
        return "\n\n".join(each for each in (self.head, body, self.tail) if each)

    def without(self, over: int) -> Self:
        """The section without as many of its last blocks as take up ``over``, and the room for saying so."""
        shorter = replace(self, missing=len(self.blocks))
        freed = size(self.text) - size(shorter.text)
        keep = len(self.blocks)
        while keep and freed < over:
            keep -= 1
            freed += size(self.blocks[keep]) + len(self.between)
        return replace(self, blocks=self.blocks[:keep], missing=len(self.blocks) - keep)


def size(text: str) -> int:
    """How long a text is by the strictest reading of GitHub's limits: in bytes of UTF-8."""
    return len(text.encode("utf-8", "replace"))


def fitted(sections: Sequence[Shrinks], most: int) -> str:
    """All sections in their order, at most ``most`` long by ``size``."""
    kept = list(sections)
    for index in sorted(range(len(kept)), key=lambda each: -kept[each].gives_way):
        over = size(_joined(kept)) - most
        if over <= 0:
            break
        if kept[index].gives_way:
            kept[index] = kept[index].without(over)
    return _joined(kept)


def _joined(sections: Sequence[Shrinks]) -> str:
    return "\n\n".join(text for section in sections if (text := section.text))


def details(title: str, *blocks: str, gives_way: Order, what: str, between: str = "\n") -> Section:
    """A section that a reader opens; ``title`` is our own."""
    head = f"<details><summary>{title}</summary>"
    return Section(blocks, head, "</details>", gives_way=gives_way, what=what, between=between)


def cut(markdown: str, most: int) -> str:
    """Markdown of ours, at most ``most`` long by ``size``: it ends with a line, and what is open there is closed."""
    if size(markdown) <= most:
        return markdown
    lines = markdown.split("\n")
    used, fence, depth = 0, "", 0
    kept = ""
    for number, line in enumerate(lines, start=1):
        used += size(line) + 1
        if used > most:
            break
        fence, depth = _open_after(line, fence, depth)
        closed = "\n\n".join(
            ("\n".join((*lines[:number], *([fence] if fence else []))), *["</details>"] * depth, LEFT_OUT)
        )
        kept = closed if size(closed) <= most else kept
    return kept


def _open_after(line: str, fence: str, depth: int) -> tuple[str, int]:
    """The fence that is open after a line, if one is, and how many sections that a reader opens."""
    mark = _FENCE.match(line)
    if fence:
        return ("" if mark is not None and mark[0] == line and len(line) >= len(fence) else fence), depth
    if mark is not None:
        return mark[0], depth
    return "", depth + line.startswith("<details>") - line.startswith("</details>")


MOST_TARGET = 300
"""A longer target takes more room than the finding: the words stand without a link."""

CHECK_PAGE = "The check's page"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_COMMIT = re.compile(OBJECT_NAME)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._/-]")
_RUN_PAGE = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9._/-]+")


@dataclass(frozen=True, slots=True)
class CommitLinks:
    """Links to the files of one commit; there are none where the repository or the commit is not known."""

    repository: str = ""
    commit: str = ""

    def to(self, words: str, path: str, first: int = 0, last: int = 0) -> str:
        """Safe Markdown as a link to a file, and to its lines if ``first`` is one."""
        if not _REPOSITORY.fullmatch(self.repository) or not _COMMIT.fullmatch(self.commit):
            return words
        target = f"/{self.repository}/blob/{self.commit}/{_NOT_PLAIN.sub(_percent, path)}"
        if first > 0:
            target += f"?plain=1#L{first}{f'-L{last}' if last > first else ''}"
        return f"[{words}]({target})" if len(target) <= MOST_TARGET else words


NOWHERE = CommitLinks()


def head_links(document: OutcomeDocument) -> CommitLinks:
    """Links to the reviewed files."""
    return CommitLinks(document.repository or "", document.head_sha or "")


def base_links(document: OutcomeDocument) -> CommitLinks:
    """Links to the files as they were before the change."""
    return CommitLinks(document.repository or "", document.base_sha or "")


@dataclass(frozen=True, slots=True)
class RuleLinks:
    """Where the rules of one review stand: files ``at`` a commit, by the names of the rules."""

    at: CommitLinks = NOWHERE
    rules: tuple[GuidelineFact, ...] = ()

    def to(self, citation: str) -> str:
        """A citation as Markdown, with a link to its lines on whatever host the comment stands."""
        words = code(shown_path(citation), 200)
        found = cited(citation, self.rules)
        if found is None:
            return words
        name, first, last = found
        file = next(each.file for each in self.rules if each.name == name)
        if not file:
            return words
        if file != name:  # a text within the configuration has no lines of its own there
            first = 0
        return self.at.to(words, file, first, last)


NO_LINKS = RuleLinks()


def rule_links(document: OutcomeDocument) -> RuleLinks:
    """The links of a review."""
    return RuleLinks(CommitLinks(document.repository or "", document.rules_sha or ""), document.guidelines)


def check_page(document: OutcomeDocument) -> str:
    """The check's page, as a link if the repository and the pull request are known."""
    repository, number = document.repository, document.pull_request
    if repository is None or number is None or not _REPOSITORY.fullmatch(repository):
        return CHECK_PAGE
    return f"[{CHECK_PAGE}](/{repository}/pull/{number}/checks)"


def run_link(text: str, page: str | None) -> str:
    """Safe Markdown as a link to the page of the workflow run, if that has an address of the usual form."""
    return f"[{text}]({page})" if page is not None and _RUN_PAGE.fullmatch(page) else text


def _percent(sign: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in sign[0].encode("utf-8", "replace"))


MOST_REASONS = 10
MOST_NAMED_FILES = 30
MOST_NAMED_RULES = 20
MOST_NAMED_ENTRIES = 30
MOST_PATCH = 12_000

MOST_MERGED = 10
"""So many remarks that were merged into one finding are named in its comment."""

MOST_MERGED_BODIES = 3

LONGEST_MERGED = 1_000
"""Characters of the body and of the suggestion of a merged remark."""


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
    named = [
        f"{code(shown_path(rule.name))} (not applied: {phrase(rule.problem, 200)})"
        if rule.problem
        else links.to(rule.name) + (f" (cut by {rule.cut:,} characters)" if rule.cut else "")
        for rule in document.guidelines[:MOST_NAMED_RULES]
    ]
    if len(document.guidelines) > MOST_NAMED_RULES:
        named.append(f"and {len(document.guidelines) - MOST_NAMED_RULES} more")
    return Section((f"**Team rules**: {', '.join(named)}.",))


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
        f"| {each.surface.value} | {_ended(each)} | {_judged(each)} |"
        f" {max((len(part.reports) for part in each.parts), default=0)} |"
        for each in document.surfaces
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
    judgements = Counter(_part_judged(part, off=off) for part in surface.parts)
    return (
        ", ".join(word if len(surface.parts) == 1 else f"{word} ({n})" for word, n in judgements.items()) or "not asked"
    )


def _part_judged(part: PartRecord, *, off: bool) -> str:
    if part.ended is not None and part.ended.degraded:
        return "did not come"
    if part.post_verify:
        return "agrees" if part.post_verify[-1].result.verdict == "APPROVE" else "disagrees"
    return "switched off" if off else "not asked"


def merged_remarks(finding: Finding) -> tuple[str, ...]:
    """What was merged into a finding, block by block: each remark is named, the first ones with their text."""
    blocks: list[str] = []
    for at, remark in enumerate(finding.also[:MOST_MERGED]):
        blocks.append(f"**{remark.severity.capitalize()}, on the same lines: {phrase(remark.title, 200)}**")
        if at < MOST_MERGED_BODIES and remark.body != finding.body:
            blocks += filter(None, (prose(remark.body, LONGEST_MERGED),))
        if at < MOST_MERGED_BODIES and remark.suggestion and remark.suggestion != finding.suggestion:
            blocks.append(f"Suggested:\n\n{code_block(remark.suggestion, '', LONGEST_MERGED)}")
    if len(finding.also) > MOST_MERGED:
        blocks.append(f"And {counted(len(finding.also) - MOST_MERGED, 'more remark')}; outcome.json has them all.")
    return tuple(blocks)


def refused(document: OutcomeDocument) -> Section:
    """The remarks that were not believed, each with the reason: those of every part's last report.

    Those of a rejection that nobody could act on stand here too, unless they stand with the dispute.
    """
    parts = [part for surface in document.surfaces for part in surface.parts]
    lines = refused_remarks(dict.fromkeys(remark for part in parts for remark in _refused_in(part)))
    uncited = dict.fromkeys(cited for part in parts for report in part.reports[-1:] for cited in report.uncited)
    lines += tuple(f"- {code(each)} is cited as a rule, and no such rule was given" for each in uncited)
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
    left = [file for file, remark in named if remark not in document.because[:MOST_REASONS]]
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
    lines += [f"- Shortened in the prompts: {phrase(remark, 200)}" for remark in document.cut[:MOST_NAMED_FILES]]
    if len(document.cut) > MOST_NAMED_FILES:
        lines.append(
            f"- and {counted(len(document.cut) - MOST_NAMED_FILES, 'more text')} shortened; outcome.json has all"
        )
    if not lines:
        return Section((f"**Read**: {read}.",))
    return details(f"Read: {read}", *lines, gives_way=Order.COVERAGE, what="lines on files")


def gaps(document: OutcomeDocument) -> Section:
    """The coverage, where something was left out; nothing where ``account`` says that all was read."""
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
    bodies = {
        entry.title: entry.body
        for surface in document.surfaces
        for part in surface.parts
        for report in part.reports
        for entry in report.knowledge
    }
    blocks = tuple(
        f"- {'**Proposal** ' if each.proposal else ''}{code(each.name)}: {phrase(each.title, 200)}\n\n"
        f"{quote(prose(bodies.get(each.title, '')))}"
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
    summary = (
        f"With this patch, and only with it, {made.surface.value} is approved (attempt {made.attempt + 1})."
        f" It is the artefact {code(PATCH_FILE)} of the run; `git apply` takes it on the reviewed head."
    )
    title = f"Repair: {counted(len(made.files), 'file')}"
    patch = code_block(made.patch, "diff", MOST_PATCH)
    return details(title, summary, patch, gives_way=Order.REPAIR, what="patches", between="\n\n")


def signature(document: OutcomeDocument, run_page: str | None = None) -> Section:
    """Which run this is, with a link to its page, and of which head."""
    head = code(document.head_sha) if document.head_sha else "no commit"
    return Section((f"Run {run_link(code(document.run_id, 80), run_page)}, head {head}.",))


MOST_QUOTED_REPORTS = 3
MOST_CALLED = 20
MOST_QUOTED = 1_000
LONGEST_SENTENCE = 600
_HEAD = re.compile(r"[0-9a-f]{7}")


def why(document: OutcomeDocument) -> Section:
    """The reasons of the outcome, and what the executor said where it arose.

    That the advisor agreed stands in ``how``, and what was said in parts that called a person in ``disputes``.
    """
    # The parts that ended as the whole review did, of the surfaces that look at the change itself.
    deciding = [part for part in _parts(document) if part.ended and part.ended.outcome is document.outcome]
    every = list(dict.fromkeys(part.reports[-1].summary for part in deciding if part.reports))
    every = [] if document.outcome is Outcome.ESCALATED else every
    quoted = every[:MOST_QUOTED_REPORTS]
    confirmed = not document.flags.degraded and all(map(_is_confirmed, deciding))
    reasons = () if quoted and confirmed else tuple(each for each in document.because if each not in quoted)
    lines = [f"- {phrase(each)}" for each in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        lines.append(f"- and {counted(len(reasons) - MOST_REASONS, 'more reason')}")
    resumes = [event.resume_at for event in document.events if isinstance(event, ReviewStopped)]
    lines += [f"- {phrase(f'there is credit again from {at:%Y-%m-%d %H:%M} UTC')}" for at in resumes if at is not None]
    quotes = [quote(prose(each, MOST_QUOTED)) for each in quoted]
    if len(every) > len(quoted):
        quotes.append(f"And {counted(len(every) - len(quoted), 'more part')} said why; outcome.json has their words.")
    return Section(("\n".join(lines), *quotes) if lines else tuple(quotes), gives_way=Order.WHY, between="\n\n")


def what_it_does(document: OutcomeDocument) -> Section:
    """What the change does, in the executor's words; of several parts the first ones. Nothing where it does not say."""
    every = (part.reports[-1].does for part in _parts(document) if part.reports)
    sentences = list(dict.fromkeys(each for each in every if each))
    lines = tuple(phrase(each, LONGEST_SENTENCE) for each in sentences[:MOST_QUOTED_REPORTS])
    if not lines:
        return Section(())
    return Section((f"**What it does**: {' '.join(lines)}",), gives_way=Order.WHY)


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
        sentence = _decide(document, rules)
    elif document.outcome is Outcome.STOPPED:
        sentence = f"once that is settled, `{WORD} review` in a comment starts the review again. {_override(document)}"
    elif document.outcome is Outcome.CHANGES_REQUESTED:
        sentence = f"{_mend(document, is_open=is_open)} {_override(document)}"
    elif document.flags.degraded:
        sentence = f"`{WORD} review` in a comment asks again for the judgement that is missing."
    else:
        sentence = "the findings do not stop a merge." if is_open else ""
    return Section((f"**What next**: {sentence}",) if sentence else ())


def _decide(document: OutcomeDocument, rules: PublicationRules) -> str:
    command = own_command(f"{WORD} override {document.head_sha or 'SHA'} reason")
    called = f" Asked to look: {', '.join(map(code, rules.reviewers[:MOST_CALLED]))}." if rules.reviewers else ""
    return (
        "somebody with write permission, not the author, looks at the change and decides."
        f"{called} This comment lets the head pass in their name:\n\n{command}\n\nOtherwise the author pushes a fix."
    )


def _mend(document: OutcomeDocument, *, is_open: bool) -> str:
    if document.repair is not None:
        sentence = "apply the repair below, or fix it in your own way, and push."
    elif is_open:
        sentence = "fix what is open and push."
    else:
        return f"answer it with a push, or comment `{WORD} review` for another review."
    if is_open:
        dismiss = f"`{WORD} dismiss FINDING reason` with its `f-` id"
        sentence += (
            f" Is a finding wrong or accepted? Somebody with write permission, not the author, can post {dismiss}."
            " After the last one that blocks, the head passes in that person's name."
        )
    return sentence


def _override(document: OutcomeDocument) -> str:
    head = document.head_sha or "SHA"
    command = code(f"{WORD} override {head} reason")
    return f"Somebody with write permission, not the author, can let the head pass with {command}."


def how(document: OutcomeDocument, denied: Sequence[str] = (), run_page: str | None = None) -> Section:
    """What was decided where, how much was at stake and at which price: for a reader who opens it.

    ``denied`` is what the bot's token may not do, each said once.
    """
    lines = "\n".join(f"- {phrase(each)}" for each in dict.fromkeys(denied))
    blocks = account(document, run_page)
    blocks += (f"**Not permitted to the bot's token**:\n\n{lines}",) if lines else ()
    return details(_how_title(document), *blocks, gives_way=Order.HOW, what="paragraphs", between="\n\n")


def account(document: OutcomeDocument, run_page: str | None = None) -> tuple[str, ...]:
    """How the review went, unfolded. What was not read has a section of its own (``coverage``)."""
    read = coverage(document) if is_read_whole(document) else Section(())
    rules = team_rules(document)
    blind = Section(tuple(f"**Blind spot**: {phrase(each)}." for each in document.policy.roster.blind_spots))
    about = (surfaces(document), stake(document), rules, blind, read)
    sections = (*about, cost(document), signature(document, run_page))
    return tuple(section.text for section in sections if section.text)


def _how_title(document: OutcomeDocument) -> str:
    calls = sum(isinstance(event, CallEnded) and event.ended != "refused" for event in document.events)
    seconds = max(0.0, (document.ended_at - document.started_at).total_seconds())
    usd = total_usage(row.usage for row in document.cost).cost_usd
    price = "" if usd is None else f", {usd:,.2f} USD{and_unknown(document.unpriced)}"
    head = _HEAD.match(document.head_sha or "")
    return f"How {head[0] if head else 'this'} was reviewed: {counted(calls, 'call')}, {seconds:,.0f} s{price}"


def judges(document: OutcomeDocument) -> tuple[Section, ...]:
    """What each judge said where there are more than the advisor alone."""
    return council_votes(document), council_agreement(document), voices_said(document)


def council_votes(document: OutcomeDocument) -> Section:
    """Who voted how, with the spread, the dissent and each missing member; nothing where one advisor judges alone."""
    records = council_records(document.events)
    if not records:
        return Section(())
    parts = len({(each.surface, each.shard) for each in records})
    blocks = tuple(_vote(each, parts) for each in reversed(records))
    title = "How the council voted" + (", the last vote first" if len(blocks) > 1 else "")
    return details(title, *blocks, gives_way=Order.VETOES, what="votes", between="\n\n")


def council_agreement(document: OutcomeDocument) -> Section:
    """How many members raise which finding, and what only members raise; nothing where one advisor judges alone."""
    found = council_findings(document.events)
    blocks = [
        f"**{title}**\n\n" + "\n".join(map(_raised, raised))
        for title, raised in ((LEAD, found.lead), (ADDED, found.added))
        if raised
    ]
    blocks += [each for each in (left_words(found),) if each]
    if not blocks:
        return Section(())
    title = "What the members of the council found by themselves"
    return details(title, *blocks, gives_way=Order.VETOES, what="lists", between="\n\n")


def voices_said(document: OutcomeDocument) -> Section:
    """What inline members advise, which decides nothing; nothing without any."""
    lines = [f"- {code(each.advisor)}: {phrase(each.words, 600)}" for each in voices_of(document.events)]
    return details(VOICES_TITLE, *lines, gives_way=Order.VETOES, what="voices")


def _raised(raised: Raised) -> str:
    found = raised.finding
    where = code(f"{shown_path(found.path)}:{found.line}")
    return f"- **{found.severity}** {where}: {phrase(found.title, 200)} ({raised.words})"


def _vote(record: CouncilRecord, parts: int) -> str:
    header, *rows = matrix(record)
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    lines += [f"| {code(row[0])} | {' | '.join(map(phrase, row[1:]))} |" for row in rows]
    sentences = " ".join(phrase(each, 600) for each in council_sentences(record))
    return f"**{council_title(record, parts=parts)}**\n\n" + "\n".join(lines) + f"\n\n{sentences}"
