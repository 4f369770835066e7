"""The state between pushes: its form, its marks, and what vouches for it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from review_advisor.agents.answers import SEVERITIES, Severity
from review_advisor.agents.findings import FINDING_ID
from review_advisor.change.change import OBJECT_NAME
from review_advisor.change.redaction import Redactor
from review_advisor.policy.risk import BlastRadius
from review_advisor.review.rulings import Outcome

PREFIX = "<!-- review-advisor:"
SUMMARY = f"{PREFIX}summary -->"

_EXTERNAL = re.compile(
    r"pr-(?P<number>[1-9][0-9]{0,9})(?:/run-(?P<run>[^/]*))?(?:/(?P<seal>(?:signed|noted)-[0-9a-f]{48}))?"
    r"(?:/usd-(?P<usd>[0-9]{1,7}\.[0-9]{2}))?"
    r"(?:/day-(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})-(?P<day_usd>[0-9]{1,7}\.[0-9]{2}))?"
)

MOST_USD = 9_999_999.99
"""More than any pull request may cost: so much, at most, a check run says."""

_FINDING = re.compile(re.escape(PREFIX) + rf"finding ({FINDING_ID}) -->")


def review_marker(run_id: str) -> str:
    """The mark of the review that one run wrote."""
    return f"{PREFIX}review {run_id} -->"


def is_review(body: str) -> bool:
    """Whether a review is marked as one that some run of ours wrote."""
    return body.startswith(f"{PREFIX}review ")


def answer_marker(comment_id: int) -> str:
    """The mark of the answer to one comment."""
    return f"{PREFIX}answer {comment_id} -->"


def finding_marker(finding: str) -> str:
    """The mark of the inline comment about one finding."""
    return f"{PREFIX}finding {finding} -->"


def finding_in(body: str) -> str | None:
    """The id of the finding that a comment's first line marks; None for any other comment."""
    found = _FINDING.match(body)
    return found[1] if found else None


def external_id(
    number: int, run: str = "", seal: str = "", usd: float = 0.0, today: tuple[str, float] = ("", 0.0)
) -> str:
    """What tells a pull request's check runs from those of another one with the same head.

    ``run``: the workflow run that wrote the check last; while it is in progress, that run is to conclude it. The
    details URL cannot say so: GitHub ignores the one that a workflow's own token sends. ``seal`` is of the state that
    stands in the summary, ``usd`` what all reviews of the pull request have cost, and ``today`` is a day with what
    those cost that pushes started on it; without a day that is left out.
    """
    spent = f"/usd-{min(usd, MOST_USD):.2f}" if round(usd, 2) else ""
    day, day_usd = today
    on_day = f"/day-{day}-{min(day_usd, MOST_USD):.2f}" if day else ""
    return f"pr-{number}{f'/run-{run}' if run else ''}{f'/{seal}' if seal else ''}{spent}{on_day}"


def is_check_of(number: int, external: str) -> bool:
    """Whether a check run with this external id is of this pull request."""
    return number_in(external) == number


def number_in(external: str) -> int | None:
    """The number of the pull request whose check run has this external id; None if it is none of ours."""
    number = _part(external, "number")
    return int(number) if number else None


def begun_by(external: str) -> str:
    """The workflow run that wrote the check last; empty where none is named."""
    return _part(external, "run")


def seal_in(external: str) -> str:
    """The seal that a check run bears; empty where it bears none."""
    return _part(external, "seal")


def usd_in(external: str) -> float:
    """What a check run says that all reviews of its pull request have cost; 0 where it says nothing."""
    return float(_part(external, "usd") or 0)


def day_in(external: str) -> tuple[str, float]:
    """A day, and what pushes have cost on it, as a check run says; an empty day where it says nothing."""
    return _part(external, "day"), float(_part(external, "day_usd") or 0)


def _part(external: str, what: str) -> str:
    found = _EXTERNAL.fullmatch(external)
    return (found[what] or "") if found else ""


def is_by_newer(external: str, run: str) -> bool:
    """Whether the check was written last by a workflow run that began after ``run``."""
    return is_newer(begun_by(external), run)


def is_newer(other: str, run: str) -> bool:
    """Whether the workflow run ``other`` began after ``run``: GitHub numbers runs upwards. False for an empty one."""
    return other.isascii() and other.isdecimal() and (len(other), other) > (len(run), run)


@dataclass(frozen=True, slots=True)
class StandingCheck:
    """A check run on a commit."""

    id: int
    name: str
    external_id: str
    status: str
    conclusion: str | None
    """None while it is in progress."""
    app: str
    """The slug of its app."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class CheckMark:
    """What a check run says of itself: by which app, under which external id, and whether it is in progress."""

    app: str
    external_id: str
    in_progress: bool


@dataclass(frozen=True, slots=True)
class RecentPullRequest:
    """A pull request that changed lately, and the check runs of one name on its head."""

    number: int
    checks: tuple[CheckMark, ...] | None
    """None where it has no head that could bear any."""
    closed_at: datetime | None = None
    """None while it is open."""
    from_fork: bool = False


@dataclass(frozen=True, slots=True)
class RecentWork:
    """The pull requests that changed lately, the newest change first. ``whole``: the forge listed all of them."""

    pull_requests: tuple[RecentPullRequest, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class StandingComment:
    """A comment on the pull request. Who edited it last, and when; both are empty if nobody did."""

    id: int
    author: str
    body: str
    edited_by: str = ""
    edited_at: str = ""


@dataclass(frozen=True, slots=True)
class StandingReview:
    """A review. A pending one is seen by its author only, and there is at most one of it."""

    id: int
    author: str
    body: str
    pending: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of inline comments."""

    id: str
    """GraphQL's."""
    author: str
    """Of its first comment."""
    body: str
    """Of its first comment."""
    resolved: bool
    outdated: bool


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
    """An operational failure, and how often it has come on one head."""

    head_sha: CommitName
    reason: str
    times: int


class State(_Kept):
    """The last review of the pull request, and every finding said so far."""

    version: Literal[1] = 1
    run_id: str
    head_sha: CommitName
    base_sha: CommitName
    base_ref: str = ""
    """The name of the base branch; empty where it was not kept."""
    rules_sha: CommitName = ""
    """The commit whose configuration held; empty where it was not kept."""
    reviewed_in: str = ""
    """The workflow run whose review this is; empty where it was none, or none ended yet."""
    policy_digest: Annotated[str, Field(pattern=r"^([0-9a-f]{16})?$")]
    """Stands for the configuration and the switches."""
    outcome: Outcome
    complete: bool
    """Every file was read and judged."""
    blast: BlastRadius
    findings: tuple[KnownFinding, ...] = Field(default=())
    forgotten: int = Field(default=0, ge=0)
    """How many earlier findings, open or dismissed, have no room any more."""
    rounds: int = 0
    """How many reviews pushes started, except those that the account or the settings stopped."""
    fix_attempts: int = 0
    failing: Failing | None = None
    approved_by: str = ""
    """The person in whose name the head passes although the review did not approve it."""
    whole: Whole | None = None
    """The last complete review, maybe an older one; None where there was none, or nothing vouches for it."""
    rests_on_findings: bool = False
    """The review rejects the head for findings that the advisor confirmed, and for nothing else."""
    spent_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """What all reviews so far cost."""
    counted: str = ""
    """The run that was counted last."""
    estimated_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """How much of ``spent_usd`` is an estimate, for calls that reported no cost and runs that left no outcome."""
    day: Annotated[str, Field(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$")] = ""
    """Kept only where the configuration bounds what the repository's reviews cost on a day."""
    day_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """What the reviews cost that pushes started on the ``day``."""


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


LEAST_KEY = 32
"""The fewest characters of a key: the sealed text is public, and a short key could be guessed from it."""

Vouched = Literal["", "reviewed", "noted", "signed"]
"""``signed``: by the holder of the key. ``noted``: by whoever may write our check. ``reviewed``: our check is of this
very review, but the comment was written since. Empty: by nobody."""

_HALF = 24
_WORD = re.compile(r"(noted|signed)-([0-9a-f]{64})")


def seal(key: bytes | None, repository: str, number: int, state: State, comment: StandingComment) -> str:
    """The seal of the ``state`` in a ``comment``, made with the ``key`` if there is one."""
    of = (repository.casefold(), number)
    review = (*of, state.run_id, state.head_sha, state.base_ref, state.outcome.value)
    whole = (*of, comment.id, comment.edited_at, block_in(comment.body))
    return f"{'noted' if key is None else 'signed'}-{_half(key, review)}{_half(key, whole)}"


def _half(key: bytes | None, facts: tuple[str | int | None, ...]) -> str:
    raw = json.dumps(facts).encode()
    made = hashlib.sha256(raw) if key is None else hmac.new(key, raw, hashlib.sha256)
    return made.hexdigest()[:_HALF]


def vouched(wanted: str, externals: Collection[str]) -> Vouched:
    """What the check runs with these external ids say of the state whose seal is ``wanted``."""
    found = [seal_in(each) for each in externals]
    if any(hmac.compare_digest(wanted, each) for each in found):
        return "signed" if wanted.startswith("signed-") else "noted"
    same = any(hmac.compare_digest(wanted[:-_HALF], each[:-_HALF]) for each in found)
    return "reviewed" if same else ""


def sealed_on(state: State) -> str:
    """The commit on whose check run the state's seal stands: that of the last run, also of one that failed."""
    return state.failing.head_sha if state.failing is not None else state.head_sha


def word_on(body: str, found: Vouched) -> str:
    """What ``begin`` tells ``review``, which holds no key: how far to believe which state; empty for not at all."""
    block = block_in(body)
    if block is None or found not in ("noted", "signed"):
        return ""
    return f"{found}-{hashlib.sha256(block.encode()).hexdigest()}"


def vouched_by_word(word: str, body: str) -> Vouched:
    """How far the state in ``body`` is to be believed, by what ``begin`` said of the state that it saw."""
    found = _WORD.fullmatch(word)
    kind: Vouched = "" if found is None else "signed" if found[1] == "signed" else "noted"
    return kind if hmac.compare_digest(word, word_on(body, kind)) else ""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """Who dismissed a finding, and why, by their own comment."""

    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class PeoplesWord:
    """What people with write permission, other than the author, said in comments that stand unedited.

    ``dismissed`` is by finding, ``approved`` the accounts that approved the state's head.
    """

    dismissed: Mapping[str, Dismissal] = field(default_factory=dict)
    approved: frozenset[str] = frozenset()


def believed(state: State, found: Vouched, people: PeoplesWord) -> State:
    """The state, as far as it counts: what is not vouched for may cost a repetition, and saves none.

    A signed state counts whole. Of any other a dismissal or an approval counts if a person's comment says the same.
    That every file was read, now or in an earlier review, and in how many places a finding stood, counts only where our
    check on that head bears the whole seal. Which base branch it was against counts only where that check is of this
    review.
    """
    if found == "signed":
        return state
    findings = (_as_people_say(each, people) for each in state.findings)
    now: dict[str, object] = {
        "findings": tuple(findings if found == "noted" else (_in_unknown_places(each) for each in findings)),
        "approved_by": state.approved_by if state.approved_by.casefold() in people.approved else "",
    }
    if found != "noted":
        now |= {"complete": False, "whole": None}
    if not found:
        now["base_ref"] = ""
    return state.model_copy(update=now)


def _in_unknown_places(finding: KnownFinding) -> KnownFinding:
    """A dismissal of it holds until the finding is raised again: no comment of a person says how many places it saw."""
    return finding.model_copy(update={"occurrences": UNKNOWN_PLACES})


def _as_people_say(finding: KnownFinding, people: PeoplesWord) -> KnownFinding:
    """A dismissed finding is open where no person's comment dismisses it under this id."""
    if finding.status != "dismissed":
        return finding
    dismissal = people.dismissed.get(finding.id)
    if dismissal is None:
        return finding.model_copy(update={"status": "open", "by": "", "reason": ""})
    return finding.model_copy(update={"by": dismissal.by, "reason": dismissal.reason})
