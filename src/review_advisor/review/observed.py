"""What became of findings and merges, as facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, Field

from review_advisor.agents.prompts import MemoryRecord, cites
from review_advisor.review.document import OutcomeDocument
from review_advisor.safety.fence import clean
from review_advisor.safety.secrets import holds_mark
from review_advisor.safety.wording import printable_line

RUN_ID = r"[A-Za-z0-9._:-]{1,200}"
"""What a run may be called: files are named after it."""


UNKNOWN = "unknown"


JUDGED_AFTER = timedelta(days=7)
"""A merge that was not reverted for so long counts as kept; before that, nobody can tell."""


LabelName = Literal["merge", "judged", "reverted", "escalation", "at_merge", "later", "thread", "reaction", "dismissal"]
"""``later`` stands in old observations only."""


Value = Literal[
    "unknown",
    "closed",
    "merged",
    "merged_against",
    "judged",
    "reverted",
    "not_reverted",
    "approved",
    "not_approved",
    "fixed",  # in old observations: the lines are gone
    "there",
    "gone",
    "resolved",
    "resolved_by_bot",
    "open",
    "up",
    "down",
    "both",
    "none",
    "dismissed",
]


_HAPPENED = ("judged", "reverted", "approved", "not_approved", "fixed", "gone", "resolved", "up", "down", "dismissed")
"""What stays true, whatever cannot be read any more."""


@dataclass(frozen=True, slots=True)
class ObservedLabel:
    """One fact about a finding, or about the pull request where ``finding`` is empty.

    ``source`` is what shows it; of an unknown one, why nobody can tell.
    """

    finding: str
    name: LabelName
    value: Value
    source: str

    @property
    def has_happened(self) -> bool:
        """Whether it stays true; of lines that are there only that they were at the merge."""
        return self.value in _HAPPENED or (self.name, self.value) == ("at_merge", "there")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All that was seen of one pull request at one moment: the only event of its chain.

    ``head_sha`` is the head at which it was closed.
    """

    kind: Literal["observed"] = "observed"
    at: AwareDatetime
    run_id: Annotated[str, Field(pattern=f"^{RUN_ID}$")]
    repository: str
    pull_request: int
    head_sha: str
    labels: tuple[ObservedLabel, ...]

    @property
    def facts(self) -> tuple[object, ...]:
        """What was seen, whenever it was seen."""
        return self.repository.casefold(), self.pull_request, self.head_sha, frozenset(self.labels)

    def after(self, before: Observed) -> Observed:
        """This observation, with what was seen ``before`` and cannot be told any more.

        What happened has happened, whatever cannot be read today: a finding keeps it, and the pull request what holds
        for this head. That nothing had happened is true of its moment only, and is not kept.
        """
        known = {(each.finding, each.name): each for each in before.labels if each.has_happened}
        seen_now = {(each.finding, each.name): each for each in self.labels}
        if before.head_sha != self.head_sha:
            known = {(finding, name): each for (finding, name), each in known.items() if finding}
        kept = [known.get(key, each) if each.value == UNKNOWN else each for key, each in seen_now.items()]
        gone = [each for (finding, name), each in known.items() if finding and (finding, name) not in seen_now]
        there = {each.finding for each in (*kept, *gone) if (each.name, each.value) == ("at_merge", "there")}
        return replace(self, labels=(*kept, *(e for e in gone if e.name != "later" or e.finding in there)))

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        labels = [{"finding": e.finding, "name": e.name, "value": e.value, "source": e.source} for e in self.labels]
        about = {"run": self.run_id, "repository": self.repository, "pull_request": self.pull_request}
        return {**about, "at": self.at.isoformat(), "head_sha": self.head_sha, "labels": labels}


def of_findings(labels: Iterable[ObservedLabel]) -> dict[str, dict[LabelName, Value]]:
    """What is known of each finding."""
    found: dict[str, dict[LabelName, Value]] = {}
    for label in labels:
        if label.finding and label.value != UNKNOWN:
            found.setdefault(label.finding, {})[label.name] = label.value
    return found


def of_pull_request(labels: Iterable[ObservedLabel], name: LabelName) -> Value | None:
    """What is known of the pull request itself; None for nothing."""
    return next((e.value for e in labels if not e.finding and e.name == name and e.value != UNKNOWN), None)


def was_reverted(labels: Sequence[ObservedLabel]) -> bool:
    """Whether the pull request is known to be reverted, of those that were judged by what became of them."""
    return of_pull_request(labels, "judged") is not None and of_pull_request(labels, "reverted") == "reverted"


def proved_right(known: dict[LabelName, Value], *, reverted: bool) -> bool | None:
    """Whether people proved a finding right, or wrong; None where nobody said anything.

    ``reverted``: the whole pull request was reverted, which outweighs every opinion. A dismissal outweighs a reaction.
    Lines that are gone prove nothing: they change for any reason.
    """
    if reverted:
        return True
    if known.get("dismissal") == "dismissed":
        return False
    return {"up": True, "down": False}.get(known.get("reaction", UNKNOWN))


@dataclass(frozen=True, slots=True)
class CommentFate:
    """What people made of a comment on the diff. ``thumb``: 1 up, -1 down, 0 none, or people disagree."""

    acted_on: bool
    dismissed: bool
    thumb: int


def comment_fate(known: dict[LabelName, Value]) -> CommentFate | None:
    """What became of a finding's comment; None where it had none, or nobody can tell.

    It was acted on if its thread was resolved, by a person or by the bot that found it fixed, or if its lines are gone
    from what was merged. A dismissal is the opposite, and closes the thread, too. These are hints of what is useful,
    and prove nothing.
    """
    thread = known.get("thread")
    if thread not in ("open", "resolved", "resolved_by_bot"):
        return None
    dismissed = known.get("dismissal") == "dismissed"
    acted_on = thread != "open" or known.get("at_merge") in ("gone", "fixed")
    thumb = {"up": 1, "down": -1}.get(known.get("reaction", UNKNOWN), 0)
    return CommentFate(acted_on and not dismissed, dismissed, thumb)


def observed_text(observed: Observed) -> str:
    """The labels for a person, one a line."""
    wide = max(len(e.name) for e in observed.labels) if observed.labels else 0
    lines = [
        f"{e.finding or '-':<12}  {e.name:<{wide}}  {e.value:<14}  {printable_line(e.source)}" for e in observed.labels
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


_COMMIT = re.compile(r"^This reverts commit ([0-9a-f]{40}|[0-9a-f]{64})\b", re.MULTILINE)


_PULL_REQUEST = re.compile(r"^Reverts ([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?#([0-9]{1,10})\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FindingPlace:
    """Where a finding was raised: lines of a file at the commit that was reviewed.

    ``removed``: they are on the old side, which the change takes away. ``quote`` is the model's own quote of them,
    empty where only the place is known.
    """

    path: str
    commit: str
    line: int
    end_line: int
    removed: bool = False
    quote: str = ""


def quoted_lines(place: FindingPlace, reviewed: str | None) -> str:
    """The lines as they were reviewed: the quote, or else the lines at the place in ``reviewed``; empty if unknown."""
    if place.quote or reviewed is None:
        return place.quote
    return "\n".join(reviewed.split("\n")[max(place.line - 1, 0) : place.end_line])


def lines_at_merge(place: FindingPlace, lines: str, merged: str | None) -> tuple[Value, str]:
    """Whether ``lines`` stand in the file as it was merged, and what shows it; ``merged`` is None without the file.

    Spaces do not count. Models see text without secrets and invisible characters, so that text is searched.
    """
    if place.removed:
        return "unknown", "the finding is about lines that the change removes"
    if holds_mark(lines):
        return "unknown", "its quote holds a secret, which is not kept"
    wanted = _bare(lines)
    if not wanted:
        return "unknown", "neither the ledger nor the reviewed commit has its lines"
    if merged is None:
        return "unknown", "the merge has no file of that name"
    if wanted in _bare(clean(merged)):
        return "there", "its lines are in the merged file"
    return "gone", "its lines are not in the merged file"


def _bare(text: str) -> str:
    return "\n".join(found for line in text.split("\n") if (found := " ".join(line.split())))


def is_revert(message: str, repository: str, number: int, merge_commit: str) -> bool:
    """Whether a commit with this message reverts the pull request that ``merge_commit`` merged.

    ``git revert`` writes ``This reverts commit <name>``; GitHub's Revert button writes ``Reverts owner/name#7``.
    """
    if merge_commit in _COMMIT.findall(message):
        return True
    return any(
        int(named) == number and (not where or where.casefold() == repository.casefold())
        for where, named in _PULL_REQUEST.findall(message)
    )


class EntryUses(NamedTuple):
    """``hits`` are findings that cite an entry and that nobody proved wrong, ``false_hits`` the others."""

    hits: int = 0
    false_hits: int = 0


ReviewedRun = tuple[OutcomeDocument, Sequence[ObservedLabel]]


def memory_uses(records: Iterable[MemoryRecord], runs: Iterable[ReviewedRun]) -> dict[str, EntryUses]:
    """The uses of each entry. A finding that several pushes repeat counts once, and only while the entry holds."""
    every = tuple(records)
    wrong: dict[str, dict[tuple[str | None, int | None, str], bool]] = {each.id: {} for each in every}
    for document, labels in runs:
        known, reverted = of_findings(labels), of_pull_request(labels, "reverted") == "reverted"
        for finding in document.findings:
            key = (document.repository, document.pull_request, finding.id)
            proof = proved_right(known.get(finding.id, {}), reverted=reverted)
            for each in every:
                shown = each.created_at <= document.started_at and each.holds_at(document.started_at)
                if shown and cites(finding.body, each.id):
                    wrong[each.id][key] = wrong[each.id].get(key, False) or proof is False
    return {name: EntryUses(len(its) - sum(its.values()), sum(its.values())) for name, its in wrong.items()}
