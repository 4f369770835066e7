"""The answers to commands in comments."""

from __future__ import annotations

from review_advisor.core.publication.commands import USAGE
from review_advisor.core.publication.markdown import code, phrase
from review_advisor.core.publication.state import KnownFinding, State


def helped(why: str = "") -> str:
    """The commands, after a word on what was wrong."""
    lines = [why] if why else []
    lines += ["Commands, each alone on a line of a comment by somebody who may push:", ""]
    return "\n".join((*lines, *(f"- `{each}`" for each in USAGE)))


def refused(because: str) -> str:
    """Why nothing was done."""
    return f"Nothing was done. {phrase(because)}"


def explained(finding: KnownFinding) -> str:
    """Everything that is remembered of one finding."""
    lines = [
        f"{code(finding.id)}, {finding.severity}, {finding.status}: {phrase(finding.title)}",
        "",
        f"At {code(f'{finding.path}:{finding.line}')}. The comment in the diff and the check's page hold the evidence.",
    ]
    if finding.status == "dismissed":
        lines += ["", f"Dismissed by {code(finding.by)}: {phrase(finding.reason)}"]
    return "\n".join(lines)


def unknown(finding: str) -> str:
    """No such finding."""
    return refused(f"No finding {finding} is known on this pull request.")


def dismissed(finding: KnownFinding) -> str:
    """A finding was settled by a person."""
    return (
        f"{code(finding.id)} is dismissed and will not be raised again: {phrase(finding.reason)}\n\n"
        "The verdict stays as it is until the next review."
    )


def approved(state: State) -> str:
    """An escalation was taken over by a person."""
    head, by = code(state.head_sha), code(state.approved_by)
    return f"The escalation of {head} is approved by {by}. A new push is reviewed again."
