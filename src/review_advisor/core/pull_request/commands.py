"""The commands that a person gives in a comment: a closed grammar, and nothing else is a command.

A command is a paragraph of one line that begins with ``/advisor`` in the first column. Lines of a quote, of a block of
code or of an indented one are text, and so is everything that does not fit the grammar to its end. No span, title or
quote goes on through an empty line, so a paragraph of its own is read as it stands, wherever nothing above it hides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from review_advisor.core.answers.findings import FINDING_ID
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.facts.pull_request import Permission, PullRequest

WORD = "/advisor"
MOST_REASON = 500
MOST_COMMENT = 65_535
USAGE = (
    f"{WORD} review",
    f"{WORD} consult",
    f"{WORD} dismiss FINDING reason",
    f"{WORD} explain FINDING",
    f"{WORD} override SHA reason",
    f"{WORD} help",
)

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HIDES = re.compile(r"<[a-z/!?]|\$\$|```|~~~", re.IGNORECASE)
"""What may swallow the paragraphs below it: HTML, a formula, a fence in a list. A fence of its own line is followed."""
_FINDING = re.compile(FINDING_ID)
_SHA = re.compile(OBJECT_NAME)


@dataclass(frozen=True, slots=True)
class ReviewAgain:
    """Review the head, whatever rounds were used up. ``consult``: the review is to consult the advisor."""

    consult: bool = False


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
class Override:
    """A person lets a head pass that the review did not approve. ``sha`` is the head, with all its digits."""

    sha: str
    reason: str


@dataclass(frozen=True, slots=True)
class Help:
    """Say what can be said."""


Command = ReviewAgain | Dismiss | Explain | Override | Help


@dataclass(frozen=True, slots=True)
class Misspelt:
    """A line that begins like a command and is none."""

    why: str


def read_command(body: str) -> Command | Misspelt | None:
    """The one command of a comment; None if it holds none.

    Two commands in a comment are none: it is not for us to choose.
    """
    lines = body[:MOST_COMMENT].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = list(_commands(lines))
    if not found:
        return None
    if len(found) > 1:
        return Misspelt("A comment may hold one command only.")
    place, seen = found[0]
    if not seen:
        return Misspelt("Put no HTML, formula or indented fence above a command: it could be hidden there.")
    if not all(map(_is_blank, lines[max(0, place - 1) : place] + lines[place + 1 : place + 2])):
        return Misspelt("Put an empty line above and below a command.")
    return _parsed(lines[place])


def _commands(lines: Sequence[str]) -> Iterator[tuple[int, bool]]:
    """Where a line outside of code begins with the word, and whether everybody who reads the comment sees it."""
    fence = ""
    seen = True
    for place, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            closing = mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip(" \t")
            fence = "" if closing else fence
        elif mark is not None and mark.start(1) == 0:
            fence = mark[1]
        elif line == WORD or line.startswith(f"{WORD} "):
            yield place, seen
        elif _HIDES.search(line):
            seen = False


def _is_blank(line: str) -> bool:
    """What ends a paragraph in CommonMark: no other space does."""
    return not line.strip(" \t")


def _parsed(line: str) -> Command | Misspelt:
    _, *words = line.split(maxsplit=3)
    match words:
        case ["review" | "consult" as word]:
            return ReviewAgain(consult=word == "consult")
        case ["help"] | []:
            return Help()
        case ["explain", finding] if _FINDING.fullmatch(finding):
            return Explain(finding)
        case ["dismiss", finding, reason] if _FINDING.fullmatch(finding):
            return Dismiss(finding, reason.strip()[:MOST_REASON])
        case ["override" | "approve-escalation", sha, reason] if _SHA.fullmatch(sha):
            return Override(sha, reason.strip()[:MOST_REASON])
        case ["dismiss" | "explain", *_]:
            return Misspelt("Name a finding by its id, `f-` and all its digits, as the comment about it has it.")
        case ["override" | "approve-escalation", *_]:
            return Misspelt("Name the head commit with all its digits, and say why.")
        case _:
            return Misspelt("This is not one of the commands.")


@dataclass(frozen=True, slots=True)
class Leave:
    """Whether somebody may give a command, and why not."""

    granted: bool
    because: str = ""


def leave(command: Command, login: str, permission: Permission, pull_request: PullRequest) -> Leave:
    """Who may say what: those who may push; the author may ask. Whose work is their own, ``settling`` says."""
    own = login.casefold() == pull_request.author.casefold()
    if permission.may_write or (own and isinstance(command, Help | Explain)):
        return Leave(granted=True)
    return Leave(granted=False, because=f"This needs write permission; GitHub says {permission.value}.")
