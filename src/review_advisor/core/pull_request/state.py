"""What the bot remembers of a pull request between pushes, kept in its own summary comment.

It saves repetition and grants nothing: missing, altered or of another version, it is as if this were the first review.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.core.answers.answers import SEVERITIES, Severity
from review_advisor.core.answers.findings import FINDING_ID
from review_advisor.core.facts.change import OBJECT_NAME
from review_advisor.core.outcome.outcomes import Outcome
from review_advisor.core.policy.blast import BlastRadius
from review_advisor.core.pull_request.markers import PREFIX, SUMMARY
from review_advisor.core.pull_request.standing import StandingComment
from review_advisor.core.safety.redaction import Redactor

MOST_STATE_CHARACTERS = 16_000
_MOST_BYTES = 400_000
_STATE = re.compile(re.escape(PREFIX) + r"state ([0-9a-f]{64}) ([A-Za-z0-9_=-]+) -->")

CommitName = Annotated[str, Field(pattern=rf"^({OBJECT_NAME})?$")]
FindingStatus = Literal["open", "fixed", "dismissed"]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


UNKNOWN_PLACES = 0
"""No finding stands in so few: what is remembered of one in unknown places matches none that is raised."""


class Marks(_Kept):
    """What people did with the comment on a finding: they settle nothing by it."""

    resolved: bool = False
    up: bool = False
    down: bool = False


class KnownFinding(_Kept):
    """A finding that was said on this pull request.

    ``changed_in`` is the run in which it got its status; ``reason`` and ``by`` are of who dismissed it.
    ``dismissed_under``: there a person dismissed the same lines, and nobody knows that they were moved from there.
    ``occurrences`` is in how many places of its file its quote stood when it was last raised, or ``UNKNOWN_PLACES``.
    ``blocks``: the review that last raised it rejected the change for it, or nobody knows whether it did.
    ``marks`` are those that the last publication found.
    """

    id: Annotated[str, Field(pattern=rf"^{FINDING_ID}$")]
    path: str
    line: int
    title: str
    severity: Severity
    status: FindingStatus = "open"
    changed_in: str = ""
    reason: str = ""
    by: str = ""
    dismissed_under: str = ""
    occurrences: int = 1
    blocks: bool = True
    marks: Marks = Marks()


class Whole(_Kept):
    """The last complete review, which read and judged every file.

    ``number`` counts the complete reviews against this base branch, this one included.
    """

    run_id: str
    number: Annotated[int, Field(ge=1)]
    head_sha: CommitName
    base_sha: CommitName
    base_ref: str


class Failing(_Kept):
    """The same operational failure, again and again on one head."""

    head_sha: CommitName
    reason: str
    times: int


class State(_Kept):
    """The last review of the pull request, and every finding said so far.

    ``base_ref`` is the name of the base branch, ``rules_sha`` the commit whose configuration held; empty where it was
    not kept. ``policy_digest`` stands for that configuration and the switches. ``complete``: every file was read and
    judged. ``forgotten`` counts earlier findings, open or dismissed, for which there is no room any more. ``rounds``
    counts the reviews that pushes started, except those that the account or the settings stopped. ``reviewed_in`` is
    the workflow run whose review this is; empty where it was none, or none ended yet. ``approved_by`` is the person in
    whose name the head passes although the review did not approve it. ``rests_on_findings``: the review rejects the
    head for findings that the advisor confirmed, and for nothing else. ``whole`` is the last complete review, which may
    be an older one; None where there was none, or where nothing vouches for it. ``spent_usd`` is what all reviews so
    far cost, and ``counted`` the run that was counted last. ``estimated_usd`` of it is an estimate, for calls that
    reported no cost and runs that left no outcome. ``day_usd`` is what the reviews cost that pushes started on the
    ``day``; a day is told only where the configuration bounds what an author costs on one.
    """

    version: Literal[1] = 1
    run_id: str
    head_sha: CommitName
    base_sha: CommitName
    base_ref: str = ""
    rules_sha: CommitName = ""
    reviewed_in: str = ""
    policy_digest: Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
    outcome: Outcome
    complete: bool
    blast: BlastRadius
    findings: tuple[KnownFinding, ...] = Field(default=())
    forgotten: int = Field(default=0, ge=0)
    rounds: int = 0
    fix_attempts: int = 0
    failing: Failing | None = None
    approved_by: str = ""
    whole: Whole | None = None
    rests_on_findings: bool = False
    spent_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    counted: str = ""
    estimated_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    day: Annotated[str, Field(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")] = ""
    day_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)


def state_block(state: State) -> str:
    """As much of the state as ``fitting`` leaves of it, as a hidden comment of at most 16,000 characters."""
    return _block(fitting(state))


def fitting(state: State) -> State:
    """The state with as many of its findings as a comment has room for.

    The least weighty are left out; if one of them was not fixed, it is counted, and the next review reads everything.
    """
    if _block(state):
        return state
    findings = weightiest_first(state.findings)

    def holding(most: int) -> State:
        lost = unsettled(findings[most:])
        about = {"complete": state.complete and not lost, "forgotten": state.forgotten + lost}
        return state.model_copy(update={"findings": findings[:most], **about})

    too_many = bisect_left(range(len(findings)), True, key=lambda most: not _block(holding(most)))
    return holding(max(0, too_many - 1))


def _block(state: State) -> str:
    """All of the state, or nothing if that is more than is read back."""
    raw = state.model_dump_json(exclude_defaults=True).encode()
    packed = base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode()
    block = f"{PREFIX}state {hashlib.sha256(raw).hexdigest()} {packed} -->"
    return block if len(block) <= MOST_STATE_CHARACTERS and len(raw) <= _MOST_BYTES else ""


def unsettled(findings: Iterable[KnownFinding]) -> int:
    """How many of them are more than history: a review that shows only what is new would overlook these."""
    return sum(each.status != "fixed" for each in findings)


def weightiest_first(findings: Iterable[KnownFinding]) -> tuple[KnownFinding, ...]:
    """What people dismissed, for they said it once; then what is open, the worst first; then what is fixed."""
    order = ("dismissed", "open", "fixed")
    return tuple(sorted(worst_first(findings), key=lambda each: order.index(each.status)))


def worst_first(findings: Iterable[KnownFinding]) -> tuple[KnownFinding, ...]:
    """By severity, then by place."""
    return tuple(sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), each.path, each.line)))


def with_dismissed(state: State, finding: str, *, by: str, reason: str) -> State:
    """The state after ``by`` has dismissed one of its findings; as it is, if it does not know that finding."""
    done = {"status": "dismissed", "changed_in": state.run_id, "reason": reason, "by": by}
    return _with(state, (each.model_copy(update=done) for each in state.findings if each.id == finding))


def with_dismissals_of(state: State, standing: State | None) -> State:
    """The state, with everything that is dismissed in the one that stands: a person's word is never taken back.

    It was about what they saw. It does not hold for a finding whose quote stands in another number of places since.
    Where only the one that stands knows the number, that one holds.
    """
    found = standing.findings if standing is not None else ()
    return _with(state, (each for each in found if each.status == "dismissed"))


def _with(state: State, changed: Iterable[KnownFinding]) -> State:
    now = {each.id: each for each in changed}
    findings = tuple(
        now[each.id] if each.id in now and each.occurrences in (UNKNOWN_PLACES, now[each.id].occurrences) else each
        for each in state.findings
    )
    return state.model_copy(update={"findings": findings})


def block_in(body: str) -> str | None:
    """The one hidden block of a summary's body; None where there is none, or more than one."""
    found = [each[0] for each in _STATE.finditer(body)]
    return found[0] if len(found) == 1 else None


def without_state(body: str) -> str:
    """A summary's body without the state in it."""
    return _STATE.sub("", body)


def own_comments(comments: tuple[StandingComment, ...], login: str, mark: str) -> tuple[StandingComment, ...]:
    """The bot's own comments with this mark, the oldest first: they begin with it, and its account wrote them."""
    return tuple(each for each in comments if each.author.casefold() == login.casefold() and each.body.startswith(mark))


def own_summaries(comments: tuple[StandingComment, ...], login: str) -> tuple[StandingComment, ...]:
    """The bot's own summaries, the oldest first."""
    return own_comments(comments, login, SUMMARY)


def read_state(comment: StandingComment, login: str) -> State | None:
    """The state in the bot's own summary; None if anybody else edited it, or it does not hold together."""
    if comment.edited_by.casefold() not in ("", login.casefold()):
        return None
    block = block_in(comment.body)
    found = _STATE.fullmatch(block) if block is not None else None
    if found is None:
        return None
    digest, packed = found.groups()
    try:
        unpack = zlib.decompressobj()
        raw = unpack.decompress(base64.urlsafe_b64decode(packed), _MOST_BYTES)
        if unpack.unconsumed_tail or hashlib.sha256(raw).hexdigest() != digest:
            return None
        return State.model_validate_json(raw)
    except (binascii.Error, zlib.error, ValidationError):
        return None


def names_base(kept: str | None, base_ref: str, redactor: Redactor) -> bool:
    """Whether a review that kept this name was against the branch ``base_ref``: unknown is none.

    What a review keeps of a branch's name has passed the redactor, so the present name is compared as that leaves it.
    """
    return bool(kept) and kept in (base_ref, redactor.redact(base_ref))


def not_against(state: State | None, base_ref: str, redactor: Redactor) -> str | None:
    """Why what is remembered is no review against the branch ``base_ref``, in a sentence; None if it is one."""
    if state is None or not state.base_ref:
        return "It is not known against which base branch the head was reviewed: it has to be reviewed again."
    if names_base(state.base_ref, base_ref, redactor):
        return None
    return f"The head was reviewed against {state.base_ref}, not {redactor.redact(base_ref)}."
