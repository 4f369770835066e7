"""The bot's answers to comments that give it a command."""

from __future__ import annotations

from review_advisor.github.commands import USAGE, WORD
from review_advisor.github.state import (
    KnownFinding,
    State,
)
from review_advisor.safety.markdown import code, phrase
from review_advisor.safety.wording import counted

DOES = dict(
    zip(
        USAGE,
        (
            "review this head, again if it was reviewed already",
            "the same, and the review consults the advisor on what the executor says",
            "settle a finding that is wrong or accepted, unless the work is your own; the last one lets the head pass",
            "say what is known of a finding",
            "let a head pass in your name that the review did not approve, unless the work is your own",
            "list these commands",
        ),
        strict=True,
    )
)
"""What each command does."""


def helped(why: str = "") -> str:
    """The commands, after a word on what was wrong."""
    lines = [why, ""] if why else []
    lines += ["Write each command on its own line of a comment. Commands need write permission.", ""]
    return "\n".join((*lines, *(f"- `{each}`: {DOES[each]}" for each in USAGE)))


def in_shadow(check_name: str, *, review: bool, why_none: str = "") -> str:
    """In shadow mode no command decides anything.

    ``review``: it asked for a review, which begins; ``why_none`` says why the review that it asked for does not.
    """
    begins = f" A review of this head begins; its result appears in {code(check_name)}." if review else ""
    none = f" No review begins. {why_none}" if why_none else ""
    return f"The mode is shadow: nothing is enforced, and this command decides nothing.{begins}{none}"


def refused(because: str) -> str:
    """Why nothing was done."""
    return f"Nothing was done. {phrase(because)}"


NO_PROFILE = "A review consults the advisor only under a profile of `[escalation]`, and the configuration names none."


def explained(finding: KnownFinding) -> str:
    """Everything that is remembered of one finding."""
    where = code(f"{finding.path}:{finding.line}")
    lines = [
        f"**{finding.severity}** {where}: {phrase(finding.title)} ({code(finding.id)}), {finding.status}.",
        "",
        "The comment on these lines and the check's page show the finding.",
    ]
    if finding.status == "open" and finding.dismissed_under:
        lines += ["", f"The same was dismissed {_dismissed_where(finding)}."]
    if finding.status == "dismissed":
        lines += ["", f"Dismissed by {code(finding.by)}: {phrase(finding.reason)}"]
    return "\n".join(lines)


def _dismissed_where(finding: KnownFinding) -> str:
    if finding.dismissed_under == finding.path:
        return "in this file, but equal lines came or went since: which of them was meant is unknown"
    return f"under {code(finding.dismissed_under)}, but git names no rename from there to here"


def unknown(finding: str) -> str:
    """No such finding."""
    return refused(f"No finding {finding} is known on this pull request; the summary lists what is open.")


def dismissed(finding: str, reason: str, what_follows: str) -> str:
    """A finding was settled by a person. ``what_follows`` is safe Markdown."""
    return f"{code(finding)} is dismissed: {phrase(reason)}\n\nIt is not raised again. {what_follows}"


def some_still_block(number: int) -> str:
    """What follows from a dismissal while others are open."""
    return f"{counted(number, 'finding')} still {'blocks' if number == 1 else 'block'}; the verdict stays."


def a_review_decides(why: str) -> str:
    """What follows from the dismissal of the last finding that blocks where it does not settle the review."""
    return f"Nothing open blocks any more, and a new review of this head decides: {phrase(why)}"


def verdict_stays(why: str) -> str:
    """What follows from a dismissal that begins nothing."""
    return f"The verdict stays until the next review, for which `{WORD} review` asks. {phrase(why)}"


def approved(state: State) -> str:
    """A head passes in a person's name."""
    head, by = code(state.head_sha), code(state.approved_by)
    return f"The check of {head} passes in the name of {by}. A push is reviewed again."
