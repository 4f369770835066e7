"""The evidence that a repository itself gives: what was merged since a release, and how its last reviews ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.readiness.readiness_evaluation import ReleaseEvidence
from review_advisor.core.report.wording import counted, printable_line
from review_advisor.core.safety.fence import clean

MOST_CHANGES = 200
"""Changes of one release that are told. A larger one has a gap."""
_MOST_TOLD = 50_000
"""Characters about changes in the evidence. It has a gap for those beyond."""
_LONGEST_TITLE = 80
_LONGEST_PHRASE = 300
_SHORT = 12
_MOST_TAGS = 10
_NO_END = ("stopped", "unfinished", "nothing_to_review")


@dataclass(frozen=True, slots=True)
class MergedChange:
    """One commit of the branch's own line. ``head`` is the merged head where git knows it: of a merge commit."""

    commit: str
    title: str
    pull_request: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """What came after ``since``, the newest first. ``start`` is its commit.

    ``more``: there is more than ``MOST_CHANGES``. ``passed``: annotated tags from there on that name no version.
    """

    since: str
    start: str
    head: str
    changes: tuple[MergedChange, ...]
    more: bool = False
    passed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LastReview:
    """How the last review of a pull request ended, by the ledger. ``overridden``: a person approved it nevertheless.

    ``merged_as`` is the beginning of the commit as which the pull request was seen to be merged, and ``merged_head``
    the head that it had then. ``trouble`` says why the record cannot be believed.
    """

    run_id: str
    status: str
    head_sha: str = ""
    degraded: bool = False
    disabled: bool = False
    vetoes: int = 0
    findings: int = 0
    overridden: bool = False
    merged_as: str = ""
    merged_head: str = ""
    trouble: str = ""


ReviewEnd = Literal[
    "approved",
    "overridden",
    "open",
    "without a judgement",
    "of an unknown head",
    "of another head",
    "named twice",
    "not reviewed",
]


def review_end(change: MergedChange, review: LastReview | None, named: int = 1) -> tuple[ReviewEnd, str]:
    """What is known of the review of a merged change, and the same in words.

    ``named`` is how many commits name its pull request.
    """
    if change.pull_request is not None and named > 1:
        return "named twice", f"{named} commits name its pull request"
    missing = _missing(change, review)
    if missing or review is None:
        return "not reviewed", missing
    ended = f"its last review ended as {review.status}"
    head = _merged_head(change, review)
    if not head:
        return "of an unknown head", "nobody knows which head was merged"
    if review.head_sha != head:
        return "of another head", f"its last review is of {review.head_sha[:_SHORT] or 'an unknown head'}"
    if review.status == "approved":
        off = "degraded" if review.degraded else "the advisor was off"
        return ("without a judgement", off) if review.degraded or review.disabled else ("approved", ended)
    if review.overridden:
        return "overridden", f"{ended}, and a person approved it"
    return "open", f"{ended}, and nobody is known to have settled that"


def _merged_head(change: MergedChange, review: LastReview) -> str:
    """The head that was merged: by git, or else by what was seen of the pull request that became this commit."""
    was_seen = len(review.merged_as) >= _SHORT and change.commit.startswith(review.merged_as)
    return change.head or (review.merged_head if was_seen else "")


def _missing(change: MergedChange, review: LastReview | None) -> str:
    """Why there is no review of it that says anything; empty if there is one."""
    if change.pull_request is None:
        return "it came without a pull request"
    if review is None:
        return "the ledger has no review of it"
    if review.trouble:
        return f"the record of its review cannot be used: {review.trouble}"
    return f"its last review is {review.status}" if review.status in _NO_END else ""


SETTLED: tuple[ReviewEnd, ...] = ("approved", "overridden")
"""All others are gaps of the evidence."""


def gathered_evidence(history: ReleaseHistory, reviews: Mapping[int, LastReview], trouble: str = "") -> ReleaseEvidence:
    """The evidence, with its gaps. ``trouble`` says why the ledger could not be asked."""
    named = Counter(each.pull_request for each in history.changes)
    ends = [(each, _review(each, reviews)) for each in history.changes]
    known = [(change, review, *review_end(change, review, named[change.pull_request])) for change, review in ends]
    gaps = [f"{_named(change)}: {_phrase(words)}" for change, _, end, words in known if end not in SETTLED]
    counts = Counter(end for *_, end, _ in known)
    ended = "; ".join(f"{end}: {counts[end]}" for end in sorted(counts))
    since = f"{_phrase(history.since)} ({history.start}){_passed(history.passed)}"
    lines = [
        f"# Changes since {since}",
        "",
        f"{counted(len(history.changes), 'change')} up to {history.head[:_SHORT]}. Reviews: {ended}.",
        *([f"The ledger could not be asked: {_phrase(trouble)}"] if trouble else []),
    ]
    told = _as_many_as_fit(
        "\n".join(("", f"## {_named(change)}", "", *_facts(change, review, f"{end} ({words})")))
        for change, review, end, words in known
    )
    if history.more or len(told) < len(known):
        was = "was" if len(told) == 1 else "were"
        untold = f"more than {counted(len(told), 'change')} {was} merged, and only these are told"
        gaps.append(untold)
        told.append(f"\nOpen: {untold}.")
    source = f"{counted(len(history.changes), 'change')} since {since}"
    return ReleaseEvidence(source, "\n".join((*lines, *told)), tuple(gaps))


def _passed(tags: Sequence[str]) -> str:
    """Tags that a reader may take for releases, so that nobody wonders from which one changes are told."""
    if not tags:
        return ""
    more = f" and {len(tags) - _MOST_TAGS} more" if len(tags) > _MOST_TAGS else ""
    named = ", ".join(_phrase(each)[:_LONGEST_TITLE] for each in tags[:_MOST_TAGS])
    return f"; no version, and passed over: the tag{'s' if len(tags) > 1 else ''} {named}{more}"


def _as_many_as_fit(told: Iterable[str]) -> list[str]:
    kept, room = list[str](), _MOST_TOLD
    for each in told:
        room -= len(each) + 1
        if room < 0:
            break
        kept.append(each)
    return kept


def _review(change: MergedChange, reviews: Mapping[int, LastReview]) -> LastReview | None:
    return None if change.pull_request is None else reviews.get(change.pull_request)


def _facts(change: MergedChange, review: LastReview | None, end: str) -> Iterator[str]:
    yield f"- commit {change.commit[:_SHORT]}"
    yield f"- review: {_phrase(end)}"
    if review is not None and not review.trouble:
        yield f"- run {printable_line(review.run_id)}: vetoes {review.vetoes}, findings {review.findings}"


def _named(change: MergedChange) -> str:
    number = "" if change.pull_request is None else f"#{change.pull_request} "
    return f"{number}{_phrase(change.title)[:_LONGEST_TITLE]}"


def _phrase(words: str) -> str:
    """Words from outside on one line, as they are shown, and no longer than a phrase."""
    return clean(printable_line(words))[:_LONGEST_PHRASE]
