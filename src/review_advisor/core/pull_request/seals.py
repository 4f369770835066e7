"""What vouches for the state in a summary comment, other than the comment itself.

The account that writes the summary may be every workflow's of the repository, so that its name proves little. A seal
stands in the check run of the head that the state is of. Its first half binds the review: repository, pull request,
head, base branch and outcome. Its second half binds the whole state to its comment and to the time of the comment's
last edit, which the forge sets: an older state that is put back has another time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from review_advisor.core.pull_request.markers import seal_in
from review_advisor.core.pull_request.standing import StandingComment
from review_advisor.core.pull_request.state import UNKNOWN_PLACES, KnownFinding, State, block_in

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


def _half(key: bytes | None, said: tuple[str | int | None, ...]) -> str:
    raw = json.dumps(said).encode()
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
    said = (_as_people_say(each, people) for each in state.findings)
    now: dict[str, object] = {
        "findings": tuple(said if found == "noted" else (_in_unknown_places(each) for each in said)),
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
    said = people.dismissed.get(finding.id)
    if said is None:
        return finding.model_copy(update={"status": "open", "by": "", "reason": ""})
    return finding.model_copy(update={"by": said.by, "reason": said.reason})
