"""The commands that a person gives in a comment: a closed grammar, and nothing else is a command.

A command is one whole line that begins with ``/advisor`` in the first column. Lines of a quote, of a code block or of
an indented one are text, and so is everything that does not fit the grammar to its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from review_advisor.core.facts.pull_request import Permission, PullRequest

WORD = "/advisor"
MOST_REASON = 500
MOST_COMMENT = 65_535
USAGE = (
    f"{WORD} review",
    f"{WORD} dismiss FINDING reason",
    f"{WORD} explain FINDING",
    f"{WORD} approve-escalation SHA reason",
    f"{WORD} help",
)

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_FINDING = re.compile(r"f-[0-9a-f]{10}")
_SHA = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class ReviewAgain:
    """Review the head, whatever rounds were used up."""


@dataclass(frozen=True, slots=True)
class Dismiss:
    """A finding is not to be raised again, and why."""

    finding: str
    reason: str


@dataclass(frozen=True, slots=True)
class Explain:
    """Say everything that is known of a finding."""

    finding: str


@dataclass(frozen=True, slots=True)
class ApproveEscalation:
    """A person takes an escalated head upon themselves. ``sha`` is the head, or its first seven digits or more."""

    sha: str
    reason: str


@dataclass(frozen=True, slots=True)
class Help:
    """Say what can be said."""


Command = ReviewAgain | Dismiss | Explain | ApproveEscalation | Help


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A line that begins like a command and is none."""

    why: str


def read_command(body: str) -> Command | Misspelt | None:
    """The one command of a comment; None if it holds none.

    Two commands in a comment are none: it is not for us to choose.
    """
    lines = list(_spoken_lines(body[:MOST_COMMENT]))
    if not lines:
        return None
    if len(lines) > 1:
        return Misspelt("A comment may hold one command only.")
    return _parsed(lines[0])


def _spoken_lines(body: str) -> list[str]:
    """The lines that begin with the word, outside code and HTML."""
    found: list[str] = []
    fence = ""
    for line in body.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        mark = _FENCE.match(line)
        if fence:
            closing = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closing else fence
        elif mark is not None:
            fence = mark[1]
        elif "<!--" in line or "<details" in line.casefold() or "<pre" in line.casefold():
            break  # what stands in HTML may be hidden from whoever reads the comment
        elif line == WORD or line.startswith(f"{WORD} "):
            found.append(line)
    return found


def _parsed(line: str) -> Command | Misspelt:
    _, *words = line.split(maxsplit=3)
    match words:
        case ["review"]:
            return ReviewAgain()
        case ["help"] | []:
            return Help()
        case ["explain", finding] if _FINDING.fullmatch(finding):
            return Explain(finding)
        case ["dismiss", finding, reason] if _FINDING.fullmatch(finding):
            return Dismiss(finding, reason.strip()[:MOST_REASON])
        case ["approve-escalation", sha, reason] if _SHA.fullmatch(sha):
            return ApproveEscalation(sha, reason.strip()[:MOST_REASON])
        case ["dismiss" | "explain", *_]:
            return Misspelt("Name a finding as `f-` and ten digits, as it stands in the comment about it.")
        case ["approve-escalation", *_]:
            return Misspelt("Name the head commit (seven digits or more), and say why.")
        case _:
            return Misspelt("This is not one of the commands.")


@dataclass(frozen=True, slots=True)
class Leave:
    """Whether somebody may give a command, and why not."""

    granted: bool
    because: str = ""


def leave(command: Command, login: str, permission: Permission, pull_request: PullRequest) -> Leave:
    """Who may say what: those who may push; the author may ask, but never approves their own escalation."""
    own = login.casefold() == pull_request.author.casefold()
    if isinstance(command, ApproveEscalation) and own:
        return Leave(granted=False, because="The author of a pull request cannot approve its escalation.")
    if permission.may_write or (own and isinstance(command, Help | Explain)):
        return Leave(granted=True)
    return Leave(granted=False, because=f"This needs write permission; GitHub says {permission.value}.")
