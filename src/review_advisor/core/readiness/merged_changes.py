"""The evidence that a repository itself gives: what was merged since a release, and how its last reviews ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from review_advisor.core.readiness.readiness_evaluation import ReleaseEvidence
from review_advisor.core.report.wording import counted, printable_line

MOST_CHANGES = 200
"""Changes of one release that are told. A larger one has a gap."""
_LONGEST_TITLE = 200
_SHORT = 12
_NO_END = ("stopped", "unfinished")


@dataclass(frozen=True, slots=True)
class MergedChange:
    """One commit of the branch's own line. ``head`` is the merged head where git knows it: of a merge commit."""

    commit: str
    title: str
    pull_request: int | None = None
    head: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """What came after ``since``, the newest first. ``more``: there is more than ``MOST_CHANGES``."""

    since: str
    head: str
    changes: tuple[MergedChange, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class LastReview:
    """How the last review of a pull request ended, by the ledger. ``overridden``: a person approved it nevertheless.

    ``trouble`` says why its record cannot be believed.
    """

    run_id: str
    status: str
    head_sha: str = ""
    degraded: bool = False
    disabled: bool = False
    vetoes: int = 0
    findings: int = 0
    overridden: bool = False
    trouble: str = ""


ReviewEnd = Literal["approved", "overridden", "open", "without a judgement", "of another head", "not reviewed"]


def review_end(change: MergedChange, review: LastReview | None) -> tuple[ReviewEnd, str]:
    """What is known of the review of a merged change, and the same in words."""
    missing = _missing(change, review)
    if missing or review is None:
        return "not reviewed", missing
    ended = f"its last review ended as {review.status}"
    if change.head and review.head_sha != change.head:
        return "of another head", f"its last review is of {review.head_sha[:_SHORT] or 'an unknown head'}"
    if review.status == "approved":
        off = "degraded" if review.degraded else "the advisor was off"
        return ("without a judgement", off) if review.degraded or review.disabled else ("approved", ended)
    if review.overridden:
        return "overridden", f"{ended}, and a person approved it"
    return "open", f"{ended}, and nobody is known to have settled that"


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
    ends = [(each, _review(each, reviews)) for each in history.changes]
    known = [(change, review, *review_end(change, review)) for change, review in ends]
    gaps = [f"{_named(change)}: {printable_line(words)}" for change, _, end, words in known if end not in SETTLED]
    gaps += [f"more than {MOST_CHANGES} changes were merged, and only these are told"] if history.more else []
    counts = Counter(end for *_, end, _ in known)
    told = "; ".join(f"{end}: {counts[end]}" for end in sorted(counts))
    lines = [
        f"# Changes since {printable_line(history.since)}",
        "",
        f"{counted(len(history.changes), 'change')} up to {history.head[:_SHORT]}. Reviews: {told}.",
        *([f"The ledger could not be asked: {printable_line(trouble)}"] if trouble else []),
    ]
    for change, review, end, words in known:
        lines += ["", f"## {_named(change)}", "", *_facts(change, review, f"{end} ({words})")]
    if gaps:
        lines += ["", "## What is open", "", *(f"- {each}" for each in gaps)]
    source = f"{counted(len(history.changes), 'change')} since {printable_line(history.since)}"
    return ReleaseEvidence(source, "\n".join(lines), tuple(gaps))


def _review(change: MergedChange, reviews: Mapping[int, LastReview]) -> LastReview | None:
    return None if change.pull_request is None else reviews.get(change.pull_request)


def _facts(change: MergedChange, review: LastReview | None, end: str) -> Iterator[str]:
    yield f"- commit {change.commit[:_SHORT]}"
    yield f"- review: {printable_line(end)}"
    if review is not None and not review.trouble:
        yield f"- run {printable_line(review.run_id)}: vetoes {review.vetoes}, findings {review.findings}"


def _named(change: MergedChange) -> str:
    number = "" if change.pull_request is None else f"#{change.pull_request} "
    return f"{number}{printable_line(change.title)[:_LONGEST_TITLE]}"
