"""The comments on the diff, and the body of the review that carries them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

from review_advisor.core.answers.answers import Severity
from review_advisor.core.answers.findings import FINDING_ID, Finding
from review_advisor.core.facts.patches.diff_text import shown_path
from review_advisor.core.forge_text.conclusion import title_of
from review_advisor.core.forge_text.page_links import NO_LINKS, RuleLinks
from review_advisor.core.forge_text.sections import merged_remarks
from review_advisor.core.outcome.document import OutcomeDocument
from review_advisor.core.pull_request.commands import WORD
from review_advisor.core.pull_request.markers import finding_marker
from review_advisor.core.pull_request.writes import InlineComment
from review_advisor.core.report.wording import counted
from review_advisor.core.safety.frame import whole
from review_advisor.core.safety.markdown import code, code_block, is_exact, phrase, prose

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
        words = "\n\n".join(each for each in (*every, *ends) if each)
        if len(words) <= MOST_COMMENT:
            return words
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
    told, missing = [body], {} if body == prose(finding.body) else {"the end of this text": None}
    room -= len(body) + len("\n\n")
    for name, text in rest:
        if text and (name in missing or len(text) + len("\n\n") > room):
            missing[name] = None
        elif text:
            told.append(text)
            room -= len(text) + len("\n\n")
    where = "`outcome.json`" if finding.removed else "The check's page"
    note = f"*Not here: {', '.join(missing)}. {where} has it.*"
    return "\n\n".join(each for each in (problem, *told, note, foot) if each)


def _within(words: Callable[[int], str], most: int, room: int) -> str:
    """What ``words`` makes of as many characters as leave it at most ``room`` long; nothing if that is none."""
    longest = bisect_right(range(most + 1), room, key=lambda count: len(words(count)) if count else 0) - 1
    while longest > 0 and len(words(longest)) > room:  # a cut at a line's end may make it longer again
        longest -= 1
    return words(longest) if longest > 0 else ""


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
    words = (
        f"A review of this change reports for {side} {finding.line}{last} of {shown_path(finding.path)}:"
        f" {finding.title}\n{finding.body}\n"
        "Check first whether that is right. If it is, fix the cause with the smallest change, add a test that fails"
        " without it, and change nothing else."
    )
    return (
        f"<details><summary>Prompt for a coding agent</summary>\n\n{code_block(words, '', MOST_PROMPT)}\n\n</details>"
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
