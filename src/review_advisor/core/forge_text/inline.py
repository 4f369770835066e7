"""The comments on the diff, and the body of the review that carries them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from review_advisor.core.answers.answers import Severity
from review_advisor.core.answers.findings import FINDING_ID, Finding
from review_advisor.core.forge_text.conclusion import title_of
from review_advisor.core.forge_text.fitting import Order, Section, fitted
from review_advisor.core.forge_text.rule_links import NO_LINKS, RuleLinks
from review_advisor.core.forge_text.sections import merged_remarks
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.markers import finding_marker
from review_advisor.core.pull_request.writes import MOST_CHARACTERS, InlineComment
from review_advisor.core.report.wording import counted
from review_advisor.core.safety.markdown import code, code_block, is_exact, phrase, prose, whole

MOST_SUGGESTED = 8_000
MOST_QUOTED = 1_000
_ID = re.compile(FINDING_ID)


def inline_comments(findings: Iterable[Finding], links: RuleLinks = NO_LINKS) -> tuple[InlineComment, ...]:
    """A comment for each finding, in their order. Whether the forge takes it on its lines is not looked at here."""
    return tuple(_comment(each, links) for each in findings if _ID.fullmatch(each.id))


def review_body(document: OutcomeDocument, count: int, found: Iterable[Severity]) -> str:
    """The words above ``count`` comments. ``found`` are the findings that are open."""
    return (
        f"**{phrase(title_of(document, found))}**. {counted(count, 'comment')} on the diff; the summary says what next."
    )


def _comment(finding: Finding, links: RuleLinks) -> InlineComment:
    line, last = max(1, finding.line), max(1, finding.line, finding.end_line)
    return InlineComment(
        finding=finding.id,
        path=whole(finding.path),
        line=last,
        start_line=line if line < last else None,
        side="LEFT" if finding.removed else "RIGHT",
        body=finding_body(finding, links),
    )


def finding_body(finding: Finding, links: RuleLinks = NO_LINKS) -> str:
    """The whole comment on one finding, its mark first."""
    dispute = code(f"{WORD} dismiss {finding.id} reason")
    facts = f"{phrase(finding.category, 60)}, confidence {finding.confidence:.2f}."
    facts += f" Team rule: {links.to(finding.rule)}." if finding.rule else ""
    hint = f"Wrong or accepted? Somebody else who may write comments {dispute} in the conversation."
    blocks = (
        f"{finding_marker(finding.id)}\n**{finding.severity.capitalize()}: {phrase(finding.title, 200)}**",
        prose(finding.body),
        _evidence(finding),
        _suggestion(finding),
    )
    sections = (
        Section(tuple(block for block in blocks if block), between="\n\n"),
        Section(merged_remarks(finding), gives_way=Order.FINDINGS, between="\n\n"),
        Section((f"<sub>{facts} {hint}</sub>",)),
    )
    return fitted(sections, MOST_CHARACTERS)


def finding_words(finding: Finding, links: RuleLinks = NO_LINKS) -> str:
    """What is said of a finding that has no comment on the diff, without its title: nothing in it can be committed."""
    offered = _offered(finding) if finding.suggestion else ""
    rests = f"Team rule: {links.to(finding.rule)}." if finding.rule else ""
    return "\n\n".join(block for block in (prose(finding.body), rests, offered, *merged_remarks(finding)) if block)


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
