"""The commands in comments: their grammar, and who may settle what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from review_advisor.agents.committed_secrets import secrets_in_the_way
from review_advisor.agents.findings import FINDING_ID
from review_advisor.change.change import OBJECT_NAME
from review_advisor.change.pull_request import Makers, Permission, PullRequest
from review_advisor.change.redaction import Redactor
from review_advisor.github.state import KnownFinding, State, not_against, sealed_on
from review_advisor.github.writes import Conclusion
from review_advisor.policy.pull_request_rules import SelfSettle
from review_advisor.review.document import OutcomeDocument, PartRecord
from review_advisor.review.rulings import Outcome

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
    _, *parts = line.split(maxsplit=3)
    match parts:
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


SETTLED_FROM: frozenset[str | None] = frozenset((Conclusion.ACTION_REQUIRED, Conclusion.FAILURE, Conclusion.SUCCESS))
"""What a check may conclude when a person lets its head pass: the same command heard again finds it passed."""

_NOTHING_TO_SETTLE = (Outcome.APPROVED, Outcome.NOTHING_TO_REVIEW)

_SETTLES_NOTHING = (
    "can neither dismiss its findings nor override its review. Push a change, answer in the thread, or ask somebody"
    " else with write permission."
)


def may_settle(
    login: str, permission: Permission, pull_request: PullRequest, makers: Makers, self_settle: SelfSettle
) -> Leave:
    """Nobody settles what was found in their own work, unless the believed configuration says so.

    Own is a pull request of one's own, one that has a commit of one's own, and one to which one pushed a commit.
    """
    if _settles_own(permission, self_settle):
        return Leave(granted=True)
    if login.casefold() == pull_request.author.casefold():
        return Leave(granted=False, because=f"The author of a pull request {_SETTLES_NOTHING}")
    if login.casefold() in {maker.casefold() for maker in makers.logins}:
        return Leave(granted=False, because=f"Whoever made or pushed a commit {_SETTLES_NOTHING}")
    if not makers.whole:
        return Leave(
            granted=False, because="GitHub does not name everybody who made or pushed a commit of this pull request."
        )
    return Leave(granted=True)


def _settles_own(permission: Permission, self_settle: SelfSettle) -> bool:
    match self_settle:
        case "never":
            return False
        case "admins":
            return permission is Permission.ADMIN
        case "writers":
            return permission.may_write


def rests_on_findings(document: OutcomeDocument) -> bool:
    """Whether findings of the executor reject the change, the advisor confirmed each of them, and nothing else rejects.

    A part that our own check rejected, that has no judgement, or whose fault only a veto names, is something else. So
    is one whose executor also said what nobody can dismiss: a finding above low that was refused, or a rejection
    without a finding that stands.
    """
    if document.outcome is not Outcome.CHANGES_REQUESTED or document.flags.degraded:
        return False
    parts = [part for surface in document.surfaces for part in surface.parts]
    return all(map(_approved_or_by_findings, parts))


def _approved_or_by_findings(part: PartRecord) -> bool:
    if part.ended is None or part.ended.repaired:
        return False
    if part.ended.outcome is Outcome.APPROVED:
        return True
    if not (part.reports and part.post_verify) or part.ended.outcome is not Outcome.CHANGES_REQUESTED:
        return False
    report, judged = part.reports[-1], part.post_verify[-1]
    confirmed = (judged.number, judged.result.verdict) == (len(part.reports) - 1, "APPROVE")
    unseen = bool(part.unfounded) or any(each.severity != "low" for each in report.refused)
    rejects = report.verdict == "reject" or bool(secrets_in_the_way(report))
    return confirmed and rejects and bool(report.findings) and not unseen


def still_blocking(state: State) -> tuple[KnownFinding, ...]:
    """The open findings that keep a rejected head from passing."""
    return tuple(each for each in state.findings if each.blocks and each.status == "open")


def is_settled_by_dismissal(state: State) -> bool:
    """Whether people dismissed everything for which the last review rejects the head."""
    return not why_not_dismissed(state)


def why_not_dismissed(state: State) -> str | None:
    """Why the dismissals alone do not let the head pass, in a sentence; None if they do."""
    reasons = (
        (state.outcome is not Outcome.CHANGES_REQUESTED, "The last review did not end with requested changes."),
        (not state.complete or bool(state.forgotten), "The last review was not complete."),
        (not state.rests_on_findings, "The advisor did not confirm that these findings alone reject the change."),
        (bool(still_blocking(state)), "Other findings still block."),
    )
    return next((why for holds, why in reasons if holds), None)


@dataclass(frozen=True, slots=True)
class Present:
    """How things stand at one moment, beside what stood there when a command was read."""

    seen: PullRequest
    """The pull request when the command was read."""
    review: str
    """The run of the last review, which the person could read."""
    now: PullRequest
    state: State | None
    conclusions: AbstractSet[str | None]
    """Those of our checks on the head that was seen; None for one in progress."""
    alone: bool
    """No other open pull request has that head."""


def why_not_settled(command: Override | Dismiss, present: Present, redactor: Redactor) -> str | None:
    """Why the head does not pass by this command, in a sentence; None if it does."""
    head = present.seen.head_sha
    other = command.sha if isinstance(command, Override) and command.sha != head else None
    reasons = (
        (other is not None, f"The head is {head}, not {other}: look at it again."),
        (present.now.head_sha != head, "The head has moved meanwhile: look at it again."),
        (present.now.base_ref != present.seen.base_ref, "The base branch has changed meanwhile: look at it again."),
        (not present.alone, "Another open pull request has the same head, and a check belongs to a commit."),
        (None in present.conclusions, "A review of this head is under way: wait for its result."),
    )
    found = next((why for holds, why in reasons if holds), None)
    return found or _why_state_forbids(command, present, redactor)


def _why_state_forbids(command: Override | Dismiss, present: Present, redactor: Redactor) -> str | None:
    state = present.state
    if state is None or sealed_on(state) != present.seen.head_sha or state.outcome in _NOTHING_TO_SETTLE:
        return "Only a review of the present head that did not approve it can be settled by a person."
    if state.run_id != present.review:
        return "Another review of this head was published meanwhile: look at its result."
    if state.outcome is not Outcome.STOPPED and (another := not_against(state, present.now.base_ref, redactor)):
        return another
    if not present.conclusions or not present.conclusions <= SETTLED_FROM:
        return "The check of this head does not say that it was reviewed."
    return why_not_dismissed(state) if isinstance(command, Dismiss) else None
